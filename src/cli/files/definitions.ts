// Definition files: queries of derived grids, charts and boards, which `upload` and `review` make. See docs/definitions.md.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { parseYaml } from './yaml.ts'

/** Kinds of definition files, in the order in which they are made, with the type of file that each makes. */
const DEFINITIONS = {
  query: { pattern: /\.sql$/i, filetype: 'grid' },
  chart: { pattern: /\.chart\.ya?ml$/i, filetype: 'plot' },
  board: { pattern: /(?<=^|\.)board\.ya?ml$/i, filetype: 'dashboard' },
} as const

export type DefinitionKind = keyof typeof DEFINITIONS

export const DEFINITION_KINDS = Object.keys(DEFINITIONS) as readonly DefinitionKind[]

/** Key of the metadata of charts and boards that are made from a file. */
export const DEFINITION_KEY = 'definition'

/** Returns the kind of a definition file by its name; undefined for other files, and for URLs. */
export function definitionKindOf(file: string): DefinitionKind | undefined {
  if (/^https?:\/\//i.test(file)) return undefined
  const name = basename(file)
  return DEFINITION_KINDS.find((kind) => DEFINITIONS[kind].pattern.test(name))
}

/** Returns the type of the file that a definition makes. */
export function definedTypeOf(kind: DefinitionKind): 'grid' | 'plot' | 'dashboard' {
  return DEFINITIONS[kind].filetype
}

/** Returns the name of a definition file without its extension: `temp.chart.yml` → `temp`; empty for `board.yml`. */
export function removeDefinitionExtension(file: string): string {
  const name = basename(file).normalize('NFC')
  const kind = definitionKindOf(name)
  return name.replace(kind === undefined ? /\.ya?ml$/i : DEFINITIONS[kind].pattern, '').replace(/\.$/, '')
}

/** Origin of a chart or a board, in its metadata. */
export interface DefinitionMarker {
  /** Path of the file, which begins with the name of the directory. */
  path: string
  /** Name that it had when it was made. */
  name: string
  sha256: string
}

/** Returns what a chart or a board was made from; undefined if it was made by hand, or copied under another name. */
export function parseMarker({ metadata, filename }: Pick<FileMeta, 'metadata' | 'filename'>) {
  const marker = metadata[DEFINITION_KEY] as Partial<DefinitionMarker> | null | undefined
  const isMarker = typeof marker?.path === 'string' && marker.name === filename
  return isMarker ? (marker as DefinitionMarker) : undefined
}

/** Returns the path of a local file, which begins with the name of the directory. */
export function definitionPathOf({ file, folders }: { file: string; folders: readonly string[] }): string {
  return [...folders, basename(file)].join('/')
}

/** Returns a query without comments and texts. */
function removeComments(sql: string): string {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, ' ')
}

/** Returns whether a SQL file may read: scripts that write, such as dumps, are no definitions. */
export function isQuery(sql: string): boolean {
  return !/^[\s;]*(?:create|insert|drop|alter|delete|update|copy|pragma|begin|set|use|grant|lock|truncate|attach)\b/i.test(
    removeComments(sql),
  )
}

/** A definition file that was read. */
export interface Definition {
  kind: DefinitionKind
  /** Name of the file that it makes. */
  name: string
  text: string
  /** Content of a chart or a board; undefined for a query. */
  document: Record<string, unknown> | undefined
}

/** Reads a definition file. Throws `no_such_file`, and `bad_data` with the line at fault. */
export async function readDefinition(file: string, kind: DefinitionKind): Promise<Definition> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Problem('no_such_file', `cannot read ${file}: ${error.code ?? error.message}`)
  })
  const name = removeDefinitionExtension(file)
  if (kind === 'query') return { kind, name, text, document: undefined }
  const document = await parseYaml(file, text, 'bad_data')
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new Problem('bad_data', `${file}: expected names with values, such as title: Sales`)
  const members = document as Record<string, unknown>
  // The page of a board has its name as the heading.
  const [key, given] = kind === 'board' ? ['title', members.title] : ['name', members.name]
  if (given !== undefined && (typeof given !== 'string' || given.trim() === '' || given.includes('/')))
    throw new Problem('bad_data', `${file}: ${key}: must be a text without /, since it becomes a name`)
  return { kind, name: given?.trim().normalize('NFC') || name || 'board', text, document: members }
}

/** Names the file of a definition in a problem; other errors stay as they are. */
export function inFile(error: unknown, file: string): unknown {
  if (!(error instanceof Problem)) return error
  const { code, message, hint } = error
  return new Problem(code, message.startsWith(file) ? message : `${file}: ${message}`, { hint })
}

/** Returns whether a query has a name as a word: more often than it reads that table. */
export function namesTable(sql: string, name: string): boolean {
  const words = removeComments(sql)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
  const wanted = name.toLowerCase().split(/[^\p{L}\p{N}_-]+/u)
  return words.some((_, k) => wanted.every((word, n) => words[k + n] === word))
}
