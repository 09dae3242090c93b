// Maintains file counts per folder and type.
import { type Selectable, sql } from 'kysely'
import type { Db, Schema } from '../schema/schema.ts'

type FileRow = Selectable<Schema['files']>
type Filetype = FileRow['filetype']

/** Values of `place` in `file_counts` that are not folders. */
export const COUNT_PLACES = {
  /** Neither trashed nor below a trashed folder. */
  active: -2,
  /** Below a trashed folder. */
  hidden: -3,
  /** Trashed themselves. */
  trashed: -4,
} as const

type CountedFile = Pick<
  FileRow,
  'parent' | 'filetype' | 'trashed_at' | 'hidden' | 'removed_at' | 'world_readable'
>

/** Returns the places that count a file: its folder, and one of COUNT_PLACES. */
function countPlacesOf({ parent, trashed_at, hidden, removed_at }: CountedFile): number[] {
  if (removed_at !== null) return []
  if (trashed_at !== null) return [COUNT_PLACES.trashed]
  return [parent, hidden === 1 ? COUNT_PLACES.hidden : COUNT_PLACES.active]
}

/** Maintains the number of files per folder and type. The caller locks the owner. */
export class FileCounts {
  constructor(private readonly db: Db) {}

  /** Updates counts after a change of files from `before` to `after`, with at most one statement. */
  async applyChange(
    owner: string,
    before: readonly CountedFile[],
    after: readonly CountedFile[],
  ): Promise<void> {
    const changes = new Map<string, { place: number; filetype: Filetype; by: number; byPublic: number }>()
    const add = (files: readonly CountedFile[], by: number): void => {
      for (const file of files)
        for (const place of countPlacesOf(file)) {
          const key = `${place} ${file.filetype}`
          const change = changes.get(key)
          const byPublic = by * file.world_readable
          if (!change) changes.set(key, { place, filetype: file.filetype, by, byPublic })
          else {
            change.by += by
            change.byPublic += byPublic
          }
        }
    }
    add(before, -1)
    add(after, 1)
    const rows = [...changes.values()]
      .filter(({ by, byPublic }) => by !== 0 || byPublic !== 0)
      .map(({ place, filetype, by, byPublic }) => ({
        owner,
        place,
        filetype,
        files: by,
        public_files: byPublic,
      }))
    if (rows.length === 0) return
    await this.db
      .insertInto('file_counts')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['owner', 'place', 'filetype']).doUpdateSet(({ ref, eb }) => ({
          files: eb(ref('file_counts.files'), '+', ref('excluded.files')),
          public_files: eb(ref('file_counts.public_files'), '+', ref('excluded.public_files')),
        })),
      )
      .execute()
  }

  /** Deletes the counts of deleted folders. */
  async deletePlaces(owner: string, folders: readonly number[]): Promise<void> {
    await this.db.deleteFrom('file_counts').where('owner', '=', owner).where('place', 'in', folders).execute()
  }

  /**
   * Sums the counts of these types over places. `open`: public files there, and all other files in `granted`
   * folders.
   */
  async sumPlaces(
    owner: string,
    places: readonly number[],
    filetypes: readonly Filetype[],
    granted: readonly number[] = [],
  ): Promise<{ files: number; open: number }> {
    const rows = await this.db
      .selectFrom('file_counts')
      .select(['place', 'files', 'public_files'])
      .where('owner', '=', owner)
      .where('place', 'in', [...places, ...granted])
      .where('filetype', 'in', filetypes)
      .execute()
    const sum = { files: 0, open: 0 }
    for (const { place, files, public_files } of rows) {
      if (places.includes(place)) {
        sum.files += Number(files)
        sum.open += Number(public_files)
      } else sum.open += Number(files) - Number(public_files)
    }
    return sum
  }

  /** Counts files of these types below trashed or deleted folders, as of now. */
  async countBelowTrash(owner: string, filetypes: readonly Filetype[]): Promise<number> {
    const { rows } = await sql<{ files: number | null }>`with ${selectTrashedFolders(owner)}
      select sum(files) as files from file_counts where owner = ${owner} and place in (select idlocal from hiding)
        and filetype in (${sql.join(filetypes.map((type) => sql.lit(type)))})`.execute(this.db)
    return Number(rows[0]?.files ?? 0)
  }

  /** Returns the numbers of all and of public (`open`) subfolders, by folder. */
  async loadSubfolderCounts(
    owner: string,
    folders: readonly number[],
  ): Promise<Map<number, { files: number; open: number }>> {
    const rows = await this.db
      .selectFrom('file_counts')
      .select(['place', 'files', 'public_files'])
      .where('owner', '=', owner)
      .where('place', 'in', folders)
      .where('filetype', '=', 'fold')
      .execute()
    return new Map(
      rows.map(({ place, files, public_files }) => [
        place,
        { files: Number(files), open: Number(public_files) },
      ]),
    )
  }
}

/** CTE `hiding`: the trashed and deleted folders of an owner, and all folders below them. */
export function selectTrashedFolders(owner: string) {
  return sql`recursive hiding(idlocal) as (
    select idlocal from files where owner = ${owner} and filetype = 'fold' and trashed_at is not null
    union select f.idlocal from files f join hiding on f.parent = hiding.idlocal
      where f.owner = ${owner} and f.filetype = 'fold'
  )`
}
