// Wildcard patterns for stored files.
import { type Client, splitFolderId } from '../../client/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { listChildren } from './pages.ts'

/** Returns whether a text contains wildcards. Links never do. */
export function isPattern(text: string): boolean {
  return /[*?[]/.test(text) && !/^https?:\/\//i.test(text)
}

/** Converts a wildcard pattern for one path segment to a RegExp: `*`, `?`, `[ab]`, `[!ab]`. */
export function compilePattern(text: string): RegExp {
  const source = text.replace(/\[(!?)([^\]]+)\]|[*?]|[.+^${}()|\\[\]]/g, (match, negation, characters) => {
    if (match === '*') return '.*'
    if (match === '?') return '.'
    if (characters !== undefined) return `[${negation ? '^' : ''}${characters.replace(/[\\\]^]/g, '\\$&')}]`
    return `\\${match}`
  })
  return new RegExp(`^${source}$`, 'su')
}

/** Lists files whose paths match a pattern. `**` matches folders at any depth. */
export async function listMatchingFiles(
  client: Client,
  pathPattern: string,
  filetype?: FileMeta['filetype'],
): Promise<{ path: string; file: FileMeta }[]> {
  const { path: relativePath, user, parent } = splitFolderId(pathPattern)
  const segments = relativePath.split('/').filter((part) => part !== '')
  const start = user === undefined ? undefined : `${user}:${parent}`
  let folders: { path: string; fid: string | undefined }[] = [
    { path: start === undefined ? '' : `${start}/`, fid: start },
  ]
  let files: { path: string; file: FileMeta }[] = []
  for (const [k, part] of segments.entries()) {
    const isLast = k === segments.length - 1
    if (part === '**') {
      // The folders and all below. As last segment: everything in them.
      const all = await listFoldersBelow(client, folders)
      folders = all.map(({ path, fid }) => ({ path, fid }))
      if (!isLast) continue
    }
    const pattern = compilePattern(part === '**' ? '*' : part)
    files = []
    for (const folder of folders) {
      for (const file of await listChildren(client, folder.fid)) {
        const isMatchingType = isLast ? !filetype || file.filetype === filetype : file.filetype === 'fold'
        if (isMatchingType && pattern.test(file.filename))
          files.push({ path: `${folder.path}${file.filename}`, file })
      }
    }
    folders = files.map(({ path, file }) => ({ path: `${path}/`, fid: file.fid }))
  }
  return files
}

/** Lists folders and all folders below them. */
async function listFoldersBelow(
  client: Client,
  folders: readonly { path: string; fid: string | undefined }[],
): Promise<{ path: string; fid: string | undefined }[]> {
  const all = [...folders]
  for (const folder of all) {
    for (const file of await listChildren(client, folder.fid))
      if (file.filetype === 'fold') all.push({ path: `${folder.path}${file.filename}/`, fid: file.fid })
  }
  return all
}

/** Returns whether a path is one of `paths`, or below one of them. */
export function isAtOrBelow(path: string, paths: ReadonlySet<string>): boolean {
  const names = path.split('/')
  return names.some((_, k) => paths.has(names.slice(0, k + 1).join('/')))
}
