import { resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources.ts'
import type { Command } from '../command.ts'
import { fileView } from '../output/view.ts'

const PAGE = 500
const orders = ['filename', '-filename', 'date_modified', '-date_modified'] as const

export const command: Command = {
  arguments: '[folder]',
  options: [
    { flags: '--all', description: 'files of all folders' },
    { flags: '--type <type>', description: 'only files of this type', choices: ['grid', 'plot', 'fold'] },
    {
      flags: '--order <field>',
      description: 'filename (default) or date_modified, with - for descending',
      choices: orders,
    },
    { flags: '--limit <n>', description: 'at most so many' },
  ],
  examples: [
    'gridline ls',
    'gridline ls Reports --order -date_modified --limit 10',
    'gridline ls --all --type grid --json fid,filename',
  ],
  async run(context, [folder], options) {
    const { all, type, order, limit } = options as {
      all?: boolean
      type?: 'grid'
      order?: 'filename'
      limit?: string
    }
    if (limit !== undefined && !/^\d+$/.test(limit))
      throw new Problem('usage', `--limit ${limit}: must be a number`)
    if (all && folder !== undefined) throw new Problem('usage', '--all and a folder do not go together')
    const client = await context.client()
    const fid = folder === undefined || folder === '/' ? undefined : await resolve(client, folder, 'fold')
    const most = limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
    const files: FileMeta[] = []
    for (let cursor: string | undefined; ; ) {
      const query = {
        filetype: type ? [type] : undefined,
        order_by: order,
        page_size: Math.min(PAGE, Math.max(1, most)),
        cursor,
      }
      const { children } = all
        ? await client.call('folders.all', { query })
        : fid === undefined || fid.endsWith(`:${ROOT}`)
          ? await client.call('folders.home', { query: { ...query, user: fid?.split(':')[0] } })
          : await client.call('folders.get', { fid, query })
      files.push(...children!.results)
      const next = children!.next && new URL(children!.next).searchParams.get('cursor')
      if (!next || files.length >= most) break
      cursor = next
    }
    return {
      many: files.slice(0, most),
      view: fileView,
      empty: 'Nothing here yet. Upload a file with: gridline upload FILE',
    }
  },
}
