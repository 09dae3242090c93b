// Copies a database, from SQLite to PostgreSQL or back.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { asBuffer } from '../../../json/index.ts'
import type { Engine } from '../engines/engine.ts'
import type { Db } from '../schema/schema.ts'
import { keyColumns, type Table, tables } from '../schema/tables.ts'

/** Name of the secret that marks a running copy. */
const RUN_SECRET = 'copy'

/** Maximum number of rows, and of bytes in them, written in one transaction. */
const BATCH_ROWS = 500
const BATCH_BYTES = 8 * 1024 * 1024

type Row = Record<string, unknown>

/**
 * Copies one snapshot of all rows of a database to one without users. Deletes what an interrupted copy left
 * there. Returns the number of rows. Bytes outside the database are not copied.
 */
export async function copyDatabase(
  from: Engine,
  to: Engine,
  onCopied: (table: string, rows: number) => void = () => {},
): Promise<number> {
  await assertNoUsers(to)
  const run = { name: RUN_SECRET, value: randomBytes(12).toString('hex') }
  await to.write([], async (db) => {
    for (const table of tables) await db.deleteFrom(table).execute()
    await db.insertInto('secrets').values(run).execute()
  })
  /** Throws if another copy to the same database has started, which deletes the rows of this one. */
  const assertAlone = async (db: Db): Promise<void> => {
    const row = await db
      .selectFrom('secrets')
      .select('value')
      .where('name', '=', RUN_SECRET)
      .executeTakeFirst()
    if (row?.value !== run.value)
      throw new Problem('conflict', 'another copy to the same database was started')
  }
  let copied = 0
  await from.read(async (db) => {
    for (const table of tables) {
      let rows = 0
      for await (const batch of readBatches(db, table)) {
        await to.write([], async (target) => {
          await assertAlone(target)
          for (const statementRows of splitIntoStatements(batch))
            await target
              .insertInto(table)
              .values(statementRows as never)
              .execute()
        })
        rows += batch.length
      }
      copied += rows
      onCopied(table, rows)
    }
  })
  await to.write([], async (db) => {
    await assertAlone(db)
    await db.deleteFrom('secrets').where('name', '=', RUN_SECRET).execute()
  })
  return copied
}

/** Throws if a database has users. */
export async function assertNoUsers(engine: Engine): Promise<void> {
  const [user] = await engine.read((db) => db.selectFrom('users').select('owner').limit(1).execute())
  if (user)
    throw new Problem('conflict', 'the target database already has users', {
      hint: 'Give the address of a new, empty database with --to.',
    })
}

/** Reads all rows of a table in key order, in batches. */
async function* readBatches(db: Db, table: Table): AsyncGenerator<Row[]> {
  const columns = keyColumns(table)
  const order = sql.join(columns.map((column) => sql.ref(column)))
  for (let last: Row | undefined; ; ) {
    const after = last
    const start = after
      ? sql`where (${order}) > (${sql.join(columns.map((column) => after[column]))})`
      : sql``
    const { rows } = await sql<Row>`select * from ${sql.table(table)} ${start}
      order by ${order} limit ${sql.lit(table === 'blob_pieces' || table === 'objects' ? 30 : BATCH_ROWS)}`.execute(
      db,
    )
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)
  }
}

/** Splits rows so that the values of each part fit into one statement. */
function* splitIntoStatements(rows: readonly Row[]): Generator<Row[]> {
  const maxRows = Math.floor(20_000 / Object.keys(rows[0]).length)
  let part: Row[] = []
  let bytes = 0
  for (const row of rows) {
    const size = Object.values(row).reduce<number>(
      (sum, value) => sum + (value instanceof Uint8Array ? value.length : 16),
      0,
    )
    if (part.length > 0 && (part.length >= maxRows || bytes + size > BATCH_BYTES)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value instanceof Uint8Array ? asBuffer(value) : value,
        ]),
      ),
    )
    bytes += size
  }
  if (part.length > 0) yield part
}
