import { lookup } from '../../client/index.ts'
import { defineCommand } from '../define.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  arguments: '<path>',
  options: [{ flags: '--user <name>', description: "search this user's files" }],
  examples: ['gridline lookup Reports/2024/sales', 'gridline lookup sales --quiet'],
  async run(context, [path], options) {
    const client = await context.client()
    const { user } = options
    const found =
      user === undefined
        ? await lookup(client, path)
        : await client.call('files.lookup', { query: { path, user } })
    return { one: found, view: fileView }
  },
})
