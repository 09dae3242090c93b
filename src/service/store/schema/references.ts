// Writes references between files.
import type { Selectable } from 'kysely'
import { addToList } from './row-groups.ts'
import type { Db, Schema } from './schema.ts'

export type ReferenceRow = Selectable<Schema['references']>

// A reference is two rows, written in one transaction: in `references` under the owner of the referring file,
// and in `referencers` under the owner of the file it refers to.

/** Adds references. Existing ones stay unchanged. */
export async function addReferences(db: Db, rows: readonly ReferenceRow[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('references')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['owner', 'idlocal', 'to_owner', 'to_idlocal']).doNothing())
    .execute()
  for (const targetRows of groupByTargetOwner(rows).values())
    await db
      .insertInto('referencers')
      .values(
        targetRows.map(({ owner, idlocal, kind, to_owner, to_idlocal }) => ({
          owner: to_owner,
          idlocal: to_idlocal,
          kind,
          by_owner: owner,
          by_idlocal: idlocal,
        })),
      )
      .onConflict((conflict) => conflict.columns(['owner', 'idlocal', 'by_owner', 'by_idlocal']).doNothing())
      .execute()
}

/** Deletes rows of `referencers`. All rows must be of one referring owner. */
export async function deleteReferencers(db: Db, rows: readonly ReferenceRow[]): Promise<void> {
  for (const [to, targetRows] of groupByTargetOwner(rows))
    await db
      .deleteFrom('referencers')
      .where('owner', '=', to)
      .where('idlocal', 'in', [...new Set(targetRows.map(({ to_idlocal }) => to_idlocal))])
      .where('by_owner', '=', targetRows[0].owner)
      .where('by_idlocal', 'in', [...new Set(targetRows.map(({ idlocal }) => idlocal))])
      .execute()
}

/** Deletes the references from and to files of an owner: of files `ids`, or of all. */
export async function deleteAllReferences(db: Db, owner: string, ids?: readonly number[]): Promise<void> {
  let from = db.deleteFrom('references').where('owner', '=', owner)
  let to = db.deleteFrom('referencers').where('owner', '=', owner)
  if (ids) {
    from = from.where('idlocal', 'in', ids)
    to = to.where('idlocal', 'in', ids)
  }
  await deleteReferencers(db, await from.returningAll().execute())
  const byOwner = new Map<string, { by: Set<number>; to: Set<number> }>()
  for (const { by_owner, by_idlocal, idlocal } of await to.returningAll().execute()) {
    const idSets = byOwner.get(by_owner) ?? { by: new Set(), to: new Set() }
    idSets.by.add(by_idlocal)
    idSets.to.add(idlocal)
    byOwner.set(by_owner, idSets)
  }
  for (const [by, idSets] of byOwner)
    await db
      .deleteFrom('references')
      .where('owner', '=', by)
      .where('idlocal', 'in', [...idSets.by])
      .where('to_owner', '=', owner)
      .where('to_idlocal', 'in', [...idSets.to])
      .execute()
}

function groupByTargetOwner(rows: readonly ReferenceRow[]): Map<string, ReferenceRow[]> {
  const owners = new Map<string, ReferenceRow[]>()
  for (const row of rows) addToList(owners, row.to_owner, row)
  return owners
}
