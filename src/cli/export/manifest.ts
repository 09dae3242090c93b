// The manifest of an exported account: what its files are, and how they belong together. See docs/export.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../charts/figure/figure.ts'
import type { ColumnType } from '../../contract/column-types.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { isInnerPath } from './export-folder.ts'

export const MANIFEST_FILE = 'manifest.json'
/** Value of the member `format`. */
export const ACCOUNT_FORMAT = 'gridline account'
const VERSION = 1

/** Files of the account in ascending order of their numbers. */
export interface Manifest {
  username: string
  files: ManifestFile[]
}

export interface ManifestFile {
  /** Number of the file in its links. */
  id: number
  type: 'folder' | 'grid' | 'plot' | 'extra' | 'board'
  name: string
  /** Number of its folder; null: the home folder. */
  folder: number | null
  public: boolean
  /** Whether it has a secret link. The link itself is not exported. */
  secret_link: boolean
  /** True: the readers of a board see all of its items. */
  share_items?: true
  collaborators: ManifestCollaborator[]
  metadata: Record<string, unknown>
  /** Names of the key columns of a grid. */
  key?: string[]
  /** Rules of a grid, as in a checks file. */
  checks?: Record<string, unknown>
  /** Numbers of the files that refer to an extra. */
  referencers?: number[]
  /** Kept versions, oldest first, and the current content at the end. */
  contents: ManifestContent[]
}

export interface ManifestCollaborator {
  user?: string
  email?: string
  team?: string
  readonly: boolean
}

export interface ManifestContent {
  /** Path of the file, with slashes. */
  path: string
  sha256: string
  /** If the version is kept: its name. */
  kept?: { name: string | null }
  message?: string
  /** Columns of a grid, in their order. */
  columns?: ManifestColumn[]
  /** True: the figure contains data, because some of its grids are not exported, or because it is a kept version. */
  has_data?: true
}

export interface ManifestColumn {
  name: string
  uid: string
  type: ColumnType
}

/** Formats a manifest: one line for each file. */
export function formatManifest({ username, files }: Manifest): string {
  const head = JSON.stringify({ format: ACCOUNT_FORMAT, version: VERSION, username }).slice(0, -1)
  const lines = files.map((file) => `\n  ${JSON.stringify(file)}`)
  return `${head},"files":[${lines.join(',')}\n]}\n`
}

/** Reads the manifest of a directory; undefined if it has none. Throws `bad_data` if it is damaged. */
export function readManifest(directory: string): Manifest | undefined {
  const file = join(directory, MANIFEST_FILE)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  if (!text.startsWith('{') || !text.includes(ACCOUNT_FORMAT)) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new Problem('bad_data', `${file}: not JSON, or incomplete: ${errorMessageOf(error)}`)
  }
  if (!isObject(parsed) || parsed.format !== ACCOUNT_FORMAT) return undefined
  if (parsed.version !== VERSION)
    throw new Problem('bad_data', `${file}: version ${String(parsed.version)} of the format is not known`, {
      hint: 'Update gridline.',
    })
  const { username, files } = parsed
  if (typeof username !== 'string' || !isUsername(username) || !Array.isArray(files))
    throw damagedError(file, 'username or files')
  for (const [k, one] of files.entries())
    checkFile(one, k === 0 ? -1 : files[k - 1].id, `${file}: files.${k}`)
  return { username, files: files as ManifestFile[] }
}

function damagedError(where: string, what: string): Problem {
  return new Problem('bad_data', `${where}: ${what} is missing or damaged`)
}

const TYPES: readonly unknown[] = [
  'folder',
  'grid',
  'plot',
  'extra',
  'board',
] satisfies ManifestFile['type'][]

/** Checks a file of a manifest. `former`: number of the file before. Throws `bad_data`. */
function checkFile(file: unknown, former: number, where: string): void {
  if (!isObject(file)) throw damagedError(where, 'the file')
  const { id, type, name, folder, contents, collaborators, metadata, referencers = [], key = [] } = file
  const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
  const isText = (value: unknown): boolean => typeof value === 'string'
  const isListOf = (list: unknown, check: (one: unknown) => boolean): boolean =>
    Array.isArray(list) && list.every(check)
  if (!isNumber(id) || Number(id) <= former) throw damagedError(where, 'id')
  if (!TYPES.includes(type)) throw damagedError(where, 'type')
  if (!isText(name)) throw damagedError(where, 'name')
  if (folder !== null && !isNumber(folder)) throw damagedError(where, 'folder')
  if (!isListOf(collaborators, isObject)) throw damagedError(where, 'collaborators')
  if (!isObject(metadata)) throw damagedError(where, 'metadata')
  if (!isListOf(referencers, isNumber)) throw damagedError(where, 'referencers')
  if (!isListOf(key, isText)) throw damagedError(where, 'key')
  const isColumn = (one: unknown): boolean =>
    isObject(one) && isText(one.name) && isText(one.uid) && isText(one.type)
  const isContent = (one: unknown): boolean =>
    isObject(one) &&
    typeof one.path === 'string' &&
    isInnerPath(one.path) &&
    (one.kept === undefined || isObject(one.kept)) &&
    (one.message === undefined || isText(one.message)) &&
    isText(one.sha256) &&
    (type === 'grid' ? isListOf(one.columns, isColumn) : one.columns === undefined)
  const isWhole = isListOf(contents, isContent) && (type === 'folder') === ((contents as []).length === 0)
  if (!isWhole) throw damagedError(where, 'contents')
}
