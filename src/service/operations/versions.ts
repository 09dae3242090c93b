import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, webUrl } from '../../contract/fid.ts'
import type { Version } from '../../contract/resources/index.ts'
import { isVersionName } from '../../contract/version-ref.ts'
import { acceptedBefore, parseRaw } from '../../json/index.ts'
import { type AuthorizedFile, authorizeCall } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { applyOnce, assertCanChange, updateFile } from '../files/read.ts'
import { type FoundVersion, findVersion, seesVersions } from '../files/versions.ts'
import { changeGrid } from '../grids/change/change.ts'
import { changeLayout } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import { checkRevertedKey, columnsToRevert, type Reverting, readVersion } from '../grids/change/revert.ts'
import { userOf } from '../grids/change/versions.ts'
import { enforceOn } from '../grids/checks/enforce.ts'
import { trimmed } from '../grids/column/content.ts'
import { type FigureContent, openFigure, storedFigure } from '../plots/content.ts'
import { sourcesIn } from '../plots/figure.ts'
import { qualityOf } from '../plots/quality.ts'
import { ownGridOf, putFigure, withPresentOwners } from '../plots/store-figure.ts'
import { gridVersions, keepData, nextFigure } from '../plots/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import { storedOf } from '../store/aggregates/plots.ts'
import { loadText, storeText } from '../store/aggregates/texts.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { countChanges, isUncounted } from './versions.counts.ts'

const USUAL_PAGE = 100
const MAX_PAGE = 1000
/** Rows that are looked through for versions that a reader may see. */
const LOOKED_AT = 5000

