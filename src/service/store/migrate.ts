// Applies missing migrations when a database is opened.
import { type Kysely, sql } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import { JobWriter, SWEEP_INTERVAL_MS } from './aggregates/jobs.ts'
import { distributeNewTables } from './engines/distribution.ts'
import type { Engine, Migration } from './engines/engine.ts'
import { MIGRATION_NAMES } from './migrations/names.ts'
import type { Db } from './schema/schema.ts'

type MigrationTables = {
  schema_migrations: { name: string; applied_at: number; oldest: string | null }
}

/**
 * Applies all missing migrations, each in its own transaction; on a new database, all in one. Returns their
 * names. Kysely's migrator is not used: it takes advisory locks, which not every engine has, and is slow at
 * startup. See docs/adr/0003 and 0033.
 */
export async function migrate(
  engine: Engine,
  { isDry = false, all }: { isDry?: boolean; all?: readonly Migration[] } = {},
): Promise<string[]> {
  const applied = await loadApplied(engine)
  const names: readonly string[] = all?.map(({ name }) => name) ?? MIGRATION_NAMES
  const last = names.at(-1)!
  // Each migration names the oldest one that a server must know. Names are in order.
  for (const [name, oldest] of applied)
    if (!names.includes(name) && (oldest === null || oldest > last))
      throw new Problem(
        'conflict',
        `the database was updated by a newer version of Gridline, which this one cannot work with (${name})`,
        { hint: 'Run that version, or a later one. To go back, restore the backup from before the update.' },
      )
  const missingNames = names.filter((name) => !applied.has(name))
  // In the template, the sweep is due at once: should this write be lost, the next command sweeps.
  if (engine.isCopiedTemplate)
    await engine.writeDeferred((db) => new JobWriter(db).setDue('', 'sweep', '', firstSweepTime()))
  if (isDry || missingNames.length === 0) return missingNames
  const { migrations } = await import('./migrations/index.ts')
  const missing = (all ?? migrations).filter(({ name }) => missingNames.includes(name))
  // A new database needs one transaction: each one waits for the disk.
  const steps = applied.size === 0 ? [missing] : missing.map((migration) => [migration])
  for (const step of steps)
    await engine.migrate((db) => applyMigrations(engine, db, step, applied.size === 0))
  return missingNames
}

/** Applies migrations in one transaction. */
async function applyMigrations(
  engine: Engine,
  db: Db,
  step: readonly Migration[],
  isNew: boolean,
): Promise<void> {
  const untyped = db.withTables<MigrationTables>()
  if (isNew)
    await untyped.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', engine.types.text, (c) => c.primaryKey())
      .addColumn('applied_at', engine.types.int, (c) => c.notNull())
      .addColumn('oldest', engine.types.text)
      .execute()
  const [firstRow] = await untyped.selectFrom('schema_migrations').selectAll().limit(1).execute()
  // Early databases do not have this column.
  if (firstRow && !('oldest' in firstRow))
    await untyped.schema.alterTable('schema_migrations').addColumn('oldest', engine.types.text).execute()
  for (const { name, up, worksWith: oldest = name } of step) {
    const existing = await untyped
      .selectFrom('schema_migrations')
      .select('name')
      .where('name', '=', name)
      .execute()
    // Another process has just applied it.
    if (existing.length > 0) continue
    // Insert the name first: concurrent processes wait here until the first one commits.
    await untyped.insertInto('schema_migrations').values({ name, applied_at: Date.now(), oldest }).execute()
    await up(db as unknown as Kysely<unknown>, engine.types)
  }
  await distributeNewTables(engine, db)
  if (isNew) await new JobWriter(db).addIfMissing('', 'sweep', '', firstSweepTime())
}

/** Returns when a new database is first swept: it has nothing to sweep, and its first command need not wait. */
function firstSweepTime(): number {
  return Date.now() + SWEEP_INTERVAL_MS
}

/** Loads the applied migrations, each with the oldest one that a server must know; null if not recorded. */
async function loadApplied(engine: Engine): Promise<Map<string, string | null>> {
  return engine.read(async (db) => {
    if (!(await hasMigrationTable(engine, db))) return new Map()
    const rows = await db.withTables<MigrationTables>().selectFrom('schema_migrations').selectAll().execute()
    return new Map(rows.map(({ name, oldest = null }) => [name, oldest]))
  })
}

async function hasMigrationTable(engine: Engine, db: Db): Promise<boolean> {
  const query =
    engine.name === 'sqlite'
      ? sql`select name from sqlite_master where type = 'table' and name = 'schema_migrations'`
      : sql`select table_name from information_schema.tables where table_schema = current_schema() and table_name = 'schema_migrations'`
  return (await query.execute(db)).rows.length > 0
}
