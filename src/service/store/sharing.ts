import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { FileRow, Key } from './files.ts'
import type { Db, MayWrite, Schema } from './schema.ts'

export type CollaboratorRow = Selectable<Schema['collaborators']>
export type TeamRow = Selectable<Schema['teams']>

/** Access of a user to a file or folder of one owner. */
export interface Grant {
  idlocal: number
  may_write: MayWrite
}

/** Collaborators, teams, stars. */
export class SharingReader {
  constructor(protected readonly db: Db) {}

  collaborators(owner: string, idlocals: readonly number[]): Promise<CollaboratorRow[]> {
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
   * All grants of `username` on files of `owner`: by username, by e-mail address or as a team member. Grants
   * to an e-mail address are not converted: the sharer must not learn whose address it is.
   */
  grants(owner: string, username: string): Promise<Grant[]> {
    return this.granted(username).where('owner', '=', owner).execute()
  }

  /** The grants of `username` on these files, by owner. */
  async grantsOn(
    username: string,
    files: ReadonlyMap<string, ReadonlySet<number>>,
  ): Promise<Map<string, Grant[]>> {
    const rows = await this.granted(username)
      .select('owner')
      .where(({ or, and, eb }) =>
        or([...files].map(([owner, ids]) => and([eb('owner', '=', owner), eb('idlocal', 'in', [...ids])]))),
      )
      .execute()
    const grants = new Map<string, Grant[]>()
    for (const { owner, idlocal, may_write } of rows) {
      const own = grants.get(owner)
      if (own) own.push({ idlocal, may_write })
      else grants.set(owner, [{ idlocal, may_write }])
    }
    return grants
  }

  private granted(username: string) {
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

  /** Files that others have shared with `username`, ordered by id. */
  sharedWith(username: string, after: Key | undefined, limit: number): Promise<FileRow[]> {
    let select = this.db
      .selectFrom('files')
      .selectAll('files')
      .where('files.trashed_at', 'is', null)
      .where('files.hidden', '=', 0)
      .where('files.owner', '!=', username)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('collaborators')
            .select('collaborators.name')
            .whereRef('collaborators.owner', '=', 'files.owner')
            .whereRef('collaborators.idlocal', '=', 'files.idlocal')
            .where(({ or, and, eb, selectFrom: from }) =>
              or([
                and([eb('collaborators.kind', '=', 'user'), eb('collaborators.name', '=', username)]),
                and([
                  eb('collaborators.kind', '=', 'email'),
                  eb(
                    'collaborators.name',
                    'in',
                    from('users').select('email').where('users.owner', '=', username),
                  ),
                ]),
                and([
                  eb('collaborators.kind', '=', 'team'),
                  eb(
                    'collaborators.name',
                    'in',
                    from('team_members').select('team').where('username', '=', username),
                  ),
                ]),
              ]),
            ),
        ),
      )
      .orderBy('files.owner')
      .orderBy('files.idlocal')
      .limit(limit)
    if (after)
      select = select.where(({ or, and, eb }) =>
        or([
          eb('files.owner', '>', after.owner),
          and([eb('files.owner', '=', after.owner), eb('files.idlocal', '>', after.idlocal)]),
        ]),
      )
    return select.execute()
  }

  /** Files that `username` has starred, ordered by id. Does not check read access. */
  starredBy(username: string, after: Key | undefined, limit: number): Promise<FileRow[]> {
    let select = this.db
      .selectFrom('stars')
      .innerJoin('files', (join) =>
        join.onRef('files.owner', '=', 'stars.owner').onRef('files.idlocal', '=', 'stars.idlocal'),
      )
      .selectAll('files')
      .where('stars.username', '=', username)
      .where('files.trashed_at', 'is', null)
      .where('files.hidden', '=', 0)
      .orderBy('stars.owner')
      .orderBy('stars.idlocal')
      .limit(limit)
    if (after)
      select = select.where(({ or, and, eb }) =>
        or([
          eb('stars.owner', '>', after.owner),
          and([eb('stars.owner', '=', after.owner), eb('stars.idlocal', '>', after.idlocal)]),
        ]),
      )
    return select.execute()
  }

