// Links identities of an OpenID Connect provider to users, and syncs their teams.
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import type { Store, Writers } from '../store/store.ts'

export interface GroupTeam {
  group: string
  /** The user who owns the team. */
  owner: string
  team: string
}

/** User whom the provider has authenticated. */
export interface OidcUser {
  issuer: string
  subject: string
  email: string | null
  /** True if the provider has verified the e-mail address. */
  isVerified: boolean
  /** Name that the username is derived from. */
  name: string
  groups: readonly string[]
}

/** The user of a person. `leaver`: the disabled user whose address the person has now. */
interface FoundUser {
  owner: string | undefined
  leaver?: string
}

/** Returns the username, created on the first sign-in. Syncs the user's teams with their groups. */
export async function signInUser(
  store: Store,
  person: OidcUser,
  groupTeams: readonly GroupTeam[],
): Promise<string> {
  const { owner: existing, leaver } = await findUser(store, person)
  const teams = await loadTeams(store, groupTeams)
  const names = existing === undefined ? await findFreeNames(store, person, teams) : [existing]
  for (const name of names) {
    const owners = [name, ...(leaver === undefined ? [] : [leaver]), ...teams.map(({ owner }) => owner)]
    const username = await store.withActor({ user: name }).write(owners, async (writers) => {
      if (leaver !== undefined) await writers.accounts.changeEmail(leaver, null)
      const owner = await linkUser(writers, person, name)
      if (owner !== undefined) await syncTeams(writers, owner, teams, person.groups)
      return owner
    })
    if (username !== undefined) return username
  }
  throw new Problem('overloaded', 'all usernames derived from your name are taken')
}

/** Links the identity to a user and returns their name; undefined if another user has it. */
async function linkUser(writers: Writers, person: OidcUser, name: string): Promise<string | undefined> {
  const { accounts } = writers
  const { issuer, subject, email } = person
  const linked = await accounts.findOwnerByIdentity(issuer, subject)
  if (linked !== undefined) {
    const user = await accounts.getUser(linked)
    if (!user || user.disabled_at !== null) throw userDisabled()
    // Files are shared with addresses: an address that the provider has given to somebody else is not theirs.
    if (person.isVerified && email !== null && email !== user.email) {
      const isFree = (await accounts.countUsersWith(email)) === 0
      // Two who have swapped their addresses sign in once more.
      await accounts.changeEmail(linked, isFree ? email : null)
    }
    return linked
  }
  const existing = await accounts.findUserByName(name)
  // An existing user signs in as themselves if the provider has verified their e-mail address.
  const isTheirs = existing !== undefined && person.isVerified && email !== null && existing.email === email
  if (existing && !isTheirs) return undefined
  if (existing && existing.disabled_at !== null) throw userDisabled()
  // Addresses are given to other people, subjects are not.
  if (existing && (await accounts.hasIdentity(existing.owner, issuer)))
    throw new Problem(
      'forbidden',
      `the address ${email} belongs to ${existing.owner}, who signs in with another account of ${new URL(issuer).host}`,
      {
        hint: `Ask the administrator of this server. If both are the same person: gridline admin user unlink ${existing.owner}`,
      },
    )
  const owner = existing?.owner ?? name
  if (!existing) {
    if ((await accounts.findFormerOwner(name)) !== undefined) return undefined
    await accounts.addUser({
      owner,
      email: person.isVerified ? email : null,
      is_admin: 0,
      date_joined: Date.now(),
    })
  }
  await accounts.addIdentity({ owner, issuer, subject, created_at: Date.now() })
  return owner
}

/** Loads the teams of groups, with the current names of their owners. */
function loadTeams(store: Store, teams: readonly GroupTeam[]): Promise<readonly GroupTeam[]> {
  return store.read(async ({ accounts }) => {
    const loaded: GroupTeam[] = []
    for (const team of teams) {
      const user = await accounts.findUserByName(team.owner)
      loaded.push({ ...team, owner: user?.owner ?? team.owner })
    }
    return loaded
  })
}

/** Finds the user with this identity, or with this verified e-mail address. */
function findUser(store: Store, { issuer, subject, email, isVerified }: OidcUser): Promise<FoundUser> {
  return store.read(async ({ accounts }): Promise<FoundUser> => {
    const linked = await accounts.findOwnerByIdentity(issuer, subject)
    if (linked !== undefined || !isVerified || email === null) return { owner: linked }
    const owner = await accounts.findOwnerByEmail(email)
    if (owner === undefined) return { owner }
    const isDisabled = (await accounts.getUser(owner))?.disabled_at !== null
    const hasLeft = isDisabled && (await accounts.hasIdentity(owner, issuer))
    return hasLeft ? { owner: undefined, leaver: owner } : { owner }
  })
}

/**
 * Returns up to three unused usernames that are derived from the user's name. Names of owners of teams are not free:
 * who had one would own the team.
 */
async function findFreeNames(
  store: Store,
  { name }: OidcUser,
  teams: readonly GroupTeam[],
): Promise<string[]> {
  const owners = new Set(teams.map(({ owner }) => owner.toLowerCase()))
  const plain = name
    .split('@')[0]
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '')
    .slice(0, 48)
    .replace(/^[._-]+|[._-]+$/g, '')
  const base = isUsername(plain) ? plain : 'user'
  const candidates = [base, ...Array.from({ length: 200 }, (_, k) => `${base}-${k + 2}`)]
  return store.read(async ({ accounts }) => {
    const free: string[] = []
    for (const candidate of candidates) {
      const isTaken =
        owners.has(candidate.toLowerCase()) ||
        (await accounts.findUserByName(candidate)) !== undefined ||
        (await accounts.findFormerOwner(candidate)) !== undefined ||
        (await accounts.hasCounter(candidate))
      if (!isTaken) free.push(candidate)
      if (free.length === 3) break
    }
    return free
  })
}

function userDisabled(): Problem {
  return new Problem('forbidden', 'this user is disabled', { hint: 'Ask the administrator of this server.' })
}

/** Adds a user to the teams of their groups, and removes them from all other synced teams. */
async function syncTeams(
  { sharing, accounts }: Writers,
  username: string,
  teams: readonly GroupTeam[],
  groups: readonly string[],
): Promise<void> {
  const memberships = new Map<string, { owner: string; name: string; isIn: boolean }>()
  for (const { group, owner, team } of teams) {
    const key = `${owner}:${team}`
    const isIn = groups.includes(group) || memberships.get(key)?.isIn === true
    memberships.set(key, { owner, name: team, isIn })
  }
  for (const { owner, name, isIn } of memberships.values()) {
    const user = await accounts.getUser(owner)
    if (!user || owner === username) continue
    const ownTeams = (await sharing.listTeamsOf(owner)).filter((team) => team.owner === owner)
    const existing = ownTeams.find((team) => team.name.toLowerCase() === name.toLowerCase())
    if (!existing && !isIn) continue
    const team = existing ?? (await sharing.addTeam(name, owner))
    const isMember = (await sharing.listMembers(team.name_key)).includes(username)
    if (isIn && !isMember) await sharing.addMember(team.name_key, username)
    if (!isIn && isMember) await sharing.removeMember(team.name_key, username)
  }
}
