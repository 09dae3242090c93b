import { invalidField, Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { gridName } from '../../contract/formats.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { CheckReport, ColumnDescription, GridMeta } from '../../contract/resources/index.ts'
import type { DelimitedOptions } from '../../ingest/index.ts'
import { parseRawInTurns, textInTurns } from '../../json/index.ts'
import { type AuthorizedFile, authorizeCall, notFound } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { etag, etagOf } from '../core/etag.ts'
import { draftUrl } from '../files/drafts.ts'
import { columnMeta, describe, describeNew } from '../files/meta.ts'
import { checkFilename, freeName, nameTaken, placeOf } from '../files/names.ts'
import { newRow, readSourceFid } from '../files/new-file.ts'
import { assertCanChange, getFile, lookup, replayed, respondWithFile } from '../files/read.ts'
import { rowOfVersion } from '../files/versions.ts'
import { hasRules } from '../grids/change/append/request.ts'
import { appendRows } from '../grids/change/append/rows.ts'
import { appendNothing, appendTable } from '../grids/change/append/table.ts'
import { addGrid, readGridData, storeArrays } from '../grids/change/create.ts'
import { givenDraft } from '../grids/change/drafts.ts'
import type { Target, Written } from '../grids/change/place.ts'
import { createOrUpdateGrids } from '../grids/change/place-several.ts'
import { refuseDeleteMissing, upsert } from '../grids/change/upsert.ts'
import { byName, byUid, columnsJson, snapshotOf, trimmed } from '../grids/column/content.ts'
import { type GivenRows, rowsOf, rowsOfLines, tableOfRows } from '../grids/given/json-rows.ts'
import { columnsNow } from '../grids/given/match-columns.ts'
import {
  type DataCall,
  givenProvenance,
  mayChangeTypes,
  readingOptions,
  refuseWarnings,
} from '../grids/given/reading-options.ts'
import { storeTable, storeTables } from '../grids/given/tables.ts'
import { givenKey } from '../grids/keys/key.ts'
import { describeColumn } from '../grids/read/describe.ts'
import { previewed, previewOf } from '../grids/read/preview.ts'
import { Selection } from '../grids/read/selection.ts'
import type { Append } from '../grids/service.ts'
import { brokenPlots, brokenWarnings } from '../plots/lost.ts'
import { familyOf, orderOf } from '../store/schema/column-types.ts'
import { keyOf } from '../store/schema/primary-key.ts'
import type { Readers } from '../store/store.ts'
import { createColumns, deleteColumns, updateColumns } from './columns.ts'
import { gridContent } from './grids.content.ts'
import { gridDiff } from './grids.diff.ts'
import { importUrl, sourceOf } from './grids.import.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { appliedBefore, uploadedBefore } from './retries.ts'

/** Reads the grid in the path after checking access. Adds the entity tag. */
function reading<T>(
  service: Service,
  call: Call,
  work: (readers: Readers, found: AuthorizedFile) => Promise<T>,
): Promise<T & { etag: string }> {
  return service.store.read(async (readers) => {
    const found = await authorizeCall(readers, call)
    return { ...(await work(readers, found)), etag: etag(found.file) }
  })
}

export const gridHandlers = {
  'grids.create': async (service, call) => {
    const { fields } = call
    const { limits, store } = service
    const owner = call.caller!.username
    if (fields.filename !== undefined) checkFilename(fields.filename, limits)
    if (fields.data === undefined) return importUrl(service, call)
    const { columns: parts, metadata: inside } = await readGridData(fields.data, limits)
    const row = newRow({ ...fields, metadata: fields.metadata ?? inside }, limits)
    const columns = await storeArrays(store.blobs, owner, parts)
    // What was made; undefined if the request was applied before.
    let fresh: GridMeta | undefined
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
        ...row,
        source_fid: await readSourceFid(service, writers, fields.source_fid, call, 'grid'),
        ...sourceOf(fields),
      })
      const change = { operation: 'create' as const, by: owner, source: file.source_url }
      const uids = await addGrid(writers, file, columns, change)
      const made = columns.map(({ name, type }, k) => ({ name, type, uid: uids[k], position: k }))
      fresh = describeNew(service, file, made, Math.max(0, ...columns.map(({ rows }) => rows)))
      return { idlocal: file.idlocal }
    })
    if (fresh) return { body: { file: fresh, warnings: [] }, etag: etagOf(etag({ version: 1 }), fresh) }
    const made = await getFile(service, call, { owner, idlocal }, 'grid')
    return { body: { file: made.body, warnings: [] }, etag: made.etag }
  },

  'grids.upload': async (service, call) => {
    const owner = call.caller!.username
    const { idlocal, warnings, action, ...counts } = await upload(service, call)
    if (action === 'drafted')
      return draftBody(service, call, { owner, idlocal }, { warnings, action, ...counts })
    if (action === 'replaced') warnings.push(...(await warningsOfPlots(service, { owner, idlocal })))
    const made = await respondWithFile(service, call, { owner, idlocal })
    return { body: { file: made.body, warnings, action, ...counts }, etag: made.etag }
  },

  'grids.lookup': (service, call) => lookup(service, call, call.query, 'grid'),

  'grids.get': async (service, call) => {
    const { described, tag, snap } = await service.store.read(async (readers) => {
      const found = await authorizeCall(readers, call)
      return {
        described: await describe(service, readers, found, call),
        tag: etag(found.file),
        snap: await previewed(
          service.store,
          readers,
          call.fid,
          await rowOfVersion(readers, found, call.version),
        ),
      }
    })
    const body = { ...(described.body as GridMeta), preview: await previewOf(await trimmed(snap)) }
    return { body, etag: etagOf(tag, body) }
  },

  'grids.content': (service, call) => gridContent(service, call, call.query),

  'grids.diff': (service, call) => gridDiff(service, call),

  'grids.describe': async (service, call) => {
    const { columns: names, where } = call.query
    const selection = new Selection({ where })
    const { file, given } = await service.store.read(async (readers) => {
      const found = await authorizeCall(readers, call)
      const choose = names && byName([...new Set(names)])
      const row = await rowOfVersion(readers, found, call.version)
      const snap = await snapshotOf(service.store, readers, call.fid, row, (own) =>
        selection.columns(own, choose ? choose(own) : own),
      )
      return { file: found.file, given: snap }
    })
    const all = await trimmed(given)
    const snap = selection.printedOf(all)
    const head = { fid: formatFid(call.fid), filename: file.filename, row_count: snap.rows }
    return {
      body: { ...head, columns: [] },
      // All values are read: a few at once, and only as long as the client waits.
      later: (user, work) =>
        service.describing.run(
          user,
          async () => {
            const selected = await selection.select(service.orders, all, work)
            const rows = 'rows' in selected ? selected.rows : undefined
            const columns: ColumnDescription[] = []
            for (const column of snap.columns) columns.push(await describeColumn(snap, column, work, rows))
            return { body: { ...head, row_count: rows?.count ?? snap.rows, columns } }
          },
          work.gone,
        ),
    }
  },

  'rows.append': (service, call) => append(service, call),

  'columns.get': async (service, call) => {
    const { uid } = call.query
    const { snap, etag: tag } = await reading(service, call, async (readers, found) => ({
      snap: await snapshotOf(
        service.store,
        readers,
        call.fid,
        await rowOfVersion(readers, found, call.version),
        uid === undefined ? undefined : byUid(uidList(uid)),
      ),
    }))
    return { body: columnsJson(await trimmed(snap)), type: 'application/json', etag: tag }
  },

  'columns.create': async (service, call) => {
    await assertCanChange(service, call)
    const given = call.fields.cols
    if (given?.kind !== 'string')
      throw invalidField('cols', given ? 'must be a JSON-encoded array' : 'is missing')
    const cols = await parseRawInTurns(await textInTurns(given), 'cols', given.limits)
    const uids = await createColumns(service, call, cols)
    return writtenColumns(service, call, uids)
  },

  'columns.update': async (service, call) => {
    await assertCanChange(service, call)
    const given = call.fields.cols
    const cols =
      given.kind === 'string' ? await parseRawInTurns(await textInTurns(given), 'cols', given.limits) : given
    const uids = uidList(call.query.uid)
    await updateColumns(service, call, uids, cols)
    return writtenColumns(service, call, uids)
  },

  'columns.delete': async (service, call) => {
    await assertCanChange(service, call)
    await deleteColumns(service, call, uidList(call.query.uid))
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** Stores the file of a request where it asks for. */
async function upload(service: Service, call: OperationCall<'grids.upload'>): Promise<Written> {
  const { headers } = call
  const target: Target = {
    filename: gridName(call.fileName),
    parent: headers.Parent,
    parent_path: headers['Parent-Path'],
    world_readable: headers['World-Readable'] === true,
    onConflict: headers['On-Conflict'] ?? (headers.Draft === undefined ? 'rename' : 'replace'),
    source_tag: sourceTag(headers['Source-Tag']),
    provenance: givenProvenance(call),
  }
  checkFilename(target.filename, service.limits)
  const before = await uploadedBefore(service, call, target)
  return before ?? createOrUpdateGrids(service, call, await storeTables(service, call), target)
}

/** Appends the rows of a request. */
async function append(service: Service, call: OperationCall<'rows.append'>) {
  const { contentType } = call
  if (contentType === dataTypes.csv || contentType === dataTypes.tsv) {
    const read = async (readers: Readers) => ({
      columns: await columnsNow(readers, call.fid),
      grid: await readers.grids.get(call.fid.owner, call.fid.idlocal),
    })
    const now = await assertCanChange(service, call, read)
    // A retry of an append that was applied: its body is read to compare it.
    const before = now ? undefined : await appendedBefore(service, call)
    if (before) return appendedBody(call, before)
    const { columns, grid } = now ?? (await service.store.read(read))
    const key = keyOf(grid)
    const target = (name: string, position: number) =>
      call.headers.Header === false ? columns[position] : columns.find((one) => one.name === name)
    const reading = readingOptions(service, call)
    const options = {
      ...reading,
      keys: reading.keys ?? columns.flatMap(({ uid, name }) => (key.includes(uid) ? [name] : [])),
      ...(contentType === dataTypes.tsv ? { delimiter: '\t' } : {}),
      // Text files contain booleans as text: parse them as booleans for a boolean column.
      expected: (name: string, position: number) => {
        const family = familyOf(target(name, position)?.type ?? 'empty')
        // Texts stay as they are written, also if they look like dates.
        if (family === 'text') return family
        return family === 'boolean' && !mayChangeTypes(call) ? family : undefined
      },
      called: (position: number) => (call.headers.Header === false ? columns[position]?.name : undefined),
      // Dates are read as those before were.
      order: (name: string, position: number) => orderOf(target(name, position)?.type ?? 'empty'),
    }
    const table = await tableOf(service, call, options)
    if (!isRuled(call) && key.length === 0) refuseDeleteMissing(call)
    if (isRuled(call) || hasRules(grid))
      return appendedBody(call, await upsert(service, call, call.fid, table))
    return appendedBody(call, await appendTable(service, call, call.fid, table, columns))
  }
  const before = contentType === dataTypes.ndjson ? await appendedBefore(service, call) : undefined
  if (before) return appendedBody(call, before)
  const given =
    contentType === dataTypes.ndjson
      ? await rowsOfLines(service, call)
      : await rowsOf(call.fields.rows, service.limits.columns)
  const rows: Append = {
    fid: call.fid,
    principal: call,
    write: call.writeKey(call.fid.owner),
    ifMatch: call.ifMatch,
    message: call.message,
    // Clients of the old service may send any JSON value. Types of rows from files are checked.
    mayChangeTypes: call.headers['Allow-Type-Change'] ?? contentType !== dataTypes.ndjson,
    ...given,
  }
  const plan = () => upsertRows(service, call, given)
  if (call.headers['Delete-Missing'] || isRuled(call)) return appendedBody(call, await plan())
  if (given.bodies.length === 0) {
    await assertCanChange(service, call)
    return appendedBody(call, await appendNothing(service, call.fid))
  }
  return appendedBody(call, await appendRows(service, rows, plan))
}

/** The draft that an upload made, with the link that shows it. */
async function draftBody<T>(service: Service, call: DataCall, fid: Fid, done: T) {
  const draft = givenDraft(call)
  const { body, etag: tag } = await respondWithFile(service, { ...call, version: draft }, fid)
  const isOwn =
    (await service.store.read(({ drafts }) => drafts.get(fid.owner, fid.idlocal, draft!)))?.version === null
  const file = isOwn ? { ...body, draft } : { ...body, web_url: draftUrl(body.web_url, draft!) }
  return { body: { file, ...done }, etag: tag }
}

/** Warnings about plots that show columns which are gone from a grid. */
function warningsOfPlots({ store }: Service, grid: Fid): Promise<string[]> {
  return store.read(async (readers) => brokenWarnings(await brokenPlots(store, readers, grid)))
}

/** The table of a body. With `Strict`, its warnings are errors. */
async function tableOf(service: Service, call: DataCall, options: DelimitedOptions) {
  const table = await storeTable(service, call.fid.owner, call.bytes, options, true)
  refuseWarnings(call, table.warnings)
  return table
}

interface AppendedRows {
  rows_added: number
  row_count: number
  /** Absent in what was stored for retries before there were versions. */
  version?: number
  warnings?: string[]
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
  checks?: CheckReport
}

function appendedBody({ fid }: Call, done: AppendedRows) {
  const {
    rows_added,
    rows_updated,
    rows_unchanged,
    rows_removed,
    row_count,
    version,
    warnings = [],
    checks,
  } = done
  const byKey = rows_updated === undefined ? {} : { rows_updated, rows_unchanged, rows_removed }
  return { body: { fid: formatFid(fid), rows_added, ...byKey, row_count, version, warnings, checks } }
}

/** Whether the rows of a request are found by a key, or checked. */
function isRuled(call: DataCall): boolean {
  return givenKey(call) !== undefined || call.headers.Checks !== undefined
}

/** Updates and appends given rows by the key of the grid. */
async function upsertRows(
  service: Service,
  call: OperationCall<'rows.append'>,
  given: GivenRows,
): Promise<AppendedRows> {
  if (!(await assertCanChange(service, call))) {
    const before = await appendedBefore(service, call)
    if (before) return before
  }
  const { contentType, headers } = call
  const mayChange = headers['Allow-Type-Change'] ?? contentType !== dataTypes.ndjson
  const typed = { ...call, headers: { ...headers, 'Allow-Type-Change': mayChange } }
  return upsert(service, typed, call.fid, await tableOfRows(given), given.lacks)
}

function appendedBefore(service: Service, call: Call) {
  return appliedBefore<AppendedRows>(call, () => service.store.read((readers) => replayed(readers, call)))
}

function uidList(uids: string): string[] {
  return uids.split(',').map((uid) => uid.trim())
}

async function writtenColumns(service: Service, call: Call, uids: string[]) {
  return reading(service, call, async (readers, { file }) => {
    const columns = await readers.grids.columns(call.fid.owner, call.fid.idlocal)
    const cols = uids.flatMap((uid) => columns.filter((column) => column.uid === uid).map(columnMeta))
    if (cols.length === 0 && uids.length > 0) throw notFound('grid')
    return { body: { cols, version: file.content_version } }
  })
}

/** The Source-Tag header. Throws `invalid_request` if it is too long. */
function sourceTag(text: string | undefined): string | undefined {
  if (text !== undefined && text.length > 200)
    throw new Problem('invalid_request', `Source-Tag: ${text.length} characters; the limit is 200`)
  return text
}
