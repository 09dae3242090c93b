/** Refreshes grids from URLs. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, ROOT } from '../../contract/fid.ts'
import { excerpt } from '../../json/index.ts'
import type { Service } from '../core/context.ts'
import type { RefreshOptions } from '../derivations/refresh.ts'
import { replaceGrid } from '../grids/change/save-grid.ts'
import { nounOf } from '../grids/column/type-names.ts'
import { loadGrid } from '../grids/input/match-columns.ts'
import { allowsTypeChange, type DataCall, parseColumnTypes } from '../grids/input/reading-options.ts'
import { storeTables, type Table } from '../grids/input/tables.ts'
import type { GridService } from '../grids/service.ts'
import type { UrlImport, Validators } from '../import/fetch.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { UrlRefreshRow } from '../store/aggregates/url-refreshes.ts'
import { dayOrderOf, familyOf } from '../store/schema/column-types.ts'
import type { Writers } from '../store/store.ts'

/** The parts of the service that a refresh needs. */
export interface UrlRefreshService extends Service, GridService {
  urlImport: UrlImport | undefined
}

/** The grid has another source than when the request was made, or none. */
class SourceChanged extends Error {}

/** Errors of this moment, after which the refresh is tried again soon. */
const TEMPORARY: ReadonlySet<Problem['code']> = new Set(['overloaded', 'aborted'])

/** The source of a refresh. */
export type UrlSource = Pick<UrlRefreshRow, 'owner' | 'idlocal' | 'url' | 'etag' | 'last_modified'> & {
  /** Options of reading. */
  headers: DataCall['headers']
}

/**
 * Refreshes a grid from its URL. If that fails, the content stays, and the error is recorded. Returns the row;
 * undefined if the grid is gone, or is not refreshed any more. Throws errors that may not occur again.
 */
export async function refreshFromUrl(
  service: UrlRefreshService,
  { owner, idlocal }: Fid,
  { renew }: RefreshOptions,
): Promise<UrlRefreshRow | undefined> {
  const { store } = service
  const row = await store.read(({ urlRefreshes }) => urlRefreshes.get(owner, idlocal))
  if (!row) return undefined
  const record = (fields: Partial<UrlRefreshRow>): Promise<void> =>
    store.write([owner], async (writers) => {
      await renew?.(writers)
      await writers.urlRefreshes.change(row, fields)
      // Alerts trust no grid whose refresh fails.
      if (fields.error === row.error) return
      const { has_alerts } = await writers.grids.get(owner, idlocal)
      if (has_alerts === 1) await writers.jobs.scheduleJudgement(row)
    })
  const assertSame = async ({ urlRefreshes }: Writers): Promise<void> => {
    const current = await urlRefreshes.get(owner, idlocal)
    if (current?.revision !== row.revision) throw new SourceChanged()
  }
  try {
    const validators = await fetchContent(service, { ...row, headers: JSON.parse(row.headers) }, assertSame)
    await record({ ...validators, refreshed_at: Date.now(), error: null, failed_at: null })
  } catch (error) {
    if (error instanceof SourceChanged)
      return store.read(({ urlRefreshes }) => urlRefreshes.get(owner, idlocal))
    if (!(error instanceof Problem) || TEMPORARY.has(error.code)) throw error
    const { code, message, hint } = error
    await record({
      error: JSON.stringify({ code, detail: message, hint }),
      failed_at: row.failed_at ?? Date.now(),
    })
  }
  return row
}

/**
 * Replaces the content of a grid by the file at a URL, unless it has not changed. Checks and key of the grid apply.
 * `refresh` runs in the transaction of the change. Returns the validators of the response.
 */
