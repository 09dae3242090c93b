// `gridline unshare`: stops sharing files.
import { Problem } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { sharedView } from './share.ts'

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  options: [
    { flags: '--user <name>', description: 'username (repeatable)', repeatable: true },
    { flags: '--team <name>', description: 'team name (repeatable)', repeatable: true },
    { flags: '--email <address>', description: 'e-mail address (repeatable)', repeatable: true },
    { flags: '--link', description: 'revoke the secret link (a new one will be different)' },
    { flags: '--with-items', description: 'for boards: readers see only the items that they may see' },
  ],
  examples: [
    'gridline unshare sales --user bob',
    "gridline unshare 'Reports/*' --team finance",
    'gridline unshare sales --link',
  ],
  run(context, files, options) {
    const { user = [], team = [], email = [], link, withItems } = options
    if (user.length + team.length + email.length === 0 && !link && !withItems)
      throw new Problem('usage', 'the collaborator is missing', {
        hint: 'Use --user, --team, --email, --link or --with-items.',
      })
    return runOnFiles(
      context,
      files,
      async (client, fid) => {
        const changes = {
          ...(link && { share_key_enabled: false }),
          ...(withItems && { share_items: false }),
        }
        const { filename } =
          link || withItems
            ? await client.call('files.update', { fid, json: changes })
            : await client.call('files.get', { fid })
        const json = { users: [...user, ...email], teams: team }
        const result = await client.call('collaborators.remove', { fid, json })
        for (const text of result.remaining_access ?? []) context.messages.warning(text, filename)
        return { fid, filename, ...result }
      },
      sharedView,
    )
  },
})
