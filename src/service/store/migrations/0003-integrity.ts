// Migration: checksums of tail rows, column types in `grids`, data grids of plots, quotas, cursor secret.
import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Types } from '../engines/engine.ts'
import { decodeTypes, detectRowTypes, encodeTypes, mergeTypeLists } from '../schema/column-types.ts'
import type { ColumnType } from '../schema/schema.ts'
import { computeTailChecksum } from '../schema/tail-checksum.ts'

/** Tables that this migration reads or writes, in their state after it. */
interface Tables {
  columns: { owner: string; idlocal: number; position: number; type: ColumnType }
  grids: { owner: string; idlocal: number; types: string }
  tail: { owner: string; idlocal: number; seq: number; rows: number; body: Uint8Array; sum: number }
  secrets: { name: string; value: string }
}

const BATCH = 200

export async function up(db: Kysely<unknown>, types: Types): Promise<void> {
  const { text, int } = types
  const { schema } = db
  await schema
    .alterTable('tail')
    .addColumn('sum', int, (c) => c.notNull().defaultTo(0))
    .execute()
  await schema
    .alterTable('grids')
    .addColumn('types', text, (c) => c.notNull().defaultTo(''))
    .execute()
  await schema.alterTable('plots').addColumn('data_grid', int).execute()
  await schema
    .createTable('quotas')
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('what', text, (c) => c.notNull())
    .addColumn('day', int, (c) => c.notNull())
    .addColumn('used', int, (c) => c.notNull())
    .addPrimaryKeyConstraint('quotas_pk', ['owner', 'what', 'day'])
    .execute()
  const tables = db as Kysely<Tables>
  await fillTypes(tables)
  await fillSums(tables)
  const secret = await tables
    .selectFrom('secrets')
    .select('name')
    .where('name', '=', 'cursor')
    .executeTakeFirst()
  if (!secret)
    await tables
      .insertInto('secrets')
      .values({ name: 'cursor', value: randomBytes(32).toString('hex') })
      .execute()
}

async function fillTypes(db: Kysely<Tables>): Promise<void> {
  for (let after = { owner: '', idlocal: -1 }; ; ) {
    const grids = await db
      .selectFrom('grids')
      .select(['owner', 'idlocal'])
      .where(({ or, and, eb }) =>
        or([
          eb('owner', '>', after.owner),
          and([eb('owner', '=', after.owner), eb('idlocal', '>', after.idlocal)]),
        ]),
      )
      .orderBy('owner')
      .orderBy('idlocal')
      .limit(BATCH)
      .execute()
    for (const { owner, idlocal } of grids) {
      const columns = await db
        .selectFrom('columns')
        .select('type')
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .orderBy('position')
        .execute()
      let found = columns.map(({ type }) => type)
      const tail = await db
        .selectFrom('tail')
        .select('body')
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .execute()
      for (const { body } of tail)
        found = mergeTypeLists(found, decodeTypes(detectRowTypes(Buffer.from(body), found.length)))
      await db
        .updateTable('grids')
        .set({ types: encodeTypes(found) })
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .execute()
      after = { owner, idlocal }
    }
    if (grids.length < BATCH) return
  }
}

async function fillSums(db: Kysely<Tables>): Promise<void> {
  for (let after = { owner: '', idlocal: -1, seq: -1 }; ; ) {
    const rows = await db
      .selectFrom('tail')
      .select(['owner', 'idlocal', 'seq', 'rows', 'body'])
      .where(({ or, and, eb }) =>
        or([
          eb('owner', '>', after.owner),
          and([eb('owner', '=', after.owner), eb('idlocal', '>', after.idlocal)]),
          and([eb('owner', '=', after.owner), eb('idlocal', '=', after.idlocal), eb('seq', '>', after.seq)]),
        ]),
      )
      .orderBy('owner')
      .orderBy('idlocal')
      .orderBy('seq')
      .limit(BATCH)
      .execute()
    for (const row of rows) {
      const { owner, idlocal, seq } = row
      await db
        .updateTable('tail')
        .set({ sum: computeTailChecksum(row) })
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .where('seq', '=', seq)
        .execute()
      after = { owner, idlocal, seq }
    }
    if (rows.length < BATCH) return
  }
}
