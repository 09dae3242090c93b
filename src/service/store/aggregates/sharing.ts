// Reads and writes collaborators, teams and stars.
import { randomBytes } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { FileKey } from '../schema/file-key.ts'
import { addToList } from '../schema/row-groups.ts'
import type { Db, MayWrite, Schema } from '../schema/schema.ts'
import { AccountReader } from './accounts.ts'
import type { AuditEventName, Journal } from './audit.ts'
import { type FileRow, withLastAppend } from './files.ts'

export type CollaboratorRow = Selectable<Schema['collaborators']>
export type TeamRow = Selectable<Schema['teams']>

/** Access of a user to a file or folder of one owner. */
export interface Grant {
  idlocal: number
  may_write: MayWrite
}

/** A grantee of shared files: a user, an e-mail address or a team. */
export type Grantee = Pick<CollaboratorRow, 'kind' | 'name'>

/** Reads collaborators, teams and stars. */
export class SharingReader {
  private cachedGrantees: { username: string; names: Grantee[] } | undefined

  constructor(protected readonly db: Db) {}

  listCollaborators(owner: string, idlocals: readonly number[]): Promise<CollaboratorRow[]> {
    return this.db
      .selectFrom('collaborators')
      .selectAll()
      .where('owner', '=', owner)
      .where('idlocal', 'in', idlocals)
      .orderBy('idlocal')
      .orderBy('kind', 'desc')
      .orderBy('name')
      .execute()
  }

  /**
   * Loads the grants of `username` on these files, by owner: to the user, their e-mail address or their
   * teams. Grants to an e-mail address stay as they are: the sharer must not learn who uses it.
   */
  async loadGrants(
    username: string,
    files: ReadonlyMap<string, ReadonlySet<number>>,
  ): Promise<Map<string, Grant[]>> {
    const rows = await this.selectGrants(username)
      .select('owner')
      .where(({ or, and, eb }) =>
        or([...files].map(([owner, ids]) => and([eb('owner', '=', owner), eb('idlocal', 'in', [...ids])]))),
      )
      .execute()
    const grants = new Map<string, Grant[]>()
    for (const { owner, idlocal, may_write } of rows) addToList(grants, owner, { idlocal, may_write })
    return grants
  }

  /** Query for the grants to a user, their e-mail address or their teams. */
  private selectGrants(username: string) {
    return this.db
      .selectFrom('collaborators')
      .select(['idlocal', 'may_write'])
      .where(({ or, and, eb, selectFrom }) =>
        or([
          and([eb('kind', '=', 'user'), eb('name', '=', username)]),
          and([
            eb('kind', '=', 'email'),
            eb('name', 'in', selectFrom('users').select('email').where('users.owner', '=', username)),
          ]),
          and([
            eb('kind', '=', 'team'),
            eb('name', 'in', selectFrom('team_members').select('team').where('username', '=', username)),
          ]),
        ]),
      )
  }

  /**
   * Lists the grantees that stand for a user: username, e-mail address, teams. Cached: a reader has one
   * snapshot.
   */
  async listGranteesOf(username: string): Promise<Grantee[]> {
    if (this.cachedGrantees?.username === username) return this.cachedGrantees.names
    const { rows } = await sql<Grantee>`select 'email' as kind, email as name from users
        where owner = ${username} and email is not null
      union all select 'team', team from team_members where username = ${username}`.execute(this.db)
    const names: Grantee[] = [{ kind: 'user', name: username }, ...rows]
    this.cachedGrantees = { username, names }
    return names
  }

