// `gridline collaborators`: lists who can see a file: users, teams, and anyone if it is public or has a secret link.
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
    who: 'name of the user or team, or the e-mail address; anyone, or anyone with the link',
    type: 'user, team or email; public; link',
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
      const { parent, world_readable, share_key_enabled } = await client.call('files.get', { fid: folder })
      const open = { readonly: true, folder: through }
      if (world_readable) collaborators.push({ who: 'anyone', type: 'public', ...open })
      if (share_key_enabled) collaborators.push({ who: 'anyone with the link', type: 'link', ...open })
      ancestor = parent !== undefined && parent >= 0 ? `${folder.split(':')[0]}:${parent}` : undefined
      if (ancestor !== undefined)
        through = (await undefinedIfNotFound(client.call('files.get', { fid: ancestor })))?.filename ?? null
      if (ancestor !== undefined && through === null) break
    }
    return { items: collaborators, view, empty: 'Nobody else can see it.' }
  },
})