export const versionHandlers = {
  'versions.list': async (service, call) => {
    const { before, page_size = USUAL_PAGE } = call.query
    const most = Math.min(page_size, MAX_PAGE)
    const { file, page, body } = await service.store.read(async (readers) => {
      const found = await authorizeCall(readers, call)
      const rows = await visibleVersions(readers, found, before, most + 1)
      const page = rows.slice(0, most)
      const versions: Version[] = []
      for (const row of page) versions.push(await versionMeta(service, readers, found.file, row))
      const next = rows.length > most ? page.at(-1)!.version : null
      return { file: found.file, page, body: { versions, next } }
    })
    if (file.filetype !== 'grid' || !page.some(isUncounted)) return { body }
    return {
      body,
      later: (user, work) =>
        service.describing.run(
          user,
          async () => {
            const counts = await countChanges(service, call.fid, file.content_version, page, work)
            const versions = body.versions.map((one) => ({ ...one, ...counts.get(one.version) }))
            return { body: { ...body, versions } }
          },
          work.gone,
        ),
    }
  },

  'versions.revert': async (service, call) => {
    const text = call.fields.version ?? '-1'
    const found = await assertCanChange(service, call)
    const before = found ? undefined : await service.store.applied<Outcome>(call.writeKey(call.fid.owner))
    if (before?.action) return { body: bodyOf(call.fid, before) }
    if (found?.file.filetype === 'plot' || (!found && call.filetype === 'plot'))
      return revertPlot(service, call, text)
    if (found && found.file.filetype !== 'grid') throw noVersions()
    return { body: await revertGrid(service, call, text) }
  },

  'versions.keep': async (service, call) => {
    const { version: text, name, undo = false, kept = !undo } = call.fields
    if (name !== undefined && name !== null && !isVersionName(name))
      throw new Problem(
        'invalid_request',
        `name: ${JSON.stringify(name.slice(0, 80))} cannot be the name of a version`,
        {
          field: 'name',
          hint: 'A name begins with a letter; then letters, digits, . _ and - may follow.',
        },
      )
    const { fid } = call
    const { store } = service
    const found = await store.read(async (readers) => {
      const admitted = await authorizeCall(readers, call)
      return { ...admitted, wanted: await wantedVersion(readers, admitted, text) }
    })
    const isPlot = found.file.filetype === 'plot'
    // The data of a plot is kept with it: it is that of grids, which go on changing.
    const data =
      isPlot && kept
        ? await keepData(
            store,
            call.fid.owner,
            (
              await openFigure(service, {
                ...call,
                operation: 'plots.content',
                version: dataOf(text, found.wanted),
              })
            ).shown,
          )
        : undefined
    const version = await updateFile(
      service,
      call,
      async (writers, { file }) => {
        const wanted = await wantedVersion(writers, { ...found, file }, text)
        const row = await rowOf(writers, file, wanted)
        if (name && (await writers.versions.named(file.owner, file.idlocal, name)) !== undefined) {
          const taken = await writers.versions.named(file.owner, file.idlocal, name)
          if (taken!.version !== row.version)
            throw new Problem('conflict', `version ${taken!.version} is already named ${name}`, {
              field: 'name',
              hint: `Choose another name, or free this one: gridline keep FILE@${taken!.version} --undo`,
            })
        }
        if (name && (await writers.drafts.get(file.owner, file.idlocal, name)))
          throw new Problem('conflict', `a draft of '${file.filename}' is named ${name}`, {
            field: 'name',
            hint: `Choose another name, or delete the draft: gridline draft delete ${name}`,
          })
        let { version: number } = row
        if (!kept) {
          await writers.versions.change(row, { kept_at: null, kept_name: null })
          if (isPlot) await writers.versions.removeKept(row)
          if (row.kept_at !== null) writers.files.noteEvent('version.release', file, { version: number })
          return number
        }
        if (isPlot && row.kept_at !== null && wanted.isPresent) {
          // What was kept stays as it is: the chart as it is now is another version.
          const content = (await writers.plots.content(file.owner, file.idlocal))!
          const grids = await gridVersions(writers, file)
          number = await nextFigure(writers, file, content, grids, content, {
            operation: 'keep',
            by: userOf(call),
          })
        } else if (isPlot && row.kept_at !== null) {
          if (name !== undefined) await writers.versions.change(row, { kept_name: name })
          return number
        }
        const fields = { kept_at: Date.now(), ...(name !== undefined && { kept_name: name }) }
        const target = { owner: file.owner, idlocal: file.idlocal, version: number }
        if (data) {
          await writers.versions.change(target, { ...fields, types: JSON.stringify(data.columns) })
          await writers.versions.addKept(target, data.slices)
        } else await writers.versions.change(target, fields)
        // Rows that follow do not belong to a version that is kept.
        if (file.filetype === 'grid' && wanted.isPresent)
          await writers.grids.change(file.owner, file.idlocal, { appended_by: null, appended_since: null })
        // Everyone who can read the file can read this version from now on.
        writers.files.noteEvent('version.keep', file, { version: number, name: name ?? null })
        return number
      },
      data?.slices.map(({ blob }) => blob.owner),
    )
    const body = await store.read(async (readers) => {
      const file = (await readers.files.get(fid.owner, fid.idlocal))!
      return versionMeta(
        service,
        readers,
        file,
        (await readers.versions.get(fid.owner, fid.idlocal, version))!,
      )
    })
    return { body }
  },

  'versions.forget': async (service, call) => {
    const version = await updateFile(service, call, async (writers, found) => {
      const { file } = found
      const wanted = await findVersion(writers, found, call.query.version)
      if (!wanted) throw noVersions()
      refuseDraft(wanted)
      if (wanted.isPresent)
        throw new Problem('conflict', `version ${wanted.version} is the present one of '${file.filename}'`, {
          hint: 'Revert to another version first, or delete the file.',
        })
      await writers.versions.remove(file.owner, file.idlocal, [wanted.version])
      writers.files.noteEvent('version.forget', file, { version: wanted.version })
      return wanted.version
    })
    return { body: { fid: formatFid(call.fid), version } }
  },
} satisfies Partial<Handlers>

function noVersions(): Problem {
  return new Problem('invalid_request', 'only grids and plots have versions')
}

