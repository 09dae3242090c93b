import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import type { Db, Schema } from '../schema/schema.ts'
import type { Engine } from './engine.ts'

/**
 * Where the rows of each table are on Citus: with all rows of their owner, with those of `home`, or on every node. What
 * is read without knowing an owner and seldom changes is everywhere. See docs/adr/0032.
 */
const distribution = {
  counters: 'owner',
  files: 'owner',
  file_counts: 'owner',
  contents: 'owner',
  plots: 'owner',
  references: 'owner',
  referencers: 'owner',
  collaborators: 'owner',
  stars: 'owner',
  grids: 'owner',
  columns: 'owner',
  lost_columns: 'owner',
  slices: 'owner',
  past_slices: 'owner',
  past_columns: 'owner',
  drafts: 'owner',
  versions: 'owner',
  tail: 'owner',
  quotas: 'owner',
  objects: 'owner',
  blob_pieces: 'home',
  audit: 'owner',
  marks: 'owner',
  jobs: 'owner',
  idempotency: 'owner',
  users: 'everywhere',
  former_names: 'everywhere',
  api_keys: 'everywhere',
  sessions: 'everywhere',
  identities: 'everywhere',
  user_quotas: 'everywhere',
  teams: 'everywhere',
  team_members: 'everywhere',
  oidc_trust: 'everywhere',
  secrets: 'everywhere',
  blob_stores: 'everywhere',
  place_sizes: 'everywhere',
} as const satisfies Record<keyof Schema, 'owner' | 'home' | 'everywhere'>

/** Whether the rows of a table are where their owner is. */
export function isByOwner(table: keyof Schema): boolean {
  return distribution[table] === 'owner'
}

/** The schema of the tables, whatever characters its name has. */
const SCHEMA = sql`(select oid from pg_namespace where nspname = current_schema())`

/** The table that decides on which node an owner is. */
const FIRST = 'counters'

export interface Distributed {
  /** Tables that were distributed now. */
  tables: string[]
  /** Nodes that have rows of owners. */
  nodes: number
}

/**
 * Distributes the tables of a database over the nodes of its Citus cluster, in one transaction. Tables that are
 * distributed already stay as they are. Throws `invalid_request` if the database has no Citus, or no nodes.
 */
export async function distribute(engine: Engine, limits: Limits, isDry = false): Promise<Distributed> {
  if (engine.name !== 'postgres')
    throw new Problem('usage', 'only databases of PostgreSQL with Citus can be distributed', {
      hint: 'Give --database postgres://user:password@host/name',
    })
  const run = isDry ? engine.read : engine.migrate
  return run(async (db) => {
    if (!(await hasCitus(db)))
      throw new Problem('invalid_request', 'the database has no extension citus', {
        hint: 'Run "create extension citus" in this database on every node, and add the nodes with citus_add_node. See docs/operating.md, Citus.',
      })
    const nodes = await nodesOf(db)
    if (nodes === 0)
      throw new Problem('invalid_request', 'no node of the Citus cluster takes rows', {
        hint: "Add workers with select citus_add_node('host', 5432), or let the coordinator take rows with citus_set_node_property. See docs/operating.md, Citus.",
      })
    const missing = await undistributed(db)
    await assertTogether(db)
    if (!isDry && missing.length > 0) {
      await limitLocks(db, limits)
      await distributeTables(db, missing)
    }
    return { tables: missing, nodes }
  })
}

/** Whether the tables are distributed. */
async function isDistributed(db: Db): Promise<boolean> {
  return (await hasCitus(db)) && (await distributedTables(db)).has(FIRST)
}

/** After a migration: distributes the tables that it has added, if the others are. */
export async function distributeNew(engine: Engine, db: Db): Promise<void> {
  if (engine.name !== 'postgres' || !(await isDistributed(db))) return
  await distributeTables(db, await undistributed(db))
}

async function hasCitus(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'citus'`.execute(db)
  return rows.length > 0
}

/** Nodes that take rows; a coordinator without workers takes them itself. */
async function nodesOf(db: Db): Promise<number> {
  const { rows } = await sql<{ nodes: number; all: number }>`
    select count(*) filter (where shouldhaveshards) as nodes, count(*) as all from pg_dist_node
    where isactive and noderole = 'primary'`.execute(db)
  const [{ nodes, all }] = rows
  return Number(all) === 0 ? 1 : Number(nodes)
}

async function distributedTables(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select c.relname as name from pg_dist_partition p
    join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = ${SCHEMA} and p.partmethod in ('h', 'n')`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Locks are waited for on the nodes, which do not know the settings of a transaction. */
async function limitLocks(db: Db, { lock_seconds }: Limits): Promise<void> {
  const setting = `alter database %I set lock_timeout = '${lock_seconds}s'`
  await sql`select run_command_on_workers(format(${setting}, current_database()))`.execute(db)
}

/** Throws if somebody has distributed tables so that the rows of an owner are not on one node. */
async function assertTogether(db: Db): Promise<void> {
  const { rows } = await sql<{
    name: string
    place: number
  }>`select c.relname as name, p.colocationid as place
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = ${SCHEMA} and p.partmethod = 'h' order by c.relname`.execute(db)
  const first = rows.find(({ name }) => name === FIRST)?.place
  const apart = rows.filter(({ place }) => place !== first).map(({ name }) => name)
  if (apart.length > 0)
    throw new Problem(
      'conflict',
      `these tables are distributed, but not together with ${FIRST}: ${apart.join(', ')}`,
      {
        hint: `Run "select undistribute_table('${apart[0]}')" for each of them, then gridline admin distribute again.`,
      },
    )
}

/** All tables: that of the owners first, which decides where the others are. */
const tables: Record<string, string> = { ...distribution, schema_migrations: 'everywhere' }

/** The tables that are not distributed. */
async function undistributed(db: Db): Promise<string[]> {
  const done = await distributedTables(db)
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = ${SCHEMA} and relkind in ('r', 'p')`.execute(db)
  const present = new Set(rows.map(({ name }) => name))
  return Object.keys(tables).filter((table) => present.has(table) && !done.has(table))
}

async function distributeTables(db: Db, missing: readonly string[]): Promise<void> {
  // Its rows are older than `home`, so its key does not begin with it; SQLite could not change that without a copy.
  if (missing.includes('blob_pieces'))
    await sql`alter table blob_pieces drop constraint blob_pieces_pk,
      add constraint blob_pieces_pk primary key (home, key, piece)`.execute(db)
  for (const table of missing) {
    const name = `"${table}"`
    const by = tables[table]
    if (by === 'everywhere') await sql`select create_reference_table(${name})`.execute(db)
    else {
      const beside = table === FIRST ? 'none' : FIRST
      await sql`select create_distributed_table(${name}, ${by}, colocate_with => ${beside})`.execute(db)
    }
  }
}
