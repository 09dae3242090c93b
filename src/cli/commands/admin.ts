// `gridline admin`: users, keys, backups and maintenance of the database.
import { existsSync, statSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import type { NewKey } from '../../service/admin.ts'
import { databaseUrl, loginName } from '../config/settings.ts'
import { type CommandEntry, defineCommand, dryRunOption, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'
import { auditCommand } from './admin.audit.ts'
import { blobCommands } from './admin.blobs.ts'
import { copyCommand, distributeCommand, migrateCommand } from './admin.database.ts'
import {
  assertDatabaseExists,
  changeStore,
  confirmChange,
  confirmOptions,
  databaseOption,
  displayUrl,
  sqliteFileOf,
  withStore,
} from './admin.store.ts'
import { keyCommands, userCommands } from './admin.users.ts'

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
  output: objectOf('New API key'),
  arguments: '<name>',
  options: [
    { flags: '--email <address>', description: 'e-mail address of the user' },
    { flags: '--admin', description: 'make the user an administrator' },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    'gridline admin create-user alice --email alice@example.com',
    'gridline admin create-user ci --json',
  ],
  async run(context, [name], { email, admin, dryRun: dry, database: url }) {
    const created = await changeStore(
      context,
      url,
      dry && `create the ${admin ? 'administrator' : 'user'} ${name} with a key`,
      ({ createUser: create }, store) => create(store, name, { email, admin }),
      true,
    )
    if (!created) return undefined
    context.messages.note(`Stored in ${displayUrl(context, url)}. Save the key now; it is not shown again.`)
    if (admin)
      context.messages.note(
        `The key has the scopes read and write. For administration, create another key: gridline admin create-key ${name} --scopes read,write,admin`,
      )
    return { item: withoutHash(created), view }
  },
})

const createKey = defineCommand({
  output: objectOf('New API key'),
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
    { flags: '--label <text>', description: 'label of the key' },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    'gridline admin create-key alice',
    'gridline admin create-key ci --scopes read,write --expires 30d --json',
  ],
  async run(context, [name], { scopes, expires, label, dryRun: dry, database: url }) {
    const created = await changeStore(
      context,
      url,
      dry && `create a key for ${name}`,
      async ({ createKey: create, ensureUser }, store) => {
        // The local user exists without having been created.
        if (url === undefined && name === loginName()) await ensureUser(store, name)
        return create(store, name, { scopes, expires, name: label })
      },
      true,
    )
    if (!created) return undefined
    context.messages.note(`Stored in ${displayUrl(context, url)}. Save the key now; it is not shown again.`)
    return { item: withoutHash(created), view }
  },
})

/** Removes the hash of a new key. */
function withoutHash({ hash: _, ...key }: NewKey & { hash?: string }): NewKey {
  return key
}

const VERIFY_VIEW: TableView = {
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
  output: objectOf([], {
    files: 'number of files',
    grids: 'number of grids',
    slices: 'number of column slices',
    blobs: 'number of blobs',
    bytes: 'size of the blobs in bytes',
    damage: 'damages, as an array',
  }),
  options: [databaseOption],
  examples: [
    'gridline admin verify',
    'gridline admin verify --database postgres://gridline@db/gridline --json',
  ],
  async run(context, _, { database: url }) {
    const report = await withStore(context, url, ({ verifyStore: read }, store) => read(store))
    const failures = report.damage.map(({ fid, what: damage }) => ({
      subject: fid ?? 'database',
      problem: new Problem('damaged', damage),
    }))
    return { item: report, view: VERIFY_VIEW, failures }
  },
})

const backup = defineCommand({
  output: objectOf([], { file: 'the backup file' }),
  arguments: '<file>',
  completion: ['local'],
  options: [databaseOption],
  examples: [
    'gridline admin backup gridline-$(date +%F).db',
    'gridline admin backup nightly.db --database sqlite:/var/lib/gridline/gridline.db',
  ],
  async run(context, [file], { database: url }) {
    const source = sqliteFileOf(
      context,
      url,
      `For PostgreSQL use: pg_dump --format=custom --file=${file} URL`,
    )
    const service = await import('../../service/admin.ts')
    service.backUpDatabase(source, file)
    const storeUrl = await withStore(context, url, (_service, { locations }) => locations.currentAddress(), {
      // Read only: the database can be of an older version, with all blobs inside.
      dryRun: true,
    }).catch(() => 'sql')
    if (storeUrl !== 'sql')
      context.messages.warning(
        `the backup lacks large values, which are in ${storeUrl}. Back it up too, after the database (see docs/operating.md)`,
      )
    return { item: { file }, view: { columns: [{ field: 'file', title: 'FILE' }] } }
  },
})

const restore = defineCommand({
  output: objectOf([], { file: 'the restored database file' }),
  arguments: '<file>',
  completion: ['local'],
  options: [...confirmOptions, databaseOption],
  examples: [
    'gridline admin restore gridline-2026-01-31.db',
    'gridline admin restore gridline-2026-01-31.db --yes',
  ],
  async run(context, [file], { yes, dryRun: dry, database: url }) {
    const target = sqliteFileOf(context, url, `For PostgreSQL use: pg_restore --clean --dbname=URL ${file}`)
    const service = await import('../../service/admin.ts')
    service.assertRestorable(file, target)
    // Where there is no database, nothing is lost.
    const isNew = !existsSync(target)
    const question = isNew ? `Restore ${file} as ${target}?` : `Replace ${target} with ${file}?`
    if (!(await confirmChange(context, question, { yes: yes || isNew, dryRun: dry }))) return undefined
    const previousFile = service.restoreDatabase(file, target)
    if (previousFile !== undefined) context.messages.note(`The previous database is now ${previousFile}.`)
    return { item: { file: target }, view: { columns: [{ field: 'file', title: 'FILE' }] } }
  },
})

