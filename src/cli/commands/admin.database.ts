import { limitsFrom } from '../../contract/limits.ts'
import { databaseUrl } from '../config/settings.ts'
import { defineCommand, dryRun } from '../core/define.ts'
import { object } from '../core/prints.ts'
import { database, onStore, place } from './admin.store.ts'

export const migrate = defineCommand({
  prints: object([], { database: 'its address', migrations: 'an array of the updates that were applied' }),
  options: [dryRun, database],
  examples: [
    'gridline admin migrate --database postgres://gridline@db/gridline',
    'gridline admin migrate --dry-run',
  ],
  async run(context, _, { dryRun: dry, database: url }) {
    const { migrateDatabase } = await import('../../service/index.ts')
    const migrations = await migrateDatabase({
      database: url ?? databaseUrl(context.environment),
      limits: limitsFrom(context.environment),
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
      one: { database: place(context, url), migrations },
      view: {
        columns: [
          { field: 'database', title: 'DATABASE' },
          { field: 'migrations', title: 'APPLIED', format: (names: string[]) => names.join(',') },
        ],
      },
    }
  },
})

export const distribute = defineCommand({
  prints: object([], {
    database: 'its address',
    tables: 'an array of the tables that were distributed now',
    nodes: 'how many nodes have rows of owners',
  }),
  options: [dryRun, database],
  examples: ['gridline admin distribute --database postgres://gridline@coordinator/gridline'],
  async run(context, _, { dryRun: dry, database: url }) {
    const done = await onStore(
      context,
      url,
      ({ distribute: run }, { engine }) => run(engine, limitsFrom(context.environment), dry),
      {
        dryRun: dry,
      },
    )
    const { tables, nodes } = done
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
      one: { database: place(context, url), tables, nodes },
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
