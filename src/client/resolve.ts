// Resolves names, paths, links and versions to files.
import { Problem, undefinedIfNotFound } from '../contract/errors.ts'
import { formatFid, parseFid, parseFidLink } from '../contract/fid.ts'
import { findClosest, withSuggestion } from '../contract/message-texts.ts'
import type { FileMeta } from '../contract/resources/index.ts'
import { filetypeLabel } from '../contract/resources/index.ts'
import { splitVersion } from '../contract/version-ref.ts'
import type { Client } from './client.ts'

/** Type of a file: grid, plot or folder. */
export type FileKind = 'grid' | 'plot' | 'fold'

/** Resolves a file, given as fid (`alice:3`), link or path in the caller's home folder, to its fid. */
export async function resolveFid(client: Client, file: string, filetype?: FileKind): Promise<string> {
  const { fid, version } = await resolveVersion(client, file, filetype)
  client.setVersion(fid, version)
  return fid
}

/** Resolves a file with an optional version: `sales@3`. */
export async function resolveVersion(
  client: Client,
  file: string,
  filetype?: FileKind,
): Promise<{ fid: string; version: string | undefined }> {
  if (/^https?:\/\//i.test(file)) {
    const split = splitVersion(file)
    if (split && URL.canParse(split.file) && parseFidLink(split.file))
      return { fid: await resolveLink(client, split.file), version: split.version }
    const version = URL.canParse(file) ? new URL(file).searchParams.get('version') : null
    return { fid: await resolveLink(client, file), version: version || undefined }
  }
  // Ignore a trailing slash.
  const parsedFid = parseFid(file.replace(/\/+$/, ''))
  if (parsedFid) return { fid: formatFid(parsedFid), version: undefined }
  const versioned = splitVersion(file)
  if (!versioned) return { fid: (await lookup(client, file, filetype)).fid, version: undefined }
  const fid = parseFid(versioned.file)
  if (fid) return { fid: formatFid(fid), version: versioned.version }
  // A file can have this literal name.
  const literal = await lookupOrUndefined(client, file)
  if (literal) return { fid: literal.fid, version: undefined }
  return { fid: (await lookup(client, versioned.file, filetype)).fid, version: versioned.version }
}

/**
 * Returns the base URL of a link's server (`https://host/prefix`); undefined unless it is a link to a file.
 */
