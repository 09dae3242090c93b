// Verifies that both rows of each reference exist.
import { sql } from 'kysely'
import { formatFid } from '../../../contract/fid.ts'
import { type FileKey, matchesAnyFile } from '../schema/file-key.ts'
import type { Db } from '../schema/schema.ts'
import type { Store } from '../store.ts'
import type { ReportDamage } from './verify-trees.ts'

/** Verifies that both rows of each reference exist. */
export async function verifyReferences({ engine }: Store, report: ReportDamage): Promise<void> {
  const format = ({ by, to }: Reference): string => `a reference from ${formatFid(by)} to ${formatFid(to)}`
  for (const [table, other] of [
    ['references', 'referencers'],
    ['referencers', 'references'],
  ] as const)
    for (
      let after = [
        { owner: '', idlocal: 0 },
        { owner: '', idlocal: 0 },
      ];
      ;
    ) {
      const rows = await engine.read(async (db) => {
        const batch = await listReferencesAfter(db, table, after)
        const counterparts = new Set(
          (
            await listReferencesOf(
              db,
              other,
              batch.map(({ by, to }) => (other === 'references' ? by : to)),
            )
          ).map(format),
        )
        for (const row of batch)
          if (!counterparts.has(format(row))) report(formatFid(row.by), `${format(row)} is not in ${other}`)
        return batch
      })
      if (rows.length < BATCH_REFERENCES) break
      const { by, to } = rows.at(-1)!
      after = table === 'references' ? [by, to] : [to, by]
    }
}

interface Reference {
  by: FileKey
  to: FileKey
}

/** References read in one transaction. */
const BATCH_REFERENCES = 500

/** Columns of the two tables: `by` is the file that refers to `to`. */
const REFERENCE_COLUMNS = {
  references: { by: ['owner', 'idlocal'], to: ['to_owner', 'to_idlocal'] },
  referencers: { by: ['by_owner', 'by_idlocal'], to: ['owner', 'idlocal'] },
} as const

const selectReferences = (table: keyof typeof REFERENCE_COLUMNS) => {
  const { by, to } = REFERENCE_COLUMNS[table]
  return sql`select ${sql.ref(by[0])} as by_owner, ${sql.ref(by[1])} as by_idlocal,
    ${sql.ref(to[0])} as to_owner, ${sql.ref(to[1])} as to_idlocal from ${sql.table(table)}`
}

interface ReferenceColumns {
  by_owner: string
  by_idlocal: number
  to_owner: string
  to_idlocal: number
}

const toReference = (row: ReferenceColumns): Reference => ({
  by: { owner: row.by_owner, idlocal: Number(row.by_idlocal) },
  to: { owner: row.to_owner, idlocal: Number(row.to_idlocal) },
})

/** Lists references after a position, in the order of the table. */
async function listReferencesAfter(
  db: Db,
  table: keyof typeof REFERENCE_COLUMNS,
  [a, b]: FileKey[],
): Promise<Reference[]> {
  const { by, to } = REFERENCE_COLUMNS[table]
  const order = sql.join(
    (table === 'references' ? [...by, ...to] : [...to, ...by]).map((name) => sql.ref(name)),
  )
  const { rows } = await sql<ReferenceColumns>`${selectReferences(table)}
    where (${order}) > (${a.owner}, ${a.idlocal}, ${b.owner}, ${b.idlocal})
    order by ${order} limit ${sql.lit(BATCH_REFERENCES)}`.execute(db)
  return rows.map(toReference)
}

/** Lists the references in a table whose `owner` and `idlocal` are among these files. */
async function listReferencesOf(
  db: Db,
  table: keyof typeof REFERENCE_COLUMNS,
  keys: readonly FileKey[],
): Promise<Reference[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<ReferenceColumns>`${selectReferences(table)}
    where ${matchesAnyFile(keys, 'owner', 'idlocal')}`.execute(db)
  return rows.map(toReference)
}
