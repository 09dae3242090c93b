import { statSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import type { NewKey } from '../../service/index.ts'
import { databaseUrl, loginName } from '../config/settings.ts'
import { type CommandEntry, defineCommand, dryRun, subcommand } from '../core/define.ts'
import { array, object } from '../core/prints.ts'
import type { TableView } from '../output/view.ts'
import { audit } from './admin.audit.ts'
import { blobCommands } from './admin.blobs.ts'
import { copy, distribute, migrate } from './admin.database.ts'
import { keyCommands, userCommands } from './admin.people.ts'
import {
  asking,
  changeStore,
  database,
  isAgreed,
  onStore,
  place,
  requireDatabase,
  sqliteFile,
} from './admin.store.ts'

const view: TableView = {
  id: 'api_key',
  columns: [
    { field: 'username', title: 'USERNAME' },
    { field: 'api_key', title: 'API KEY' },
    { field: 'scopes', title: 'SCOPES', format: (scopes: string[]) => scopes.join(',') },
    { field: 'expires_at', title: 'EXPIRES' },
  ],
}

const createUser = defineCommand({
  prints: object('New API key'),
  arguments: '<name>',
  options: [
    { flags: '--email <address>', description: 'e-mail address of the user' },
    { flags: '--admin', description: 'make the user an administrator' },
    dryRun,
    database,
  ],
  examples: [
    'gridline admin create-user alice --email alice@example.com',
    'gridline admin create-user ci --json',
  ],
  async run(context, [name], { email, admin, dryRun: dry, database: url }) {
    const made = await changeStore(
      context,
      url,
      dry && `create the ${admin ? 'administrator' : 'user'} ${name} with a key`,
      ({ createUser: create }, store) => create(store, name, { email, admin }),
      true,
    )
    if (!made) return undefined
    context.messages.note(`Stored in ${place(context, url)}. Save the key now; it is not shown again.`)
    if (admin)
      context.messages.note(
        `The key has the scopes read and write. For administration, create another: gridline admin create-key ${name} --scopes read,write,admin`,
      )
    return { one: shown(made), view }
  },
})

const createKey = defineCommand({
  prints: object('New API key'),
  arguments: '<name>',
  options: [
    {
      flags: '--scopes <scopes>',
      description: 'comma-separated scopes of the key: read, write, admin (default: read,write)',
    },
    {
      flags: '--expires <time>',
      description: 'lifetime of the key, such as 30d, 12h or 90m (default: never expires)',
    },
    { flags: '--label <text>', description: 'label to remember what the key is for' },
    dryRun,
    database,
  ],
  examples: [
    'gridline admin create-key alice',
    'gridline admin create-key ci --scopes read,write --expires 30d --json',
  ],
  async run(context, [name], { scopes, expires, label, dryRun: dry, database: url }) {
    const made = await changeStore(
      context,
      url,
      dry && `create a key for ${name}`,
      async ({ createKey: create, ensureUser }, store) => {
        // The local user is a user of the local database without having been created.
        if (url === undefined && name === loginName()) await ensureUser(store, name)
        return create(store, name, { scopes, expires, name: label })
      },
      true,
    )
    if (!made) return undefined
    context.messages.note(`Stored in ${place(context, url)}. Save the key now; it is not shown again.`)
    return { one: shown(made), view }
  },
})

/** A new key for output, without its hash. */
function shown({ hash: _, ...made }: NewKey & { hash?: string }): NewKey {
  return made
}

const verifiedView: TableView = {
  isLabeled: true,
  columns: [
    { field: 'files', title: 'FILES', align: 'right' },
    { field: 'grids', title: 'GRIDS', align: 'right' },
    { field: 'slices', title: 'SLICES', align: 'right' },
    { field: 'blobs', title: 'BLOBS', align: 'right' },
    { field: 'bytes', title: 'BYTES', align: 'right' },
    {
      field: 'damage',
      title: 'DAMAGED',
      align: 'right',
      format: (damage: unknown[]) => String(damage.length),
    },
  ],
}

const verify = defineCommand({
  prints: object([], {
    files: 'their number',
    grids: 'their number',
    slices: 'their number',
    blobs: 'their number',
    bytes: 'their size',
    damage: 'an array of what is damaged',
  }),
  options: [database],
  examples: [
    'gridline admin verify',
    'gridline admin verify --database postgres://gridline@db/gridline --json',
  ],
  async run(context, _, { database: url }) {
    const found = await onStore(context, url, ({ verify: read }, store) => read(store))
    const failures = found.damage.map(({ fid, what }) => ({
      of: fid ?? 'database',
      problem: new Problem('damaged', what),
    }))
    return { one: found, view: verifiedView, failures }
  },
})

const backup = defineCommand({
  prints: object([], { file: 'the file that was written' }),
  arguments: '<file>',
  completes: ['local'],
  options: [database],
  examples: [
    'gridline admin backup gridline-$(date +%F).db',
    'gridline admin backup nightly.db --database sqlite:/var/lib/gridline/gridline.db',
  ],
  async run(context, [file], { database: url }) {
    const from = sqliteFile(context, url, `For PostgreSQL use: pg_dump --format=custom --file=${file} URL`)
    const service = await import('../../service/index.ts')
    service.backup(from, file)
    const elsewhere = await onStore(context, url, (_service, { places }) => places.address(), {
      // Only a look: a database of an older version has all bytes in it.
      dryRun: true,
    }).catch(() => 'sql')
    if (elsewhere !== 'sql')
      context.messages.warning(
        `large values are not in the backup: they are in ${elsewhere}. Back it up too, after the database (see docs/operating.md)`,
      )
    return { one: { file }, view: { columns: [{ field: 'file', title: 'FILE' }] } }
  },
})

const restore = defineCommand({
  prints: object([], { file: 'the file that was written' }),
  arguments: '<file>',
  completes: ['local'],
  options: [...asking, database],
  examples: [
    'gridline admin restore gridline-2026-01-31.db',
    'gridline admin restore gridline-2026-01-31.db --yes',
  ],
  async run(context, [file], { yes, dryRun: dry, database: url }) {
    const to = sqliteFile(context, url, `For PostgreSQL use: pg_restore --clean --dbname=URL ${file}`)
    const service = await import('../../service/index.ts')
    service.checkRestore(file, to)
    if (!(await isAgreed(context, `Replace ${to} with ${file}?`, { yes, dryRun: dry }))) return undefined
    const before = service.restore(file, to)
    if (before !== undefined) context.messages.note(`The previous database was kept as ${before}.`)
    return { one: { file: to }, view: { columns: [{ field: 'file', title: 'FILE' }] } }
  },
})

const compact = defineCommand({
  prints: object([], {
    database: 'its address',
    bytes_before: 'size of the file, or null',
    bytes_after: 'its size now, or null',
  }),
  options: [dryRun, database],
  examples: ['gridline admin compact', 'gridline admin compact --database postgres://gridline@db/gridline'],
  async run(context, _, { dryRun: dry, database: url }) {
    requireDatabase(context, url)
    const address = (url as string | undefined) ?? databaseUrl(context.environment)
    if (dry) {
      context.messages.line(
        `Dry run, nothing was changed. It would remove deleted data from ${place(context, url)} and shrink it.`,
      )
      return undefined
    }
    const file = address.startsWith('sqlite:') ? sqliteFile(context, url, '') : undefined
    const size = (): number | null => (file === undefined ? null : statSync(file).size)
    const service = await import('../../service/index.ts')
    const bytes_before = size()
    // Recently deleted data may be in use by other processes: keep it for a day unless there are none.
    const alone = file !== undefined && !service.isInUse(file)
    const reserved = alone && service.releaseSpace(file)
    await onStore(context, url, async (_service, store) => {
      await store.sweep(alone ? 0 : undefined)
      try {
        await store.engine.compact()
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'disk_full') throw error
        context.messages.warning(
          'the database file keeps its size: to shrink it, the disk needs as much free space as the data takes. Deleted data was removed, and new data uses its space',
        )
      }
    })
    if (reserved) service.reserveSpace(file)
    if (!alone)
      context.messages.note(
        'Other processes may be using the database, so data deleted in the last day was kept.',
      )
    return {
      one: { database: place(context, url), bytes_before, bytes_after: size() },
      view: {
        columns: [
          { field: 'database', title: 'DATABASE' },
          { field: 'bytes_before', title: 'BEFORE', align: 'right' as const },
          { field: 'bytes_after', title: 'AFTER', align: 'right' as const },
        ],
      },
    }
  },
})