const compact = defineCommand({
  output: objectOf([], {
    database: 'the URL of the database',
    bytes_before: 'file size in bytes before, or null',
    bytes_after: 'file size in bytes after, or null',
  }),
  options: [dryRunOption, databaseOption],
  examples: ['gridline admin compact', 'gridline admin compact --database postgres://gridline@db/gridline'],
  async run(context, _, { dryRun: dry, database: url }) {
    assertDatabaseExists(context, url)
    const databaseAddress = url ?? databaseUrl(context.environment)
    if (dry) {
      context.messages.line(
        `Dry run, nothing was changed. It would remove deleted data from ${displayUrl(context, url)} and shrink it.`,
      )
      return undefined
    }
    const file = databaseAddress.startsWith('sqlite:') ? sqliteFileOf(context, url, '') : undefined
    const fileSize = (): number | null => (file === undefined ? null : statSync(file).size)
    const service = await import('../../service/admin.ts')
    const bytes_before = fileSize()
    // Other processes can use recently deleted data: keep it for a day unless there are none.
    const isExclusive = file !== undefined && !service.isDatabaseInUse(file)
    const wasReserved = isExclusive && service.releaseSpace(file)
    await withStore(context, url, async (_service, store) => {
      await store.sweep(isExclusive ? 0 : undefined)
      try {
        await store.engine.compact()
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'disk_full') throw error
        context.messages.warning(
          'the disk lacks the free space to shrink the database file. Deleted data was removed; new data will use its space',
        )
      }
    })
    if (wasReserved) service.reserveSpace(file)
    if (!isExclusive)
      context.messages.note(
        'Data deleted in the last day was kept, because other processes may be using the database.',
      )
    return {
      item: { database: displayUrl(context, url), bytes_before, bytes_after: fileSize() },
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

const TRUST_FIELDS = {
  id: 'id of the entry',
  issuer: 'URL of the issuer',
  subject: 'trusted subjects, with * as wildcard',
  username: 'the user that tokens act as',
  scopes: 'an array of scopes',
  created_at: 'a time',
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
  output: objectOf([], TRUST_FIELDS),
  arguments: '<issuer> <subject>',
  options: [
    { flags: '--user <name>', description: 'user that the tokens act as' },
    {
      flags: '--scopes <scopes>',
      description: 'comma-separated scopes of issued keys: read, write, admin (default: read,write)',
    },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    "gridline admin trust add https://token.actions.githubusercontent.com 'repo:octo/data:ref:refs/heads/main' --user ci",
    "gridline admin trust add https://gitlab.com 'project_path:group/data:ref_type:branch:ref:*' --user ci --scopes write",
  ],
  async run(context, [issuer, subject], { user, scopes, dryRun: dry, database: url }) {
    if (user === undefined) throw new Problem('usage', '--user is missing', { hint: 'Use --user NAME.' })
    const entry = await changeStore(
      context,
      url,
      dry && `trust tokens of ${subject} from ${issuer} as ${user}`,
      ({ addTrust }, store) => addTrust(store, { issuer, subject, username: user, scopes }),
    )
    return entry && { item: entry, view: trustView }
  },
})

const trustList = defineCommand({
  output: arrayOf([], TRUST_FIELDS),
  lists: {},
  options: [databaseOption],
  examples: ['gridline admin trust list', 'gridline admin trust list --json issuer,subject,username'],
  async run(context, _, { database: url }) {
    const entries = await withStore(context, url, ({ listTrust }, store) => listTrust(store))
    return { items: entries, view: trustView, empty: 'No trusted issuers.' }
  },
})

const trustRemove = defineCommand({
  output: objectOf([], TRUST_FIELDS),
  arguments: '<id>',
  options: [dryRunOption, databaseOption],
  examples: ['gridline admin trust remove 3f1c0a9be2d4', 'gridline admin trust rm 3f1c0a9be2d4'],
  async run(context, [id], { dryRun: dry, database: url }) {
    const entry = await changeStore(
      context,
      url,
      dry && `stop trusting ${id}, and revoke the keys issued for it`,
      ({ removeTrust }, store) => removeTrust(store, id),
    )
    return entry && { item: entry, view: trustView }
  },
})

const trustCommands: readonly CommandEntry[] = [
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
    summary: 'Show, relocate and move blob storage',
    load: async () => ({ commands: blobCommands }),
  },
  subcommand('audit', 'List access changes and deletions', auditCommand),
  subcommand('verify', 'Check all stored data and report damage', verify),
  subcommand('backup', 'Back up the database to a file', backup),
  subcommand('restore', 'Restore the database from a backup', restore),
  subcommand('migrate', 'Update the tables of the database', migrateCommand),
  subcommand('copy', 'Copy the database to a new one, such as from SQLite to PostgreSQL', copyCommand),
  subcommand('distribute', 'Distribute the tables over the nodes of a Citus cluster', distributeCommand),
  subcommand('compact', 'Release the disk space of deleted files', compact),
  {
    name: 'trust',
    summary: 'List, add and remove CI jobs that can log in without a key',
    load: async () => ({ commands: trustCommands }),
  },
]
