// Resolves the destination of uploads: the folder of --folder, and the path of a grid in it.
import { basename } from 'node:path'
import { type Client, lookupOrUndefined, splitFolderId } from '../../client/index.ts'
import { parseFid } from '../../contract/fid.ts'
import { gridNameOf, uploadNameOf } from '../../contract/formats.ts'
import type { HeadersOf } from '../../contract/operations/index.ts'
import type { Option } from '../core/define.ts'
import { resolveFolderId } from '../files/targets.ts'
import type { LocalFile } from './expand.ts'

/** Returns the file name to send for a file; undefined for standard input without `name`, the name of its grid. */
export function sentNameOf(file: string, name: string | undefined): string | undefined {
  return uploadNameOf(name, file === '-' ? undefined : basename(file))
}

/** Options of the destination of a grid. */
export const destinationOptions = [
  { flags: '--name <name>', description: 'name of the grid (default: file name without its extension)' },
  { flags: '--folder <path|id>', description: 'destination folder; missing folders are created' },
  { flags: '--public', description: 'make the grid public (readable by anyone)' },
] as const satisfies readonly Option[]

export type DestinationHeaders = Pick<HeadersOf<'grids.upload'>, 'Parent' | 'Parent-Path'>

/**
 * Returns headers for --folder: a path, `alice:12`, `alice:12/sub`, or an id (12) if no folder has that name.
 */
export async function resolveDestinationHeaders(
  client: Client,
  folder: string | undefined,
  subfolders: readonly string[] = [],
): Promise<DestinationHeaders> {
  if (folder === undefined) return subfolders.length > 0 ? { 'Parent-Path': subfolders.join('/') } : {}
  const isId =
    parseFid(folder) !== undefined ||
    splitFolderId(folder).user !== undefined ||
    (/^-?\d+$/.test(folder) && !(await lookupOrUndefined(client, folder)))
  if (!isId) return { 'Parent-Path': [folder.replace(/\/+$/, ''), ...subfolders].join('/') }
  const parent = /^-?\d+$/.test(folder) ? Number(folder) : await resolveFolderId(client, folder)
  if (subfolders.length === 0) return { Parent: parent }
  const { username } = await client.call('users.current')
  const { path } = await client.call('files.path', { fid: `${username}:${parent}` })
  return { 'Parent-Path': [path.replace(/^\/+|\/+$/g, ''), ...subfolders].join('/') }
}

/** Returns the path of a local file's grid, and the folder in which the path starts. */
export async function resolveDestination(
  client: Client,
  { name, folder }: { name?: string; folder?: string },
  { file, folders, name: storedName }: LocalFile,
): Promise<{ path: string; parent?: number }> {
  const destination = await resolveDestinationHeaders(client, folder, folders)
  const filename = storedName ?? gridNameOf(sentNameOf(file, name))
  const folderPath = destination['Parent-Path']
  return {
    path: folderPath === undefined ? filename : `${folderPath}/${filename}`,
    parent: destination.Parent,
  }
}

/** Returns the path of a folder that is given by its id: that of new drafts begins with it. */
export async function toFolderPath(client: Client, folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined) return undefined
  // Without access, files are compared as they are named.
  const place = await resolveDestinationHeaders(client, folder, ['-']).catch(() => undefined)
  return place?.['Parent-Path']?.replace(/\/?-$/, '') ?? folder
}
