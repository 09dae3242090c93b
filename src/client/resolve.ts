import { closest, hintWith } from '../contract/closest.ts'
import { ifFound, Problem } from '../contract/errors.ts'
import { fidFromLink, formatFid, parseFid } from '../contract/fid.ts'
import type { FileMeta } from '../contract/resources/index.ts'
import { filetypeName } from '../contract/resources/index.ts'
import { splitVersion } from '../contract/version-ref.ts'
import type { Client } from './client.ts'

export type Kind = 'grid' | 'plot' | 'fold'

/** Resolves a file, given as fid (`alice:3`), link or path in the caller's home folder, to its fid. */
export async function resolve(client: Client, file: string, filetype?: Kind): Promise<string> {
  const { fid, version } = await resolveVersion(client, file, filetype)
  client.atVersion(fid, version)
  return fid
}

/** Resolves a file that may have a version after it: `sales@3`. */
export async function resolveVersion(
  client: Client,
  file: string,
  filetype?: Kind,
): Promise<{ fid: string; version: string | undefined }> {
  if (/^https?:\/\//i.test(file)) {
    const parts = splitVersion(file)
    if (parts && URL.canParse(parts.file) && fidFromLink(parts.file))
      return { fid: await ofLink(client, parts.file), version: parts.version }
    const version = URL.canParse(file) ? new URL(file).searchParams.get('version') : null
    return { fid: await ofLink(client, file), version: version || undefined }
  }
  // Ignore a trailing slash.
  const whole = parseFid(file.replace(/\/+$/, ''))
  if (whole) return { fid: formatFid(whole), version: undefined }
  const parts = splitVersion(file)
  if (!parts) return { fid: (await lookup(client, file, filetype)).fid, version: undefined }
  const fid = parseFid(parts.file)
  if (fid) return { fid: formatFid(fid), version: parts.version }
  // A file may have this literal name.
  const literal = await lookupIfThere(client, file)
  if (literal) return { fid: literal.fid, version: undefined }
  return { fid: (await lookup(client, parts.file, filetype)).fid, version: parts.version }
}

/** The base URL of the server of a link (`https://host/prefix`); undefined if it is not a link to a file. */
export function baseOfLink(link: string): string | undefined {
  if (!/^https?:\/\//i.test(link) || !URL.canParse(link) || !fidFromLink(link)) return undefined
  const { origin, pathname } = new URL(link)
  const [, prefix] = /^(.*?)\/(?:~|v2\/)/.exec(decodeURIComponent(pathname)) ?? []
  return prefix === undefined ? undefined : origin + prefix
}

/** Resolves a link to a fid. A share key in it is used for later requests on the file. */
async function ofLink(client: Client, link: string): Promise<string> {
  const found = fidFromLink(link)
  if (!found) {
    throw new Problem('usage', `not a link to a file: ${link}`, {
      hint: 'Links look like https://host/~alice/12/',
    })
  }
  const fid = formatFid(found)
  const { origin, searchParams } = new URL(link)
  const key = searchParams.get('share_key')
  if (origin === new URL(client.url).origin) {
    if (key) client.openWith(fid, key)
    return fid
  }
  // A server may be reached at a different URL from the one in its links: ask it.
  const addresses = Object.values(await client.call('service.index'))
  if (!addresses.some((address) => URL.canParse(address) && new URL(address).origin === origin)) {
    throw new Problem('usage', `this link belongs to another server: ${link}`, {
      hint: `The server in use is ${client.url}; choose another with --profile or GRIDLINE_URL.`,
    })
  }
  if (key) client.openWith(fid, key)
  return fid
}

const lookups = {
  grid: { operation: 'grids.lookup', what: 'grid' },
  plot: { operation: 'plots.lookup', what: 'plot' },
  fold: { operation: 'folders.lookup', what: 'folder' },
} as const

/** Splits a path that may begin with a folder id (`alice:12/2024/sales`). */
export function startOf(path: string): { path: string; parent?: number; user?: string } {
  const slash = path.indexOf('/')
  const fid = slash > 0 ? parseFid(path.slice(0, slash)) : undefined
  const rest = path.slice(slash + 1)
  return fid && /[^/]/.test(rest) ? { path: rest, parent: fid.idlocal, user: fid.owner } : { path }
}

const LIST = 'List files with: gridline ls'

/** What helps with a file that is of another type than the one that is wanted. */
const suggestions: Readonly<Record<string, (fid: string) => string>> = {
  'fold for grid': (fid) => `List its files with: gridline ls ${fid}`,
  'fold for plot': (fid) => `List its files with: gridline ls ${fid}`,
  'plot for grid': (fid) => `For the data of the plot: gridline plot data ${fid} --inline`,
  'grid for plot': (fid) => `To chart it: gridline plot create --grid ${fid} --type line`,
}

/** Returns the metadata of the file at a path. */
export async function lookup(
  client: Client,
  path: string,
  filetype?: Kind,
  parent?: number,
): Promise<FileMeta> {
  const { operation, what } = filetype
    ? lookups[filetype]
    : { operation: 'files.lookup' as const, what: 'file' }
  try {
    return await client.call(operation, { query: placeOf(path, parent) })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    const other = filetype && (await lookupIfThere(client, path, parent))
    const why = other
      ? `${path} is a ${filetypeName(other.filetype)}, not a ${what}`
      : `no ${what} at ${path}`
    const meant = other ? undefined : await similarTo(client, path, parent)
    const list = (other && suggestions[`${other.filetype} for ${filetype}`]?.(other.fid)) ?? LIST
    throw new Problem('not_found', why, {
      hint: hintWith(meant, list),
    })
  }
}

function placeOf(path: string, parent: number | undefined) {
  return parent === undefined ? startOf(path) : { path, parent }
}

/** Files of a folder in which a similar name is looked for. */
const SEARCHED = 500

/** The path of a file with a similar name in the same folder, or of the folder, if that is misspelled. */
async function similarTo(
  client: Client,
  path: string,
  parent: number | undefined,
): Promise<string | undefined> {
  const start = startOf(path)
  if (parent !== undefined || start.user !== undefined) return undefined
  const names = path.split('/').filter((name) => name !== '')
  let fid: string | undefined
  try {
    for (const [k, name] of names.entries()) {
      const query = { page_size: SEARCHED }
      const folder =
        fid === undefined
          ? await client.call('folders.home', { query })
          : await client.call('folders.get', { fid, query })
      const files = folder.children?.results ?? []
      const found = files.find(({ filename }) => filename === name)
      if (!found) {
        const meant = closest(
          name,
          files.map(({ filename }) => filename),
        )
        return meant === undefined
          ? undefined
          : [...names.slice(0, k), meant, ...names.slice(k + 1)].join('/')
      }
      if (found.filetype !== 'fold') return undefined
      fid = found.fid
    }
  } catch (error) {
    // The error that is reported is the first one.
    if (!(error instanceof Problem)) throw error
  }
  return undefined
}

/** Like `lookup`, but returns undefined if there is no such file. */
export async function lookupIfThere(
  client: Client,
  path: string,
  parent?: number,
): Promise<FileMeta | undefined> {
  return ifFound(client.call('files.lookup', { query: placeOf(path, parent) }))
}
