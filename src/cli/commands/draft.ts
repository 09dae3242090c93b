// `gridline draft`: lists and deletes drafts.
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'name',
  columns: [
    { field: 'name', title: 'DRAFT' },
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    { field: 'made_at', title: 'MADE', time: true },
    { field: 'expires_at', title: 'EXPIRES', time: true },
    { field: 'web_url', title: 'LINK' },
  ],
}

const deletedView: TableView = {
  id: 'name',
  columns: [
    { field: 'name', title: 'DRAFT' },
    { field: 'deleted', title: 'DELETED', align: 'right' },
  ],
}

const list = defineCommand({
  output: arrayOf('Draft'),
  arguments: '[name]',
  completion: [undefined],
  lists: {},
  examples: ['gridline draft list', 'gridline draft list pr-123 --json fid,web_url'],
  async run(context, [name]) {
    const client = await context.client()
    const { drafts } = await client.call('drafts.list', { query: { name } })
    return { items: drafts, view, empty: 'No drafts.' }
  },
})

const deleteDraft = defineCommand({
  output: objectOf([], { name: 'name of the draft', deleted: 'number of grids that had the draft' }),
  writes: true,
  arguments: '<name...>',
  completion: [undefined],
  examples: ['gridline draft delete pr-123', 'gridline draft delete pr-123 pr-124'],
  async run(context, names) {
    const client = await context.client()
    client.isMultiple = names.length > 1
    return {
      ...(await runEach(names, (name) => client.call('drafts.delete', { name }))),
      view: deletedView,
      isDetail: names.length === 1,
    }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('list', 'List your drafts', list),
  subcommand('delete', 'Delete drafts', deleteDraft),
]
