// Warns about derived grids and alerts that a change of their grid breaks.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Context } from '../core/context.ts'

/** Returns the names of the grids that are derived from a grid. */
export async function listDerivedGrids(
  client: Client,
  fid: string,
): Promise<{ fid: string; name: string }[]> {
  const { graph } = await client.call('files.sources', { fid, query: { relation: 'derived grids' } })
  return graph.edges.map(({ target }) => ({ fid: target, name: graph.nodes[target].label }))
}

/** Warns that grids derived from a grid keep their content from now on. `change`: why. */
export async function warnAboutDerived(
  { messages }: Context,
  client: Client,
  fid: string,
  change: string,
): Promise<void> {
  const derived = await listDerivedGrids(client, fid)
  if (derived.length === 0) return
  const names = derived.map((one) => `${one.name} (${one.fid})`).join(', ')
  messages.warning(`${change}: these grids are derived from it, and may keep their content: ${names}`)
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
