// Updates of a file's writable metadata, with an access check per field.
import { invalidField, Problem } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FileUpdate } from '../../contract/resources/index.ts'
import { type AuthorizedFile, accessDenied, checkScope, loadVisibleFile } from '../access/access.ts'
import { FIELD_ACCESS, isAllowed } from '../access/policy.ts'
import type { Call } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Writers } from '../store/store.ts'
import { checkDepth, checkFilename, findFreeName, nameTaken, resolveDestination } from './names.ts'
import { encodeMetadata, generateShareKey } from './new-file.ts'

type RowChanges = Partial<FileRow>

/** Request with writable metadata in its body. */
type UpdateCall = Call & { fields: FileUpdate }

/**
 * Applies a PUT or PATCH to a file's writable metadata. Missing fields keep their values. A field that is set
 * to its current value is not a change. See docs/api.md#files.
 */
export async function applyUpdate(
  service: Service,
  call: UpdateCall,
  writers: Writers,
  access: AuthorizedFile,
  otherChanges: RowChanges = {},
): Promise<null> {
  const { file } = access
  const changes: RowChanges = { ...otherChanges, ...(await collectChanges(service, call, writers, access)) }
  if (Object.keys(changes).length === 0) return null
  const { world_readable, share_key, share_items, parent } = changes
  // Those who may read a folder may read what is moved into it.
  if (world_readable === 1 || share_key || share_items || parent !== undefined)
    checkScope(call.caller, 'read')
  const after = { ...file, ...changes }
  const moved = after.parent !== file.parent || after.filename !== file.filename
  // A file that a move puts into the trash needs no free name.
  if (moved && after.live_name !== null) {
    const existing = await writers.files.findByName(after.owner, after.parent, after.filename)
    if (existing && existing.idlocal !== file.idlocal) {
      if (access.roles.has('owner') || (await loadVisibleFile(writers, existing, call)))
        throw nameTaken(after.filename)
      // Do not reveal the existence of an unreadable file by an error: choose another name instead.
      changes.filename = await findFreeName(writers.files, after.owner, after.parent, after.filename)
    }
    changes.live_name = changes.filename ?? after.filename
  }
  await writers.files.change(file.owner, file.idlocal, changes)
  if (file.filetype === 'fold' && changes.parent !== undefined) await writers.folders.propagateAfterMove(file)
  return null
}

interface PendingUpdate {
  service: Service
  call: UpdateCall
  writers: Writers
  access: AuthorizedFile
  changes: RowChanges
}

/** Computes the change of each field of an update. A missing field is a compile error. */
const CHANGERS_BY_FIELD: {
  [F in keyof FileUpdate]-?: (
    update: PendingUpdate,
    value: Exclude<FileUpdate[F], undefined>,
  ) => void | Promise<void>
} = {
  // Names that are older than the rules for names stay valid.
  filename: (update, value) =>
    value === update.access.file.filename
      ? undefined
      : setField(update, 'filename', 'filename', checkFilename(value, update.service.limits)),
  world_readable: (update, value) => setField(update, 'world_readable', 'world_readable', value ? 1 : 0),
  is_theme: (update, value) => setField(update, 'is_theme', 'is_theme', toFlag(value)),
  is_template: (update, value) => setField(update, 'is_template', 'is_template', toFlag(value)),
  metadata: (update, value) =>
    setField(update, 'metadata', 'metadata', encodeMetadata(value, update.service.limits)),
  share_items(update, value) {
    if (value && update.access.file.filetype !== 'dashboard')
      throw invalidField('share_items', 'only boards have items')
    const since = update.access.file.share_items
    if (value !== since > 0) setField(update, 'share_items', 'share_items', value ? Date.now() : 0)
  },
  share_key_enabled({ call, access: found, changes }, value) {
    if (value === (found.file.share_key !== null)) return
    checkFieldAccess(call, found, 'share_key_enabled')
    changes.share_key = value ? generateShareKey() : null
  },
  parent: (update, value) => (value === null ? undefined : moveFile(update)),
  // With both fields, the folder is resolved once.
  parent_path: (update) => ((update.call.fields.parent ?? null) === null ? moveFile(update) : undefined),
}

async function collectChanges(
  service: Service,
  call: UpdateCall,
  writers: Writers,
  access: AuthorizedFile,
): Promise<RowChanges> {
  const update: PendingUpdate = { service, call, writers, access, changes: {} }
  for (const [field, change] of Object.entries(CHANGERS_BY_FIELD) as [keyof FileUpdate, Changer][]) {
    const value = call.fields[field]
    if (value !== undefined) await change(update, value)
  }
  return update.changes
}

/** Changer of any field: the table above pairs fields with their value types. */
type Changer = (update: PendingUpdate, value: unknown) => void | Promise<void>

/** Sets a field of the row, unless it already has this value. Checks access. */
function setField<F extends keyof FileRow>(
  { call, access: found, changes }: PendingUpdate,
  field: keyof FileUpdate,
  name: F,
  value: FileRow[F],
): void {
  if (value === found.file[name]) return
  checkFieldAccess(call, found, field)
  changes[name as keyof RowChanges] = value as never
}

/** Moves the file to the folder of the request, unless it is already there. Checks access. */
async function moveFile({ service, call, writers, access: found, changes }: PendingUpdate): Promise<void> {
  const { fields } = call
  const { file } = found
  if (file.filetype === 'extra') return
  // A caller who may not see the folder gets ROOT. Sending ROOT back is not a move.
  if (!found.roles.has('owner') && fields.parent === visibleParent(found)) return
  checkFieldAccess(call, found, fields.parent_path === undefined ? 'parent' : 'parent_path')
  const parent = await resolveDestination(writers, file.owner, fields, service.limits)
  if (parent === file.parent) return
  await checkNotIntoItself(writers, file, parent)
  if (file.filetype === 'fold')
    await checkDepth(
      writers,
      file.owner,
      parent,
      await writers.folders.measureDepth(file.owner, file.idlocal),
      service.limits,
    )
  changes.parent = parent
  changes.hidden = 0
  // A file moved out of a trashed folder stays in the trash as an individual file.
  if (found.state === 'trashed' && file.trashed_at === null)
    Object.assign(changes, { trashed_at: Date.now(), live_name: null })
}

/** Throws unless the caller has the access that this field requires. */
function checkFieldAccess(call: Call, { state, roles }: AuthorizedFile, field: keyof FileUpdate): void {
  const access = FIELD_ACCESS[field]
  if (!isAllowed(access, state, roles)) {
    const { code, message, hint } = accessDenied(call.caller, access)
    throw new Problem(code, `${field}: ${message}`, { field, hint })
  }
}

/** Returns the folder id as the caller sees it: ROOT if they may not read the folder. */
function visibleParent({ above }: AuthorizedFile): number {
  return above()[0]?.idlocal ?? ROOT
}

/** Throws if a folder would be moved into itself or into a folder below it. */
async function checkNotIntoItself(writers: Writers, file: FileRow, parent: number): Promise<void> {
  const folders = await writers.folders.loadAncestors({ owner: file.owner, parent, filetype: file.filetype })
  if (folders.some(({ idlocal }) => idlocal === file.idlocal))
    throw new Problem('invalid_request', 'parent: a folder cannot be moved into itself', { field: 'parent' })
}

function toFlag(value: boolean | null): number | null {
  return value === null ? null : value ? 1 : 0
}
