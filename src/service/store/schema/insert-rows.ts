// Inserts many rows with few statements.
import {
  CompiledQuery,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  SqliteAdapter,
} from 'kysely'
import { yieldToEventLoop } from '../../../json/index.ts'
import { inBatches } from './row-groups.ts'
import type { Db, Schema } from './schema.ts'

/** Maximum number of rows in a statement: engines limit the number of parameters. */
const MAX_ROWS = 1000
/** Numbers of rows in a statement for SQLite: few, so that each is compiled and prepared only once. */
const SQLITE_ROWS = [512, 64, 8, 1]

type InsertQuery<T extends keyof Schema> = InsertQueryBuilder<Schema, T, InsertResult>

/** A row with a value for each column, so that all have the same columns. */
type FullRow<T extends keyof Schema> = Required<Insertable<Schema[T]>>

/**
 * Returns a function that inserts rows into a table. `complete` adds clauses without parameters, such as
 * `on conflict`. On SQLite, compiling a statement takes longer than running it; on PostgreSQL, a statement is a round
 * trip.
 */
export function createInserter<T extends keyof Schema>(
  table: T,
  complete: (query: InsertQuery<T>) => InsertQuery<T> = (query) => query,
): (db: Db, rows: readonly FullRow<T>[]) => Promise<void> {
  const texts = new Map<string, string>()
  const queryOf = (db: Db, rows: readonly FullRow<T>[]): InsertQuery<T> =>
    complete(db.insertInto(table).values(rows as readonly Insertable<Schema[T]>[]))
  const insertInSqlite = async (db: Db, rows: readonly FullRow<T>[]): Promise<void> => {
    const columns = Object.keys(rows[0]) as (keyof FullRow<T> & string)[]
    for (let at = 0; at < rows.length; ) {
      await yieldToEventLoop()
      const count = SQLITE_ROWS.find((size) => size <= rows.length - at)!
      const key = `${count} ${columns}`
      let text = texts.get(key)
      if (text === undefined) {
        const sample = Array.from({ length: count }, () => rows[0])
        text = queryOf(db, sample).compile().sql
        texts.set(key, text)
      }
      const parameters: unknown[] = []
      for (const end = at + count; at < end; at++)
        for (const column of columns) parameters.push(rows[at][column])
      await db.executeQuery(CompiledQuery.raw(text, parameters))
    }
  }
  return async (db, rows) => {
    if (rows.length === 0) return
    if (db.getExecutor().adapter instanceof SqliteAdapter) return insertInSqlite(db, rows)
    for (const batch of inBatches(rows, MAX_ROWS)) {
      await yieldToEventLoop()
      await queryOf(db, batch).execute()
    }
  }
}
