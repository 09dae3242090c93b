import { resolve } from '../../client/index.ts'
import { ifFound } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
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
    { field: 'folder', title: 'THROUGH FOLDER', format: (folder: string | null) => folder ?? '' },
  ],
}

export const command = defineCommand({
  prints: array('Collaborator', {
    who: 'name of the user or team, or the address',
    folder: 'the folder that is shared, or null if the file itself is',
  }),
  arguments: '<file>',
  lists: {},
  examples: ['gridline collaborators sales', 'gridline collaborators sales --json'],
  async run(context, [file]) {
    const client = await context.client()
    const fid = await resolve(client, file)
    const many: object[] = []
    // Sharing a folder shares what is in it.
    for (let at: string | undefined = fid, through: string | null = null; at !== undefined; ) {
      const here: string = at
      const list = await ifFound(client.call('collaborators.list', { fid: here }))
      for (const one of list ?? [])
        many.push({
          ...one,
          type: one.type ?? 'user',
          who: one.username ?? one.name ?? one.email ?? '(hidden e-mail address)',
          folder: through,
        })
      const { parent } = await client.call('files.get', { fid: here })
      at = parent !== undefined && parent >= 0 ? `${here.split(':')[0]}:${parent}` : undefined
      if (at !== undefined) through = (await ifFound(client.call('files.get', { fid: at })))?.filename ?? null
      if (at !== undefined && through === null) break
    }
    return { many, view, empty: 'No collaborators.' }
  },
})
