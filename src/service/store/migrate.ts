import { type Kysely, sql } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import type { Engine, Migration } from './engine.ts'
import { JobWriter, SWEEP_EVERY } from './jobs.ts'
import { migrations } from './migrations/index.ts'
import type { Db } from './schema.ts'

interface Applied {
  schema_migrations: { name: string; applied_at: number }
}

/**
 * Applies all missing migrations, each in its own transaction, those of a new database in one. Not Kysely's migrator:
 * that takes advisory locks, which not every engine has, and runs too many queries at startup for a short command. See
 * docs/adr/0003.
 */
export async function migrate(engine: Engine, isDry = false): Promise<void> {
  const applied = await appliedNames(engine)
  const newer = [...applied].filter((name) => !migrations.some((migration) => migration.name === name))
  if (newer.length > 0)
    throw new Error(`the database was written by a newer version of gridline (${newer.join(', ')})`)
  const missing = migrations.filter(({ name }) => !applied.has(name))
  if (isDry && missing.length > 0)
    throw new Problem(
      'conflict',
      `the database must be updated first (${missing.map(({ name }) => name).join(', ')})`,
      {
        hint: 'gridline serve and commands without --dry-run update it.',
      },
    )
  // A new database is made at once: each transaction waits for the disk.
  const steps = applied.size === 0 ? [missing] : missing.map((migration) => [migration])
  for (const step of steps) await engine.migrate((db) => apply(engine, db, step))
}

/** Applies migrations in one transaction. */
async function apply(engine: Engine, db: Db, step: readonly Migration[]): Promise<void> {
  const plain = db as unknown as Kysely<Applied>
  await plain.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('name', engine.types.text, (c) => c.primaryKey())
    .addColumn('applied_at', engine.types.int, (c) => c.notNull())
    .execute()
  for (const { name, up } of step) {
    const known = await plain
      .selectFrom('schema_migrations')
      .select('name')
      .where('name', '=', name)
      .execute()
    // Another process has applied it meanwhile.
    if (known.length > 0) continue
    // Insert the name first: concurrent processes wait here until the first one commits.
    await plain.insertInto('schema_migrations').values({ name, applied_at: Date.now() }).execute()
    await up(db as unknown as Kysely<unknown>, engine.types)
    // There is nothing to sweep in a new database: its first command does not wait for it.
    if (step.length === migrations.length && name === migrations.at(-1)?.name)
      await new JobWriter(db).ensure('', 'sweep', '', Date.now() + SWEEP_EVERY)
  }
}

async function appliedNames(engine: Engine): Promise<Set<string>> {
  return engine.read(async (db) => {
    if (!(await hasTable(engine, db))) return new Set<string>()
    const rows = await (db as unknown as Kysely<Applied>)
      .selectFrom('schema_migrations')
      .select('name')
      .execute()
    return new Set(rows.map(({ name }) => name))
  })
}

async function hasTable(engine: Engine, db: Db): Promise<boolean> {
  const query =
    engine.name === 'sqlite'
      ? sql`select name from sqlite_master where type = 'table' and name = 'schema_migrations'`
      : sql`select table_name from information_schema.tables where table_schema = current_schema() and table_name = 'schema_migrations'`
  return (await query.execute(db)).rows.length > 0
}
