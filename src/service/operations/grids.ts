import { invalidField, Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, ROOT } from '../../contract/fid.ts'
import type { ConflictRule } from '../../contract/headers.ts'
import { dataTypes } from '../../contract/operations.ts'
import type { GridMeta, UploadAction } from '../../contract/resources.ts'
import { badData, gridName, jsonLines } from '../../ingest/index.ts'
import { breathe, parseRawInTurns, RawJson, textInTurns, turnIsLong } from '../../json/index.ts'
import { admitted, notFound } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { etag, etagOf } from '../core/etag.ts'
import { columnMeta, describe } from '../files/meta.ts'
import { checkFilename, find, freeName, nameTaken, pathNames, placeOf } from '../files/names.ts'
import { metadataText, newShareKey, readSourceFid } from '../files/new-file.ts'
import { changed, getFile, lookup, mayChange, replayed } from '../files/read.ts'
import { type Append, appendRows, type RowText, RowTexts } from '../grids/append.ts'
import { byUid, columnsAre, columnsJson, snapshot } from '../grids/content.ts'
import { addGrid, readGridData, storeArrays } from '../grids/create.ts'
import { previewed, previewOf } from '../grids/preview.ts'
import { typeChange } from '../grids/types.ts'
import {
  appendTable,
  columnsNow,
  notAGrid,
  ON_CONFLICT,
  placeAll,
  readingOptions,
  storeTable,
  storeTables,
  type Target,
} from '../grids/upload.ts'
import { withoutPassword } from '../import/fetch.ts'
import { combine, combineTypes, decodeTypes, encodeTypes, fits, typeOf } from '../store/column-types.ts'
import type { ColumnType } from '../store/schema.ts'
import type { Readers } from '../store/store.ts'
import { createColumns, deleteColumns, updateColumns } from './columns.ts'
import { gridContent } from './grids.content.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

/** The answer to a grid that was made or changed: read anew, so that a retry gets it too. */
async function gridOf(service: Service, call: Call, fid: Fid): Promise<{ body: GridMeta; etag?: string }> {
  return getFile(service, call, fid, 'grid')
}

/** A read of the grid in the path by somebody who may do what the operation does. */
function reading<T>(
  service: Service,
  call: Call,
  work: (readers: Readers) => Promise<T>,
): Promise<T & { etag: string }> {
  return service.store.read(async (readers) => {
    const { file } = await admitted(readers, call)
    return { ...(await work(readers)), etag: etag(file) }
  })
}

