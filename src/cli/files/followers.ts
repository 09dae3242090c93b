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

/** Followers of one relation: the first ones, and whether there are more. */
interface Followers {
  files: Follower[]
  hasMore: boolean
}

/** Relations of what follows a file. */
const RELATIONS = {
  plots: 'created plots',
  derived: 'derived grids',
  boards: 'boards',
  alerts: 'alerts',
  mailings: 'mailings',
} as const satisfies Record<string, Relation>

/**
 * Lists what follows a file: charts, derived grids and boards, and your alerts and mailings. Lists none if nothing can
 * follow the file, or if the API key may not read: the change itself does not need that.
 */
export async function listFollowers(
  client: Client,
  fid: string,
): Promise<Record<keyof typeof RELATIONS, Followers>> {
  const none: SourcesGraph['graph'] = { id: fid, type: '', label: '', directed: true, nodes: {}, edges: [] }
  // An older server may answer something else.
  const { graph = none } = await client
    .call('files.sources', { fid })
    .catch((error): Partial<SourcesGraph> => {
      if (error instanceof Problem) return {}
      throw error
    })
  const listOf = (name: Relation): Followers => {
    const targets = graph.edges.flatMap(({ relation, target }) => (relation === name ? [target] : []))
    const next = `next:${name}`
    return {
      files: targets
        .filter((target) => target !== next)
        .map((target) => ({ fid: target, name: graph.nodes[target].label })),
      hasMore: targets.includes(next),
    }
  }
  const { plots, derived, boards, alerts, mailings } = RELATIONS
  return {
    ...{ plots: listOf(plots), derived: listOf(derived), boards: listOf(boards) },
    ...{ alerts: listOf(alerts), mailings: listOf(mailings) },
  }
}

/** Formats followers as names, or as ids alone. */
export function formatFollowers({ files, hasMore }: Followers, isShort = false): string {
  const names = files.map(({ fid, name }) => (isShort ? fid : `${name} (${fid})`))
  return `${names.join(', ')}${hasMore ? ', and more' : ''}`
}

/** Warns about what follows a file, and may break from now on. `change`: why. `isLost`: it cannot be read meanwhile. */
export async function warnAboutFollowers(
  { messages }: Context,
  client: Client,
  fid: string,
  change: string,
  isLost = false,
): Promise<void> {
  const { plots, derived, boards, alerts, mailings } = await listFollowers(client, fid)
  for (const [followers, effect] of [
    [plots, 'until it is restored, other users see these charts without its data'],
    [alerts, 'until it is restored, these alerts are unknown'],
    [mailings, 'until it is restored, it is not sent'],
  ] as const)
    if (isLost && followers.files.length > 0)
      messages.warning(`${change}: ${effect}: ${formatFollowers(followers)}`)
  if (derived.files.length > 0)
    messages.warning(
      `${change}: these grids are derived from it, and may keep their content: ${formatFollowers(derived)}`,
    )
  if (boards.files.length > 0) messages.warning(`${change}: these boards show it: ${formatFollowers(boards)}`)
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