  /** Stars of these files, for those that have any: the count, and up to `limit` usernames. */
  async stars(
    owner: string,
    idlocals: readonly number[],
    limit: number,
  ): Promise<Map<number, { count: number; usernames: string[] }>> {
    const counts = await this.db
      .selectFrom('stars')
      .select(({ fn }) => ['idlocal', fn.countAll<number>().as('count')])
      .where('owner', '=', owner)
      .where('idlocal', 'in', idlocals)
      .groupBy('idlocal')
      .execute()
    const stars = new Map<number, { count: number; usernames: string[] }>()
    for (const { idlocal, count } of counts) {
      const rows = await this.db
        .selectFrom('stars')
        .select('username')
        .where('owner', '=', owner)
        .where('idlocal', '=', idlocal)
        .orderBy('username')
        .limit(limit)
        .execute()
      stars.set(idlocal, { count: Number(count), usernames: rows.map(({ username }) => username) })
    }
    return stars
  }

  async hasStar(owner: string, idlocal: number, username: string): Promise<boolean> {
    const rows = await this.db
      .selectFrom('stars')
      .select('username')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('username', '=', username)
      .execute()
    return rows.length > 0
  }

  team(key: string): Promise<TeamRow | undefined> {
    return this.db.selectFrom('teams').selectAll().where('name_key', '=', key).executeTakeFirst()
  }

  /** Teams `username` owns or is a member of. */
  teamsOf(username: string): Promise<TeamRow[]> {
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

  async members(team: string): Promise<string[]> {
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
  /** Adds a collaborator, or changes their access. */
  async addCollaborator(row: Omit<CollaboratorRow, 'added_at'>): Promise<void> {
    const { may_write } = row
    await this.db
      .insertInto('collaborators')
      .values({ ...row, added_at: Date.now() })
      .onConflict((conflict) =>
        conflict.columns(['owner', 'idlocal', 'kind', 'name']).doUpdateSet({ may_write }),
      )
      .execute()
  }

  async removeCollaborator(
    owner: string,
    idlocal: number,
    kind: CollaboratorRow['kind'],
    name: string,
  ): Promise<void> {
    await this.db
      .deleteFrom('collaborators')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('kind', '=', kind)
      .where('name', '=', name)
      .execute()
  }

  async addStar(owner: string, idlocal: number, username: string): Promise<void> {
    await this.db
      .insertInto('stars')
      .values({ owner, idlocal, username, starred_at: Date.now() })
      .onConflict((conflict) => conflict.columns(['owner', 'idlocal', 'username']).doNothing())
      .execute()
  }

  async removeStar(owner: string, idlocal: number, username: string): Promise<void> {
    await this.db
      .deleteFrom('stars')
      .where('owner', '=', owner)
      .where('idlocal', '=', idlocal)
      .where('username', '=', username)
      .execute()
  }

  /** Adds a team. Its key is random: what a team of the name had before it was deleted is not shared with it. */
  async addTeam(name: string, owner: string): Promise<TeamRow> {
    const row = {
      name_key: randomBytes(12).toString('hex'),
      name,
      owner,
      created_at: Date.now(),
    }
    await this.db.insertInto('teams').values(row).execute()
    return row
  }

  /** Removes a team, its memberships and its grants. */
  async removeTeam(team: string): Promise<void> {
    await this.db.deleteFrom('teams').where('name_key', '=', team).execute()
    await this.db.deleteFrom('team_members').where('team', '=', team).execute()
    await this.db.deleteFrom('collaborators').where('kind', '=', 'team').where('name', '=', team).execute()
  }

  async addMember(team: string, username: string): Promise<void> {
    await this.db
      .insertInto('team_members')
      .values({ team, username })
      .onConflict((conflict) => conflict.columns(['team', 'username']).doNothing())
      .execute()
  }

  async removeMember(team: string, username: string): Promise<void> {
    await this.db
      .deleteFrom('team_members')
      .where('team', '=', team)
      .where('username', '=', username)
      .execute()
  }
}
