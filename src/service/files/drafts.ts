// Drafts: where their files are, and their links. See docs/drafts.md.
import { Problem } from '../../contract/errors.ts'
import { type Fid, ROOT } from '../../contract/fid.ts'
import type { Limits } from '../../contract/limits.ts'
import { isVersionName } from '../../contract/version-ref.ts'
import type { Call } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { DRAFTS_FOLDER } from '../store/aggregates/drafts.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { Readers, Writers } from '../store/store.ts'
import { findByPath, splitPath } from './names.ts'
import { loadVersionColumns } from './versions.ts'

/** Headers of a request that can store a draft. */
interface DraftRequest {
  headers: { Draft?: string; 'On-Conflict'?: string }
}

/** Returns the link that shows a draft of the file at `url`. See docs/drafts.md. */
export function formatDraftUrl(url: string, name: string): string {
  return `${url}?version=${encodeURIComponent(name)}`
}

/** Returns the path of the folder for files that exist only as a draft. `parent_path`: where they would be else. */
export function formatDraftFolder(name: string, parent_path: string | undefined): string {
  return [DRAFTS_FOLDER, name, ...(parent_path ? [parent_path] : [])].join('/')
}

/** Parses the header `Draft`; undefined without it. Throws `invalid_request` for an invalid name. */
export function parseDraftName({ headers }: DraftRequest): string | undefined {
  const name = headers.Draft
  if (name === undefined) return undefined
  if (!isVersionName(name))
    throw new Problem(
      'invalid_request',
      `Draft: ${JSON.stringify(name.slice(0, 80))} cannot be the name of a draft`,
      { field: 'Draft', hint: 'A name begins with a letter; then letters, digits, . _ and - may follow.' },
    )
  const rule = headers['On-Conflict']
  if (rule === 'append' || rule === 'rename')
    throw new Problem('invalid_request', `Draft: On-Conflict ${rule} is not possible; a draft replaces`, {
      field: 'Draft',
      hint: 'Use --on-conflict replace.',
    })
  return name
}

/** Throws `too_large` if a user cannot have another draft. */
export async function checkDraftLimit(
  { store, limits }: Service,
  owner: string,
  name: string,
): Promise<void> {
  const { drafts, isKnown } = await store.read(async (readers) => ({
    drafts: await readers.drafts.countDrafts(owner),
    isKnown: (await readers.drafts.list(owner, name)).length > 0,
  }))
  if (drafts < limits.drafts || isKnown) return
  throw new Problem('too_large', `you have ${drafts} drafts (limit drafts)`, {
    hint: 'Delete those that are not needed: gridline draft list',
  })
}

/** Finds the file of a draft at a path. Throws `conflict` if the file there is not of this draft. */
export async function findDraftFile(
  { files, drafts }: Readers,
  limits: Limits,
  owner: string,
  path: string,
  draft: string,
): Promise<FileRow | undefined> {
  const file = await findByPath(files, owner, ROOT, splitPath(path, limits))
  if (!file) return undefined
  const row = await drafts.get(owner, file.idlocal, draft)
  if (row?.version === null) return file
  throw new Problem('conflict', `${path} exists and is not a draft`, {
    hint: 'Move it out of the folder Drafts.',
  })
}

/** Fields that say where a new file is, and who sees it. */
interface PlaceFields {
  filename?: string
  parent?: number | null
  parent_path?: string
  world_readable?: boolean
  share_key_enabled?: boolean
}

/**
 * Returns the call that creates or replaces the private file of a draft, and the name of the draft; other calls as they
 * are. Throws `conflict` if another file has its place.
 */
export async function toDraftCall<
  F extends PlaceFields,
  C extends Call & { fields: F; headers: { Draft?: string } },
>(service: Service, call: C): Promise<{ draft: string | undefined; call: C }> {
  const draft = parseDraftName(call)
  if (draft === undefined) return { draft, call }
  const owner = call.caller!.username
  const { filename } = call.fields
  if (filename === undefined)
    throw new Problem('invalid_request', 'Draft: a draft needs a filename', { field: 'filename' })
  await checkDraftLimit(service, owner, draft)
  const folder = formatDraftFolder(draft, await findPlace(service, owner, call.fields))
  await service.store.read((readers) =>
    findDraftFile(readers, service.limits, owner, `${folder}/${filename}`, draft),
  )
  const place = { parent: undefined, parent_path: folder, world_readable: false, share_key_enabled: false }
  const fields = { ...call.fields, ...place, on_conflict: 'replace' }
  // What it shows is checked in the draft.
  return { draft, call: { ...call, version: draft, fields } }
}

/** Returns the path of the folder of a new file, which may be given by its id. */
async function findPlace(
  { store }: Service,
  owner: string,
  { parent, parent_path }: PlaceFields,
): Promise<string | undefined> {
  if (parent_path !== undefined || parent === undefined || parent === null || parent === ROOT)
    return parent_path
  return store.read(async ({ files, folders }) => {
    const folder = await files.get(owner, parent)
    if (folder?.filetype !== 'fold')
      throw new Problem('invalid_request', `parent: no folder with the id ${parent}`, { field: 'parent' })
    return [...(await folders.loadAncestors(folder)).reverse(), folder]
      .map(({ filename }) => filename)
      .join('/')
  })
}

/** Lists the columns of a grid, or of its draft if `draft` is the name of one. */
export async function listColumnsInDraft(
  readers: Readers,
  { owner, idlocal }: Fid,
  draft: string | undefined,
): Promise<ColumnRow[]> {
  const row = draft === undefined ? undefined : await readers.drafts.get(owner, idlocal, draft)
  const version = row && row.version !== null && (await readers.versions.get(owner, idlocal, row.version))
  return version ? loadVersionColumns(readers, version) : readers.grids.listColumns(owner, idlocal)
}

/** Records that a file exists only as a draft. */
export async function putDraftFile(
  { drafts }: Writers,
  { owner, idlocal }: Pick<FileRow, 'owner' | 'idlocal'>,
  name: string | undefined,
  { caller }: Pick<Call, 'caller'>,
): Promise<void> {
  if (name === undefined) return
  await drafts.put({
    owner,
    idlocal,
    name,
    version: null,
    made_at: Date.now(),
    made_by: caller?.username ?? null,
  })
}