export async function fetchContent(
  service: UrlRefreshService,
  source: UrlSource,
  refresh: (writers: Writers, file: FileRow, validators: Validators) => Promise<void>,
): Promise<Validators> {
  const { owner, idlocal, url } = source
  if (!service.urlImport)
    throw new Problem('forbidden', 'URL import is disabled on this server', {
      hint: 'Its operator can enable it with: gridline serve --allow-url-import',
    })
  const fetched = await service.urlImport.openIfChanged(url, service.limits, source)
  if (!fetched) return { etag: source.etag, last_modified: source.last_modified }
  const call = createCall(source, fetched)
  const { columns } = await service.store.read((readers) => loadGrid(readers, call.fid))
  // Dates of the first days of a month do not tell it.
  const { tables } = await storeTables(service, call, {
    order: (name) => dayOrderOf(typeOf(columns, name)),
    isNumber: (name) => typeOf(columns, name) === 'number',
  })
  if (tables.length !== 1)
    throw new Problem('bad_data', `${url}: ${tables.length} tables; a grid is refreshed from one`)
  checkTypes(call, tables[0].table, columns)
  const validators = { etag: fetched.etag, last_modified: fetched.last_modified }
  const replacing = replaceGrid(service, call, { owner, idlocal }, tables[0].table, {
    ...{ filename: '', parent: ROOT, world_readable: false },
    ...{
      onConflict: 'replace',
      provenance: url.slice(0, MAX_SOURCE_CHARACTERS),
      refresh: (writers, file) => refresh(writers, file, validators),
    },
  })
  await replacing.catch((error) => {
    if (!(error instanceof Problem) || !(error.code in LOSS_HINTS)) throw error
    const hint = LOSS_HINTS[error.code as keyof typeof LOSS_HINTS]
    throw new Problem(error.code, error.message, { hint })
  })
  return validators
}

/**
 * Throws `type_change` if a column would become text, unless the request allows it or names the type: nobody reads the
 * warnings of a refresh, and charts would leave out its values.
 */
function checkTypes(call: DataCall, table: Table, columns: readonly ColumnRow[]): void {
  if (allowsTypeChange(call)) return
  const given = parseColumnTypes(call.headers.Columns)
  for (const { name, type, seen } of table.columns) {
    const before = typeOf(columns, name)
    if (!TEXTS.has(familyOf(type)) || TEXTS.has(familyOf(before)) || before === 'empty' || given?.has(name))
      continue
    const first = seen?.find((value) => value.type === 'text')
    const what = first
      ? `${first.where}, column ${name}: ${excerpt(first.text)} is text`
      : `column ${name} holds ${nounOf(type)}`
    throw new Problem('type_change', `${what}, and the column of the grid holds ${nounOf(before)}`, {
      field: name,
      hint: 'Set the URL again: with --null TEXT for texts that stand for empty cells, or with --allow-type-change.',
    })
  }
}

function typeOf(columns: readonly ColumnRow[], name: string): ColumnRow['type'] {
  return columns.find((column) => column.name === name)?.type ?? 'empty'
}

const TEXTS: ReadonlySet<string> = new Set(['text', 'json'])

/** Hints for a file with fewer columns or rows that is right. */
const LOSS_HINTS = {
  column_loss: 'If that is right, set the URL again with --yes.',
  row_loss: 'If that is right, set the URL again with --yes; for later files too, with --max-shrink 100%.',
}

/** Part of the rows that a refresh may lose, in percent, unless the owner has chosen another. */
const MAX_SHRINK_PERCENT = 50
/** Maximum length of a URL in the history. */
const MAX_SOURCE_CHARACTERS = 500

/** Creates the call of an upload by the owner of a grid. */
function createCall(
  { owner, idlocal, headers }: UrlSource,
  { bytes, fileName }: { bytes: DataCall['bytes']; fileName: string },
): DataCall {
  return {
    operation: 'grids.upload',
    caller: { username: owner, scopes: new Set(['read', 'write']), isAdmin: false, expiresAt: null },
    fid: { owner, idlocal },
    filetype: 'grid',
    name: '',
    shareKey: undefined,
    version: undefined,
    bytes,
    contentType: 'application/octet-stream',
    fileName,
    ifMatch: undefined,
    trace: undefined,
    message: undefined,
    headers: { 'Max-Shrink': MAX_SHRINK_PERCENT, 'Allow-Column-Loss': false, ...headers },
    writeKey: (of) => ({
      owner: of,
      caller: owner,
      key: undefined,
      operation: 'grids.upload',
      fingerprint: '',
    }),
  }
}
