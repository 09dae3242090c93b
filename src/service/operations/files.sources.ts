// Lineage of plots and grids.
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { Limits } from '../../contract/limits.ts'
import { pathOf } from '../../contract/operations/index.ts'
import { type Relation, relations, type SourcesGraph } from '../../contract/resources/index.ts'
import { type AuthorizedFile, authorizeCall, resolveVisibleFiles } from '../access/access.ts'
import type { OperationCall } from '../core/call.ts'
import { createPage, formatPageUrl, ListCursors, type Position } from '../core/paging.ts'
import { FROM_QUERY } from '../store/aggregates/derivations.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { FileKey } from '../store/schema/file-key.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

/** Files per relation; `next` links to more. See docs/api.md#sources. */
const PAGE_FILES = 5
/** Related files read per query. Files that the caller may not see are skipped. */
const BATCH_FILES = 50
/** Maximum number of related files read for one page. */
const MAX_SCANNED_FILES = 2000

interface RelatedFile {
  /** Fid or URL. */
  id: string
  label: string
  metadata: Record<string, unknown>
}

interface Page {
  related: RelatedFile[]
  next?: FileKey
  previous?: FileKey
}

/** Relation → query for related files, paged by id. */
const QUERY_BY_RELATION: Partial<
  Record<
    Relation,
    (
      readers: Readers,
      file: FileRow,
      after: FileKey | undefined,
      backwards: boolean,
      limit: number,
    ) => Promise<FileRow[]>
  >
> = {
  child: ({ files }, file, after, backwards, limit) =>
    files.listCopies(formatFid(file), after, backwards, limit),
  'created plots': ({ plots }, file, after, backwards, limit) =>
    file.filetype === 'grid'
      ? plots.listReferencers(file, 'grid', after, backwards, limit)
      : Promise.resolve([]),
  boards: ({ plots }, file, after, backwards, limit) =>
    plots.listReferencers(file, 'item', after, backwards, limit),
  'derived grids': async ({ derivations, files }, file, after, backwards, limit) => {
    if (!file.feeds) return []
    const keys = await derivations.listDerived(file.owner, file.idlocal)
    return listPageOf(files, keys, after, backwards, limit)
  },
  'source grids': (readers, file, after, backwards, limit) =>
    file.filetype === 'plot' || file.derived === FROM_QUERY
      ? listReferences(readers, file, after, backwards, limit)
      : Promise.resolve([]),
  items: (readers, file, after, backwards, limit) =>
    file.filetype === 'dashboard'
      ? listReferences(readers, file, after, backwards, limit)
      : Promise.resolve([]),
  parent: async ({ files }, { source_fid }, after) => {
    const fid = after ? undefined : parseFid(source_fid ?? '')
    const row = fid && (await files.get(fid.owner, fid.idlocal))
    return row ? [row] : []
  },
}

/** Lists the files that a file refers to, except attachments. */
async function listReferences(
  { plots, files }: Readers,
  { owner, idlocal }: FileRow,
  after: FileKey | undefined,
  backwards: boolean,
  limit: number,
): Promise<FileRow[]> {
  const references = (await plots.listReferences(owner, [idlocal])).filter(({ kind }) => kind !== 'extra')
  const keys = references.map(({ to_owner, to_idlocal }) => ({ owner: to_owner, idlocal: to_idlocal }))
  return listPageOf(files, keys, after, backwards, limit)
}

/** Loads the files of a list of keys that come after a key, in order. */
async function listPageOf(
  files: Readers['files'],
  keys: FileKey[],
  after: FileKey | undefined,
  backwards: boolean,
  limit: number,
): Promise<FileRow[]> {
  const remaining = keys
    .filter((key) => !after || (backwards ? isKeyBefore(key, after) : isKeyBefore(after, key)))
    .sort((a, b) => (isKeyBefore(a, b) !== backwards ? -1 : 1))
  const rows = await files.listByKeys(remaining.slice(0, limit))
  return rows.sort((a, b) => (isKeyBefore(a, b) !== backwards ? -1 : 1))
}

function isKeyBefore(a: FileKey, b: FileKey): boolean {
  return a.owner < b.owner || (a.owner === b.owner && a.idlocal < b.idlocal)
}

const HAVE_SOURCES: ReadonlySet<FileRow['filetype']> = new Set(['grid', 'plot', 'dashboard'])