  /**
   * Lists files that others have shared with `username`, ordered by id. `dirtyOwners`: owners with dirty
   * folders, whose files may have an outdated `hidden`; the caller checks the folders of those files.
   */
  async listSharedWith(
    username: string,
    dirtyOwners: ReadonlySet<string>,
    after: FileKey | undefined,
    limit: number,
  ): Promise<FileRow[]> {
    const names = await this.listGranteesOf(username)
    const parts = names.map(
      ({ kind, name }) => sql`select * from (select owner, idlocal from collaborators
        where kind = ${sql.lit(kind)} and name = ${name} and owner <> ${username} and filename is not null
        and ${whereNotBelowTrash(dirtyOwners)}${whereAfterKey(after)} order by owner, idlocal limit ${sql.lit(limit)}) as p`,
    )
    const { rows } = await sql<FileRow>`with page(owner, idlocal) as (
        select owner, idlocal from (${sql.join(parts, sql` union `)}) as u order by owner, idlocal limit ${sql.lit(limit)})
      select files.* from page join files on files.owner = page.owner and files.idlocal = page.idlocal
      order by page.owner, page.idlocal`.execute(this.db)
    return rows.map(withLastAppend)
  }

  /** Lists files that `username` has starred, ordered by id. Does not check read access. */
  async listStarredBy(
    username: string,
    dirtyOwners: ReadonlySet<string>,
    after: FileKey | undefined,
    limit: number,
  ): Promise<FileRow[]> {
    const { rows } = await sql<FileRow>`select files.* from stars join files
        on files.owner = stars.owner and files.idlocal = stars.idlocal
      where stars.username = ${username} and files.trashed_at is null and ${whereNotBelowTrash(dirtyOwners, 'files.')}${whereAfterKey(after, 'stars.')}
      order by stars.owner, stars.idlocal limit ${sql.lit(limit)}`.execute(this.db)
    return rows.map(withLastAppend)
  }

  async hasStar(owner: string, idlocal: number, username: string): Promise<boolean> {
    const rows = await this.db
      .selectFrom('stars')
      .select('username')
      .where(({ and }) => and({ owner, idlocal, username }))
      .execute()
    return rows.length > 0
  }

  getTeam(key: string): Promise<TeamRow | undefined> {
    return this.db.selectFrom('teams').selectAll().where('name_key', '=', key).executeTakeFirst()
  }

  /** Lists teams that `username` owns or is a member of. */
  listTeamsOf(username: string): Promise<TeamRow[]> {
    return this.db
      .selectFrom('teams')
      .selectAll()
      .where(({ or, eb, selectFrom }) =>
        or([
          eb('owner', '=', username),
          eb('name_key', 'in', selectFrom('team_members').select('team').where('username', '=', username)),
        ]),
      )
      .orderBy('owner')
      .orderBy('name')
      .execute()
  }

  async listMembers(team: string): Promise<string[]> {
    const rows = await this.db
      .selectFrom('team_members')
      .select('username')
      .where('team', '=', team)
      .orderBy('username')
      .execute()
    return rows.map(({ username }) => username)
  }
}

export class SharingWriter extends SharingReader {
  constructor(
    db: Db,
    private readonly journal: Journal,
  ) {
    super(db)
  }

  /** Adds a collaborator, or changes their access. */
  async addCollaborator(
    row: Pick<CollaboratorRow, 'owner' | 'idlocal' | 'kind' | 'name' | 'may_write'>,
  ): Promise<void> {
    const { owner, idlocal, may_write, kind, name } = row
    this.journal.add({
      owner,
      event: 'file.share',
      fid: `${owner}:${idlocal}`,
      details: {
        ...(await this.describeGrantee(kind, name)),
        permission: may_write === 1 ? 'write' : 'read',
      },
    })
    await this.setFlag('shared', owner, idlocal)
    await this.db
      .insertInto('collaborators')
      .values({ ...row, added_at: Date.now(), filename: null, filetype: null, parent: null })
      .onConflict((conflict) =>
        conflict.columns(['owner', 'idlocal', 'kind', 'name']).doUpdateSet({ may_write }),
      )
      .execute()
  }

  /** Describes a grantee for the audit log; a team as owner/name. */
  private async describeGrantee(
    kind: CollaboratorRow['kind'],
    name: string,
  ): Promise<Record<string, string>> {
    const team = kind === 'team' ? await this.getTeam(name) : undefined
    return { [kind]: team ? `${team.owner}/${team.name}` : name }
  }

  /** Marks a file as starred or shared. The flag may stay set after the last star or grant is removed. */
  private async setFlag(field: 'starred' | 'shared', owner: string, idlocal: number): Promise<void> {
    await this.db
      .updateTable('files')
      .set({ [field]: 1 })
      .where(({ and }) => and({ owner, idlocal }))
      .where(field, '=', 0)
      .execute()
  }

