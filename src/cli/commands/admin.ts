import { type Command, type Entry, entry, type Option } from '../command.ts'
import type { Context } from '../context.ts'
import type { View } from '../output/view.ts'
import { databaseUrl, loginName } from '../settings.ts'

const database: Option = {
  flags: '--database <url>',
  description: 'sqlite:FILE or postgres://…; the database of this machine if not given',
}

const view: View = {
  id: 'api_key',
  columns: [
    { field: 'username', title: 'USERNAME' },
    { field: 'api_key', title: 'API KEY' },
    { field: 'scopes', title: 'SCOPES', format: (scopes: string[]) => scopes.join(',') },
    { field: 'expires_at', title: 'EXPIRES' },
  ],
}

function place(context: Context, url: unknown): string {
  return ((url as string | undefined) ?? databaseUrl(context.environment)).replace(/\/\/[^@/]*@/, '//…@')
}

/** Works on the database itself: whoever can open it is its administrator. */
async function onStore<T>(
  context: Context,
  url: unknown,
  work: (
    service: typeof import('../../service/index.ts'),
    store: import('../../service/index.ts').Store,
  ) => Promise<T>,
): Promise<T> {
  const service = await import('../../service/index.ts')
  const store = await service.openStore({
    database: (url as string | undefined) ?? databaseUrl(context.environment),
  })
  try {
    return await work(service, store)
  } finally {
    await store.close()
  }
}

const createUser: Command = {
  arguments: '<name>',
  options: [
    { flags: '--email <address>', description: 'their address' },
    { flags: '--admin', description: 'they may administer the server' },
    database,
  ],
  examples: [
    'gridline admin create-user alice --email alice@example.com',
    'gridline admin create-user ci --json',
  ],
  async run(context, [name], { email, admin, database: url }) {
    const made = await onStore(context, url, ({ createUser: create }, store) =>
      create(store, name, { email: email as string | undefined, admin: admin === true }),
    )
    context.messages.note(`Kept in ${place(context, url)}. The key is shown this once.`)
    if (admin)
      context.messages.note(
        `It reads and writes. For what only administrators do, make another: gridline admin create-key ${name} --scopes read,write,admin`,
      )
    return { one: made, view }
  },
}

const createKey: Command = {
  arguments: '<name>',
  options: [
    {
      flags: '--scopes <scopes>',
      description: 'what it may do: read, write, admin, parted by commas; read,write if not given',
    },
    { flags: '--expires <time>', description: 'when it ends: 30d, 12h, 90m; never if not given' },
    { flags: '--label <text>', description: 'what it is for' },
    database,
  ],
  examples: [
    'gridline admin create-key alice',
    'gridline admin create-key ci --scopes read,write --expires 30d --json',
  ],
  async run(context, [name], { scopes, expires, label, database: url }) {
    const made = await onStore(context, url, async ({ createKey: create, ensureUser }, store) => {
      // The person at the terminal is a user of this machine's database without having been made one.
      if (url === undefined && name === loginName()) await ensureUser(store, name)
      return create(store, name, {
        scopes: scopes as string | undefined,
        expires: expires as string | undefined,
        name: label as string | undefined,
      })
    })
    context.messages.note(`Kept in ${place(context, url)}. The key is shown this once.`)
    return { one: made, view }
  },
}

export const commands: readonly Entry[] = [
  entry('create-user', 'Make a user and their first key', createUser),
  entry('create-key', 'Make another key for a user', createKey),
]
