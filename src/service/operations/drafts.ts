// Handlers of drafts (docs/drafts.md).
import { Problem } from '../../contract/errors.ts'
import { formatFid, formatWebUrl, parseFid, ROOT } from '../../contract/fid.ts'
import type { Draft, DraftChart } from '../../contract/resources/index.ts'
import { formatDraftUrl } from '../files/drafts.ts'
import { signReviewImages } from '../pages/files/signed-images.ts'
import { DRAFTS_FOLDER, type DraftRow, removeDraft } from '../store/aggregates/drafts.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

/** Maximum number of charts that are listed. */
const MAX_CHARTS = 100
const DAY_MS = 24 * 3600 * 1000

export const draftHandlers = {
  'drafts.list': (service, call) =>
    service.store.read(async (readers) => {
      const drafts: Draft[] = []
      for (const row of await readers.drafts.list(call.caller!.username, call.query.name)) {
        const draft = await loadDraftMeta(service, readers, row)
        if (draft) drafts.push(draft)
      }
      return { body: { drafts } }
    }),

  'drafts.charts': async (service, call) => {
    const { username } = call.caller!
    const { name } = call
    const charts = await service.store.read((readers) => listDraftCharts(service, readers, username, name))
    // Log an event: anyone with the links can open the charts.
    if (charts.length > 0)
      await service.store.withActor({ user: username }).write([username], async ({ files }) => {
        for (const { fid } of charts) {
          const file = await files.get(username, parseFid(fid)!.idlocal)
          if (file) files.recordFileEvent('draft.share', file, { draft: name })
        }
      })
    return { body: { charts } }
  },

  'drafts.delete': async (service, call) => {
    const { username } = call.caller!
    const { name } = call
    const { fid: fids } = call.query
    const deleted = await service.store.writeOnce(call.writeKey(username), async (writers) => {
      const drafts = await writers.drafts.list(username, name)
      const rows = fids ? drafts.filter((row) => fids.includes(formatFid(row))) : drafts
      for (const row of rows) {
        const file = await writers.files.get(row.owner, row.idlocal)
        if (file) writers.files.recordFileEvent('draft.delete', file, { draft: name })
        await removeDraft(writers, row)
      }
      return rows.length
    })
    if (deleted === 0)
      throw new Problem('not_found', `you have no draft ${name.slice(0, 100)}`, {
        hint: 'List your drafts with: gridline draft list',
      })
    return { body: { name, deleted } }
  },
} satisfies Partial<Handlers>

/** Lists the plots and boards that are drafts of this name, then the plots that show grids with such drafts. */
async function listDraftCharts(
  service: Service,
  readers: Readers,
  username: string,
  name: string,
): Promise<DraftChart[]> {
  const charts = new Map<string, DraftChart>()
  const replaced = new Set<string>()
  const drafts = await readers.drafts.list(username, name)
  const untilOf = ({ made_at }: DraftRow): number => made_at + service.limits.draft_days * DAY_MS
  for (const row of drafts) {
    const file = row.version === null ? await readers.files.get(row.owner, row.idlocal) : undefined
    if (file?.filetype !== 'plot' && file?.filetype !== 'dashboard') continue
    if (charts.size >= MAX_CHARTS) break
    const place = await findDraftPlace(readers, file, name)
    if (!place) continue
    const draft = { grid: file, name, until: untilOf(row) }
    const current = await findPublished(readers, file, place)
    if (current) replaced.add(formatFid(current))
    charts.set(formatFid(file), {
      ...{ fid: formatFid(file), filename: file.filename, filetype: file.filetype },
      web_url: formatDraftUrl(formatWebUrl(service.url, file), name),
      before_url: current ? (await signReviewImages(service, readers, current, draft)).before_url : null,
      after_url: (await signReviewImages(service, readers, file, draft)).after_url,
    })
  }
  for (const row of drafts) {
    if (row.version === null) continue
    const grid = { owner: row.owner, idlocal: row.idlocal }
    const plots = await readers.plots.listReferencers(grid, 'grid', undefined, false, MAX_CHARTS)
    for (const plot of await readers.folders.filterActive(plots)) {
      const fid = formatFid(plot)
      // A draft of the plot itself shows more.
      if (plot.owner !== username || charts.has(fid) || replaced.has(fid)) continue
      if (charts.size >= MAX_CHARTS) break
      charts.set(fid, {
        ...{ fid, filename: plot.filename, filetype: 'plot', grid: formatFid(grid) },
        web_url: formatDraftUrl(formatWebUrl(service.url, plot), name),
        ...(await signReviewImages(service, readers, plot, { grid, name, until: untilOf(row) })),
      })
    }
  }
  return [...charts.values()]
}

/** Returns the folders in which a draft would be published; undefined if it was moved, or is in the trash. */
async function findDraftPlace(readers: Readers, file: FileRow, name: string): Promise<string[] | undefined> {
  if ((await readers.folders.filterActive([file])).length === 0) return undefined
  const above = (await readers.folders.loadAncestors(file)).map(({ filename }) => filename).reverse()
  return above[0] === DRAFTS_FOLDER && above[1] === name ? above.slice(2) : undefined
}

/** Finds the file that a draft would replace. */
async function findPublished(
  readers: Readers,
  draft: FileRow,
  place: readonly string[],
): Promise<FileRow | undefined> {
  const file = await readers.files.findByPath(draft.owner, ROOT, [...place, draft.filename])
  return file?.filetype === draft.filetype ? file : undefined
}

/** Loads the metadata of a draft; undefined if its file is gone. */
async function loadDraftMeta(
  { url, limits }: Service,
  { files, grids, versions }: Readers,
  { owner, idlocal, name, version, made_at, made_by }: DraftRow,
): Promise<Draft | undefined> {
  const file = await files.get(owner, idlocal)
  if (!file) return undefined
  const row = version === null ? undefined : await versions.get(owner, idlocal, version)
  const { filetype } = file
  const row_count =
    filetype === 'grid' ? (row?.row_count ?? (await grids.get(owner, idlocal)).row_count) : undefined
  return {
    name,
    fid: formatFid(file),
    filename: file.filename,
    filetype,
    row_count,
    is_new: version === null,
    made_at: new Date(made_at).toISOString(),
    made_by,
    expires_at: new Date(made_at + limits.draft_days * DAY_MS).toISOString(),
    web_url:
      version === null && filetype === 'grid'
        ? formatWebUrl(url, file)
        : formatDraftUrl(formatWebUrl(url, file), name),
  }
}
