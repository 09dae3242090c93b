// Definition files: queries of derived grids, charts and boards, which `upload` and `review` make. See docs/definitions.md.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Problem } from '../../contract/errors.ts'
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

/** Returns the kind of a definition file by its name; undefined for other files. */
export function definitionKindOf(file: string): DefinitionKind | undefined {
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
  return { kind, name: given?.trim() || name || 'board', text, document: members }
}
