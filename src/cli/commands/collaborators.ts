// `gridline collaborators`: lists users and teams with access to a file.
import { resolveFid } from '../../client/index.ts'
import { undefinedIfNotFound } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
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
  output: arrayOf('Collaborator', {
    who: 'name of the user or team, or the e-mail address',
    folder: 'the shared folder, or null if the file itself is shared',
  }),
  arguments: '<file>',
  lists: {},
  examples: ['gridline collaborators sales', 'gridline collaborators sales --json'],
  async run(context, [file]) {
    const client = await context.client()
    const fid = await resolveFid(client, file)
    const collaborators: object[] = []
    // Sharing a folder shares its content.
    for (let ancestor: string | undefined = fid, through: string | null = null; ancestor !== undefined; ) {
      const folder: string = ancestor
      const list = await undefinedIfNotFound(client.call('collaborators.list', { fid: folder }))
      for (const collaborator of list ?? [])
        collaborators.push({
          ...collaborator,
          type: collaborator.type ?? 'user',
          who: collaborator.username ?? collaborator.name ?? collaborator.email ?? '(hidden e-mail address)',
          folder: through,
        })
      const { parent } = await client.call('files.get', { fid: folder })
      ancestor = parent !== undefined && parent >= 0 ? `${folder.split(':')[0]}:${parent}` : undefined
      if (ancestor !== undefined)
        through = (await undefinedIfNotFound(client.call('files.get', { fid: ancestor })))?.filename ?? null
      if (ancestor !== undefined && through === null) break
    }
    return { items: collaborators, view, empty: 'No collaborators.' }
  },
})