const trustFields = {
  id: 'its id',
  issuer: 'URL of the issuer',
  subject: 'the subjects that are trusted',
  username: 'whom they act as',
  scopes: 'an array of scopes',
  created_at: 'time',
}

const trustView: TableView = {
  id: 'id',
  columns: [
    { field: 'id', title: 'ID' },
    { field: 'issuer', title: 'ISSUER' },
    { field: 'subject', title: 'SUBJECT' },
    { field: 'username', title: 'USER' },
    { field: 'scopes', title: 'SCOPES', format: (scopes: string[]) => scopes.join(',') },
  ],
}

const trustAdd = defineCommand({
  prints: object([], trustFields),
  arguments: '<issuer> <subject>',
  options: [
    { flags: '--user <name>', description: 'the user that such tokens act as' },
    {
      flags: '--scopes <scopes>',
      description: 'comma-separated scopes of their keys: read, write, admin (default: read,write)',
    },
    dryRun,
    database,
  ],
  examples: [
    "gridline admin trust add https://token.actions.githubusercontent.com 'repo:octo/data:ref:refs/heads/main' --user ci",
    "gridline admin trust add https://gitlab.com 'project_path:group/data:ref_type:branch:ref:*' --user ci --scopes write",
  ],
  async run(context, [issuer, subject], { user, scopes, dryRun: dry, database: url }) {
    if (user === undefined) throw new Problem('usage', 'no user given', { hint: 'Use --user NAME.' })
    const made = await changeStore(
      context,
      url,
      dry && `trust tokens of ${subject} from ${issuer} as ${user}`,
      ({ addTrust }, store) => addTrust(store, { issuer, subject, username: user, scopes }),
    )
    return made && { one: made, view: trustView }
  },
})

