import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import { type Relation, relations, type SourcesGraph } from '../../contract/resources/index.ts'
import { type AuthorizedFile, authorizeCall, visibleFiles } from '../access/access.ts'
import type { OperationCall } from '../core/call.ts'
import { ListCursors, type Position, pageOf, pageUrl } from '../core/paging.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Key } from '../store/schema/keys.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

/** Files shown per relation; `next` links to more. See docs/api.md#sources. */
const SHOWN = 5
/** Batch size for reading related files. Files that the caller may not see are skipped. */
const BATCH_FILES = 50
const MAX_FILES = 2000

interface Related {
  /** A fid or a URL. */
  id: string
  label: string
  metadata: Record<string, unknown>
}

interface Page {
  related: Related[]
  next?: Key
  previous?: Key
}

/** Relation → query for related files in the store, paged by id. */
const readersOf: Partial<
  Record<
    Relation,
    (
      readers: Readers,
      file: FileRow,
      after: Key | undefined,
      backwards: boolean,
      limit: number,
    ) => Promise<FileRow[]>
  >
> = {
  child: ({ files }, file, after, backwards, limit) =>
    files.copiesOf(formatFid(file), after, backwards, limit),
  'created plots': ({ plots }, file, after, backwards, limit) =>
    file.filetype === 'grid'
      ? plots.referencersOf(file, 'grid', after, backwards, limit)
      : Promise.resolve([]),
  'source grids': async ({ plots, files }, file, after, backwards, limit) => {
    if (file.filetype !== 'plot') return []
    const references = (await plots.referencesOf(file.owner, [file.idlocal])).filter(
      ({ kind }) => kind === 'grid',
    )
    const keys = references.map(({ to_owner, to_idlocal }) => ({ owner: to_owner, idlocal: to_idlocal }))
    if (backwards) keys.reverse()
    const beyond = keys.filter((key) => !after || (backwards ? before(key, after) : before(after, key)))
    const rows = await files.getMany(beyond.slice(0, limit))
    return rows.sort((a, b) => (before(a, b) !== backwards ? -1 : 1))
  },
  parent: async ({ files }, { source_fid }, after) => {
    if (source_fid === null || after) return []
    const [, owner, idlocal] = /^(.*):(.*)$/.exec(source_fid)!
    const row = await files.get(owner, Number(idlocal))
    return row ? [row] : []
  },
}

function before(a: Key, b: Key): boolean {
  return a.owner < b.owner || (a.owner === b.owner && a.idlocal < b.idlocal)
}

/** The lineage of a plot or grid (inputs and derived files) in JSON Graph Format. See docs/api.md#sources. */
export async function sourcesOf(
  service: Service,
  call: OperationCall<'files.sources'>,
): Promise<SourcesGraph> {
  const { relation, cursor } = call.query
  const cursorsOf = (one: string | undefined): ListCursors<Key> =>
    new ListCursors(service.cursors, `sources ${formatFid(call.fid)} ${one}`)
  const position = await cursorsOf(relation).position(cursor)
  const { subject, pages } = await service.store.read(async (readers) => {
    const found = await authorizeCall(readers, call)
    if (found.file.filetype !== 'grid' && found.file.filetype !== 'plot')
      throw new Problem('invalid_request', 'only plots and grids have sources')
    const list: [Relation, Page][] = []
    for (const one of relation ? [relation] : relations)
      list.push([one, await page(readers, call, found, one, position)])
    return { subject: found.file, pages: list }
  })
  const id = formatFid(subject)
  const nodes: SourcesGraph['graph']['nodes'] = {
    [id]: { label: subject.filename, metadata: about(subject) },
  }
  const edges: SourcesGraph['graph']['edges'] = []
  const connect = (target: string, name: string): void => {
    edges.push({ source: id, target, relation: name, directed: true })
  }
  for (const [name, { related, next, previous }] of pages) {
    for (const one of related) {
      nodes[one.id] ??= { label: one.label, metadata: one.metadata }
      connect(one.id, name)
    }
    for (const [label, key] of [
      ['next', next],
      ['prev', previous],
    ] as const) {
      if (!key) continue
      const cursorOfPage = await cursorsOf(name).cursor(key, label === 'prev')
      const node = `${label}:${name}`
      nodes[node] = {
        label,
        metadata: {
          relation: name,
          url: pageUrl(service.url, pathOf('files.sources', id), { relation: name, cursor: cursorOfPage }),
        },
      }
      connect(node, name)
    }
  }
  return {
    graph: { id, type: 'sources', label: `Sources of ${subject.filename}`, directed: true, nodes, edges },
  }
}

async function page(
  readers: Readers,
  call: OperationCall<'files.sources'>,
  { file }: AuthorizedFile,
  relation: Relation,
  from: Position<Key> | undefined,
): Promise<Page> {
  if (relation === 'source URL') {
    const { source_url: url } = file
    return { related: url === null ? [] : [{ id: url, label: url, metadata: { filetype: 'url', url } }] }
  }
  const rows: FileRow[] = []
  let after = from?.key
  for (let seen = 0; rows.length <= SHOWN && seen < MAX_FILES; ) {
    const batch = await readersOf[relation]!(readers, file, after, from?.backwards === true, BATCH_FILES)
    const visible = await visibleFiles(readers, batch, call)
    for (const [k, row] of batch.entries()) {
      if (rows.length <= SHOWN && visible[k]) rows.push(row)
      after = { owner: row.owner, idlocal: row.idlocal }
    }
    seen += batch.length
    if (batch.length < BATCH_FILES) break
  }
  const { items, next, previous } = pageOf(rows, SHOWN, from)
  return {
    related: items.map((row) => ({ id: formatFid(row), label: row.filename, metadata: about(row) })),
    next: next && keyOf(next),
    previous: previous && keyOf(previous),
  }
}

function keyOf({ owner, idlocal }: Fid): Key {
  return { owner, idlocal }
}

function about(file: FileRow): Record<string, unknown> {
  return { fid: formatFid(file), filetype: file.filetype, owner: file.owner }
}
