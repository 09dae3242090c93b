// Handlers of grids, rows and columns.
import { invalidField, Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { gridNameOf } from '../../contract/formats.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { ColumnDescription, GridMeta } from '../../contract/resources/index.ts'
import type { DelimitedOptions } from '../../ingest/index.ts'
import { decodeStringAsync, parseRawAsync } from '../../json/index.ts'
import { type AuthorizedFile, authorizeCall, notFound } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { etagWithBody, fileEtag } from '../core/etag.ts'
import { formatDraftUrl } from '../files/drafts.ts'
import { formatColumnMeta, formatNewGridMeta, loadMeta } from '../files/meta.ts'
import { checkFilename, findFreeName, nameTaken, resolveDestination } from '../files/names.ts'
import { createRowFields, resolveSourceFid } from '../files/new-file.ts'
import { checkCanChange, findReplay, getFile, lookUpFile, respondWithFile } from '../files/read.ts'
import { loadVersionRow } from '../files/versions.ts'
import { hasRules } from '../grids/change/append/request.ts'
import { appendRows } from '../grids/change/append/rows.ts'
import { appendTable, loadAppendOfNothing } from '../grids/change/append/table.ts'
import { addGrid, parseGridData, storeColumnArrays } from '../grids/change/create.ts'
import { parseDraftName } from '../grids/change/drafts.ts'
import type { UploadResult, UploadTarget } from '../grids/change/save-grid.ts'
import { saveTables } from '../grids/change/save-tables.ts'
import { checkNoDeleteMissing, type UpsertResult, upsert } from '../grids/change/upsert.ts'
import { selectByName, selectByUid, streamColumnsJson, trimSnapshot } from '../grids/column/snapshot.ts'
import { type JsonRows, parseJsonRows, readNdjsonRows, toTable } from '../grids/input/json-rows.ts'
import { loadColumns } from '../grids/input/match-columns.ts'
import {
  allowsTypeChange,
  checkWarnings,
  type DataCall,
  parseProvenance,
  parseReadingOptions,
} from '../grids/input/reading-options.ts'
import { storeTable, storeTables } from '../grids/input/tables.ts'
import { parseKeyHeader } from '../grids/keys/primary-key.ts'
import { describeColumn } from '../grids/read/describe.ts'
import { loadPreviewSnapshot, readPreview } from '../grids/read/preview.ts'
import { Selection } from '../grids/read/selection.ts'
import type { Append } from '../grids/service.ts'
import { findBrokenPlots, formatBrokenWarnings } from '../plots/broken-plots.ts'
import { dayOrderOf, familyOf } from '../store/schema/column-types.ts'
import { primaryKeyUidsOf } from '../store/schema/primary-key.ts'
import type { Readers } from '../store/store.ts'
import { createColumns, deleteColumns, updateColumns } from './columns.ts'
import { loadGridContent, takeRequestedSnapshot } from './grids.content.ts'
import { diffGrid } from './grids.diff.ts'
import { importFromUrl, parseSource } from './grids.import.ts'
import { analyze, type Handlers, type OperationService as Service } from './handler.ts'
import { findStreamedReplay, findUploadReplay } from './upload-replay.ts'

/** Reads the grid in the path after checking access. Adds the entity tag to the result. */
function readGrid<T>(
  service: Service,
  call: Call,
  work: (readers: Readers, access: AuthorizedFile) => Promise<T>,
): Promise<T & { etag: string }> {
  return service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    return { ...(await work(readers, access)), etag: fileEtag(access.file) }
  })
}

