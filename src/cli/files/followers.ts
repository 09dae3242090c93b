// Warns about derived grids, boards and alerts that a change of their file breaks.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Relation, SourcesGraph } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'

/** A file that shows another one, or is derived from it. */
interface Follower {
  fid: string
  name: string
}

/** Lists the grids that are derived from a file, and the boards that show it: the first ones of many. */
export async function listFollowers(
  client: Client,
  fid: string,
): Promise<{ derived: Follower[]; boards: Follower[] }> {
  const { graph } = await client.call('files.sources', { fid }).catch(ignoreOtherFiles)
  const listOf = (name: Relation): Follower[] =>
    graph.edges
      .filter(({ relation, target }) => relation === name && graph.nodes[target].label !== 'next')
      .map(({ target }) => ({ fid: target, name: graph.nodes[target].label }))
  return { derived: listOf('derived grids'), boards: listOf('boards') }
}

/** Returns a graph without edges if nothing can follow a file, since it is neither a grid nor a plot. */
function ignoreOtherFiles(error: unknown): { graph: Pick<SourcesGraph['graph'], 'nodes' | 'edges'> } {
  if (error instanceof Problem && error.code === 'invalid_request') return { graph: { nodes: {}, edges: [] } }
  throw error
}

/** Warns about what follows a file, and may break from now on. `change`: why. */
export async function warnAboutFollowers(
  { messages }: Context,
  client: Client,
  fid: string,
  change: string,
): Promise<void> {
  const { derived, boards } = await listFollowers(client, fid)
  const format = (files: readonly Follower[]) => files.map((one) => `${one.name} (${one.fid})`).join(', ')
  if (derived.length > 0)
    messages.warning(
      `${change}: these grids are derived from it, and may keep their content: ${format(derived)}`,
    )
  if (boards.length > 0) messages.warning(`${change}: these boards show it: ${format(boards)}`)
}

/** Warns about alerts on a grid whose conditions name columns that it will not have. */
export async function warnAboutAlerts(
  { messages }: Context,
  client: Client,
  fid: string,
  grid: string,
  columns: readonly string[],
): Promise<void> {
  const { alerts } = await client.call('alerts.list', { query: { fid } }).catch((error) => {
    // Only its owner knows the alerts on a grid.
    if (error instanceof Problem && error.code === 'invalid_request') return { alerts: [] }
    throw error
  })
  const broken = alerts.filter(({ condition }) => columns.some((name) => condition.includes(name)))
  if (broken.length === 0) return
  const list = broken.map(({ condition, id }) => `${condition} (${id})`).join(', ')
  messages.warning(`${grid}: these alerts name the column, and may not be evaluated any more: ${list}`)
}
