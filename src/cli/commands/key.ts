import type { Command, Entry } from '../command.ts'
import type { View } from '../output/view.ts'

const columns = [
  { field: 'id', title: 'ID' },
  { field: 'name', title: 'LABEL' },
  { field: 'scopes', title: 'SCOPES', format: (scopes: string[]) => scopes.join(',') },
  { field: 'created_at', title: 'CREATED' },
  { field: 'expires_at', title: 'EXPIRES', format: (at: string | null) => at ?? 'never' },
]
const view: View = { id: 'id', columns }
const newView: View = { id: 'api_key', columns: [{ field: 'api_key', title: 'API KEY' }, ...columns] }

const create: Command = {
  options: [
    { flags: '--scopes <scopes>', description: 'what it may do: read, write, admin, parted by commas' },
    { flags: '--expires <time>', description: 'when it ends: 30d, 12h, 90m; never if not given' },
    { flags: '--label <text>', description: 'what it is for' },
  ],
  examples: ['gridline key create --label ci --scopes write --expires 30d'],
  async run(context, _, options) {
    const { scopes, expires, label } = options as { scopes?: string; expires?: string; label?: string }
    const client = await context.client()
    const json = { name: label, scopes: scopes?.split(','), expires }
    const made = await client.call('keys.create', { json })
    context.messages.note('The key is shown this once.')
    return { one: made, view: newView }
  },
}

const list: Command = {
  examples: ['gridline key list'],
  async run(context) {
    const client = await context.client()
    return { many: (await client.call('keys.list')).keys, view, empty: 'No API keys.' }
  },
}

const revoke: Command = {
  arguments: '<id...>',
  examples: ['gridline key revoke 3f1c0a9be2d4'],
  async run(context, ids) {
    const client = await context.client()
    const known = (await client.call('keys.list')).keys
    const many = []
    for (const id of ids) {
      await client.call('keys.revoke', { name: id })
      many.push(known.find((key) => key.id === id) ?? { id })
    }
    return { many, view }
  },
}

export const commands: readonly Entry[] = [
  { name: 'create', summary: 'Make an API key', load: async () => ({ command: create }) },
  { name: 'list', summary: 'List your API keys', load: async () => ({ command: list }) },
  { name: 'revoke', summary: 'End API keys', load: async () => ({ command: revoke }) },
]
