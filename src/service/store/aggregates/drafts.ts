// Reads and writes drafts: unpublished content of grids, visible only with write access.
import type { Selectable } from 'kysely'
import { ROOT } from '../../../contract/fid.ts'
import type { Db, Schema } from '../schema/schema.ts'
import type { FileWriter } from './file-writer.ts'
import type { FileRow } from './files.ts'
import type { VersionWriter } from './versions.ts'

export type DraftRow = Selectable<Schema['drafts']>

/** Reads drafts: unpublished content of grids, until it is replaced, deleted or expires. */
export class DraftReader {
  constructor(protected readonly db: Db) {}

  get(owner: string, idlocal: number, name: string): Promise<DraftRow | undefined> {
    return this.db
      .selectFrom('drafts')
      .selectAll()
      .where(({ and }) => and({ owner, idlocal, name }))
      .executeTakeFirst()
  }

  /** Lists the drafts of a user, newest first; with `name`, only drafts of this name. */
  list(owner: string, name?: string): Promise<DraftRow[]> {
    let select = this.db.selectFrom('drafts').selectAll().where('owner', '=', owner)
    if (name !== undefined) select = select.where('name', '=', name)
    return select.orderBy('made_at', 'desc').orderBy('idlocal').execute()
  }

  async countDrafts(owner: string): Promise<number> {
    const { count } = await this.db
      .selectFrom('drafts')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner', '=', owner)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Lists drafts created before a time, oldest first. */
  listOlderThan(time: number, limit: number): Promise<DraftRow[]> {
    return this.db
      .selectFrom('drafts')
      .selectAll()
      .where('made_at', '<', time)
      .orderBy('made_at')
      .limit(limit)
      .execute()
  }
}

export class DraftWriter extends DraftReader {
  /** Adds a draft, or replaces the one with its name. */
  async put(row: DraftRow): Promise<void> {
    await this.remove(row)
    await this.db.insertInto('drafts').values(row).execute()
  }

  async remove({ owner, idlocal, name }: Pick<DraftRow, 'owner' | 'idlocal' | 'name'>): Promise<void> {
    await this.db
      .deleteFrom('drafts')
      .where(({ and }) => and({ owner, idlocal, name }))
      .execute()
  }
}

/** Folder for drafts of grids that do not exist yet. */
export const DRAFTS_FOLDER = 'Drafts'

/**
 * Removes a draft and its content. If the grid itself is the draft, deletes it, unless it was moved
 * elsewhere.
 */
export async function removeDraft(
  { drafts, versions, files }: { drafts: DraftWriter; versions: VersionWriter; files: FileWriter },
  draft: DraftRow,
): Promise<void> {
  const { owner, idlocal, version } = draft
  if (version !== null) await versions.remove(owner, idlocal, [version])
  await drafts.remove(draft)
  if (version !== null) return
  const file = await files.get(owner, idlocal)
  if (!file || !(await isInDraftFolder(files, file, draft.name))) return
  await files.deleteRows(owner, [idlocal])
  // Delete the folders that were created for it, if they are empty.
  for (let id = file.parent; id !== ROOT; ) {
    const folder = await files.get(owner, id)
    if (!folder || (await files.hasChildren(folder))) return
    await files.deleteRows(owner, [folder.idlocal])
    id = folder.parent
  }
}

/** Returns whether a file is still in the folder that was created for its draft. */
async function isInDraftFolder(files: FileWriter, file: FileRow, name: string): Promise<boolean> {
  const ancestorNames: string[] = []
  let { parent } = file
  while (parent !== ROOT && ancestorNames.length < MAX_ANCESTORS) {
    const folder = await files.get(file.owner, parent)
    if (!folder) return false
    ancestorNames.push(folder.filename)
    parent = folder.parent
  }
  return ancestorNames.at(-1) === DRAFTS_FOLDER && ancestorNames.at(-2) === name
}

/** Maximum number of ancestors checked. */
const MAX_ANCESTORS = 1000
