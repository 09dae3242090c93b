// Warns about derived grids that a change of their input breaks.
import type { Client } from '../../client/index.ts'
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
