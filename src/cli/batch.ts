import type { Client } from '../client/index.ts'
import { Problem } from '../contract/errors.ts'
import type { Context } from './context.ts'
import type { CommandResult } from './define.ts'
import type { Failure } from './output/failure.ts'
import type { TableView } from './output/view.ts'
import { resolveTargets, type Targets, type Where } from './targets.ts'

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
    return { many: [warned(context, of, await work(fid, of))], view, alone: true }
  }
  const done = await runEach(files, async ({ of, fid }) => warned(context, of, await work(fid, of)))
  return { many: done.many, view, failures: [...failures, ...done.failures] }
}

/**
 * Runs `work` on each item and collects results and failures. Stops if the server cannot be reached: the rest
 * is reported as not tried.
 */
export async function runEach<T extends string | { of: string }>(
  things: readonly T[],
  work: (thing: T) => Promise<object | object[]>,
): Promise<{ many: object[]; failures: Failure[] }> {
  const many: object[] = []
  const failures: Failure[] = []
  const nameOf = (thing: T): string => (typeof thing === 'string' ? thing : thing.of)
  for (const [k, thing] of things.entries()) {
    try {
      many.push(...[await work(thing)].flat())
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'interrupted') throw error
      failures.push({ of: nameOf(thing), problem: error })
      const rest = things.slice(k + 1)
      if (error.code !== 'unreachable' || rest.length === 0) continue
      failures[failures.length - 1].untried = rest.map(nameOf)
      break
    }
  }
  return { many, failures }
}

export function warned(context: Context, of: string, made: object): object {
  for (const warning of (made as { warnings?: string[] }).warnings ?? [])
    context.messages.warning(`${of}: ${warning}`)
  return made
}
