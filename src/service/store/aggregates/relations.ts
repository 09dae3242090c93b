// Loads what is related to files: stars, collaborators and references.
import { sql } from 'kysely'
import { type FileKey, matchesAnyFile } from '../schema/file-key.ts'
import type { Db } from '../schema/schema.ts'
import type { CollaboratorRow } from './sharing.ts'

export interface RelatedCollaborator extends Pick<CollaboratorRow, 'kind' | 'name' | 'may_write'> {
  /** Owner and name of the team; null for users and e-mail addresses. */
  team: { owner: string; name: string } | null
}

/** Stars, collaborators and references of a file. */
export interface Relations {
  /** Usernames in order, up to a maximum, and the number of all stars. */
  stars: { usernames: string[]; count: number }
  collaborators: RelatedCollaborator[]
  /** Grids and extras that it refers to. */
  references: FileKey[]
  /** Plots that refer to it, and files whose extra it is, up to a maximum. */
  referencers: FileKey[]
}

export const NO_RELATIONS: Relations = {
  stars: { usernames: [], count: 0 },
  collaborators: [],
  references: [],
  referencers: [],
}

/** Maximum number of usernames of stars read per file. All stars are counted. */
const MAX_STAR_NAMES = 100
/** Maximum number of referencing files read per file. The API path /sources lists all. */
const MAX_REFERENCERS = 100

type RelationRow = (
  | { what: 'star' | 'reference' | 'referencer'; kind: null }
  | { what: 'collaborator'; kind: RelatedCollaborator['kind'] }
) & {
  owner: string
  idlocal: number
  name: string
  number: number
  team: string | null
}

/** A file whose relations are requested. Stars and collaborators are not read if its flag is 0. */
type Related = FileKey & { starred?: number; shared?: number }

export class RelationReader {
  constructor(private readonly db: Db) {}

  /**
   * Loads the relations of each file, in one statement. `referred`: files whose referencers are requested.
   */
  async loadRelations(
    files: readonly Related[],
    { references = false, referred = [] }: { references?: boolean; referred?: readonly FileKey[] } = {},
  ): Promise<Relations[]> {
    const relations = files.map(
      (): Relations => ({
        stars: { usernames: [], count: 0 },
        collaborators: [],
        references: [],
        referencers: [],
      }),
    )
    if (files.length === 0) return relations
    const starred = files.filter((file) => file.starred !== 0)
    const shared = files.filter((file) => file.shared !== 0)
    const parts = []
    if (starred.length > 0)
      parts.push(sql`select 'star' as what, owner, idlocal, username as name, n as number, null as kind, null as team from (
        select owner, idlocal, username, count(*) over (partition by owner, idlocal) as n,
          row_number() over (partition by owner, idlocal order by username) as k
        from stars where ${matchesAnyFile(starred, 'owner', 'idlocal')}) as s where k <= ${sql.lit(MAX_STAR_NAMES)}`)
    if (shared.length > 0)
      parts.push(sql`select 'collaborator' as what, c.owner, c.idlocal, c.name, c.may_write as number, c.kind, t.owner || ':' || t.name as team
        from collaborators c left join teams t on c.kind = 'team' and t.name_key = c.name
        where ${matchesAnyFile(shared, 'c.owner', 'c.idlocal')}`)
    if (references)
      parts.push(sql`select 'reference' as what, owner, idlocal, to_owner as name, to_idlocal as number, null as kind, null as team
        from "references"
        where kind in ('grid', 'extra') and ${matchesAnyFile(files, 'owner', 'idlocal')}`)
    for (const { owner, idlocal } of referred)
      parts.push(sql`select * from (
        select 'referencer' as what, owner, idlocal, by_owner as name, by_idlocal as number,
          null as kind, null as team from referencers
        where owner = ${owner} and idlocal = ${idlocal} and kind in ('grid', 'extra') order by by_owner, by_idlocal limit ${sql.lit(MAX_REFERENCERS)}) as r`)
    if (parts.length === 0) return relations
    const { rows } = await sql<RelationRow>`${sql.join(parts, sql` union all `)}`.execute(this.db)
    const byKey = new Map(files.map(({ owner, idlocal }, k) => [`${owner}:${idlocal}`, relations[k]]))
    for (const row of rows) addRelation(byKey.get(`${row.owner}:${row.idlocal}`)!, row)
    for (const relation of relations) {
      relation.stars.usernames.sort(compareBytes)
      relation.collaborators.sort((a, b) => compareBytes(b.kind, a.kind) || compareBytes(a.name, b.name))
      for (const list of [relation.references, relation.referencers])
        list.sort((a, b) => compareBytes(a.owner, b.owner) || a.idlocal - b.idlocal)
    }
    return relations
  }
}

/** Parses `owner:name`. */
function parseTeam(text: string | null): RelatedCollaborator['team'] {
  if (text === null) return null
  const at = text.indexOf(':')
  return { owner: text.slice(0, at), name: text.slice(at + 1) }
}

/** Adds a row of the query to the relations of its file. */
function addRelation(to: Relations, { what, name, number, kind, team }: RelationRow): void {
  switch (what) {
    case 'star':
      to.stars.usernames.push(name)
      to.stars.count = Number(number)
      break
    case 'collaborator':
      to.collaborators.push({
        kind,
        name,
        may_write: Number(number) === 1 ? 1 : 0,
        team: parseTeam(team),
      })
      break
    case 'reference':
      to.references.push({ owner: name, idlocal: Number(number) })
      break
    case 'referencer':
      to.referencers.push({ owner: name, idlocal: Number(number) })
      break
  }
}

/** Compares as the database engines do: by bytes. */
function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
