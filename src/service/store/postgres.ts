import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Problem } from '../../contract/errors.ts'
import type { Engine } from './engine.ts'
import type { Db, Schema } from './schema.ts'

const TRIES = 30
const CONNECTIONS = 16

/** PostgreSQL at SERIALIZABLE, every transaction repeated after a conflict. */
export async function postgresEngine(url: string): Promise<Engine> {
  const { default: pg } = await import('pg')
  // int8 comes as text by default; ours are counts, ids and milliseconds.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    types: types as never,
    connectionTimeoutMillis: 10_000,
  })
  // A connection lost while idle is replaced at the next use.
  pool.on('error', () => {})
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  const run = async <T>(work: (db: Db) => Promise<T>, access: 'read only' | 'read write'): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await db
          .transaction()
          .setIsolationLevel('serializable')
          .setAccessMode(access)
          .execute((transaction: Transaction<Schema>) => work(transaction))
      } catch (error) {
        if (!isConflict(error)) throw asProblem(error)
        if (attempt >= TRIES) throw new Problem('overloaded', 'too many writes to the same file at once')
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** Math.min(attempt, 9)))
      }
    }
  }
  return {
    name: 'postgres',
    types: { text: sql`text collate "C"`, int: sql`bigint`, bytes: sql`bytea` },
    sharesCommits: false,
    read: (work) => run(work, 'read only'),
    write: (work) => run(work, 'read write'),
    stage: (work) => run(work, 'read write'),
    close: () => db.destroy(),
  }
}

/** Serialization failure, deadlock, or two transactions that inserted the same key. */
function isConflict(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === '40001' || code === '40P01' || code === '23505'
}

function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  const { code = '' } = error as { code?: string }
  if (code === '53100') return new Problem('disk_full', 'the database cannot grow: its disk is full')
  if (
    /^(08|57P|53)/.test(code) ||
    /^(ECONN|ETIMEDOUT|ENOTFOUND)/.test(code) ||
    /timeout|terminated/i.test(error.message)
  ) {
    return new Problem('overloaded', `the database does not answer: ${error.message}`)
  }
  return error
}