export function baseOfLink(link: string): string | undefined {
  if (!/^https?:\/\//i.test(link) || !URL.canParse(link) || !parseFidLink(link)) return undefined
  const { origin, pathname } = new URL(link)
  const [, prefix] = /^(.*?)\/(?:~|v2\/)/.exec(decodeURIComponent(pathname)) ?? []
  return prefix === undefined ? undefined : origin + prefix
}

/**
 * Resolves a link to a fid. Stores its share key for later requests. Throws `usage` for links of other
 * servers.
 */
async function resolveLink(client: Client, link: string): Promise<string> {
  const parsedFid = parseFidLink(link)
  if (!parsedFid) {
    throw new Problem('usage', `not a link to a file: ${link}`, {
      hint: 'Links look like https://host/~alice/12/',
    })
  }
  const fid = formatFid(parsedFid)
  const { origin, searchParams } = new URL(link)
  const key = searchParams.get('share_key')
  if (origin === new URL(client.url).origin) {
    if (key) client.setShareKey(fid, key)
    return fid
  }
  // The URL of a server can differ from the one in its links: ask the server.
  const serverUrls = Object.values(await client.call('service.index'))
  if (!serverUrls.some((url) => URL.canParse(url) && new URL(url).origin === origin)) {
    throw new Problem('usage', `this link belongs to another server: ${link}`, {
      hint: `The server in use is ${client.url}; choose another with --profile or GRIDLINE_URL.`,
    })
  }
  if (key) client.setShareKey(fid, key)
  return fid
}

const LOOKUP_BY_KIND = {
  grid: { operation: 'grids.lookup', what: 'grid' },
  plot: { operation: 'plots.lookup', what: 'plot' },
  fold: { operation: 'folders.lookup', what: 'folder' },
} as const

/** Splits a path that can begin with a folder id (`alice:12/2024/sales`). */
export function splitFolderId(path: string): { path: string; parent?: number; user?: string } {
  const slash = path.indexOf('/')
  const fid = slash > 0 ? parseFid(path.slice(0, slash)) : undefined
  const rest = path.slice(slash + 1)
  return fid && /[^/]/.test(rest) ? { path: rest, parent: fid.idlocal, user: fid.owner } : { path }
}

const LIST_HINT = 'List files with: gridline ls'

/** Hints for files of the wrong type. */
const HINT_BY_KINDS: Readonly<Record<string, (fid: string) => string>> = {
  'fold for grid': (fid) => `List its files with: gridline ls ${fid}`,
  'fold for plot': (fid) => `List its files with: gridline ls ${fid}`,
  'plot for grid': (fid) => `For the data of the plot: gridline plot data ${fid} --inline`,
  'grid for plot': (fid) => `To chart it: gridline plot create --grid ${fid} --type line`,
}

/** Returns the metadata of the file at a path. Throws `not_found`, with a suggestion. */
export async function lookup(
  client: Client,
  path: string,
  filetype?: FileKind,
  parent?: number,
): Promise<FileMeta> {
  const { operation, what: noun } = filetype
    ? LOOKUP_BY_KIND[filetype]
    : { operation: 'files.lookup' as const, what: 'file' }
  try {
    return await client.call(operation, { query: lookupQuery(path, parent) })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    const other = filetype && (await lookupOrUndefined(client, path, parent))
    const message = other
      ? `${path} is a ${filetypeLabel(other.filetype)}, not a ${noun}`
      : `no ${noun} at ${path}`
    const suggestion = other ? undefined : await findSimilarPath(client, path, parent)
    const hint = (other && HINT_BY_KINDS[`${other.filetype} for ${filetype}`]?.(other.fid)) ?? LIST_HINT
    throw new Problem('not_found', message, {
      hint: withSuggestion(suggestion, hint),
    })
  }
}

/** Returns the query for a path, relative to a folder or home. */
function lookupQuery(path: string, parent: number | undefined) {
  return parent === undefined ? splitFolderId(path) : { path, parent }
}

/** Maximum number of files in a folder that are searched for similar names. */
const MAX_SEARCHED_FILES = 500

/** Returns the path of a file with a similar name in the same folder, or with a similar folder name. */
async function findSimilarPath(
  client: Client,
  path: string,
  parent: number | undefined,
): Promise<string | undefined> {
  const start = splitFolderId(path)
  if (parent !== undefined || start.user !== undefined) return undefined
  const names = path.split('/').filter((name) => name !== '')
  let fid: string | undefined
  try {
    for (const [k, name] of names.entries()) {
      const query = { page_size: MAX_SEARCHED_FILES }
      const folder =
        fid === undefined
          ? await client.call('folders.home', { query })
          : await client.call('folders.get', { fid, query })
      const files = folder.children?.results ?? []
      const match = files.find(({ filename }) => filename === name)
      if (!match) {
        const suggestion = findClosest(
          name,
          files.map(({ filename }) => filename),
        )
        return suggestion === undefined
          ? undefined
          : [...names.slice(0, k), suggestion, ...names.slice(k + 1)].join('/')
      }
      if (match.filetype !== 'fold') return undefined
      fid = match.fid
    }
  } catch (error) {
    // Report the first error.
    if (!(error instanceof Problem)) throw error
  }
  return undefined
}

/** Like `lookup`, but returns undefined if the file does not exist. */
export async function lookupOrUndefined(
  client: Client,
  path: string,
  parent?: number,
): Promise<FileMeta | undefined> {
  return undefinedIfNotFound(client.call('files.lookup', { query: lookupQuery(path, parent) }))
}
