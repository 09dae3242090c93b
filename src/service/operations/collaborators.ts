import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, isUsername, webUrl } from '../../contract/fid.ts'
import type { Collaborator, CollaboratorsChanged } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { etag } from '../core/etag.ts'
import { collaborator } from '../files/meta.ts'
import { updateFile } from '../files/read.ts'
import { invitation } from '../sharing/invitation.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Shared } from '../store/aggregates/relations.ts'
import type { CollaboratorRow } from '../store/aggregates/sharing.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { knownUsers, teamNamed } from './teams.ts'

const ACCESS: Record<CollaboratorRow['may_write'], string> = { 0: 'read', 1: 'read and write' }

type Who = Pick<CollaboratorRow, 'kind' | 'name'>

/** Recipient of an invitation. */
interface Addressee {
  email: string | null
  name: string
}

async function listOf(readers: Readers, { owner, idlocal }: Fid, forOwner: boolean): Promise<Collaborator[]> {
  const [{ collaborators }] = await readers.relations.around([{ owner, idlocal }])
  return collaborators.map((one) => collaborator(one, forOwner))
}

const ADDRESS =
  /^[^\s@"<>(),:;\\[\]\u0000-\u001f\u007f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/

/** Resolves a username or e-mail address. Does not reveal whether an address has an account. */
async function userMeant({ accounts }: Readers, text: string): Promise<Who & Addressee> {
  if (text.includes('@')) {
    if (!ADDRESS.test(text)) throw wrongUser(`not an e-mail address: ${JSON.stringify(text.slice(0, 100))}`)
    const email = text.toLowerCase()
    return { kind: 'email', name: email, email }
  }
  const user = isUsername(text) ? await accounts.userLike(text) : undefined
  if (!user) throw wrongUser(`no user named ${JSON.stringify(text.slice(0, 100))}`)
  return { kind: 'user', name: user.owner, email: user.email }
}

function wrongUser(why: string): Problem {
  return new Problem('invalid_request', `users: ${why}`, {
    field: 'users',
    hint: 'Use usernames, or e-mail addresses of people without an account.',
  })
}

async function teamMeant(readers: Readers, name: string, caller: string): Promise<Who> {
  const team = await teamNamed(readers, caller, name)
  if (!team)
    throw new Problem(
      'invalid_request',
      `teams: you are not in a team named ${JSON.stringify(name.slice(0, 100))}`,
      {
        field: 'teams',
      },
    )
  return { kind: 'team', name: team.name_key }
}

/** The file and, with `add_to_grids`, the grids of a plot that belong to the same owner. */
async function filesMeant(writers: Writers, fid: Fid, withGrids: boolean): Promise<Fid[]> {
  const grids = withGrids ? await writers.plots.referencesOf(fid.owner, [fid.idlocal]) : []
  return [
    fid,
    ...grids
      .filter(({ kind, to_owner }) => kind === 'grid' && to_owner === fid.owner)
      .map(({ to_owner, to_idlocal }) => ({ owner: to_owner, idlocal: to_idlocal })),
  ]
}

function tooMany(count: number, limit: number): Problem {
  return new Problem('invalid_request', `${count} collaborators; the limit is ${limit} (collaborators)`, {
    hint: 'Create a team, and share the file with it.',
  })
}

async function changedList(service: Service, call: Call): Promise<CollaboratorsChanged> {
  const collaborators = await service.store.read((readers) => listOf(readers, call.fid, true))
  return { collaborators, emails_sent: 0, warnings: [] }
}

/**
 * Why a user can still open a file that is no longer shared with them. What an e-mail address grants is not said: it
 * would tell whose address it is.
 */
async function stillReads(writers: Writers, file: FileRow, text: string): Promise<string[]> {
  const { owner } = file
  const user = isUsername(text) ? await writers.accounts.userLike(text) : undefined
  if (!user || user.owner === owner) return []
  if (file.world_readable === 1) return [`${user.owner} can still read the file: it is public`]
  const reasons: string[] = []
  for (const one of [file, ...(await writers.folders.above(file))]) {
    const [{ collaborators }] = await writers.relations.around([{ owner, idlocal: one.idlocal }])
    for (const { kind, name, may_write, teamName } of collaborators) {
      const isMember = kind === 'team' && (await writers.sharing.members(name)).includes(user.owner)
      if (!isMember && !(kind === 'user' && name === user.owner)) continue
      const by = isMember ? `the team ${teamName ?? name}` : 'a share'
      const where = one === file ? '' : ` of the folder ${one.filename}`
      reasons.push(`${by}${where} (${ACCESS[may_write]})`)
    }
  }
  if (reasons.length === 0) return []
  return [`${user.owner} can still open the file, through ${reasons.join(' and ')}`]
}

export const sharingHandlers = {
  'collaborators.list': (service, call) =>
    service.store.read(async (readers) => {
      const { file, roles } = await authorizeCall(readers, call)
      return { body: await listOf(readers, call.fid, roles.has('owner')), etag: etag(file) }
    }),

  'collaborators.add': async (service, call) => {
    const { users = [], teams = [], readonly = false, add_to_grids = false, ...letter } = call.fields
    const asked = users.length + teams.length
    if (asked > service.limits.collaborators) throw tooMany(asked, service.limits.collaborators)
    // A user who is deleted meanwhile leaves no share to another one of the name.
    const named = await service.store.read(({ accounts }) => knownUsers(accounts, users))
    let title = ''
    // Set only when the write is applied: a retry must not send e-mails again.
    let fresh: Addressee[] = []
    await updateFile(
      service,
      call,
      async (writers, { file }) => {
        title = file.filename
        fresh = []
        const added: Who[] = []
        for (const text of users) {
          const { email, ...who } = await userMeant(writers, text)
          if (who.kind === 'user' && who.name === file.owner) continue
          // Skip the owner's own e-mail address.
          if (email !== null && email === (await writers.accounts.user(file.owner))?.email) continue
          added.push(who)
          fresh.push({ email, name: who.name })
        }
        for (const name of teams) {
          const team = await teamMeant(writers, name, call.caller!.username)
          added.push(team)
          for (const member of await writers.sharing.members(team.name)) {
            const user = await writers.accounts.user(member)
            if (user && user.owner !== file.owner) fresh.push({ email: user.email, name: user.owner })
          }
        }
        for (const { owner, idlocal } of await filesMeant(writers, call.fid, add_to_grids)) {
          for (const { kind, name } of added)
            await writers.sharing.addCollaborator({ owner, idlocal, kind, name, may_write: readonly ? 0 : 1 })
          await writers.files.tellCollaborators(owner, idlocal)
          const count = (await writers.sharing.collaborators(owner, [idlocal])).length
          const limit = service.limits.collaborators
          if (count > limit) throw tooMany(count, limit)
          await writers.files.change(owner, idlocal)
        }
        return null
      },
      named,
    )
    const body = await changedList(service, call)
    if (letter.send_email && fresh.length > 0 && !service.store.isDry) {
      const done = await invite(service, call, title, fresh, letter.email_text)
      body.emails_sent = done.sent
      body.warnings.push(...done.warnings)
    }
    return { body }
  },

  'collaborators.remove': async (service, call) => {
    const { users = [], teams = [] } = call.fields
    const { warnings, remaining_access } = await updateFile(service, call, async (writers, { file }) => {
      const { owner, idlocal } = file
      const [{ collaborators }] = await writers.relations.around([{ owner, idlocal }])
      const left: string[] = []
      const remove = async (text: string, isMeant: (one: Shared) => boolean): Promise<void> => {
        const found = collaborators.filter(isMeant)
        for (const { kind, name } of found)
          await writers.sharing.removeCollaborator(owner, idlocal, kind, name)
        if (found.length === 0) left.push(`${text} was not a collaborator`)
      }
      for (const text of users) {
        // Also by the former name of a user.
        const user = isUsername(text) ? await writers.accounts.userLike(text) : undefined
        const meant = (user?.owner ?? text).toLowerCase()
        await remove(text, ({ kind, name }) => kind !== 'team' && name.toLowerCase() === meant)
      }
      for (const text of teams) {
        const [, plain] = /^(?:[^:]*:)?(.*)$/s.exec(text.toLowerCase())!
        await remove(text, ({ kind, teamName }) => kind === 'team' && teamName?.toLowerCase() === plain)
      }
      await writers.files.change(owner, idlocal)
      const still: string[] = []
      for (const text of users) still.push(...(await stillReads(writers, file, text)))
      return { warnings: left, remaining_access: still }
    })
    const body = await changedList(service, call)
    return { body: { ...body, warnings, remaining_access } }
  },
} satisfies Partial<Handlers>

/** Maximum time to wait for the mail server before responding, in ms. */
const MAIL_MS = 20_000
const MAILS_AT_ONCE = 5

/** Sends invitations. Failures become warnings and do not undo the sharing. */
async function invite(
  service: Service,
  call: Call,
  title: string,
  to: readonly Addressee[],
  words: string | undefined,
): Promise<{ sent: number; warnings: string[] }> {
  const { mail } = service
  if (!mail)
    return {
      sent: 0,
      warnings: ['no e-mail was sent: SMTP is not configured on this server (gridline serve --smtp)'],
    }
  const warnings: string[] = []
  let sent = 0
  const limit = service.limits.emails_per_day
  const writable = to.filter(({ email }) => email !== null).length
  const { username } = call.caller!
  let left = await service.store.write([username], ({ accounts }) =>
    accounts.takeQuota(username, 'emails', writable, limit),
  )
  if (left < writable)
    warnings.push(
      `${writable - left} e-mails were not sent: the limit is ${limit} per user and day (emails_per_day)`,
    )
  const until = performance.now() + MAIL_MS
  const write = async ({ email, name }: Addressee): Promise<void> => {
    if (email === null) {
      warnings.push(`no e-mail was sent to ${name}: no e-mail address is known`)
      return
    }
    if (left-- <= 0) return
    if (performance.now() > until) {
      warnings.push(`no e-mail was sent to ${name}: the mail server is too slow`)
      return
    }
    try {
      await mail.send({
        to: email,
        ...invitation({
          from: call.caller!.username,
          title,
          fid: formatFid(call.fid),
          link: webUrl(service.url, call.fid),
          words,
        }),
      })
      sent++
    } catch {
      // Do not pass on the error of the mail server: it may contain e-mail addresses.
      warnings.push(`no e-mail was sent to ${name}: the mail server did not accept it`)
    }
  }
  for (let k = 0; k < to.length; k += MAILS_AT_ONCE)
    await Promise.all(to.slice(k, k + MAILS_AT_ONCE).map(write))
  return { sent, warnings }
}
