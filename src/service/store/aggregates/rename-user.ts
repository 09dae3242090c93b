// Renames a user in all tables.
import { sql } from 'kysely'
import { isDistributedByOwner } from '../engines/distribution.ts'
import type { Db } from '../schema/schema.ts'
import {
  tables as allTables,
  ownedTables,
  uniqueUsernameColumn,
  usernameColumns,
  userTables,
} from '../schema/tables.ts'
import { computeTailChecksum } from '../schema/tail-checksum.ts'

/** Tail rows read with one statement. */
const BATCH_TAIL_ROWS = 100

/** Renames a user in all tables, and reserves the former name. */
export async function renameInAllTables(db: Db, owner: string, name: string): Promise<void> {
  await removeEarlierRows(db, name)
  await moveOwnedRows(db, owner, name)
  await updateTailChecksums(db, owner, name)
  for (const table of allTables)
    for (const column of usernameColumns(table).map((username) => sql.ref(username)))
      await sql`update ${sql.table(table)} set ${column} = ${name} where ${column} = ${owner}`.execute(db)
  await db.deleteFrom('collaborators').where('kind', '=', 'user').where('name', '=', name).execute()
  await db
    .updateTable('collaborators')
    .set({ name })
    .where('kind', '=', 'user')
    .where('name', '=', owner)
    .execute()
  await renameFids(db, owner, name)
  // A user renamed back to a former name: it is not a former name any more.
  await db.deleteFrom('former_names').where('name', '=', name).execute()
  await db.updateTable('former_names').set({ owner: name }).where('owner', '=', owner).execute()
  await db
    .insertInto('former_names')
    .values({ name: owner, name_key: owner.toLowerCase(), owner: name, renamed_at: Date.now() })
    .execute()
}

/** Removes rows left by requests that were running when an earlier user of the name was renamed or deleted. */
async function removeEarlierRows(db: Db, name: string): Promise<void> {
  for (const table of userTables)
    if (table !== 'users') await db.deleteFrom(table).where('owner', '=', name).execute()
  for (const table of allTables) {
    const column = uniqueUsernameColumn(table)
    if (column !== undefined)
      await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${name}`.execute(db)
  }
}

/** Gives the rows of a user to the new name. */
async function moveOwnedRows(db: Db, owner: string, name: string): Promise<void> {
  const schemas = await db.introspection.getTables()
  for (const table of ownedTables) {
    if (!isDistributedByOwner(table)) {
      const nameKey = table === 'users' ? sql`, name_key = ${name.toLowerCase()}` : sql``
      await sql`update ${sql.table(table)} set owner = ${name}${nameKey} where owner = ${owner}`.execute(db)
      continue
    }
    // Not an UPDATE: on a distributed engine, the new owner's rows may be on another node.
    const { columns } = schemas.find((schema) => schema.name === table)!
    const otherColumns = sql.join(
      columns.flatMap((column) => (column.name === 'owner' ? [] : sql.ref(column.name))),
    )
    await sql`insert into ${sql.table(table)} (owner, ${otherColumns})
      select ${name}, ${otherColumns} from ${sql.table(table)} where owner = ${owner}`.execute(db)
    await db.deleteFrom(table).where('owner', '=', owner).execute()
  }
}

/** Renames the owner in columns with fids. */
async function renameFids(db: Db, owner: string, name: string): Promise<void> {
  const from = `${owner}:`
  const start = sql.lit(from.length)
  const renamedFid = (column: 'fid' | 'source_fid') =>
    sql<string>`${`${name}:`} || substr(${sql.ref(column)}, ${start} + 1)`
  await db
    .updateTable('files')
    .set({ source_fid: renamedFid('source_fid') })
    .where(sql<string>`substr(source_fid, 1, ${start})`, '=', from)
    .execute()
  await db
    .updateTable('audit')
    .set({ fid: renamedFid('fid') })
    .where('owner', '=', name)
    .where(sql<string>`substr(fid, 1, ${start})`, '=', from)
    .execute()
}

/** Updates the checksums of tail rows, which cover the owner's name. Damaged rows stay damaged. */
async function updateTailChecksums(db: Db, formerOwner: string, owner: string): Promise<void> {
  for (let after = { idlocal: -1, seq: 0 }; ; ) {
    const rows = await db
      .selectFrom('tail')
      .selectAll()
      .where('owner', '=', owner)
      .where(sql<boolean>`(idlocal, seq) > (${after.idlocal}, ${after.seq})`)
      .orderBy('idlocal')
      .orderBy('seq')
      .limit(BATCH_TAIL_ROWS)
      .execute()
    for (const row of rows.filter((row) => row.sum === computeTailChecksum({ ...row, owner: formerOwner })))
      await db
        .updateTable('tail')
        .set({ sum: computeTailChecksum(row) })
        .where(({ and }) => and({ owner, idlocal: row.idlocal, seq: row.seq }))
        .execute()
    if (rows.length < BATCH_TAIL_ROWS) return
    after = rows.at(-1)!
  }
}