/** Loads what the caller sends about a file: a page of all alerts or mailings; undefined for other relations. */
async function loadMessages(
  { alerts, mailings }: Readers,
  { caller }: OperationCall<'files.sources'>,
  file: FileRow,
  relation: Relation,
  limits: Limits,
): Promise<Page | undefined> {
  if (relation !== 'alerts' && relation !== 'mailings') return undefined
  const toPage = (rows: { id: string; label: string }[]): Page => ({
    related: rows.map(({ id, label }) => ({ id: `${relation.slice(0, -1)}:${id}`, label, metadata: { id } })),
  })
  if (relation === 'alerts') {
    const rows = file.owner === caller?.username && file.filetype === 'grid' ? await alerts.list(file) : []
    if (rows.length === 0) return { related: [] }
    const { conditionOf, formatCondition } = await import('../grids/alerts/condition.ts')
    return toPage(
      rows.map((row) => ({
        id: row.id,
        label: `${formatCondition(conditionOf(row))}, to ${nameReceiver(row.receiver)}`,
      })),
    )
  }
  const all = caller ? await mailings.list(caller.username, limits.mailings) : []
  const rows = all.filter(
    ({ to_owner, to_idlocal }) => to_owner === file.owner && to_idlocal === file.idlocal,
  )
  if (rows.length === 0) return { related: [] }
  const { formatSchedule } = await import('../mailings/schedule.ts')
  return toPage(
    rows.map((row) => ({
      id: row.id,
      label: `${formatSchedule(row)}, to ${(JSON.parse(row.receivers) as string[]).join(', ')}`,
    })),
  )
}

/** Names a receiver: the path of a URL can be a secret. */
function nameReceiver(receiver: string): string {
  return URL.canParse(receiver) ? new URL(receiver).host : receiver
}

/** Loads inputs and derived files of a plot or grid, in JSON Graph Format. See docs/api.md#sources. */
export async function loadSources(
  service: Service,
  call: OperationCall<'files.sources'>,
): Promise<SourcesGraph> {
  const { relation, cursor } = call.query
  const cursorsOf = (relationName: string | undefined): ListCursors<FileKey> =>
    new ListCursors(service.cursors, `sources ${formatFid(call.fid)} ${relationName}`)
  const position = await cursorsOf(relation).parse(cursor)
  const { subject, pages } = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    if (!HAVE_SOURCES.has(access.file.filetype))
      throw new Problem('invalid_request', 'only plots, grids and boards have sources')
    const list: [Relation, Page][] = []
    for (const name of relation ? [relation] : relations)
      list.push([
        name,
        (await loadMessages(readers, call, access.file, name, service.limits)) ??
          (await loadPage(readers, call, access, name, position)),
      ])
    return { subject: access.file, pages: list }
  })
  const id = formatFid(subject)
  const nodes: SourcesGraph['graph']['nodes'] = {
    [id]: { label: subject.filename, metadata: formatNodeMetadata(subject) },
  }
  const edges: SourcesGraph['graph']['edges'] = []
  const connect = (target: string, name: string): void => {
    edges.push({ source: id, target, relation: name, directed: true })
  }
  for (const [name, { related, next, previous }] of pages) {
    for (const file of related) {
      nodes[file.id] ??= { label: file.label, metadata: file.metadata }
      connect(file.id, name)
    }
    for (const [label, key] of [
      ['next', next],
      ['prev', previous],
    ] as const) {
      if (!key) continue
      const cursorOfPage = await cursorsOf(name).format(key, label === 'prev')
      const node = `${label}:${name}`
      nodes[node] = {
        label,
        metadata: {
          relation: name,
          url: formatPageUrl(service.url, pathOf('files.sources', id), {
            relation: name,
            cursor: cursorOfPage,
          }),
        },
      }
      connect(node, name)
    }
  }
  return {
    graph: { id, type: 'sources', label: `Sources of ${subject.filename}`, directed: true, nodes, edges },
  }
}

/** Loads one page of related files that the caller may see. */
async function loadPage(
  readers: Readers,
  call: OperationCall<'files.sources'>,
  { file }: AuthorizedFile,
  relation: Relation,
  from: Position<FileKey> | undefined,
): Promise<Page> {
  if (relation === 'source URL') {
    const { source_url: url } = file
    return { related: url === null ? [] : [{ id: url, label: url, metadata: { filetype: 'url', url } }] }
  }
  const rows: FileRow[] = []
  let after = from?.key
  for (let scanned = 0; rows.length <= PAGE_FILES && scanned < MAX_SCANNED_FILES; ) {
    const batch = await QUERY_BY_RELATION[relation]!(
      readers,
      file,
      after,
      from?.backwards === true,
      BATCH_FILES,
    )
    const visible = await resolveVisibleFiles(readers, batch, call)
    for (const [k, row] of batch.entries()) {
      if (rows.length <= PAGE_FILES && visible[k]) rows.push(row)
      after = { owner: row.owner, idlocal: row.idlocal }
    }
    scanned += batch.length
    if (batch.length < BATCH_FILES) break
  }
  const { items, next, previous } = createPage(rows, PAGE_FILES, from)
  return {
    related: items.map((row) => ({
      id: formatFid(row),
      label: row.filename,
      metadata: formatNodeMetadata(row),
    })),
    next: next && toKey(next),
    previous: previous && toKey(previous),
  }
}

function toKey({ owner, idlocal }: Fid): FileKey {
  return { owner, idlocal }
}

function formatNodeMetadata(file: FileRow): Record<string, unknown> {
  return { fid: formatFid(file), filetype: file.filetype, owner: file.owner }
}
