// Identifies files across owners.
import { sql } from 'kysely'
import { addToSet } from './row-groups.ts'

/** Key of a file across owners, which also orders lists of them. */
export interface FileKey {
  owner: string
  idlocal: number
}

/**
 * SQL: the row is one of these files. On a distributed engine, the query goes only to the nodes of these
 * owners.
 */
export function matchesAnyFile(keys: readonly FileKey[], owner: string, idlocal: string) {
  const byOwner = new Map<string, Set<number>>()
  for (const key of keys) addToSet(byOwner, key.owner, key.idlocal)
  const parts = [...byOwner].map(
    ([name, ids]) =>
      sql<boolean>`(${sql.ref(owner)} = ${name} and ${sql.ref(idlocal)} in (${sql.join([...ids].map((id) => sql.lit(id)))}))`,
  )
  return sql<boolean>`(${parts.length === 0 ? sql`1 = 0` : sql.join(parts, sql` or `)})`
}
