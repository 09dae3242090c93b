// `gridline share`: shares files with users, teams, e-mail addresses or a link.
import { Problem } from '../../contract/errors.ts'
import { notePrivateData } from '../charts/create.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { describePrivateItems } from '../files/board-file.ts'
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
              `${username ?? name ?? email} (${readonly ? 'read' : 'read and write'})`,
          )
          .join(' '),
    },
    { field: 'share_link', title: 'LINK' },
  ],
}

export const command = defineCommand({
  output: arrayOf('File', { share_link: 'the secret link, or null', emails_sent: 'number of e-mails sent' }),
  writes: true,
  arguments: '<file...>',
  options: [
    { flags: '--user <name>', description: 'username (repeatable)', repeatable: true },
    { flags: '--team <name>', description: 'one of your teams (repeatable)', repeatable: true },
    {
      flags: '--email <address>',
      description: 'e-mail address, with or without an account (repeatable)',
      repeatable: true,
    },
    { flags: '--write', description: 'also allow editing (default: reading only)' },
    { flags: '--read-only', description: 'allow reading only (default)' },
    { flags: '--with-grids', description: 'for plots: also share their grids' },
    {
      flags: '--with-items',
      description: 'for boards: readers see all charts, tables and numbers, also of private files',
    },
    { flags: '--notify', description: 'send an e-mail notification' },
    { flags: '--message <text>', description: 'send an e-mail notification with this message' },
    { flags: '--link', description: 'create a secret link; anyone with the link can open the file' },
  ],
  examples: [
    'gridline share sales --user bob',
    'gridline share Reports --team finance --write',
    'gridline share plot --email eve@example.com --message "The numbers" --with-grids',
    'gridline share sales --link',
    'gridline share report --link --with-items',
  ],
  async run(context, files, options) {
    const {
      user = [],
      team = [],
      email = [],
      write,
      readOnly,
      withGrids,
      withItems,
      notify,
      message,
      link,
    } = options
    if (write && readOnly) throw new Problem('usage', 'use only one of: --write, --read-only')
    if (user.length + team.length + email.length === 0 && !link && !withItems)
      throw new Problem('usage', 'the recipient is missing', {
        hint: 'Use --user, --team, --email, --link or --with-items. For everyone: gridline publish FILE',
      })
    const outcome = await runOnFiles(
      context,
      files,
      async (client, fid) => {
        const changes = { ...(link && { share_key_enabled: true }), ...(withItems && { share_items: true }) }
        if (withGrids && (await client.call('files.get', { fid })).filetype === 'dashboard')
          throw new Problem('usage', '--with-grids is for plots', { hint: 'Use --with-items.' })
        const file =
          link || withItems
            ? await client.call('files.update', { fid, json: changes })
            : await client.call('files.get', { fid })
        const isBoard = file.filetype === 'dashboard'
        if (link && !file.share_key)
          throw new Problem('forbidden', 'share_key_enabled: only the owner can create a secret link', {
            hint: 'Ask its owner.',
          })
        if (link && file.filetype === 'fold')
          context.messages.note(
            `${file.filename}: the link shows only the folder listing; files in it need their own links or must be public.`,
          )
        if (link && file.filetype === 'plot')
          await notePrivateData(context, client, file, file.filename, 'anyone with the link')
        const warnHidden = async (): Promise<string[]> => {
          const board = isBoard ? await client.call('dashboards.get', { fid }) : undefined
          const hidden = board && describePrivateItems(context, board)
          return hidden === undefined ? [] : [hidden]
        }
        const share_link = link ? `${file.web_url}?share_key=${file.share_key}` : null
        if (user.length + team.length + email.length === 0)
          return {
            ...{ fid, filename: file.filename, collaborators: [], emails_sent: 0 },
            ...{ warnings: await warnHidden(), share_link },
          }
        const json = {
          users: [...user, ...email],
          teams: team,
          readonly: write !== true,
          add_to_grids: withGrids === true,
          send_email: notify === true || message !== undefined,
          email_text: message,
        }
        const result = await client.call('collaborators.add', { fid, json })
        return {
          ...{ fid, filename: file.filename, ...result },
          ...{ warnings: [...(await warnHidden()), ...result.warnings], share_link },
        }
      },
      sharedView,
    )
    if (link) await context.noteLinksNeedServer()
    else if (email.length > 0)
      context.messages.note(
        'To open it, a person needs an account with this e-mail address on the server; without one, a link: --link',
      )
    return outcome
  },
})
