import { sql } from 'kysely'

/** Identifies a file among those of all owners, and its position in lists of them. */
export interface Key {
  owner: string
  idlocal: number
}

/** A condition for files of any owners. On a distributed engine it reaches the owners in it. */
export function isAmong(keys: readonly Key[], owner: string, idlocal: string) {
  const byOwner = new Map<string, Set<number>>()
  for (const key of keys) {
    const ownerIds = byOwner.get(key.owner)
    if (ownerIds) ownerIds.add(key.idlocal)
    else byOwner.set(key.owner, new Set([key.idlocal]))
  }
  const parts = [...byOwner].map(
    ([name, ids]) =>
      sql<boolean>`(${sql.ref(owner)} = ${name} and ${sql.ref(idlocal)} in (${sql.join([...ids].map((id) => sql.lit(id)))}))`,
  )
  return sql<boolean>`(${parts.length === 0 ? sql`1 = 0` : sql.join(parts, sql` or `)})`
}
