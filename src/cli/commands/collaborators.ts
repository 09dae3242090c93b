import { resolve } from '../../client/index.ts'
import { defineCommand } from '../define.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'who',
  columns: [
    { field: 'who', title: 'WHO' },
    { field: 'type', title: 'TYPE' },
    {
      field: 'readonly',
      title: 'ACCESS',
      format: (readonly: boolean) => (readonly ? 'read' : 'read and write'),
    },
  ],
}

export const command = defineCommand({
  arguments: '<file>',
  lists: {},
  examples: ['gridline collaborators sales', 'gridline collaborators sales --json'],
  async run(context, [file]) {
    const client = await context.client()
    const fid = await resolve(client, file)
    const list = await client.call('collaborators.list', { fid })
    const many = list.map((one) => ({
      ...one,
      type: one.type ?? 'user',
      who: one.username ?? one.name ?? one.email ?? '(hidden e-mail address)',
    }))
    return { many, view, empty: 'No collaborators.' }
  },
})
