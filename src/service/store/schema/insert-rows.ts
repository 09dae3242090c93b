// Inserts many rows with few statements, each of which is compiled once.
import { CompiledQuery, type Insertable, type InsertQueryBuilder, type InsertResult } from 'kysely'
import { yieldToEventLoop } from '../../../json/index.ts'
import type { Db, Schema } from './schema.ts'

/** Numbers of rows in a statement: few, so that statements are compiled and prepared only once. */
const BATCH_ROWS = [512, 64, 8, 1]

type InsertQuery<T extends keyof Schema> = InsertQueryBuilder<Schema, T, InsertResult>

/**
 * Returns a function that inserts rows into a table. All rows have the columns of the first. `complete` adds clauses
 * without parameters, such as `on conflict`.
 */
export function createInserter<T extends keyof Schema>(
  table: T,
  complete: (query: InsertQuery<T>) => Pick<InsertQuery<T>, 'compile'> = (query) => query,
): (db: Db, rows: readonly Insertable<Schema[T]>[]) => Promise<void> {
  const texts = new Map<string, string>()
  const compile = (db: Db, columns: readonly string[], count: number): string => {
    // Dialects differ in how they write parameters.
    const key = `${db.getExecutor().adapter.constructor.name} ${count} ${columns}`
    const compiled = texts.get(key)
    if (compiled !== undefined) return compiled
    const row = Object.fromEntries(columns.map((name) => [name, 0])) as Insertable<Schema[T]>
    const rows = Array.from({ length: count }, () => row)
    const { sql } = complete(db.insertInto(table).values(rows)).compile()
    texts.set(key, sql)
    return sql
  }
  return async (db, rows) => {
    if (rows.length === 0) return
    const columns = Object.keys(rows[0]) as (keyof Insertable<Schema[T]> & string)[]
    for (let at = 0; at < rows.length; ) {
      await yieldToEventLoop()
      const count = BATCH_ROWS.find((size) => size <= rows.length - at)!
      const parameters: unknown[] = []
      for (const end = at + count; at < end; at++)
        for (const column of columns) parameters.push(rows[at][column] ?? null)
      await db.executeQuery(CompiledQuery.raw(compile(db, columns, count), parameters))
    }
  }
}
