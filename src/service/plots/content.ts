import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import type { QueryOf } from '../../contract/operations/index.ts'
import { acceptedBefore, type Bytes, parseRaw, RawJson } from '../../json/index.ts'
import { asOwner, authorizeCall, type Principal, visibleFile, visibleFileById } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { etag } from '../core/etag.ts'
import { columnText, type Snapshot, type SnapshotColumn, snapshot } from '../grids/content.ts'
import { arrays, rowsAs } from '../grids/rows.ts'
import type { Readers } from '../store/store.ts'
import { loadText } from '../store/texts.ts'
import { isTransposed } from './data-attributes.ts'
import { referencesOf, withData } from './figure.ts'
import { type Reference, type Source, scanFigure } from './scan.ts'

/**
 * The figure of a plot. `inline_data` adds the data next to each reference; `map_data=unreadable` adds the
 * data of grids that the caller may not read, keyed by reference. Reading a plot includes the data it shows:
 * what its owner may currently read of the grids. See docs/api.md#plot-references.
 */
export async function figureContent(
  service: Service,
  call: Call,
  { inline_data, map_data }: QueryOf<'plots.content'>,
): Promise<OperationResult<Bytes>> {
  const { store } = service
  const { content, tag, owner } = await store.read(async (readers) => {
    const { file } = await authorizeCall(readers, call)
    return {
      content: await readers.plots.content(file.owner, file.idlocal),
      tag: etag(file),
      owner: file.owner,
    }
  })
  if (!content) throw new Problem('damaged', 'the figure of this plot is missing')
  const text = await loadText(store.blobs, content)
  const type = 'application/json'
  if (!inline_data && !map_data) return { body: once(text), etag: tag, type }
  const figure = parseRaw(text, 'the figure', acceptedBefore)
  const references = referencesOf(scanFigure(figure))
  const sources = references.map(({ source }) => source)
  const shown = await store.read((readers) => shownGrids(service, readers, owner, sources, call))
  // No entity tag: the data changes without changing the plot.
  return { body: pieces(shown, figure, references, inline_data === true, map_data === 'unreadable'), type }
}

/** A grid with the columns that a plot shows. */
export interface Shown {
  snap: Snapshot
  columns: Map<string, SnapshotColumn>
  /** Whether the caller may read the grid itself. */
  readable: boolean
}

/** The grids of these sources that the plot's owner or the caller may read, by fid. */
export async function shownGrids(
  service: Service,
  readers: Readers,
  owner: string,
  sources: readonly Source[],
  principal: Principal,
): Promise<Map<string, Shown>> {
  const wanted = new Map<string, { fid: Fid; uids: Set<string> }>()
  for (const { grid, uids } of sources) {
    const key = formatFid(grid)
    if (!wanted.has(key)) wanted.set(key, { fid: grid, uids: new Set() })
    for (const uid of uids) wanted.get(key)!.uids.add(uid)
  }
  const forOwner = asOwner(owner)
  const shown = new Map<string, Shown>()
  for (const [key, { fid, uids }] of wanted) {
    const file = await readers.files.get(fid.owner, fid.idlocal)
    if (file?.filetype !== 'grid') continue
    const readable = (await visibleFile(readers, file, { caller: principal.caller })) !== undefined
    // A trashed grid is shown only to callers who may read it themselves.
    if (!readable && (file.trashed_at !== null || !(await visibleFileById(readers, fid, forOwner)))) continue
    const snap = await snapshot(service.store, readers, fid, (all) => all.filter(({ uid }) => uids.has(uid)))
    shown.set(key, { snap, columns: new Map(snap.columns.map((column) => [column.uid, column])), readable })
  }
  return shown
}

async function* pieces(
  shown: Map<string, Shown>,
  figure: RawJson,
  references: readonly Reference[],
  inline: boolean,
  map: boolean,
): AsyncGenerator<Uint8Array> {
  const withColumns = references.filter(({ source: { grid, uids } }) => {
    const columns = shown.get(formatFid(grid))?.columns
    return columns !== undefined && uids.every((uid) => columns.has(uid))
  })
  // `map_data` is inserted before the closing brace.
  const open = map ? new RawJson(figure.buf, figure.start, figure.end - 1, figure.limits) : figure
  for (const part of withData(open, inline ? withColumns : [])) {
    if (Buffer.isBuffer(part)) yield part
    else yield* data(shown, part)
  }
  if (!map) return
  yield Buffer.from(`${figure.members().next().done ? '' : ','}"map_data":{`)
  const mapped = new Map(
    withColumns
      .filter(({ source }) => !shown.get(formatFid(source.grid))!.readable)
      .map((reference) => [reference.text, reference]),
  )
  let first = true
  for (const reference of mapped.values()) {
    yield Buffer.from(`${first ? '' : ','}${JSON.stringify(reference.text)}:`)
    first = false
    yield* data(shown, reference)
  }
  yield Buffer.from('}}')
}

/** The data of a reference: one column as an array; several as rows (matrices) or as a list of columns. */
async function* data(shown: Map<string, Shown>, { source, type, attribute }: Reference): Bytes {
  const { snap, columns } = shown.get(formatFid(source.grid))!
  const chosen = source.uids.map((uid) => columns.get(uid)!)
  yield OPEN
  if (chosen.length === 1) yield* columnText(snap, chosen[0])
  else if (isTransposed(type, attribute)) yield* rowsAs({ ...snap, columns: chosen }, arrays())
  else {
    for (const [k, column] of chosen.entries()) {
      yield k > 0 ? NEXT : OPEN
      yield* columnText(snap, column)
    }
    yield CLOSE
  }
  yield CLOSE
}

const OPEN = Buffer.from('[')
const NEXT = Buffer.from('],[')
const CLOSE = Buffer.from(']')

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}
