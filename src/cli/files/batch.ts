// Runs a command on several files, and collects results and failures.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Context } from '../core/context.ts'
import type { CommandResult } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'
import { affectsAllFiles, resolveTargets, type TargetFilter, type Targets } from './targets.ts'

/** Runs `work` on each file. Returns one result for a single file, and a report for several. */
export async function runOnFiles(
  context: Context,
  names: readonly string[],
  work: (client: Client, fid: string, name: string) => Promise<object>,
  view: TableView,
  filter: TargetFilter = {},
): Promise<CommandResult> {
  const client = await (filter.read && names.length === 1 ? context.clientFor(names[0]) : context.client())
  client.isMultiple = names.length > 1
  return runOnTargets(
    context,
    await resolveTargets(client, names, filter),
    (fid, of) => work(client, fid, of),
    view,
  )
}

/** Like `runOnFiles`, for resolved files. */
export async function runOnTargets(
  context: Context,
  { files, failures, isMultiple }: Targets,
  work: (fid: string, name: string) => Promise<object>,
  view: TableView,
): Promise<CommandResult> {
  if (!isMultiple) {
    if (failures.length > 0) throw failures[0].problem
    const [{ subject, fid }] = files
    const result = await work(fid, subject).catch((error) => {
      if (error instanceof Planned) return error.row(subject)
      throw error
    })
    return { items: [withWarningsPrinted(context, subject, result)], view, isDetail: true }
  }
  const outcome = await runEach(files, async ({ subject: of, fid }) =>
    withWarningsPrinted(context, of, await work(fid, of)),
  )
  return { items: outcome.items, view, failures: [...failures, ...outcome.failures] }
}

/**
 * Runs `work` on each item, up to `jobs` in parallel. Collects results and failures in the order of items.
 * Stops if the server is unreachable or refuses the key; remaining items are reported as untried.
 */
export async function runEach<T extends string | { subject: string }>(
  items: readonly T[],
  work: (item: T) => Promise<object | object[]>,
  jobs = 1,
): Promise<{ items: object[]; failures: Failure[] }> {
  const nameOf = (thing: T): string => (typeof thing === 'string' ? thing : thing.subject)
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
        if (isStopped && affectsAllFiles(error)) continue
        results[k] = { subject: nameOf(items[k]), problem: error }
        isStopped ||= affectsAllFiles(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, items.length)) }, run))
  const untried = items.filter((_, k) => results[k] === undefined).map(nameOf)
  const finished = results.filter((result) => result !== undefined)
  const failures = finished.filter((result): result is Failure => !Array.isArray(result))
  if (untried.length > 0 && failures.length > 0) failures[failures.length - 1].untried = untried
  return { items: finished.filter((result) => Array.isArray(result)).flat(), failures }
}

/** Prints the warnings of a result. */
function withWarningsPrinted(context: Context, name: string, result: object): object {
  if ('warnings' in result && Array.isArray(result.warnings)) context.messages.warnAll(result.warnings, name)
  return result
}
