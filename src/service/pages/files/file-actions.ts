/** Buttons of the actions on a file. Scripts handle them; readers without scripts do not see them. */
import { formatFid } from '../../../contract/fid.ts'
import { canWrite, hasScope, type Principal, resolveVisibleFile } from '../../access/access.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'
import { renderActionButton, renderData } from '../html.ts'

/** Rights of the caller on a file. */
export interface FileAccess {
  canWrite: boolean
  isStarred: boolean
  /** Whether the file, or a folder above it, is in the trash. */
  isTrashed: boolean
  /** Whether a version is shown that is not the current one. */
  isVersion: boolean
}

/** Loads what the caller may do with a file. */
export async function loadFileAccess(
  readers: Readers,
  file: FileRow,
  principal: Principal,
): Promise<FileAccess> {
  const { caller, version } = principal
  const visible = await resolveVisibleFile(readers, file, principal)
  return {
    isTrashed: visible?.state === 'trashed',
    canWrite: caller !== undefined && hasScope(caller, 'write') && (await canWrite(readers, file, principal)),
    isStarred:
      caller !== undefined && (await readers.sharing.hasStar(file.owner, file.idlocal, caller.username)),
    isVersion: version !== undefined,
  }
}

/** Renders the actions on a file that the caller may take; empty for readers without an account. */
export function renderFileActions(
  file: FileRow,
  principal: Principal,
  { canWrite: mayWrite, isStarred, isTrashed, isVersion }: FileAccess,
): string {
  const { caller, shareKey } = principal
  // A session that only reads changes nothing.
  if (!caller || isVersion || !hasScope(caller, 'write')) return ''
  const isOwner = caller.username === file.owner
  if (isTrashed) {
    const note = '<p class="note">This file is in the trash.</p>'
    if (file.trashed_at === null || !isOwner) return note
    return (
      note +
      renderActionList(
        file,
        TRASH_ACTIONS.map(([action, label]) => renderActionButton(action, 'files.js', label)),
      )
    )
  }
  const hasVersions = file.filetype === 'grid' || file.filetype === 'plot'
  const actions: (string | false)[] = [
    isOwner && renderActionButton('share', 'share.js', 'Share'),
    mayWrite && renderActionButton('rename', 'files.js', 'Rename'),
    isOwner && renderActionButton('move', 'files.js', 'Move'),
    shareKey === undefined && file.filetype !== 'fold' && renderActionButton('copy', 'files.js', 'Copy'),
    shareKey === undefined &&
      renderActionButton('star', 'files.js', isStarred ? 'Starred' : 'Star', {}, '', isStarred),
    mayWrite &&
      hasVersions &&
      renderActionButton('history', 'history.js', 'History', { own: isOwner ? 'true' : undefined }),
    isOwner && renderActionButton('trash', 'files.js', 'Move to trash'),
  ]
  return renderActionList(file, actions)
}

/** Actions of the owner on a file in the trash. */
const TRASH_ACTIONS = [
  ['restore', 'Restore'],
  ['rename', 'Rename'],
  ['delete', 'Delete for good'],
] as const

function renderActionList(file: FileRow, actions: readonly (string | false)[]): string {
  return `<div class="actions"${renderFileData(file)}>${actions.filter(Boolean).join(' ')}</div>`
}

/** Renders the attributes by which scripts know a file. */
export function renderFileData(file: FileRow): string {
  return renderData({ fid: formatFid(file), name: file.filename, type: file.filetype, owner: file.owner })
}
