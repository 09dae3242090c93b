import { type Client, type Kind, startOf } from '../../client/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { childrenOf } from './lists.ts'

/** Whether a name contains wildcards. Links never do. */
export function isPattern(text: string): boolean {
  return /[*?[]/.test(text) && !/^https?:\/\//i.test(text)
}

/** Converts a wildcard pattern for one path segment to a RegExp: `*`, `?`, `[ab]`, `[!ab]`. */
export function patternOf(text: string): RegExp {
  const source = text.replace(/\[(!?)([^\]]+)\]|[*?]|[.+^${}()|\\[\]]/g, (found, not, characters) => {
    if (found === '*') return '.*'
    if (found === '?') return '.'
    if (characters !== undefined) return `[${not ? '^' : ''}${characters.replace(/[\\\]^]/g, '\\$&')}]`
    return `\\${found}`
  })
  return new RegExp(`^${source}$`, 'su')
}

/** Files whose paths match a pattern, with their paths. `**` stands for folders at any depth. */
export async function matchingFiles(
  client: Client,
  given: string,
  filetype?: Kind,
): Promise<{ path: string; file: FileMeta }[]> {
  const { path: inside, user, parent } = startOf(given)
  const parts = inside.split('/').filter((part) => part !== '')
  const start = user === undefined ? undefined : `${user}:${parent}`
  let level: { path: string; fid: string | undefined }[] = [
    { path: start === undefined ? '' : `${start}/`, fid: start },
  ]
  let files: { path: string; file: FileMeta }[] = []
  for (const [k, part] of parts.entries()) {
    const last = k === parts.length - 1
    if (part === '**') {
      // The folders themselves, and all below. At the end, everything in them.
      const all = await foldersBelow(client, level)
      level = all.map(({ path, fid }) => ({ path, fid }))
      if (!last) continue
    }
    const pattern = patternOf(part === '**' ? '*' : part)
    files = []
    for (const folder of level) {
      for (const file of await childrenOf(client, folder.fid)) {
        const wanted = last ? !filetype || file.filetype === filetype : file.filetype === 'fold'
        if (wanted && pattern.test(file.filename))
          files.push({ path: `${folder.path}${file.filename}`, file })
      }
    }
    level = files.map(({ path, file }) => ({ path: `${path}/`, fid: file.fid }))
  }
  return files
}

/** Folders, and all folders below them. */
async function foldersBelow(
  client: Client,
  folders: readonly { path: string; fid: string | undefined }[],
): Promise<{ path: string; fid: string | undefined }[]> {
  const all = [...folders]
  for (const folder of all) {
    for (const file of await childrenOf(client, folder.fid))
      if (file.filetype === 'fold') all.push({ path: `${folder.path}${file.filename}/`, fid: file.fid })
  }
  return all
}
