import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Context } from '../core/context.ts'
import type { CommandResult } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'
import { happensToAll, resolveTargets, type Targets, type Where } from './targets.ts'

/** Runs `work` on each given file. Returns one result for a single file, a report for several. */
export async function runOnFiles(
  context: Context,
  given: readonly string[],
  work: (client: Client, fid: string, of: string) => Promise<object>,
  view: TableView,
  where: Where = {},
): Promise<CommandResult> {
  const client = await (where.read && given.length === 1 ? context.clientFor(given[0]) : context.client())
  client.several = given.length > 1
  return runOnTargets(
    context,
    await resolveTargets(client, given, where),
    (fid, of) => work(client, fid, of),
    view,
  )
}

/** Like `runOnFiles`, for files that are already resolved. */
export async function runOnTargets(
  context: Context,
  { files, failures, several }: Targets,
  work: (fid: string, of: string) => Promise<object>,
  view: TableView,
): Promise<CommandResult> {
  if (!several) {
    if (failures.length > 0) throw failures[0].problem
    const [{ of, fid }] = files
    const made = await work(fid, of).catch((error) => {
      if (error instanceof Planned) return error.row(of)
      throw error
    })
    return { many: [warned(context, of, made)], view, alone: true }
  }
  const done = await runEach(files, async ({ of, fid }) => warned(context, of, await work(fid, of)))
  return { many: done.many, view, failures: [...failures, ...done.failures] }
}

/**
 * Runs `work` on each item, up to `jobs` at once, and collects results and failures in the order of the items. Stops
 * if the server cannot be reached or refuses the key: the rest is reported as not tried.
 */
export async function runEach<T extends string | { of: string }>(
  things: readonly T[],
  work: (thing: T) => Promise<object | object[]>,
  jobs = 1,
): Promise<{ many: object[]; failures: Failure[] }> {
  const nameOf = (thing: T): string => (typeof thing === 'string' ? thing : thing.of)
  const results: (object[] | Failure)[] = []
  let next = 0
  let isLost = false
  const run = async (): Promise<void> => {
    while (next < things.length && !isLost) {
      const k = next++
      try {
        results[k] = [await work(things[k])].flat()
      } catch (error) {
        if (error instanceof Planned) {
          results[k] = [error.row(nameOf(things[k]))]
          continue
        }
        if (!(error instanceof Problem) || error.code === 'interrupted') throw error
        // Others that were running fail for the same reason, and count as not tried.
        if (isLost && happensToAll(error)) continue
        results[k] = { of: nameOf(things[k]), problem: error }
        isLost ||= happensToAll(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, things.length)) }, run))
  const untried = things.filter((_, k) => results[k] === undefined).map(nameOf)
  const ended = results.filter((result) => result !== undefined)
  const failures = ended.filter((result): result is Failure => !Array.isArray(result))
  if (untried.length > 0 && failures.length > 0) failures[failures.length - 1].untried = untried
  return { many: ended.filter((result) => Array.isArray(result)).flat(), failures }
}

function warned(context: Context, of: string, made: object): object {
  for (const warning of (made as { warnings?: string[] }).warnings ?? [])
    context.messages.warning(warning, of)
  return made
}
