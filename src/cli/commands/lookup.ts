import { lookup } from '../../client/index.ts'
import type { Command } from '../define.ts'
import { fileView } from '../output/view.ts'

export const command: Command = {
  arguments: '<path>',
  options: [{ flags: '--user <name>', description: "search this user's files" }],
  examples: ['gridline lookup Reports/2024/sales', 'gridline lookup sales --quiet'],
  async run(context, [path], options) {
    const client = await context.client()
    const { user } = options as { user?: string }
    const found =
      user === undefined
        ? await lookup(client, path)
        : await client.call('files.lookup', { query: { path, user } })
    return { one: found, view: fileView }
  },
}