const trustList = defineCommand({
  prints: array([], trustFields),
  lists: {},
  options: [database],
  examples: ['gridline admin trust list', 'gridline admin trust list --json issuer,subject,username'],
  async run(context, _, { database: url }) {
    const many = await onStore(context, url, ({ listTrust }, store) => listTrust(store))
    return { many, view: trustView, empty: 'No issuers are trusted.' }
  },
})

const trustRemove = defineCommand({
  prints: object([], trustFields),
  arguments: '<id>',
  options: [dryRun, database],
  examples: ['gridline admin trust remove 3f1c0a9be2d4', 'gridline admin trust rm 3f1c0a9be2d4'],
  async run(context, [id], { dryRun: dry, database: url }) {
    const one = await changeStore(
      context,
      url,
      dry && `stop trusting ${id}, and revoke the keys that were given for it`,
      ({ removeTrust }, store) => removeTrust(store, id),
    )
    return one && { one, view: trustView }
  },
})

const trust: readonly CommandEntry[] = [
  subcommand('add', 'Trust identity tokens of an issuer, so that CI jobs need no stored key', trustAdd),
  subcommand('list', 'List trusted issuers and subjects', trustList),
  subcommand('remove', 'Remove a trusted issuer and subject', trustRemove, ['rm']),
]

export const commands: readonly CommandEntry[] = [
  subcommand('create-user', 'Create a user and their first key', createUser),
  subcommand('create-key', 'Create another key for a user', createKey),
  {
    name: 'user',
    summary: 'List, rename, disable and delete users',
    load: async () => ({ commands: userCommands }),
  },
  {
    name: 'key',
    summary: 'List and revoke the keys of users',
    load: async () => ({ commands: keyCommands }),
  },
  {
    name: 'blobs',
    summary: 'Show and choose where bytes are stored',
    load: async () => ({ commands: blobCommands }),
  },
  subcommand('audit', 'List who changed who may read what, and what was deleted', audit),
  subcommand('verify', 'Check all stored data and report damage', verify),
  subcommand('backup', 'Back up the database to a file', backup),
  subcommand('restore', 'Restore the database from a backup', restore),
  subcommand('migrate', 'Update the tables of the database', migrate),
  subcommand('copy', 'Copy the database to a new one, such as from SQLite to PostgreSQL', copy),
  subcommand('distribute', 'Distribute the tables over the nodes of a Citus cluster', distribute),
  subcommand('compact', 'Release the disk space of deleted files', compact),
  {
    name: 'trust',
    summary: 'Choose which CI jobs can log in without a key',
    load: async () => ({ commands: trust }),
  },
]
