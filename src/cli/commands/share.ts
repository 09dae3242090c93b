import { Problem } from '../../contract/errors.ts'
import { runOnFiles } from '../batch.ts'
import type { Command } from '../define.ts'
import type { TableView } from '../output/view.ts'

export const sharedView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    {
      field: 'collaborators',
      title: 'COLLABORATORS',
      format: (list: { username?: string; name?: string; email?: string; readonly: boolean }[]) =>
        list
          .map(
            ({ username, name, email, readonly }) =>
              `${username ?? name ?? email}${readonly ? ' (read)' : ''}`,
          )
          .join(' '),
    },
    { field: 'share_link', title: 'LINK' },
  ],
}

export const command: Command = {
  writes: true,
  arguments: '<file...>',
  options: [
    { flags: '--user <name>', description: 'a user; may be repeated', repeatable: true },
    { flags: '--team <name>', description: 'a team of yours; may be repeated', repeatable: true },
    {
      flags: '--email <address>',
      description: 'somebody by address, with or without an account; may be repeated',
      repeatable: true,
    },
    { flags: '--read-only', description: 'they may read the file, not change it' },
    { flags: '--with-grids', description: 'of a plot: share its grids too' },
    { flags: '--notify', description: 'tell them by e-mail' },
    { flags: '--message <text>', description: 'tell them by e-mail, with these words' },
    { flags: '--link', description: 'make a secret link that opens the file for whoever has it' },
  ],
  examples: [
    'gridline share sales --user bob --read-only',
    'gridline share Reports --team finance',
    'gridline share plot --email eve@example.com --message "The numbers" --with-grids',
    'gridline share sales --link',
  ],
  run(context, files, options) {
    const {
      user = [],
      team = [],
      email = [],
      readOnly,
      withGrids,
      notify,
      message,
      link,
    } = options as {
      user?: string[]
      team?: string[]
      email?: string[]
      readOnly?: boolean
      withGrids?: boolean
      notify?: boolean
      message?: string
      link?: boolean
    }
    if (user.length + team.length + email.length === 0 && !link)
      throw new Problem('usage', 'share with whom?', { hint: 'Give --user, --team, --email or --link.' })
    return runOnFiles(
      context,
      files,
      async (client, fid) => {
        const file = link
          ? await client.call('files.update', { fid, json: { share_key_enabled: true } })
          : await client.call('files.get', { fid })
        if (link && !file.share_key)
          throw new Problem('forbidden', 'share_key_enabled: only the owner of this file may do this', {
            hint: 'Ask its owner.',
          })
        if (link && file.filetype === 'fold')
          context.messages.note(
            `${file.filename}: the link opens the list of the folder; files in it need links of their own, or to be public.`,
          )
        const share_link = link ? `${file.web_url}?share_key=${file.share_key}` : null
        if (user.length + team.length + email.length === 0)
          return { fid, filename: file.filename, collaborators: [], emails_sent: 0, warnings: [], share_link }
        const json = {
          users: [...user, ...email],
          teams: team,
          readonly: readOnly === true,
          add_to_grids: withGrids === true,
          send_email: notify === true || message !== undefined,
          email_text: message,
        }
        const done = await client.call('collaborators.add', { fid, json })
        return { fid, filename: file.filename, ...done, share_link }
      },
      sharedView,
    )
  },
}
