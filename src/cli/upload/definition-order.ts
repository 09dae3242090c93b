// The order in which definitions are made.
import { Problem } from '../../contract/errors.ts'
import { DEFINITION_KINDS, namesTable } from '../files/definitions.ts'
import { affectsAllFiles } from '../files/targets.ts'
import type { Failure } from '../output/failure.ts'
import type { DefinitionMaker } from './make-definitions.ts'
import type { DefinitionFile } from './read-definitions.ts'

/**
 * Returns definitions in the order in which they are made: queries after those whose grids they name, then charts, then
 * boards.
 */
export function sortDefinitions<F extends DefinitionFile>(files: readonly F[]): F[] {
  const queries = files.filter(({ definition }) => definition.kind === 'query')
  const sorted: F[] = []
  const seen = new Set<F>()
  const visit = (one: F): void => {
    if (seen.has(one)) return
    seen.add(one)
    for (const other of queries) if (namesTable(one.definition.text, other.definition.name)) visit(other)
    sorted.push(one)
  }
  for (const one of queries) visit(one)
  const rest = DEFINITION_KINDS.slice(1).flatMap((kind) =>
    files.filter(({ definition }) => definition.kind === kind),
  )
  return [...sorted, ...rest]
}

/** Returns the queries through which a query reads its own grid, beginning with it; undefined if it does not. */
function findCircle<F extends DefinitionFile>(one: F, queries: readonly F[]): F[] | undefined {
  const seen = new Set<F>()
  const search = (at: F): F[] | undefined => {
    for (const next of queries) {
      if (!namesTable(at.definition.text, next.definition.name)) continue
      if (next === one) return [at]
      if (seen.has(next)) continue
      seen.add(next)
      const rest = search(next)
      if (rest) return [at, ...rest]
    }
    return undefined
  }
  return search(one)
}

/** Returns the error of a query; of one that reads its own grid, which cannot be found, one that says so. */
function explainCircle<F extends DefinitionFile>(problem: Problem, one: F, queries: readonly F[]): Problem {
  const circle = problem.code === 'unknown_table' ? findCircle(one, queries) : undefined
  if (!circle) return problem
  const files = [...circle, one].map(({ file }) => file)
  return new Problem(problem.code, `the query reads its own grid: ${files.join(' → ')}`, {
    hint: 'No grid is derived from itself, directly or through others.',
  })
}

/**
 * Makes definitions with `work`, in order. A query that read another grid than that of this upload, or found none, is
 * made again. Results and failures are in the order in which they were made.
 */
export async function makeAll<F extends DefinitionFile>(
  maker: DefinitionMaker,
  files: readonly F[],
  work: (file: F) => Promise<object[]>,
): Promise<{ items: object[]; failures: Failure[] }> {
  const sorted = sortDefinitions(files)
  const outcomes = new Map<F, object[] | Problem>()
  let isStopped = false
  const make = async (one: F): Promise<void> => {
    if (isStopped) return
    const outcome = await work(one).catch((error) => {
      if (error instanceof Problem && error.code !== 'interrupted') return error
      throw error
    })
    // If two queries name each other, the first error stays: it names the missing grid.
    const before = outcomes.get(one)
    const isOfOther = outcome instanceof Problem && outcome.code === 'unknown_table' && !outcome.tables
    if (!(isOfOther && before instanceof Problem)) outcomes.set(one, outcome)
    isStopped = outcome instanceof Problem && affectsAllFiles(outcome)
  }
  const queries = sorted.filter(({ definition }) => definition.kind === 'query')
  for (const one of queries) await make(one)
  const isWrong = (one: F): boolean => {
    const outcome = outcomes.get(one)
    return (outcome instanceof Problem && outcome.code === 'unknown_table') || maker.hasReadOther(one)
  }
  for (let wrong = queries.filter(isWrong), round = 0; wrong.length > 0 && round < queries.length; round++) {
    for (const one of wrong) await make(one)
    const isStuck = wrong.every((one) => outcomes.get(one) instanceof Problem)
    wrong = isStuck ? [] : queries.filter(isWrong)
  }
  for (const one of sorted) if (!outcomes.has(one)) await make(one)
  const failures: Failure[] = []
  const items: object[] = []
  for (const [one, outcome] of outcomes)
    if (outcome instanceof Problem)
      failures.push({ subject: one.file, problem: explainCircle(outcome, one, queries) })
    else items.push(...outcome)
  const untried = sorted.filter((one) => !outcomes.has(one)).map(({ file }) => file)
  if (untried.length > 0) failures[failures.length - 1].untried = untried
  return { items, failures }
}
