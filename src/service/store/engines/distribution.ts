// Distributes the tables over the nodes of a Citus cluster.
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import type { Db } from '../schema/schema.ts'
import { nodeOf, type Table, tables } from '../schema/tables.ts'
import type { Engine } from './engine.ts'

/** Returns whether the rows of a table are on the node of their owner. */
export function isDistributedByOwner(table: Table): boolean {
  return nodeOf(table) === 'owner'
}

/** The current schema, whatever characters its name contains. */
const SCHEMA_OID = sql`(select oid from pg_namespace where nspname = current_schema())`

/** The table whose distribution the other tables follow. */
const COLOCATION_TABLE = 'counters'

export interface DistributeResult {
  /** Tables that this call distributed; with `isDry`, that it would distribute. */
  tables: string[]
  /** Nodes that hold rows of owners. */
  nodes: number
}

/**
 * Distributes the tables of a database over the nodes of its Citus cluster, in one transaction. Already
 * distributed ones stay as they are. Throws `invalid_request` without Citus or nodes.
 */
export async function distribute(engine: Engine, limits: Limits, isDry = false): Promise<DistributeResult> {
  if (engine.name !== 'postgres')
    throw new Problem('usage', 'only PostgreSQL databases with Citus can be distributed', {
      hint: 'Give --database postgres://user:password@host/name',
    })
  return engine[isDry ? 'read' : 'migrate'](async (db) => {
    if (!(await hasCitusExtension(db)))
      throw new Problem('invalid_request', 'the extension citus is not installed in the database', {
        hint: 'Run "create extension citus" in this database on every node, and add the nodes with citus_add_node. See docs/operating.md.',
      })
    const nodes = await countNodes(db)
    if (nodes === 0)
      throw new Problem('invalid_request', 'no node of the Citus cluster may hold rows', {
        hint: "Add workers with select citus_add_node('host', 5432), or let the coordinator hold rows with citus_set_node_property. See docs/operating.md.",
      })
    const missing = await listUndistributedTables(db)
    await assertColocated(db)
    if (!isDry && missing.length > 0) {
      await setLockTimeout(db, limits)
      await distributeTables(db, missing)
    }
    return { tables: missing, nodes }
  })
}

/** Returns whether the tables are distributed. */
async function isDistributed(db: Db): Promise<boolean> {
  return (await hasCitusExtension(db)) && (await listDistributedTables(db)).has(COLOCATION_TABLE)
}

/** Distributes tables added by a migration, if the other tables are distributed. */
export async function distributeNewTables(engine: Engine, db: Db): Promise<void> {
  if (engine.name !== 'postgres' || !(await isDistributed(db))) return
  await distributeTables(db, await listUndistributedTables(db))
}

async function hasCitusExtension(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'citus'`.execute(db)
  return rows.length > 0
}

/** Counts the nodes that hold rows. A coordinator without workers holds them itself. */
async function countNodes(db: Db): Promise<number> {
  const { rows } = await sql<{ nodes: number; all: number }>`
    select count(*) filter (where shouldhaveshards) as nodes, count(*) as all from pg_dist_node
    where isactive and noderole = 'primary'`.execute(db)
  const [{ nodes, all }] = rows
  return Number(all) === 0 ? 1 : Number(nodes)
}

async function listDistributedTables(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select c.relname as name from pg_dist_partition p
    join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = ${SCHEMA_OID} and p.partmethod in ('h', 'n')`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Sets the lock timeout on the nodes, which ignore the settings of a transaction. */
async function setLockTimeout(db: Db, { lock_seconds }: Limits): Promise<void> {
  const setting = `alter database %I set lock_timeout = '${lock_seconds}s'`
  await sql`select run_command_on_workers(format(${setting}, current_database()))`.execute(db)
}

/** Throws if tables were distributed by hand such that the rows of an owner are on several nodes. */
async function assertColocated(db: Db): Promise<void> {
  const { rows } = await sql<{
    name: string
    place: number
  }>`select c.relname as name, p.colocationid as place
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = ${SCHEMA_OID} and p.partmethod = 'h' order by c.relname`.execute(db)
  const first = rows.find(({ name }) => name === COLOCATION_TABLE)?.place
  const elsewhere = rows.filter(({ place }) => place !== first).map(({ name }) => name)
  if (elsewhere.length > 0)
    throw new Problem(
      'conflict',
      `these tables are distributed, but not together with ${COLOCATION_TABLE}: ${elsewhere.join(', ')}`,
      {
        hint: `Run "select undistribute_table('${elsewhere[0]}')" for each of them, then gridline admin distribute again.`,
      },
    )
}

/** Distribution of all tables. COLOCATION_TABLE comes first: the others follow it. */
const nodes: Record<string, string> = {
  ...Object.fromEntries(tables.map((table) => [table, nodeOf(table)])),
  schema_migrations: 'everywhere',
}

/** Lists the tables that are not distributed. */
async function listUndistributedTables(db: Db): Promise<string[]> {
  const distributed = await listDistributedTables(db)
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = ${SCHEMA_OID} and relkind in ('r', 'p')`.execute(db)
  const existing = new Set(rows.map(({ name }) => name))
  return Object.keys(nodes).filter((table) => existing.has(table) && !distributed.has(table))
}

async function distributeTables(db: Db, missing: readonly string[]): Promise<void> {
  // The column `home` is newer than the table, so the primary key lacks it; SQLite could not change that
  // without a copy.
  if (missing.includes('blob_pieces'))
    await sql`alter table blob_pieces drop constraint blob_pieces_pk,
      add constraint blob_pieces_pk primary key (home, key, piece)`.execute(db)
  for (const table of missing) {
    const name = `"${table}"`
    const by = nodes[table]
    if (by === 'everywhere') await sql`select create_reference_table(${name})`.execute(db)
    else {
      const beside = table === COLOCATION_TABLE ? 'none' : COLOCATION_TABLE
      await sql`select create_distributed_table(${name}, ${by}, colocate_with => ${beside})`.execute(db)
    }
  }
}
