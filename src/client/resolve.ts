import { Problem } from '../contract/errors.ts'
import { fidFromLink, formatFid, parseFid } from '../contract/fid.ts'
import type { FileMeta } from '../contract/resources.ts'
import type { Client } from './client.ts'

/** The id of a file given as fid (`alice:3`), as link, or as path in the caller's home folder. */
export async function resolve(
  client: Client,
  file: string,
  filetype?: 'grid' | 'plot' | 'fold',
): Promise<string> {
  const fid = parseFid(file) ?? fidFromLink(file)
  if (fid) return formatFid(fid)
  if (/^https?:/i.test(file)) {
    throw new Problem('usage', `this link names no file: ${file}`, {
      hint: 'Links look like https://host/~alice/12/',
    })
  }
  return (await lookup(client, file, filetype)).fid
}

const lookups = {
  grid: { operation: 'grids.lookup', what: 'grid' },
  plot: { operation: 'plots.lookup', what: 'plot' },
  fold: { operation: 'folders.lookup', what: 'folder' },
} as const

/** Meta information of the file at a path. */
export async function lookup(
  client: Client,
  path: string,
  filetype?: 'grid' | 'plot' | 'fold',
  parent?: number,
): Promise<FileMeta> {
  const { operation, what } = filetype
    ? lookups[filetype]
    : { operation: 'files.lookup' as const, what: 'file' }
  try {
    return await client.call(operation, { query: { path, parent } })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    throw new Problem('not_found', `no ${what} at ${path}`, { hint: 'See what there is with: gridline ls' })
  }
}

/** The same, or undefined where there is none. */
export async function lookupIfThere(
  client: Client,
  path: string,
  parent?: number,
): Promise<FileMeta | undefined> {
  try {
    return await lookup(client, path, undefined, parent)
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  }
}
