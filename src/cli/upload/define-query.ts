// Makes derived grids of queries in files.
import { columnLossError, Problem } from '../../contract/errors.ts'
import type { Derivation, FileMeta } from '../../contract/resources/index.ts'
import { inFile, namesTable } from '../files/definitions.ts'
import { failedProblem, removedProblem } from './definition-names.ts'
import { type DefinitionKind, type DefinitionScope, takenProblem, toMade } from './definition-scope.ts'
import type { LocalFile } from './expand.ts'
import type { DefinitionFile } from './read-definitions.ts'

export const queryKind: DefinitionKind = {
  async make(scope, local, existing) {
    const client = await scope.client()
    // It would read another grid of the name, in a folder above.
    const failed = scope.names.listFailed().find((name) => namesTable(local.definition.text, name))
    if (failed !== undefined) throw inFile(failedProblem(failed, 'unknown_table'), local.file)
    const state = existing && (await findState(scope, existing, local))
    const isPublished = scope.isPublished(existing)
    if (existing && state === 'current' && isPublished && scope.changedAt === undefined)
      return toMade(existing, 'unchanged')
    if (existing && !scope.options.isReplacing && state === undefined) throw takenProblem(local)
    const { file, action, derivation } = await client.call('grids.derive', await requestOf(scope, local))
    if (derivation) {
      scope.inputs.set(local, derivation.inputs ?? [])
      refuseRemoved(scope, local, derivation)
    }
    // It may have followed its inputs already.
    const hasFollowed = scope.changedAt !== undefined && file.date_modified >= scope.changedAt
    const outcome = action === 'unchanged' && hasFollowed ? 'replaced' : action
    if (!existing || isPublished) return toMade(file, outcome)
    return toMade(
      await client.call('files.update', { fid: file.fid, json: { world_readable: true } }),
      outcome,
    )
  },

  async tryMake(scope, local) {
    return (await scope.client()).tryCall('grids.derive', await requestOf(scope, local))
  },

  rehearse: (rehearsal, local) => rehearsal.runQuery(local),

  async isUnchanged(scope, local, existing) {
    return (
      existing !== undefined &&
      (await findState(scope, existing, local)) !== undefined &&
      scope.isPublished(existing)
    )
  },

  hasSameText: async (scope, local, file) => scope.hasMarkerOf(local, file),

  review: undefined,
}

async function requestOf(scope: DefinitionScope, local: DefinitionFile) {
  const { draft, yes, public: isPublic } = scope.options
  const { text: sql, name: filename } = local.definition
  const json = { ...(await scope.placeOf(local)), filename, sql, world_readable: isPublic }
  return {
    headers: { Draft: draft, 'Allow-Column-Loss': yes === true },
    json: { ...json, on_conflict: 'replace' as const },
  }
}

/** Returns the state of a derived grid that has the query of a definition; undefined for another grid or query. */
async function findState(
  scope: DefinitionScope,
  grid: FileMeta,
  local: DefinitionFile,
): Promise<string | undefined> {
  if (grid.filetype !== 'grid') return undefined
  const client = await scope.client()
  const derivation = await client.call('derivations.get', { fid: grid.fid }).catch((error) => {
    if (error instanceof Problem && error.code === 'invalid_request') return undefined
    throw error
  })
  if (derivation?.sql !== local.definition.text) return undefined
  refuseRemoved(scope, local, derivation)
  return derivation.state
}

/** Throws `column_loss` if a query would lose columns of a derived grid. `columns`: those of its result. */
export async function refuseColumnLoss(
  scope: DefinitionScope,
  { fid, filename }: FileMeta,
  columns: readonly { name: string }[],
): Promise<void> {
  if (scope.options.yes) return
  const grid = await (await scope.client()).call('grids.get', { fid })
  const names = new Set(columns.map(({ name }) => name))
  const lost = grid.cols.filter(({ name }) => !names.has(name))
  if (lost.length > 0) throw columnLossError('the result of the query', filename, lost)
}

/** Throws `conflict` if a query reads a grid that this upload moves to the trash. */
function refuseRemoved(
  { options }: DefinitionScope,
  { file }: LocalFile,
  { inputs = [] }: Pick<Derivation, 'inputs'>,
): void {
  const removed = inputs.find(({ fid }) => options.removed?.has(fid))
  if (removed) throw inFile(removedProblem(removed.table), file)
}