  async removeCollaborator(
    owner: string,
    idlocal: number,
    kind: CollaboratorRow['kind'],
    name: string,
  ): Promise<void> {
    this.journal.add({
      owner,
      event: 'file.unshare',
      fid: `${owner}:${idlocal}`,
      details: await this.describeGrantee(kind, name),
    })
    await this.db
      .deleteFrom('collaborators')
      .where(({ and }) => and({ owner, idlocal, kind, name }))
      .execute()
  }

  async addStar(owner: string, idlocal: number, username: string): Promise<void> {
    await new AccountReader(this.db).assertUser(username)
    await this.setFlag('starred', owner, idlocal)
    await this.db
      .insertInto('stars')
      .values({ owner, idlocal, username, starred_at: Date.now() })
      .onConflict((conflict) => conflict.columns(['owner', 'idlocal', 'username']).doNothing())
      .execute()
  }

  async removeStar(owner: string, idlocal: number, username: string): Promise<void> {
    await this.db
      .deleteFrom('stars')
      .where(({ and }) => and({ owner, idlocal, username }))
      .execute()
  }

  /** Adds a team. Its random key keeps files shared with a deleted team of that name from the new one. */
  async addTeam(name: string, owner: string): Promise<TeamRow> {
    await new AccountReader(this.db).assertUser(owner)
    const row = {
      name_key: randomBytes(12).toString('hex'),
      name,
      owner,
      created_at: Date.now(),
    }
    await this.db.insertInto('teams').values(row).execute()
    this.journal.add({ owner, event: 'team.create', details: { team: name } })
    return row
  }

  private async recordTeamEvent(event: AuditEventName, key: string, member?: string): Promise<void> {
    const team = await this.getTeam(key)
    if (team)
      this.journal.add({
        owner: team.owner,
        event,
        details: { team: team.name, ...(member !== undefined && { member }) },
      })
  }

  /** Removes a team, its memberships and its grants. */
  async removeTeam(team: string): Promise<void> {
    await this.recordTeamEvent('team.delete', team)
    await this.db.deleteFrom('teams').where('name_key', '=', team).execute()
    await this.db.deleteFrom('team_members').where('team', '=', team).execute()
    await this.db.deleteFrom('collaborators').where('kind', '=', 'team').where('name', '=', team).execute()
  }

  /**
   * Adds a user to a team, and records it in the audit log, unless already a member. Throws `unauthenticated`
   * if there is no such user.
   */
  async addMember(team: string, username: string): Promise<void> {
    await new AccountReader(this.db).assertUser(username)
    const { numInsertedOrUpdatedRows } = await this.db
      .insertInto('team_members')
      .values({ team, username })
      .onConflict((conflict) => conflict.columns(['team', 'username']).doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows) await this.recordTeamEvent('team.member.add', team, username)
  }

  /** Removes a user from a team, and records it in the audit log, if a member. */
  async removeMember(team: string, username: string): Promise<void> {
    const { numDeletedRows } = await this.db
      .deleteFrom('team_members')
      .where(({ and }) => and({ team, username }))
      .executeTakeFirst()
    if (numDeletedRows > 0) await this.recordTeamEvent('team.member.remove', team, username)
  }
}

/** SQL: the file is not below a trashed folder. Files of `dirtyOwners` always pass. */
function whereNotBelowTrash(dirtyOwners: ReadonlySet<string>, table = '') {
  const hidden = sql.ref(`${table}hidden`)
  if (dirtyOwners.size === 0) return sql`${hidden} = 0`
  return sql`(${hidden} = 0 or ${sql.ref(`${table}owner`)} in (${sql.join([...dirtyOwners])}))`
}

/** SQL: files after this one in id order. */
function whereAfterKey(after: FileKey | undefined, table = '') {
  if (!after) return sql``
  return sql` and (${sql.ref(`${table}owner`)}, ${sql.ref(`${table}idlocal`)}) > (${after.owner}, ${after.idlocal})`
}