export const gridHandlers = {
  'grids.create': async (service, call) => {
    const fields = call.fields as {
      data?: RawJson
      filename?: string
      parent?: number
      parent_path?: string
      world_readable?: boolean
      share_key_enabled?: boolean
      metadata?: unknown
      source_fid?: string | null
      source_url?: string | null
      source_referer?: string | null
    }
    const { limits, store } = service
    const owner = call.caller!.username
    if (fields.filename !== undefined) checkFilename(fields.filename, limits)
    if (fields.data === undefined) return importUrl(service, call)
    const { columns: parts, metadata: inside } = await readGridData(fields.data, limits)
    const metadata = metadataText(fields.metadata ?? inside, limits.metadata_bytes)
    const columns = await storeArrays(store.blobs, parts)
    const { idlocal } = await store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await placeOf(writers, owner, fields, limits)
      if (fields.filename !== undefined && (await writers.files.named(owner, parent, fields.filename))) {
        throw nameTaken(fields.filename)
      }
      const file = await writers.files.add({
        owner,
        filetype: 'grid',
        filename: fields.filename ?? (await freeName(writers.files, owner, parent, gridName(undefined))),
        parent,
        world_readable: fields.world_readable ? 1 : 0,
        share_key: fields.share_key_enabled ? newShareKey() : null,
        metadata,
        source_fid: await readSourceFid(writers, fields.source_fid, call, 'grid'),
        ...sourceOf(fields),
      })
      await addGrid(writers, file, columns)
      return { idlocal: file.idlocal }
    })
    const made = await gridOf(service, call, { owner, idlocal })
    return { body: { file: made.body, warnings: [] }, etag: made.etag }
  },

  'grids.upload': async (service, call) => {
    const owner = call.caller!.username
    const { headers } = call
    const target: Target = {
      filename: gridName(call.fileName),
      parent: headers.Parent as number | undefined,
      parent_path: headers['Parent-Path'] as string | undefined,
      world_readable: headers['World-Readable'] === true,
      onConflict: (headers['On-Conflict'] as ConflictRule | undefined) ?? 'rename',
    }
    checkFilename(target.filename, service.limits)
    const before = await madeBefore(service, call, target)
    const { idlocal, warnings, action } =
      before ?? (await placeAll(service, call, await storeTables(service, call), target))
    const made = await changed(service, call, { owner, idlocal })
    return { body: { file: made.body, warnings, action }, etag: made.etag }
  },

  'grids.lookup': (service, call) => lookup(service, call, call.query, 'grid'),

  'grids.get': async (service, call) => {
    const { described, tag, snap } = await service.store.read(async (readers) => {
      const found = await admitted(readers, call)
      return {
        described: await describe(service, readers, found, call),
        tag: etag(found.file),
        snap: await previewed(service.store, readers, call.fid),
      }
    })
    const body = { ...(described.body as GridMeta), preview: await previewOf(snap) }
    return { body, etag: etagOf(tag, body) }
  },

  'grids.content': (service, call) => gridContent(service, call, call.query),

  'rows.append': async (service, call) => {
    const { contentType } = call
    if (contentType === dataTypes.csv || contentType === dataTypes.tsv) {
      await mayChange(service, call)
      const columns = await columnsNow(service, call.fid)
      const options = {
        ...readingOptions(service, call),
        ...(contentType === dataTypes.tsv ? { delimiter: '\t' } : {}),
        // Text files write booleans as text: in a column of booleans they are read as such.
        expected: (name: string, position: number) => {
          const column =
            call.headers.Header === false ? columns[position] : columns.find((one) => one.name === name)
          return column?.type === 'boolean' && mayChangeTypes(call) !== true
            ? ('boolean' as const)
            : undefined
        },
      }
      const done =
        (await appendedBefore(service, call)) ??
        (await appendTable(service, call, call.fid, await storeTable(service, call.bytes, options, true)))
      return {
        body: {
          fid: formatFid(call.fid),
          rows_added: done.rows_added,
          row_count: done.row_count,
          warnings: done.warnings ?? [],
        },
      }
    }
    const before = contentType === dataTypes.ndjson ? await appendedBefore(service, call) : undefined
    if (before) return { body: { fid: formatFid(call.fid), ...before, warnings: before.warnings ?? [] } }
    const given =
      contentType === dataTypes.ndjson
        ? await rowsOfLines(service, call)
        : await rowsOf(call.fields.rows as RawJson, service.limits.columns)
    const append: Append = {
      fid: call.fid,
      asker: call,
      write: call.writeKey(call.fid.owner),
      ifMatch: call.ifMatch,
      // Clients of the old service send any value as JSON; rows of files are checked.
      mayChangeTypes: mayChangeTypes(call) ?? contentType !== dataTypes.ndjson,
      ...given,
    }
    if (given.bodies.length === 0) await mayChange(service, call)
    const done =
      given.bodies.length === 0 ? await nothingAdded(service, call) : await appendRows(service, append)
    return { body: { fid: formatFid(call.fid), ...done, warnings: [] } }
  },

  'columns.get': async (service, call) => {
    const { uid } = call.query
    const { snap, etag: tag } = await reading(service, call, async (readers) => ({
      snap: await snapshot(
        service.store,
        readers,
        call.fid,
        uid === undefined ? undefined : byUid(uidList(uid)),
      ),
    }))
    return { body: columnsJson(snap), type: 'application/json', etag: tag }
  },

  'columns.create': async (service, call) => {
    await mayChange(service, call)
    const given = call.fields.cols as RawJson
    if (given?.kind !== 'string')
      throw invalidField('cols', given ? 'must be a string that holds a JSON array' : 'is missing')
    const cols = await parseRawInTurns(await textInTurns(given), 'cols')
    const uids = await createColumns(service, call, cols)
    return writtenColumns(service, call, uids)
  },

  'columns.update': async (service, call) => {
    await mayChange(service, call)
    const given = call.fields.cols as RawJson
    const cols = given.kind === 'string' ? await parseRawInTurns(await textInTurns(given), 'cols') : given
    const uids = uidList(call.query.uid)
    await updateColumns(service, call, uids, cols)
    return writtenColumns(service, call, uids)
  },

  'columns.delete': async (service, call) => {
    await mayChange(service, call)
    await deleteColumns(service, call, uidList(call.query.uid))
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** The address a grid came from, and the page that named it: the second only together with the first. */
function sourceOf({
  source_url,
  source_referer,
}: {
  source_url?: string | null
  source_referer?: string | null
}) {
  if (!source_url) return { source_url: null, source_referer: null }
  for (const [field, url] of Object.entries({ source_url, source_referer })) {
    if (url && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw invalidField(field, 'must be an address that begins with http:// or https://')
  }
  return {
    source_url: withoutPassword(source_url),
    source_referer: source_referer ? withoutPassword(source_referer) : null,
  }
}

/** A grid without data is made of what is at its `source_url`. */
async function importUrl(service: Service, call: Call<'grids.create'>) {
  const fields = call.fields as {
    filename?: string
    parent?: number
    parent_path?: string
    world_readable?: boolean
    source_url?: string | null
    source_referer?: string | null
  }
  const owner = call.caller!.username
  if (!fields.source_url) throw invalidField('data', 'is missing')
  if (!service.urlImport)
    throw new Problem('forbidden', 'this server imports nothing from addresses', {
      field: 'source_url',
      hint: 'Send the data itself, or have the operator allow it: gridline serve --allow-url-import.',
    })
  const before = await service.store.read(({ idempotency }) => idempotency.find(call.writeKey(owner)))
  let done = before?.result as { idlocal: number; warnings: string[] } | undefined
  if (!done) {
    const { bytes, fileName } = await service.urlImport.open(fields.source_url, service.limits)
    const imported = { ...call, bytes, fileName } as Call
    const target: Target = {
      filename: fields.filename ?? gridName(fileName),
      parent: fields.parent,
      parent_path: fields.parent_path,
      world_readable: fields.world_readable === true,
      onConflict: fields.filename === undefined ? 'rename' : 'fail',
      ...sourceOf(fields),
    }
    checkFilename(target.filename, service.limits)
    done = await placeAll(service, imported, await storeTables(service, imported), target)
  }
  const made = await changed(service, call, { owner, idlocal: done.idlocal })
  return { body: { file: made.body, warnings: done.warnings }, etag: made.etag }
}

/** What a write of bytes came to before. Whether they are the same is known when the last has come. */
async function foundBefore<T>(
  call: Call,
  find: () => Promise<{ result: unknown } | undefined>,
): Promise<T | undefined> {
  if (!(await find())) return undefined
  for await (const _ of call.bytes);
  return (await find())?.result as T | undefined
}

/** An upload that has been made already, or that is bound to fail: known before its bytes are read. */
async function madeBefore(service: Service, call: Call, target: Target) {
  const owner = call.caller!.username
  const { limits, store } = service
  type Made = { idlocal: number; warnings: string[]; action: UploadAction }
  const made = await foundBefore<Made>(call, () =>
    store.read(({ idempotency }) => idempotency.find(call.writeKey(owner))),
  )
  if (made) return made
  return store.read(async ({ files }) => {
    const inPath = target.parent_path === undefined ? [] : pathNames(target.parent_path, limits)
    const taken = await find(files, owner, inPath.length > 0 ? ROOT : (target.parent ?? ROOT), [
      ...inPath,
      target.filename,
    ])
    if (
      taken &&
      (target.onConflict === 'fail' || (target.onConflict !== 'rename' && taken.filetype !== 'grid'))
    ) {
      throw target.onConflict === 'fail' ? nameTaken(target.filename, ON_CONFLICT) : notAGrid(taken)
    }
    return undefined
  })
}

function appendedBefore(service: Service, call: Call) {
  type Appended = { rows_added: number; row_count: number; warnings: string[] }
  return foundBefore<Appended>(call, () => service.store.read((readers) => replayed(readers, call)))
}

async function nothingAdded(service: Service, { fid }: Call) {
  const grid = await service.store.read(({ grids }) => grids.get(fid.owner, fid.idlocal))
  return { rows_added: 0, row_count: grid.row_count }
}

/** What the request says of values that do not fit the types of the columns. */
function mayChangeTypes({ headers }: Pick<Call, 'headers'>): boolean | undefined {
  return headers['Allow-Type-Change'] as boolean | undefined
}

interface GivenRows {
  bodies: RowText[]
  width: number
  types: string
  columns?: readonly { uid: string; name: string }[]
}

/**
 * The rows of a JSON body, each as it came, with the types of their values. All must be of one length, of
 * no more than `most` values.
 */
async function rowsOf(given: RawJson, most: number): Promise<GivenRows> {
  if (given?.kind !== 'array') throw invalidField('rows', 'must be an array of rows')
  const texts = new RowTexts()
  let types: ColumnType[] | undefined
  for (const row of given.items()) {
    if (row.kind !== 'array') throw invalidField(`rows.${texts.count}`, 'must be an array of values')
    const found = typesOf(row, types?.length ?? most)
    const why = unlike(found.length, types?.length, most)
    if (why) {
      throw new Problem('bad_data', `row ${texts.count + 1} has ${why}`, {
        field: 'rows',
        path: `rows.${texts.count}`,
      })
    }
    types = types ? combineTypes(types, found) : found
    texts.add(row.bytes)
    if (turnIsLong()) await breathe()
  }
  return { bodies: texts.all(), width: types?.length ?? -1, types: encodeTypes(types ?? []) }
}

/** What is wrong with the number of values of a row: those before it have `before`, none has more than `most`. */
function unlike(values: number, before: number | undefined, most: number): string | undefined {
  if (before === undefined) return values > most ? `more than ${most} values (limit columns)` : undefined
  if (values === before) return undefined
  return values > before
    ? `more values than the rows before it, which have ${before}`
    : `${values} values, the rows before it ${before}`
}

/** The types of the values of a row; of one that has more than `most`, of one more than that. */
function typesOf(row: RawJson, most: number): ColumnType[] {
  const types: ColumnType[] = []
  for (const { buf, start } of row.items()) {
    types.push(typeOf(buf[start]))
    if (types.length > most) break
  }
  return types
}

/** Rows of newline-delimited JSON: objects by column name, arrays by position. */
async function rowsOfLines(service: Service, call: Call): Promise<GivenRows> {
  await mayChange(service, call)
  const { owner, idlocal } = call.fid
  const { columns, held } = await service.store.read(async ({ grids }) => ({
    columns: await grids.columns(owner, idlocal),
    held: decodeTypes((await grids.get(owner, idlocal)).types),
  }))
  let types = columns.map((): ColumnType => 'empty')
  const names = new Map(columns.map(({ name }, k) => [name, k]))
  const source = call.fileName ?? 'the rows'
  const texts = new RowTexts()
  let size = 0
  const add = (line: number, value: RawJson): void => {
    let row = value.bytes
    if (value.kind === 'object') {
      const cells: (Buffer | undefined)[] = columns.map(() => undefined)
      for (const [name, cell] of value.entries()) {
        const at = names.get(name)
        if (at === undefined) {
          throw new Problem(
            'unknown_column',
            `${source}, line ${line}: the grid has no column ${JSON.stringify(name)}`,
            { hint: columnsAre(columns) },
          )
        }
        cells[at] = cell.bytes
      }
      row = Buffer.from(`[${cells.map((cell) => cell?.toString('utf8') ?? 'null').join(',')}]`)
    } else {
      let values = 0
      for (const _ of value.items()) values++
      if (values !== columns.length) {
        throw badData(
          source,
          { line },
          `${values} values; the grid has ${columns.length} columns`,
          'Give every column a value, null where there is none.',
        )
      }
      row = Buffer.from(row)
    }
    const found = typesOf(new RawJson(row, 0, row.length), columns.length)
    if (mayChangeTypes(call) !== true) {
      const misfit = found.findIndex((type, k) => !fits(type, combine(held[k], types[k])))
      if (misfit >= 0) {
        const cell = [...new RawJson(row, 0, row.length).items()][misfit]
        const type = combine(held[misfit], types[misfit])
        throw typeChange(`${source}, line ${line}`, columns[misfit].name, cell.bytes, type)
      }
    }
    types = combineTypes(types, found)
    size += row.length
    if (size > service.limits.json_body_bytes) {
      throw new Problem(
        'too_large',
        `${source}: more than ${service.limits.json_body_bytes} bytes of rows (limit json_body_bytes)`,
        { hint: 'Append in several parts, or as CSV.' },
      )
    }
    texts.add(row)
  }
  for await (const { line, value } of jsonLines(call.bytes, {
    source,
    maxRecordBytes: service.limits.record_bytes,
  })) {
    if (isRecords(value, names)) for (const record of value.items()) add(line, record)
    else add(line, value)
  }
  return { bodies: texts.all(), width: columns.length, types: encodeTypes(types), columns }
}

/** A line that is a whole JSON file: an array of objects that name columns, and no row of objects. */
function isRecords(value: RawJson, names: ReadonlyMap<string, number>): boolean {
  if (value.kind !== 'array') return false
  let records = 0
  for (const item of value.items()) {
    if (item.kind !== 'object' || ![...item.members()].every(([name]) => names.has(name))) return false
    records++
  }
  return records > 0
}

function uidList(uids: string): string[] {
  return uids.split(',').map((uid) => uid.trim())
}

async function writtenColumns(service: Service, call: Call, uids: string[]) {
  return reading(service, call, async (readers) => {
    const columns = await readers.grids.columns(call.fid.owner, call.fid.idlocal)
    const cols = uids.flatMap((uid) => columns.filter((column) => column.uid === uid).map(columnMeta))
    if (cols.length === 0 && uids.length > 0) throw notFound('grid')
    return { body: { cols } }
  })
}
