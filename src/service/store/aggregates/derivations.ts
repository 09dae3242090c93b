// Reads and writes the queries of derived grids, and their inputs.
import { randomInt } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { FileKey } from '../schema/file-key.ts'
import { addReferences, deleteReferencers } from '../schema/references.ts'
import type { Db, Schema } from '../schema/schema.ts'

export type DerivationRow = Selectable<Schema['derivations']>
export type DerivationInput = Omit<Selectable<Schema['derivation_inputs']>, 'owner' | 'idlocal'>

/** Returns a number that no earlier query or result of the grid has. */
export function createRevision(): number {
  return randomInt(2 ** 47)
}

/** Lists the grids of an owner that have a row in a table, by id. */
export async function listIdsIn(
  db: Db,
  table: 'derivations' | 'url_refreshes',
  owner: string,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom(table)
    .select('idlocal')
    .where('owner', '=', owner)
    .orderBy('idlocal')
    .limit(limit)
    .execute()
  return rows.map(({ idlocal }) => idlocal)
}

/** Kinds of grids whose content comes from elsewhere, as in `files.derived`. */
export const FROM_QUERY = 1
export const FROM_URL = 2

/** Reads the queries of derived grids, and their inputs. */
export class DerivationReader {
  constructor(protected readonly db: Db) {}

  get(owner: string, idlocal: number): Promise<DerivationRow | undefined> {
    return this.db
      .selectFrom('derivations')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal }))
      .executeTakeFirst()
  }

  /** Lists the derived grids of an owner, by id. */
  listIds(owner: string, limit: number): Promise<number[]> {
    return listIdsIn(this.db, 'derivations', owner, limit)
  }

  /** Returns whether there are any derived grids. */
  async hasAny(): Promise<boolean> {
    const row = await this.db.selectFrom('derivations').select('idlocal').limit(1).executeTakeFirst()
    return row !== undefined
  }

  /** Lists the tables of the query of a derived grid, by name. */
  listInputs(owner: string, idlocal: number): Promise<DerivationInput[]> {
    return this.db
      .selectFrom('derivation_inputs')
      .select(['name', 'to_owner', 'to_idlocal', 'version', 'seen'])
      .where(({ and }) => and({ owner, idlocal }))
      .orderBy('name')
      .execute()
  }

  /** Lists the derived grids that have a grid as an input. */
  async listDerived(owner: string, idlocal: number): Promise<FileKey[]> {
    const rows = await this.db
      .selectFrom('referencers')
      .select(['by_owner', 'by_idlocal'])
      .where(({ and }) => and({ owner, idlocal, kind: 'input' }))
      .execute()
    return rows.map((row) => ({ owner: row.by_owner, idlocal: row.by_idlocal }))
  }
}

export class DerivationWriter extends DerivationReader {
  /** Makes a grid a derived one, or changes its query. */
  async put(
    { owner, idlocal }: FileKey,
    query: Pick<DerivationRow, 'sql' | 'parameters'>,
    inputs: readonly DerivationInput[],
  ): Promise<void> {
    await this.remove({ owner, idlocal })
    await this.db
      .insertInto('derivations')
      .values({
        owner,
        idlocal,
        ...query,
        revision: createRevision(),
        refreshed_at: Date.now(),
        tried_at: Date.now(),
        error: null,
        failed_at: null,
      })
      .execute()
    await this.setFlags({ owner, idlocal }, { derived: FROM_QUERY })
    await this.addInputs({ owner, idlocal }, inputs)
    const targets = new Map(
      inputs.map(({ to_owner, to_idlocal }) => [`${to_owner}:${to_idlocal}`, { to_owner, to_idlocal }]),
    )
    await addReferences(
      this.db,
      [...targets.values()].map((target) => ({ owner, idlocal, kind: 'input', ...target })),
    )
    for (const { to_owner, to_idlocal } of targets.values())
      await this.setFlags({ owner: to_owner, idlocal: to_idlocal }, { feeds: 1 })
  }

  /** Records that the content is the result of the query on these inputs. */
  async setRefreshed({ owner, idlocal }: FileKey, inputs: readonly DerivationInput[]): Promise<void> {
    await this.change(
      { owner, idlocal },
      {
        revision: createRevision(),
        refreshed_at: Date.now(),
        tried_at: Date.now(),
        error: null,
        failed_at: null,
      },
    )
    await this.setFlags({ owner, idlocal }, { stale_since: null })
    await this.deleteInputs({ owner, idlocal })
    await this.addInputs({ owner, idlocal }, inputs)
  }

  /** Records that no derived grid has a file as an input any more, if so. */
  async stopFeeding({ owner, idlocal }: FileKey): Promise<void> {
    const derived = await this.listDerived(owner, idlocal)
    if (derived.length === 0) await this.setFlags({ owner, idlocal }, { feeds: 0 })
  }

  /** Records why a refresh failed. */
  async setError({ owner, idlocal, failed_at }: DerivationRow, error: string): Promise<void> {
    const now = Date.now()
    await this.change({ owner, idlocal }, { tried_at: now, error, failed_at: failed_at ?? now })
    await this.setFlags({ owner, idlocal }, { stale_since: failed_at ?? now })
  }

  /** Makes a derived grid one like others. */
  async remove({ owner, idlocal }: FileKey): Promise<void> {
    const references = await this.db
      .deleteFrom('references')
      .where(({ and }) => and({ owner, idlocal, kind: 'input' }))
      .returningAll()
      .execute()
    await deleteReferencers(this.db, references)
    await this.deleteInputs({ owner, idlocal })
    await this.db
      .deleteFrom('derivations')
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
    await this.setFlags({ owner, idlocal }, { derived: 0, stale_since: null })
  }

  private async change({ owner, idlocal }: FileKey, fields: Partial<DerivationRow>): Promise<void> {
    await this.db
      .updateTable('derivations')
      .set(fields)
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  private async addInputs({ owner, idlocal }: FileKey, inputs: readonly DerivationInput[]): Promise<void> {
    if (inputs.length === 0) return
    await this.db
      .insertInto('derivation_inputs')
      .values(inputs.map((input) => ({ owner, idlocal, ...input })))
      .execute()
  }

  private async deleteInputs({ owner, idlocal }: FileKey): Promise<void> {
    await this.db
      .deleteFrom('derivation_inputs')
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  private async setFlags(
    { owner, idlocal }: FileKey,
    flags: { derived?: 0 | typeof FROM_QUERY; feeds?: 0 | 1; stale_since?: number | null },
  ): Promise<void> {
    await this.db
      .updateTable('files')
      .set(flags)
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }
}
