// `gridline admin migrate`, `copy` and `distribute`.
import { Problem } from '../../contract/errors.ts'
import { readLimits } from '../../contract/limits.ts'
import { databaseUrl } from '../config/settings.ts'
import { defineCommand, dryRunOption } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { databaseOption, displayUrl, sqliteFileOf, withStore } from './admin.store.ts'

export const migrateCommand = defineCommand({
  output: objectOf([], { database: 'the URL of the database', migrations: 'the applied migrations' }),
  options: [dryRunOption, databaseOption],
  examples: [
    'gridline admin migrate --database postgres://gridline@db/gridline',
    'gridline admin migrate --dry-run',
  ],
  async run(context, _, { dryRun: dry, database: url }) {
    const { migrateDatabase } = await import('../../service/admin.ts')
    const migrations = await migrateDatabase({
      database: url ?? databaseUrl(context.environment),
      limits: readLimits(context.environment),
      isDry: dry,
    })
    if (dry) {
      context.messages.line(
        migrations.length === 0
          ? 'Dry run, nothing was changed. The database is up to date.'
          : `Dry run, nothing was changed. It would apply ${migrations.join(', ')}.`,
      )
      return undefined
    }
    if (migrations.length === 0) context.messages.note('The database is up to date.')
    return {
      item: { database: displayUrl(context, url), migrations },
      view: {
        columns: [
          { field: 'database', title: 'DATABASE' },
          { field: 'migrations', title: 'APPLIED', format: (names: string[]) => names.join(',') },
        ],
      },
    }
  },
})

export const copyCommand = defineCommand({
  output: objectOf([], { database: 'the URL of the copy', rows: 'number of rows copied' }),
  options: [
    { flags: '--to <url>', description: 'URL of a new database: postgres://… or sqlite:FILE' },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    'gridline admin copy --database sqlite:gridline.db --to postgres://gridline@db/gridline',
    'gridline admin copy --database postgres://gridline@db/gridline --to sqlite:gridline.db',
  ],
  async run(context, _, { to, dryRun: dry, database: url }) {
    if (to === undefined)
      throw new Problem('usage', '--to is missing', {
        hint: 'Use --to postgres://… or --to sqlite:FILE.',
      })
    const { messages } = context
    const service = await import('../../service/admin.ts')
    const sourceUrl = url ?? databaseUrl(context.environment)
    if (sourceUrl.startsWith('sqlite:') && service.isDatabaseInUse(sqliteFileOf(context, url, '')))
      throw new Problem('conflict', 'another process uses the database; its writes would not be copied', {
        hint: 'Stop the server first.',
      })
    if (dry) {
      // A new database cannot be opened: it has no tables yet.
      const target = await service
        .openStore({ database: to, limits: readLimits(context.environment), isDry: true })
        .catch(() => undefined)
      if (target) await service.assertNoUsers(target.engine).finally(() => target.close())
      messages.line(
        `Dry run, nothing was changed. It would copy ${displayUrl(context, url)} to ${displayUrl(context, to)}.`,
      )
      return undefined
    }
    const { rows, isOutside } = await withStore(context, url, async (_service, from) => {
      const target = await service.openStore({ database: to, limits: readLimits(context.environment) })
      try {
        const copied = await service.copyDatabase(from.engine, target.engine, (table, count) => {
          if (count > 0) messages.aside(`${table}: ${count}`)
        })
        const places = await from.locations.listLocations()
        return { rows: copied, isOutside: places.some(({ place }) => /^(file|s3):/.test(place)) }
      } finally {
        await target.close()
      }
    })
    messages.note(
      isOutside
        ? 'From now on, run servers only on the copy: each database would delete blobs in folders and buckets that the other one needs.'
        : 'From now on, run servers only on the copy: it does not receive later writes to the other database.',
    )
    return {
      item: { database: displayUrl(context, to), rows },
      view: {
        columns: [
          { field: 'database', title: 'DATABASE' },
          { field: 'rows', title: 'ROWS COPIED', align: 'right' },
        ],
      },
    }
  },
})

export const distributeCommand = defineCommand({
  output: objectOf([], {
    database: 'the URL of the database',
    tables: 'the tables distributed by this command',
    nodes: 'number of nodes that hold rows',
  }),
  options: [dryRunOption, databaseOption],
  examples: [
    'gridline admin distribute --database postgres://gridline@coordinator/gridline',
    'gridline admin distribute --database postgres://gridline@coordinator/gridline --dry-run',
  ],
  async run(context, _, { dryRun: dry, database: url }) {
    const distributed = await withStore(
      context,
      url,
      ({ distribute: run }, { engine }) => run(engine, readLimits(context.environment), dry),
      {
        dryRun: dry,
      },
    )
    const { tables, nodes } = distributed
    if (dry) {
      context.messages.line(
        tables.length === 0
          ? 'Dry run, nothing was changed. All tables are distributed.'
          : `Dry run, nothing was changed. It would distribute ${tables.length} tables over ${nodes} nodes.`,
      )
      return undefined
    }
    if (tables.length === 0) context.messages.note('All tables are distributed already.')
    return {
      item: { database: displayUrl(context, url), tables, nodes },
      view: {
        columns: [
          { field: 'database', title: 'DATABASE' },
          {
            field: 'tables',
            title: 'TABLES',
            align: 'right',
            format: (names: string[]) => String(names.length),
          },
          { field: 'nodes', title: 'NODES', align: 'right' },
        ],
      },
    }
  },
})
