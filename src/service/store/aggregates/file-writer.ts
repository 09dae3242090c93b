// Writes files of every type: names, folders, trash state and access.
import { type Insertable, sql, type Updateable } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import { markUnreferenced } from '../objects/blob-references.ts'
import { deleteAllReferences } from '../schema/references.ts'
import { inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { blobTables, fileTables } from '../schema/tables.ts'
import type { AuditEvent, AuditEventName, Journal } from './audit.ts'
import { FileCounts } from './file-counts.ts'
import { FileReader, type FileRow } from './files.ts'
import { type JobWriter, refreshDerivedFrom } from './jobs.ts'
import { NO_METADATA, type UsageWriter } from './usage.ts'
import { indexAgain, indexNextFiles, NEW_FILES_PER_JOB } from './words.ts'

/** Fields of a new file, unless they are given. */
export const NEW_FILE = {
  trashed_at: null,
  hidden: 0,
  removed_at: null,
  world_readable: 0,
  share_key: null,
  metadata: NO_METADATA,
  appended_at: null,
  appending: 0,
  starred: 0,
  shared: 0,
  derived: 0,
  feeds: 0,
  stale_since: null,
  quality: null,
  version: 1,
  views: 0,
  source_fid: null,
  source_url: null,
  source_referer: null,
  source_tag: null,
  source_version: null,
  is_theme: null,
  is_template: null,
  share_items: 0,
  content_version: 1,
} as const satisfies Partial<FileRow>

/** SQL: the later of `now` and the stored timestamps. Timestamps never decrease if the clock is set back. */
function monotonicTimestamp(now: number) {
  return sql<number>`case when appended_at > ${now} and appended_at > date_modified then appended_at when date_modified > ${now} then date_modified else ${now} end`
}

/** Fields that decide which lists show a file. */
const LIST_FIELDS = ['parent', 'trashed_at', 'hidden', 'world_readable'] as const

/** Maximum number of a file: nine digits, so that no request can use up all numbers. */
export const MAX_IDLOCAL = 999_999_999

/** Maximum number of files that one statement names. */
const BATCH_FILES = 400

/** Delay of the index of words while files with numbers of their own are added, in ms. */
const WORDS_DELAY_MS = 60_000

export class FileWriter extends FileReader {
  /** Numbers that this transaction has allocated, in order. */
  readonly allocatedIdlocals: number[] = []
  /** Of a dry run: the next number to allocate instead of the owner's. */
  dryIdlocal: number | undefined

  constructor(
    db: Db,
    private readonly journal: Journal,
    private readonly usage: UsageWriter,
    private readonly jobs: JobWriter,
  ) {
    super(db)
  }

  /** Records in the audit log how a change of a file affects who can read it. */
  private recordAccessChanges(before: FileRow | undefined, after: FileRow): void {
    const add = (event: AuditEventName): void => this.recordFileEvent(event, after)
    if (after.world_readable !== (before?.world_readable ?? 0))
      add(after.world_readable === 1 ? 'file.publish' : 'file.unpublish')
    if (after.share_key !== (before?.share_key ?? null))
      add(after.share_key === null ? 'file.link.remove' : 'file.link.create')
    if (after.share_items > 0 !== (before?.share_items ?? 0) > 0)
      add(after.share_items > 0 ? 'file.items.share' : 'file.items.unshare')
    // Readers of the new folder can read the moved file.
    if (before && after.parent !== before.parent)
      this.recordFileEvent('file.move', after, { from: before.parent, to: after.parent })
    const wasTrashed = before !== undefined && before.trashed_at !== null
    if ((after.trashed_at !== null) !== wasTrashed)
      add(after.trashed_at !== null ? 'file.trash' : 'file.restore')
  }

  /** Adds an event about a file to the audit log. */
  recordFileEvent(
    event: AuditEventName,
    { owner, idlocal, filename, filetype }: FileRow,
    details: AuditEvent['details'] = {},
  ): void {
    this.journal.add({
      owner,
      event,
      fid: `${owner}:${idlocal}`,
      details: { filename, filetype, ...details },
    })
  }

  /** Allocates the owner's next file id. Ids start at 0. */
  async allocateIdlocal(owner: string): Promise<number> {
    const row = await this.db
      .updateTable('counters')
      .set(({ eb }) => ({ next_idlocal: eb('next_idlocal', '+', 1) }))
      .where('owner', '=', owner)
      // A negative counter belongs to a deleted user.
      .where('next_idlocal', '>=', 0)
      .returning('next_idlocal')
      .executeTakeFirst()
    if (!row) throw new Problem('not_found', `no user named ${owner}`)
    if (row.next_idlocal % NEW_FILES_PER_JOB === 0) await this.jobs.schedule(owner, 'words')
    const idlocal = this.dryIdlocal === undefined ? row.next_idlocal - 1 : this.dryIdlocal++
    this.allocatedIdlocals.push(idlocal)
    return idlocal
  }

  /**
   * Reserves a number for a file of the owner. Returns false unless it is above all that were allocated: lower ones
   * may belong to files that are being made, and those of deleted files are not used again.
   */
  async reserveIdlocal(owner: string, idlocal: number): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('counters')
      .set({ next_idlocal: idlocal + 1 })
      .where('owner', '=', owner)
      .where('next_idlocal', '>=', 0)
      .where('next_idlocal', '<=', idlocal)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    // Numbers were left out, perhaps those at which words are indexed.
    if (idlocal >= NEW_FILES_PER_JOB)
      await this.jobs.schedule(owner, 'words', '', Date.now() + WORDS_DELAY_MS)
    return true
  }

  /** Adds a file to its folder. The name must be free there. */
  async add(
    file: Pick<Insertable<Schema['files']>, 'owner' | 'filetype' | 'filename' | 'parent'> & Partial<FileRow>,
  ): Promise<FileRow> {
    await this.usage.reserve(file.owner, { files: 1 })
    if (file.metadata !== undefined) await this.usage.reserveMetadata(file.owner, file.metadata)
    const now = Date.now()
    const row = {
      ...NEW_FILE,
      quality: file.filetype === 'plot' ? 0 : null,
      live_name: file.filename,
      ...file,
      idlocal: file.idlocal ?? (await this.allocateIdlocal(file.owner)),
      creation_time: now,
      date_modified: now,
      version: 1,
      content_version: 1,
    }
    await this.db.insertInto('files').values(row).execute()
    await this.counts.applyChange(file.owner, [], [row])
    this.recordAccessChanges(undefined, row)
    return row
  }

  /** Changes fields and increments the version. The caller must have checked `If-Match`. */
  async change(owner: string, idlocal: number, fields: Updateable<Schema['files']> = {}): Promise<void> {
    const isListed = LIST_FIELDS.some((field) => field in fields)
    const isNoted =
      isListed || 'share_key' in fields || 'share_items' in fields || fields.metadata !== undefined
    const before = isNoted ? await this.get(owner, idlocal) : undefined
    if (fields.metadata !== undefined)
      await this.usage.reserveMetadata(owner, fields.metadata, before?.metadata)
    const changed = await this.db
      .updateTable('files')
      .set(({ eb }) => ({
        ...fields,
        date_modified: monotonicTimestamp(Date.now()),
        appended_at: null,
        appending: 0,
        version: eb('version', '+', 1),
      }))
      .where(({ and }) => and({ owner, idlocal }))
      .returning('feeds')
      .executeTakeFirst()
    if (changed?.feeds) await this.refreshDerived(owner, idlocal)
    const after = before && { ...before, ...(fields as Partial<FileRow>) }
    if (after && isListed) await this.counts.applyChange(owner, [before], [after])
    if (after) this.recordAccessChanges(before, after)
    if (isListed || 'filename' in fields) await this.updateGrantCopies(owner, idlocal)
    if ('filename' in fields) await this.indexWordsAgain(owner, idlocal)
  }

  /** Indexes the words of a file whose names, or those of its columns or title, have changed. */
  indexWordsAgain(owner: string, idlocal: number): Promise<void> {
    return indexAgain(this.db, owner, idlocal)
  }

  /** Indexes the words of the next files of an owner. Returns whether there were none. */
  indexNextWords(owner: string): Promise<boolean> {
    return indexNextFiles(this.db, owner)
  }

  /**
   * Updates a file after an append. Unlike `change`, it changes no indexed column, since a grid may be
   * appended to many times a second; `settleDates` indexes the date later. Returns whether the caller must
   * schedule that.
   */
  async touchAfterAppend(
    { owner, idlocal, appending, feeds }: FileRow,
    fields: Pick<Updateable<Schema['files']>, 'content_version'>,
  ): Promise<boolean> {
    await this.db
      .updateTable('files')
      .set(({ eb }) => ({
        ...fields,
        appended_at: monotonicTimestamp(Date.now()),
        appending: 1,
        version: eb('version', '+', 1),
      }))
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
    if (feeds) await this.refreshDerived(owner, idlocal)
    return appending === 0
  }

  /** Schedules the refresh of the derived grids that have a file as an input. */
  private async refreshDerived(owner: string, idlocal: number): Promise<void> {
    await this.jobs.schedule(owner, 'feed', String(idlocal))
  }

  /** Indexes the dates of files without appends since `before`. Returns whether others still wait. */
  async settleDates(owner: string, before: number): Promise<boolean> {
    const appending = this.db.selectFrom('files').where('owner', '=', owner).where('appending', '=', 1)
    const rows = await appending
      .select('idlocal')
      .where('appended_at', '<', before)
      .limit(BATCH_FILES)
      .execute()
    const ids = rows.map(({ idlocal }) => idlocal)
    if (ids.length > 0)
      await this.db
        .updateTable('files')
        .set({ date_modified: monotonicTimestamp(0), appended_at: null, appending: 0 })
        .where('owner', '=', owner)
        .where('idlocal', 'in', ids)
        .execute()
    return (await appending.select('idlocal').limit(1).execute()).length > 0
  }

  /** Marks files as trashed by an ancestor folder, or not. */
  async setHidden(owner: string, files: readonly FileRow[], hidden: 0 | 1): Promise<void> {
    const ids = files.map(({ idlocal }) => idlocal)
    if (ids.length === 0) return
    for (const table of ['files', 'collaborators'] as const)
      await this.db
        .updateTable(table)
        .set({ hidden })
        .where('owner', '=', owner)
        .where('idlocal', 'in', ids)
        .execute()
    for (const { feeds, idlocal } of files) if (feeds) await this.refreshDerived(owner, idlocal)
    await this.counts.applyChange(
      owner,
      files,
      files.map((file) => ({ ...file, hidden })),
    )
  }

  /** Copies the fields that lists of shared files need into the grants on a file. */
  async updateGrantCopies(owner: string, idlocal: number): Promise<void> {
    const file = sql`select case when trashed_at is null then filename end, filetype, parent, hidden, world_readable from files
      where owner = ${owner} and idlocal = ${idlocal}`
    await sql`update collaborators set (filename, filetype, parent, hidden, world_readable) = (${file})
      where owner = ${owner} and idlocal = ${idlocal}`.execute(this.db)
  }

  private get counts(): FileCounts {
    return new FileCounts(this.db)
  }

  /** Sets the number of the current content version. */
  async setContentVersion(owner: string, idlocal: number, content_version: number): Promise<void> {
    await this.db
      .updateTable('files')
      .set({ content_version })
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  /** Stores the client's tag for the source of the current version. */
  async setSourceTag(owner: string, idlocal: number, source_tag: string): Promise<void> {
    await this.db
      .updateTable('files')
      .set(({ ref }) => ({ source_tag, source_version: ref('version') }))
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
  }

  /** Marks a folder and all its contents as permanently deleted; a job removes the rows later. */
  async markDeleted(folder: FileRow): Promise<void> {
    const { owner, idlocal } = folder
    this.recordFileEvent('file.delete', folder)
    this.usage.forgetUsageOf(owner)
    const removed_at = Date.now()
    await this.db
      .updateTable('files')
      // Also trashed: queries for trashed folders then find it.
      .set({ removed_at, trashed_at: removed_at, live_name: null })
      .where(({ and }) => and({ owner, idlocal }))
      .execute()
    await this.counts.applyChange(owner, [folder], [])
  }

  /**
   * Deletes the rows of files, but not the contents of folders. Their blobs are collected later. `isOfTree`:
   * a deleted folder contained them, so its audit event covers them.
   */
  async deleteRows(owner: string, ids: readonly number[], isOfTree = false): Promise<void> {
    for (const batch of inBatches(ids, BATCH_FILES)) await this.deleteBatch(owner, batch, isOfTree)
  }

  private async deleteBatch(owner: string, ids: readonly number[], isOfTree: boolean): Promise<void> {
    const rows = await this.listByIds(owner, ids)
    // The audit event of a deleted folder covers its contents.
    for (const file of rows)
      if (file.removed_at === null && !isOfTree) this.recordFileEvent('file.delete', file)
    this.usage.forgetUsageOf(owner)
    await this.counts.applyChange(owner, rows, [])
    const folders = rows.filter(({ filetype }) => filetype === 'fold').map(({ idlocal }) => idlocal)
    if (folders.length > 0) await this.counts.deletePlaces(owner, folders)
    for (const table of blobTables)
      await markUnreferenced(
        this.db,
        owner,
        this.db
          .selectFrom(table)
          .select(({ ref }) => ref('hash').$notNull().as('hash'))
          .where('owner', '=', owner)
          .where('idlocal', 'in', ids)
          .where('hash', 'is not', null),
      )
    const feeding = rows.filter(({ feeds }) => feeds).map(({ idlocal }) => idlocal)
    if (feeding.length > 0) await refreshDerivedFrom(this.db, owner, feeding)
    await deleteAllReferences(this.db, owner, ids)
    for (const table of fileTables)
      await this.db.deleteFrom(table).where('owner', '=', owner).where('idlocal', 'in', ids).execute()
  }
}
