// Reads the definition files of uploads and reviews.
import { Problem } from '../../contract/errors.ts'
import {
  type Definition,
  definitionKindOf,
  isQuery,
  readDefinition,
  removeDefinitionExtension,
} from '../files/definitions.ts'
import type { Failure } from '../output/failure.ts'
import type { Expanded, LocalFile } from './expand.ts'

/** A definition file to make. */
export type DefinitionFile = LocalFile & { definition: Definition }

/**
 * Reads the definition files among files. `name`: of the only one. `broken`: those that cannot be read. `others`: SQL files in directories that are no queries, such as dumps.
 */
export async function readDefinitions(
  { files, isMultiple }: Pick<Expanded, 'files' | 'isMultiple'>,
  name?: string,
): Promise<{ definitions: DefinitionFile[]; broken: Failure[]; others: LocalFile[] }> {
  const definitions: DefinitionFile[] = []
  const broken: Failure[] = []
  const others: LocalFile[] = []
  for (const local of files) {
    const kind = definitionKindOf(local.file)
    if (kind === undefined) continue
    try {
      const definition = await readDefinition(local.file, kind)
      if (name !== undefined) definition.name = name
      if (kind === 'query' && isMultiple && !isQuery(definition.text)) others.push(local)
      else definitions.push({ ...local, definition, name: definition.name })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (!isMultiple) throw error
      broken.push({ subject: local.file, problem: error })
    }
  }
  return { definitions, broken, others }
}

/** Returns a file with the name of what it would make, for files that are left out. */
export function withStoredName(local: LocalFile): LocalFile {
  return definitionKindOf(local.file) === undefined
    ? local
    : { ...local, name: removeDefinitionExtension(local.file) }
}
