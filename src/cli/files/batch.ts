// Runs a command on several files, and collects results and failures.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Context } from '../core/context.ts'
import type { CommandResult } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'
import { happensToAll, resolveTargets, type Targets, type Where } from './targets.ts'

/** Runs `work` on each file. Returns one result for a single file, and a report for several. */
export async function runOnFiles(
  context: Context,
  names: readonly string[],
  work: (client: Client, fid: string, name: string) => Promise<object>,
  view: TableView,
  where: Where = {},
): Promise<CommandResult> {
  const client = await (where.read && names.length === 1 ? context.clientFor(names[0]) : context.client())
  client.several = names.length > 1
  return runOnTargets(
    context,
    await resolveTargets(client, names, where),
    (fid, of) => work(client, fid, of),
    view,
  )
}

/** Like `runOnFiles`, for resolved files. */
export async function runOnTargets(
  context: Context,
  { files, failures, several }: Targets,
  work: (fid: string, name: string) => Promise<object>,
  view: TableView,
): Promise<CommandResult> {
  if (!several) {
    if (failures.length > 0) throw failures[0].problem
    const [{ of, fid }] = files
    const result = await work(fid, of).catch((error) => {
      if (error instanceof Planned) return error.row(of)
      throw error
    })
    return { many: [warned(context, of, result)], view, alone: true }
  }
  const outcome = await runEach(files, async ({ of, fid }) => warned(context, of, await work(fid, of)))
  return { many: outcome.many, view, failures: [...failures, ...outcome.failures] }
}

/**
 * Runs `work` on each item, up to `jobs` in parallel. Collects results and failures in the order of items.
 * Stops if the server is unreachable or refuses the key; remaining items are reported as untried.
 */
export async function runEach<T extends string | { of: string }>(
  items: readonly T[],
  work: (item: T) => Promise<object | object[]>,
  jobs = 1,
): Promise<{ many: object[]; failures: Failure[] }> {
  const nameOf = (thing: T): string => (typeof thing === 'string' ? thing : thing.of)
  const results: (object[] | Failure)[] = []
  let next = 0
  let isStopped = false
  const run = async (): Promise<void> => {
    while (next < items.length && !isStopped) {
      const k = next++
      try {
        results[k] = [await work(items[k])].flat()
      } catch (error) {
        if (error instanceof Planned) {
          results[k] = [error.row(nameOf(items[k]))]
          continue
        }
        if (!(error instanceof Problem) || error.code === 'interrupted') throw error
        // Parallel items fail for the same reason; they count as untried.
        if (isStopped && happensToAll(error)) continue
        results[k] = { of: nameOf(items[k]), problem: error }
        isStopped ||= happensToAll(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, items.length)) }, run))
  const untried = items.filter((_, k) => results[k] === undefined).map(nameOf)
  const finished = results.filter((result) => result !== undefined)
  const failures = finished.filter((result): result is Failure => !Array.isArray(result))
  if (untried.length > 0 && failures.length > 0) failures[failures.length - 1].untried = untried
  return { many: finished.filter((result) => Array.isArray(result)).flat(), failures }
}

/** Prints the warnings of a result. */
function warned(context: Context, name: string, result: object): object {
  for (const warning of (result as { warnings?: string[] }).warnings ?? [])
    context.messages.warning(warning, name)
  return result
}