/** The version that is named, or the present one. */
async function wantedVersion(
  readers: Readers,
  found: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<FoundVersion> {
  const { file } = found
  const wanted = (await findVersion(readers, found, text ?? String(file.content_version)))!
  refuseDraft(wanted)
  return wanted
}

function refuseDraft({ draft }: FoundVersion): void {
  if (draft !== undefined)
    throw new Problem('invalid_request', `${draft} is a draft, and no version yet`, {
      field: 'version',
      hint: `To make it one, upload the file. To delete it: gridline draft delete ${draft}`,
    })
}

/** Of which version the data of a plot is read: that of the present one unless it says so. */
function dataOf(text: string | undefined, { isPresent }: FoundVersion): string | undefined {
  return isPresent ? undefined : text
}

/** The row of a version; it is added if the file is from before there were versions. */
async function rowOf(
  { versions, plots, grids }: Writers,
  file: FileRow,
  { version, row }: FoundVersion,
): Promise<VersionRow> {
  if (row) return row
  const { owner, idlocal } = file
  const content = file.filetype === 'plot' ? await plots.content(owner, idlocal) : undefined
  await versions.add({
    owner,
    idlocal,
    version,
    epoch: file.filetype === 'grid' ? (await grids.get(owner, idlocal)).epoch : version,
    made_at: file.date_modified,
    made_by: null,
    operation: 'create',
    message: null,
    hash: content?.hash ?? null,
    bytes: content?.bytes ?? null,
  })
  return (await versions.get(owner, idlocal, version))!
}

/** The versions that a caller may see, the newest first: all, or the present one and those that were kept. */
async function visibleVersions(
  readers: Readers,
  { file, roles, state }: AuthorizedFile,
  before: number | undefined,
  most: number,
): Promise<VersionRow[]> {
  const { owner, idlocal, filetype, content_version } = file
  if (filetype !== 'grid' && filetype !== 'plot') throw noVersions()
  const all = seesVersions({ roles, state })
  const rows = await readers.versions.list(owner, idlocal, before, all ? most : LOOKED_AT)
  const hasPresent = rows.some(({ version }) => version === content_version)
  const present = before === undefined && !hasPresent ? [unknownPresent(file)] : []
  const seen = all
    ? rows
    : rows.filter(({ version, kept_at }) => kept_at !== null || version === content_version)
  return [...present, ...seen].slice(0, most)
}

/** The present version of a file from before there were versions. */
function unknownPresent({ owner, idlocal, content_version, date_modified }: FileRow): VersionRow {
  return {
    owner,
    idlocal,
    version: content_version,
    epoch: 1,
    made_at: date_modified,
    made_by: null,
    operation: 'create',
    source: null,
    message: null,
    of_version: null,
    row_count: null,
    ragged: null,
    types: null,
    rows_added: null,
    rows_removed: null,
    rows_changed: null,
    columns_added: null,
    columns_removed: null,
    columns_changed: null,
    hash: null,
    bytes: null,
    grids: null,
    kept_at: null,
    kept_name: null,
  }
}

async function versionMeta(
  { url }: Service,
  { grids, versions }: Readers,
  file: FileRow,
  row: VersionRow,
): Promise<Version> {
  const { version, made_at, made_by, operation, source, message, of_version, kept_at } = row
  const { kept_name: name } = row
  const isPresent = version === file.content_version
  const row_count =
    file.filetype !== 'grid'
      ? null
      : isPresent
        ? (await grids.get(file.owner, file.idlocal)).row_count
        : row.row_count
  // Of appends, the rows that they added are those that there are more than before.
  let { rows_added } = row
  if (operation === 'append' && rows_added === null && row_count !== null) {
    const [before] = await versions.list(file.owner, file.idlocal, version, 1)
    if (before?.version === version - 1 && before.row_count !== null)
      rows_added = row_count - before.row_count
  }
  return {
    version,
    is_current: isPresent,
    made_at: new Date(made_at).toISOString(),
    made_by,
    operation,
    source,
    message,
    of_version,
    row_count,
    rows_added,
    rows_removed: row.rows_removed,
    rows_changed: row.rows_changed,
    columns_added: row.columns_added,
    columns_removed: row.columns_removed,
    columns_changed: row.columns_changed,
    kept: kept_at !== null,
    name,
    web_url: `${webUrl(url, file)}?version=${encodeURIComponent(name ?? String(version))}`,
  }
}

interface Outcome {
  version: number
  of_version: number
  action: 'reverted' | 'unchanged'
}

function bodyOf(fid: Fid, outcome: Outcome) {
  return { fid: formatFid(fid), ...outcome, warnings: [] }
}

async function revertGrid(service: Service, call: OperationCall<'versions.revert'>, text: string) {
  const { store } = service
  const { fid } = call
  const outcome = await changeGrid(service, call, fid, async (layout) => {
    const { version: of_version, reverting } = await store.read(async (readers) => {
      const found = await authorizeCall(readers, call)
      return readTarget(service, readers, found, text)
    })
    if (reverting) {
      await checkRevertedKey(store, layout.grid, reverting)
      const snap = await trimmed(reverting.snap)
      await enforceOn(service, fid, layout, { snap, source: `version ${of_version}` })
    }
    const columns = reverting && (await columnsToRevert(store, reverting, layout))
    return {
      columns,
      change: { operation: 'revert', of_version },
      result: ({ version }): Outcome => ({ version, of_version, action: columns ? 'reverted' : 'unchanged' }),
    }
  })
  return bodyOf(fid, outcome)
}

async function readTarget(
  { store }: Service,
  readers: Readers,
  found: AuthorizedFile,
  text: string,
): Promise<{ version: number; reverting: Reverting | undefined }> {
  const wanted = (await findVersion(readers, found, text))!
  refuseDraft(wanted)
  const row = wanted.isPresent ? undefined : wanted.row
  return { version: wanted.version, reverting: row && (await readVersion(store, readers, row)) }
}

/** Reverts the figure, and with it the grid of its own data, which changes with the figure only. */
async function revertPlot(service: Service, call: OperationCall<'versions.revert'>, text: string) {
  const { store } = service
  const { fid } = call
  const { file, content } = await storedFigure(service, { ...call, version: text })
  if (content.at) refuseDraft(content.at)
  const of_version = content.at?.version ?? file.content_version
  let figure = parseRaw(await loadText(store.blobs, storedOf(content)), 'the figure', acceptedBefore)
  let slice: SliceRef = { seq: 0, rows: 1, ...storedOf(content) }
  // Owners may have been renamed since.
  const referred = sourcesIn(figure).map((source) => source.grid)
  const renamed = withPresentOwners(service.names, figure, referred)
  if (renamed) {
    slice = await storeText(store.blobs, fid.owner, 1, renamed)
    figure = parseRaw(renamed, 'the figure', acceptedBefore)
  }
  const sources = sourcesIn(figure)
  const had = new Set(sources.flatMap(({ grid, uids }) => uids.map((uid) => `${formatFid(grid)}:${uid}`)))
  const stored = {
    content: slice,
    sources: sources.map((source) => ({ source, path: 'figure' })),
    quality: qualityOf(figure, sources.length > 0),
    replaced: [],
  }
  const put = async (writers: Writers, now: FileRow, grids?: string): Promise<Outcome> => {
    const present = await writers.plots.content(now.owner, now.idlocal)
    if (present?.hash === slice.blob.hash)
      return { version: now.content_version, of_version, action: 'unchanged' }
    const change = { operation: 'revert' as const, of_version, grids }
    const version = await putFigure(writers, now, stored, call, had, change)
    await writers.files.change(now.owner, now.idlocal)
    return { version, of_version, action: 'reverted' }
  }
  const own = await ownGridToRevert(service, call, content)
  if (!own)
    return {
      body: bodyOf(fid, await updateFile(service, call, (writers, { file: now }) => put(writers, now))),
    }
  const grid = { owner: fid.owner, idlocal: own.row.idlocal }
  const outcome = await changeLayout(
    service,
    grid,
    (layout) => columnsToRevert(store, own, layout),
    (writers, columns, layout) =>
      applyOnce(writers, call, async ({ file: now }) => {
        // The figure that is replaced showed the data as it is before.
        const grids = await gridVersions(writers, now)
        const data = await writers.files.get(grid.owner, grid.idlocal)
        const change = { operation: 'revert' as const, of_version: own.row.version }
        if (data) await commitPlan(writers, data, layout, { columns, change }, userOf(call))
        const done = await put(writers, now, grids)
        return data && columns ? { ...done, action: 'reverted' as const } : done
      }),
  )
  return { body: bodyOf(fid, outcome) }
}

/** The version of the grid of a plot's own data that it had with an earlier figure, if it has another one now. */
async function ownGridToRevert(
  { store }: Service,
  call: Call,
  { at }: FigureContent,
): Promise<Reverting | undefined> {
  if (!at?.row?.grids) return undefined
  const recorded = JSON.parse(at.row.grids) as Record<string, number>
  const { owner, idlocal } = call.fid
  return store.read(async (readers) => {
    const own = await ownGridOf(readers, call.fid, call, new Set(), true)
    if (!own) return undefined
    const grid = { owner, idlocal: own.idlocal }
    const version = recorded[formatFid(grid)]
    const file = await readers.files.get(owner, own.idlocal)
    if (version === undefined || file?.content_version === version) return undefined
    const row = await readers.versions.get(owner, own.idlocal, version)
    if (!row)
      throw new Problem(
        'not_found',
        `the data that version ${at.version} of plot ${owner}:${idlocal} showed has expired`,
      )
    return readVersion(store, readers, row)
  })
}