export const gridHandlers = {
  'grids.create': async (service, call) => {
    const { fields } = call
    const { limits, store } = service
    const owner = call.caller!.username
    if (fields.filename !== undefined) checkFilename(fields.filename, limits)
    if (fields.data === undefined) return importFromUrl(service, call)
    const { columns: parts, metadata: dataMetadata } = await parseGridData(fields.data, limits)
    const row = createRowFields({ ...fields, metadata: fields.metadata ?? dataMetadata }, limits)
    const columns = await storeColumnArrays(store.blobs, owner, parts)
    // The created grid; undefined for a retry.
    let created: GridMeta | undefined
    const { idlocal } = await store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await resolveDestination(writers, owner, fields, limits)
      if (fields.filename !== undefined && (await writers.files.findByName(owner, parent, fields.filename))) {
        throw nameTaken(fields.filename)
      }
      const file = await writers.files.add({
        owner,
        filetype: 'grid',
        filename:
          fields.filename ?? (await findFreeName(writers.files, owner, parent, gridNameOf(undefined))),
        parent,
        ...row,
        source_fid: await resolveSourceFid(service, writers, fields.source_fid, call, 'grid'),
        ...parseSource(fields),
      })
      const change = { operation: 'create' as const, by: owner, source: file.source_url }
      const uids = await addGrid(writers, file, columns, change)
      const formatted = columns.map(({ name, type }, k) => ({ name, type, uid: uids[k], position: k }))
      created = formatNewGridMeta(service, file, formatted, Math.max(0, ...columns.map(({ rows }) => rows)))
      return { idlocal: file.idlocal }
    })
    if (created)
      return { body: { file: created, warnings: [] }, etag: etagWithBody(fileEtag({ version: 1 }), created) }
    const existing = await getFile(service, call, { owner, idlocal }, 'grid')
    return { body: { file: existing.body, warnings: [] }, etag: existing.etag }
  },

  'grids.upload': async (service, call) => {
    const owner = call.caller!.username
    const { idlocal, warnings, action, ...counts } = await upload(service, call)
    if (action === 'drafted')
      return formatDraftResponse(service, call, { owner, idlocal }, { warnings, action, ...counts })
    if (action === 'replaced') warnings.push(...(await loadPlotWarnings(service, { owner, idlocal })))
    const response = await respondWithFile(service, call, { owner, idlocal })
    return { body: { file: response.body, warnings, action, ...counts }, etag: response.etag }
  },

  'grids.lookup': (service, call) => lookUpFile(service, call, call.query, 'grid'),

  'grids.get': async (service, call) => {
    const { described, tag, snap } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      return {
        described: await loadMeta(service, readers, access, call),
        tag: fileEtag(access.file),
        snap: await loadPreviewSnapshot(
          service.store,
          readers,
          call.fid,
          await loadVersionRow(readers, access, call.version),
        ),
      }
    })
    const body = { ...(described.body as GridMeta), preview: await readPreview(await trimSnapshot(snap)) }
    return { body, etag: etagWithBody(tag, body) }
  },

  'grids.content': (service, call) => loadGridContent(service, call, call.query),

  'grids.diff': (service, call) => diffGrid(service, call),

  'grids.describe': async (service, call) => {
    const { columns: names, where } = call.query
    const selection = new Selection({ where })
    const { file, given: loaded } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const choose = names && selectByName([...new Set(names)])
      const snap = await takeRequestedSnapshot(service, readers, access, call, (columns) =>
        selection.bind(columns, choose ? choose(columns) : columns),
      )
      return { file: access.file, given: snap }
    })
    const snapshot = await trimSnapshot(loaded)
    const selectedColumns = selection.printedSnapshot(snapshot)
    const common = { fid: formatFid(call.fid), filename: file.filename, row_count: selectedColumns.rows }
    return {
      body: { ...common, columns: [] },
      createBody: analyze(service, async (work) => {
        const selected = await selection.select(service.orders, snapshot, work)
        const rows = 'rows' in selected ? selected.rows : undefined
        const columns: ColumnDescription[] = []
        for (const column of selectedColumns.columns)
          columns.push(await describeColumn(selectedColumns, column, work, rows))
        return { body: { ...common, row_count: rows?.count ?? selectedColumns.rows, columns } }
      }),
    }
  },

  'rows.append': (service, call) => append(service, call),

  'columns.get': async (service, call) => {
    const { uid } = call.query
    const choose = uid === undefined ? undefined : selectByUid(parseUids(uid))
    const { snap, etag: tag } = await readGrid(service, call, async (readers, access) => ({
      snap: await takeRequestedSnapshot(service, readers, access, call, choose),
    }))
    return { body: streamColumnsJson(await trimSnapshot(snap)), type: 'application/json', etag: tag }
  },

  'columns.create': async (service, call) => {
    await checkCanChange(service, call)
    const json = call.fields.cols
    if (json?.kind !== 'string')
      throw invalidField('cols', json ? 'must be a JSON-encoded array' : 'is missing')
    const cols = await parseRawAsync(await decodeStringAsync(json), 'cols', json.limits)
    const uids = await createColumns(service, call, cols)
    return formatWrittenColumns(service, call, uids)
  },

  'columns.update': async (service, call) => {
    await checkCanChange(service, call)
    const json = call.fields.cols
    const cols =
      json.kind === 'string' ? await parseRawAsync(await decodeStringAsync(json), 'cols', json.limits) : json
    const uids = parseUids(call.query.uid)
    await updateColumns(service, call, uids, cols)
    return formatWrittenColumns(service, call, uids)
  },

  'columns.delete': async (service, call) => {
    await checkCanChange(service, call)
    await deleteColumns(service, call, parseUids(call.query.uid))
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** Stores the file of a request in the folder and grid that its headers name. */
async function upload(service: Service, call: OperationCall<'grids.upload'>): Promise<UploadResult> {
  const { headers } = call
  const target: UploadTarget = {
    filename: gridNameOf(call.fileName),
    parent: headers.Parent,
    parent_path: headers['Parent-Path'],
    world_readable: headers['World-Readable'] === true,
    onConflict: headers['On-Conflict'] ?? (headers.Draft === undefined ? 'rename' : 'replace'),
    source_tag: checkSourceTag(headers['Source-Tag']),
    provenance: parseProvenance(call),
  }
  checkFilename(target.filename, service.limits)
  const replay = await findUploadReplay(service, call, target)
  return replay ?? saveTables(service, call, await storeTables(service, call), target)
}

/** Appends the rows of a request. */
async function append(service: Service, call: OperationCall<'rows.append'>) {
  const { contentType } = call
  if (contentType === dataTypes.csv || contentType === dataTypes.tsv) {
    const read = async (readers: Readers) => ({
      columns: await loadColumns(readers, call.fid),
      grid: await readers.grids.get(call.fid.owner, call.fid.idlocal),
    })
    const current = await checkCanChange(service, call, read)
    // A retry of an applied append: its body is read to compare it.
    const replay = current ? undefined : await findAppendReplay(service, call)
    if (replay) return formatAppendResponse(call, replay)
    const { columns, grid } = current ?? (await service.store.read(read))
    const key = primaryKeyUidsOf(grid)
    const targetColumn = (name: string, position: number) =>
      call.headers.Header === false ? columns[position] : columns.find((column) => column.name === name)
    const reading = parseReadingOptions(service, call)
    const options = {
      ...reading,
      keys: reading.keys ?? columns.flatMap(({ uid, name }) => (key.includes(uid) ? [name] : [])),
      ...(contentType === dataTypes.tsv ? { delimiter: '\t' } : {}),
      // CSV and TSV hold booleans as text: parse them as booleans for a boolean column.
      expected: (name: string, position: number) => {
        const family = familyOf(targetColumn(name, position)?.type ?? 'empty')
        // Texts stay as written, even if they look like dates.
        if (family === 'text') return family
        return family === 'boolean' && !allowsTypeChange(call) ? family : undefined
      },
      targetName: (position: number) => (call.headers.Header === false ? columns[position]?.name : undefined),
      // Dates are read in the day and month order of the existing values.
      order: (name: string, position: number) => dayOrderOf(targetColumn(name, position)?.type ?? 'empty'),
    }
    const table = await readTable(service, call, options)
    if (!hasKeyOrChecks(call) && key.length === 0) checkNoDeleteMissing(call)
    if (hasKeyOrChecks(call) || hasRules(grid))
      return formatAppendResponse(call, await upsert(service, call, call.fid, table))
    return formatAppendResponse(call, await appendTable(service, call, call.fid, table, columns))
  }
  const replay = contentType === dataTypes.ndjson ? await findAppendReplay(service, call) : undefined
  if (replay) return formatAppendResponse(call, replay)
  const parsed =
    contentType === dataTypes.ndjson
      ? await readNdjsonRows(service, call)
      : await parseJsonRows(call.fields.rows, service.limits.columns)
  const rows: Append = {
    fid: call.fid,
    principal: call,
    write: call.writeKey(call.fid.owner),
    ifMatch: call.ifMatch,
    message: call.message,
    // Clients of the old service may send values of any type. Types of rows from files are checked.
    mayChangeTypes: call.headers['Allow-Type-Change'] ?? contentType !== dataTypes.ndjson,
    ...parsed,
  }
  const plan = () => upsertRows(service, call, parsed)
  if (call.headers['Delete-Missing'] || hasKeyOrChecks(call)) return formatAppendResponse(call, await plan())
  if (parsed.bodies.length === 0) {
    await checkCanChange(service, call)
    return formatAppendResponse(call, await loadAppendOfNothing(service, call.fid))
  }
  return formatAppendResponse(call, await appendRows(service, rows, plan))
}

/** Returns the response to an upload that created a draft, with the link that shows it. */
async function formatDraftResponse<T>(service: Service, call: DataCall, fid: Fid, outcome: T) {
  const draft = parseDraftName(call)
  const { body, etag: tag } = await respondWithFile(service, { ...call, version: draft }, fid)
  const isDraftGrid =
    (await service.store.read(({ drafts }) => drafts.get(fid.owner, fid.idlocal, draft!)))?.version === null
  const file = isDraftGrid ? { ...body, draft } : { ...body, web_url: formatDraftUrl(body.web_url, draft!) }
  return { body: { file, ...outcome }, etag: tag }
}

/** Returns warnings about plots that show removed columns of a grid. */
function loadPlotWarnings({ store }: Service, grid: Fid): Promise<string[]> {
  return store.read(async (readers) => formatBrokenWarnings(await findBrokenPlots(store, readers, grid)))
}

/** Parses and stores the table of a body. With `Strict`, its warnings are errors. */
async function readTable(service: Service, call: DataCall, options: DelimitedOptions) {
  const table = await storeTable(service, call.fid.owner, call.bytes, options, true)
  checkWarnings(call, table.warnings)
  return table
}

/** Result of an append. `version` is undefined in results that were stored before versions existed. */
type AppendedRows = Partial<UpsertResult> & Pick<UpsertResult, 'rows_added' | 'row_count'>

function formatAppendResponse({ fid }: Call, appended: AppendedRows) {
  const {
    rows_added,
    rows_updated,
    rows_unchanged,
    rows_removed,
    row_count,
    version,
    warnings = [],
    checks,
  } = appended
  const byKey = rows_updated === undefined ? {} : { rows_updated, rows_unchanged, rows_removed }
  return { body: { fid: formatFid(fid), rows_added, ...byKey, row_count, version, warnings, checks } }
}

/** Returns whether the rows of a request are matched by key, or checked. */
function hasKeyOrChecks(call: DataCall): boolean {
  return parseKeyHeader(call) !== undefined || call.headers.Checks !== undefined
}

/** Upserts JSON rows by the grid's key. */
async function upsertRows(
  service: Service,
  call: OperationCall<'rows.append'>,
  rows: JsonRows,
): Promise<AppendedRows> {
  if (!(await checkCanChange(service, call))) {
    const replay = await findAppendReplay(service, call)
    if (replay) return replay
  }
  const { contentType, headers } = call
  const mayChange = headers['Allow-Type-Change'] ?? contentType !== dataTypes.ndjson
  const typed = { ...call, headers: { ...headers, 'Allow-Type-Change': mayChange } }
  return upsert(service, typed, call.fid, await toTable(rows), rows.isMissing)
}

function findAppendReplay(service: Service, call: Call) {
  return findStreamedReplay<AppendedRows>(call, () =>
    service.store.read((readers) => findReplay(readers, call)),
  )
}

function parseUids(uids: string): string[] {
  return uids.split(',').map((uid) => uid.trim())
}

async function formatWrittenColumns(service: Service, call: Call, uids: string[]) {
  return readGrid(service, call, async (readers, { file }) => {
    const columns = await readers.grids.listColumns(call.fid.owner, call.fid.idlocal)
    const cols = uids.flatMap((uid) => columns.filter((column) => column.uid === uid).map(formatColumnMeta))
    if (cols.length === 0 && uids.length > 0) throw notFound('grid')
    return { body: { cols, version: file.content_version } }
  })
}

/** Returns the Source-Tag header. Throws `invalid_request` if it is too long. */
function checkSourceTag(text: string | undefined): string | undefined {
  if (text !== undefined && text.length > 200)
    throw new Problem('invalid_request', `Source-Tag: ${text.length} characters; the limit is 200`)
  return text
}
