// `gridline key`: creates, lists and revokes API keys.
import { Problem } from '../../contract/errors.ts'
import { scopeNames } from '../../contract/resources/index.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import type { TableView } from '../output/view.ts'

const KEY_COLUMNS = [
  { field: 'id', title: 'ID' },
  { field: 'name', title: 'LABEL' },
  { field: 'scopes', title: 'SCOPES', format: (scopes: string[]) => scopes.join(',') },
  { field: 'created_at', title: 'CREATED' },
  {
    field: 'expires_at',
    title: 'EXPIRES',
    format: (at: string | null) =>
      at === null ? 'never' : Date.parse(at) < Date.now() ? `${at} (expired)` : at,
  },
]
const view: TableView = { id: 'id', columns: KEY_COLUMNS }
const newView: TableView = {
  id: 'api_key',
  columns: [{ field: 'api_key', title: 'API KEY' }, ...KEY_COLUMNS],
}

type Scope = (typeof scopeNames)[number]

/** Returns whether a text is the name of a scope. */
function isScope(text: string): text is Scope {
  return scopeNames.some((name) => name === text)
}

const create = defineCommand({
  output: objectOf('New API key'),
  writes: true,
  options: [
    { flags: '--scopes <scopes>', description: 'comma-separated scopes of the key: read, write, admin' },
    {
      flags: '--expires <time>',
      description: 'lifetime of the key, such as 30d, 12h or 90m (default: never expires)',
    },
    { flags: '--label <text>', description: 'label of the key' },
  ],
  examples: [
    'gridline key create --label ci --scopes read,write --expires 30d',
    'gridline key create --scopes read --quiet',
  ],
  async run(context, _, options) {
    const { scopes, expires, label } = options
    const client = await context.client()
    const requestedScopes = scopes?.split(',').map((scope) => scope.trim())
    const unknown = requestedScopes?.find((scope) => !isScope(scope))
    if (unknown !== undefined)
      throw new Problem('usage', `--scopes ${scopes}: unknown scope ${JSON.stringify(unknown)}`, {
        hint: `Available scopes: ${scopeNames.join(', ')}.`,
      })
    const json = { name: label, scopes: requestedScopes?.filter(isScope), expires }
    const created = await client.call('keys.create', { json })
    context.messages.note('Save the key now; it is not shown again.')
    return { item: created, view: newView }
  },
})

const list = defineCommand({
  output: arrayOf('API key'),
  lists: {},
  examples: ['gridline key list', 'gridline key list --json id,name,expires_at'],
  async run(context) {
    const client = await context.client()
    return { items: (await client.call('keys.list')).keys, view, empty: 'No API keys.' }
  },
})

const revoke = defineCommand({
  output: objectOf('API key'),
  writes: true,
  arguments: '<id...>',
  examples: ['gridline key revoke 3f1c0a9be2d4', 'gridline key revoke 3f1c0a9be2d4 90ab12cd34ef'],
  async run(context, ids) {
    const client = await context.client()
    const keys = (await client.call('keys.list')).keys
    const revokeKey = async (id: string): Promise<object> => {
      await client.call('keys.revoke', { name: id })
      return keys.find((key) => key.id === id) ?? { id }
    }
    if (ids.length === 1) return { item: await revokeKey(ids[0]), view }
    return { ...(await runEach(ids, revokeKey)), view }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('create', 'Create an API key', create),
  subcommand('list', 'List your API keys', list),
  subcommand('revoke', 'Revoke API keys', revoke),
]
