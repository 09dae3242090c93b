import { resolve } from '../../client/index.ts'
import { defineCommand } from '../core/define.ts'
import { object } from '../core/prints.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'ID' },
    { field: 'action', title: 'ACTION' },
    { field: 'version', title: 'VERSION' },
    { field: 'of_version', title: 'SAME AS VERSION' },
  ],
}

export const command = defineCommand({
  prints: object('Reverted'),
  writes: true,
  reports: true,
  arguments: '<file>',
  options: [
    {
      flags: '--to <version>',
      description: 'the version to go back to: a number, a date, or a name (default: the one before)',
    },
  ],
  examples: [
    'gridline revert sales',
    'gridline revert sales --to 3',
    'gridline revert sales --to 2026-11-01',
  ],
  async run(context, [file], { to }) {
    const client = await context.client()
    const fid = await resolve(client, file)
    return { one: await client.call('versions.revert', { fid, json: { version: to } }), view }
  },
})
