// `gridline sources`: shows what a file was created from, and what was created from it.
import { resolveFid } from '../../client/index.ts'
import { relations, type SourcesGraph } from '../../contract/resources/index.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'

export const command = defineCommand({
  output: objectOf('Sources'),
  arguments: '<file>',
  options: [
    {
      flags: '--relation <name>',
      description: 'show only this relation, completely',
      choices: relations,
    },
  ],
  examples: [
    'gridline sources plot',
    'gridline sources sales --relation "created plots"',
    'gridline sources sales --json',
  ],
  async run(context, [file], { relation }) {
    const client = await context.clientFor(file)
    const fid = await resolveFid(client, file)
    const document = await client.call('files.sources', { fid, query: { relation } })
    if (relation !== undefined)
      await loadAllPages(document, (query) => client.call('files.sources', { fid, query }))
    const isTree = process.stdout.isTTY && context.flags.json === undefined && context.flags.jq === undefined
    if (isTree && !context.flags.quiet) return { text: drawTree(document) }
    if (context.flags.json === undefined && context.flags.jq === undefined) {
      const { nodes, edges } = document.graph
      for (const { relation: name, target } of edges)
        if (isLink(nodes[target]))
          context.messages.note(`there are more ${name}; all of them: --relation "${name}"`)
      return { items: listEntries(document), view: entryView }
    }
    return { item: document, view: { columns: [{ field: 'graph', title: 'GRAPH' }] } }
  },
})

const entryView: TableView = {
  id: 'fid',
  columns: [
    { field: 'relation', title: 'RELATION' },
    { field: 'fid', title: 'FID' },
    { field: 'name', title: 'NAME' },
  ],
}

/** Lists one row per related file. */
function listEntries({ graph }: SourcesGraph): object[] {
  return graph.edges
    .filter(({ target }) => !isLink(graph.nodes[target]))
    .map(({ relation, target }) => ({ relation, fid: target, name: graph.nodes[target].label }))
}

/** Returns whether a node is a link to another page. */
function isLink({ label, metadata }: SourcesGraph['graph']['nodes'][string]): boolean {
  return metadata?.url !== undefined && (label === 'next' || label === 'prev')
}

/** Query of one page. */
type PageQuery = { relation: never; cursor: string }

/** Loads all pages linked by `next`, and merges them into `first`. */
async function loadAllPages(
  first: SourcesGraph,
  loadPage: (query: PageQuery) => Promise<SourcesGraph>,
): Promise<void> {
  for (;;) {
    const { nodes, edges } = first.graph
    const [name] = Object.entries(nodes).find(([, node]) => node.label === 'next' && isLink(node)) ?? []
    if (name === undefined) return
    const { searchParams } = new URL(nodes[name].metadata!.url as string)
    delete nodes[name]
    first.graph.edges = edges.filter(({ target }) => target !== name)
    const more = await loadPage({
      relation: searchParams.get('relation') as never,
      cursor: searchParams.get('cursor')!,
    })
    for (const [id, node] of Object.entries(more.graph.nodes)) if (node.label !== 'prev') nodes[id] ??= node
    first.graph.edges.push(
      ...more.graph.edges.filter(({ target }) => more.graph.nodes[target].label !== 'prev'),
    )
  }
}

/** Draws the graph as a tree. */
function drawTree({ graph }: SourcesGraph): string {
  const lines = [`${graph.nodes[graph.id].label} (${graph.id})`]
  const presentRelations = relations.filter((relation) =>
    graph.edges.some((edge) => edge.relation === relation),
  )
  for (const [k, relation] of presentRelations.entries()) {
    const isLast = k === presentRelations.length - 1
    lines.push(`${isLast ? '└─' : '├─'} ${relation}`)
    const targets = graph.edges.filter((edge) => edge.relation === relation).map(({ target }) => target)
    for (const [n, target] of targets.entries()) {
      const { label } = graph.nodes[target]
      const text = isLink(graph.nodes[target])
        ? `… more: --relation "${relation}"`
        : target === label
          ? label
          : `${label} (${target})`
      lines.push(`${isLast ? '  ' : '│ '} ${n === targets.length - 1 ? '└─' : '├─'} ${text}`)
    }
  }
  if (presentRelations.length === 0)
    lines.push('└─ not created from other files, and nothing was created from it')
  return `${lines.map((line) => line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')).join('\n')}\n`
}
