// Handlers of teams.
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import type { Team } from '../../contract/resources/index.ts'
import type { Call, OperationCall } from '../core/call.ts'
import type { TeamRow } from '../store/aggregates/sharing.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

async function loadTeam(readers: Readers, { name, name_key, owner }: TeamRow): Promise<Team> {
  return { name, owner, members: await readers.sharing.listMembers(name_key) }
}

/**
 * Returns a team that the user owns or belongs to, by name or `owner:name`; undefined otherwise. The user's
 * own team takes precedence. Throws `conflict` if several other teams match.
 */
export async function findTeam(
  readers: Readers,
  username: string,
  text: string,
): Promise<TeamRow | undefined> {
  const [, ownerName, name] = /^(?:([^:]*):)?(.*)$/s.exec(text.toLowerCase())!
  const owner =
    ownerName === undefined
      ? undefined
      : ((await readers.accounts.findUserByName(ownerName))?.name_key ?? ownerName)
  const matches = (await readers.sharing.listTeamsOf(username)).filter(
    (team) => team.name.toLowerCase() === name && (owner === undefined || team.owner.toLowerCase() === owner),
  )
  const ownTeam = matches.find((team) => team.owner === username)
  if (!ownTeam && matches.length > 1)
    throw new Problem('conflict', `you are in ${matches.length} teams named '${text.slice(0, 100)}'`, {
      hint: `Give one of: ${matches.map((team) => `${team.owner}:${team.name}`).join(', ')}`,
    })
  return ownTeam ?? matches[0]
}

/** Returns the team in the path. Throws `not_found` unless the caller is in it: its existence is private. */
async function authorizeTeam(
  readers: Readers,
  call: OperationCall<never> | Call,
  mustOwn: boolean,
): Promise<TeamRow> {
  const { username } = call.caller!
  const team = await findTeam(readers, username, call.name)
  if (!team)
    throw new Problem(
      'not_found',
      `no team named ${JSON.stringify(call.name.slice(0, 100))}, or you are not in it`,
    )
  if (mustOwn && team.owner !== username)
    throw new Problem('forbidden', 'only the owner of the team may do this', { hint: `Ask ${team.owner}.` })
  return team
}

async function addMembers(writers: Writers, team: TeamRow, users: readonly string[]): Promise<void> {
  for (const name of new Set(users)) {
    const user = isUsername(name) ? await writers.accounts.findUserByName(name) : undefined
    if (!user)
      throw new Problem('invalid_request', `users: no user named ${JSON.stringify(name.slice(0, 100))}`, {
        field: 'users',
      })
    if (user.owner !== team.owner) await writers.sharing.addMember(team.name_key, user.owner)
  }
}

/** Returns the users among `names`. Former names resolve to current ones. */
export async function resolveUsers(
  accounts: Readers['accounts'],
  names: readonly string[],
): Promise<string[]> {
  const users: string[] = []
  for (const name of new Set(names)) {
    const user = isUsername(name) ? await accounts.findUserByName(name) : undefined
    if (user) users.push(user.owner)
  }
  return users
}

/** Runs `work` in a transaction that locks the team's owner and `users`. */
async function changeTeam<T>(
  { store }: Service,
  call: Call,
  users: readonly string[],
  work: (writers: Writers) => Promise<T>,
): Promise<T> {
  const owners = await store.read(async (readers) => {
    const team = await findTeam(readers, call.caller!.username, call.name)
    return [...(team ? [team.owner] : []), ...(await resolveUsers(readers.accounts, users))]
  })
  return store.writeOnce(call.writeKey(call.caller!.username), work, { owners })
}

export const teamHandlers = {
  'teams.list': (service, { caller }) =>
    service.store.read(async (readers) => {
      const teams: Team[] = []
      for (const team of await readers.sharing.listTeamsOf(caller!.username))
        teams.push(await loadTeam(readers, team))
      return { body: { teams } }
    }),

  'teams.create': async (service, call) => {
    const { name, members = [] } = call.fields
    const owner = call.caller!.username
    if (!isUsername(name))
      throw new Problem('invalid_request', `name: invalid team name: ${JSON.stringify(name.slice(0, 100))}`, {
        field: 'name',
        hint: 'Use up to 64 letters and digits, with . _ - between them.',
      })
    const owners = await service.store.read(({ accounts }) => resolveUsers(accounts, members))
    const create = async (writers: Writers): Promise<Team> => {
      const ownTeams = (await writers.sharing.listTeamsOf(owner)).filter((team) => team.owner === owner)
      if (ownTeams.some((team) => team.name.toLowerCase() === name.toLowerCase()))
        throw new Problem('already_exists', `a team of yours named '${name}' already exists`, {
          field: 'name',
        })
      const team = await writers.sharing.addTeam(name, owner)
      await addMembers(writers, team, members)
      return loadTeam(writers, team)
    }
    return { body: await service.store.writeOnce(call.writeKey(owner), create, { owners }) }
  },

  'teams.get': (service, call) =>
    service.store.read(async (readers) => ({
      body: await loadTeam(readers, await authorizeTeam(readers, call, false)),
    })),

  'teams.delete': async (service, call) => {
    await changeTeam(service, call, [], async (writers) => {
      await writers.sharing.removeTeam((await authorizeTeam(writers, call, true)).name_key)
      return null
    })
    return { body: undefined }
  },

  'members.add': async (service, call) => {
    const users = call.fields.users
    await changeTeam(service, call, users, async (writers) => {
      await addMembers(writers, await authorizeTeam(writers, call, true), users)
      return null
    })
    return service.store.read(async (readers) => ({
      body: await loadTeam(readers, await authorizeTeam(readers, call, true)),
    }))
  },

  'members.remove': async (service, call) => {
    const users = call.fields.users
    const { team } = await changeTeam(service, call, users, async (writers) => {
      // Every member may leave the team.
      const isLeaving = users.every((user) => user === call.caller!.username)
      const team = await authorizeTeam(writers, call, !isLeaving)
      for (const name of users) {
        const user = await writers.accounts.findUserByName(name)
        if (user) await writers.sharing.removeMember(team.name_key, user.owner)
      }
      return { team: await loadTeam(writers, team) }
    })
    return { body: team }
  },
} satisfies Partial<Handlers>
