// Handlers of sharing: collaborators of files, and invitations by e-mail.
import { lowerCaseAscii } from '../../contract/ascii-case.ts'
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, formatWebUrl, isUsername } from '../../contract/fid.ts'
import type { Collaborator, CollaboratorsChanged } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { fileEtag } from '../core/etag.ts'
import { formatCollaborator } from '../files/meta.ts'
import { updateFile } from '../files/read.ts'
import { formatInvitation } from '../sharing/invitation.ts'
import { isEmailAddress } from '../sharing/mail.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { RelatedCollaborator } from '../store/aggregates/relations.ts'
import type { CollaboratorRow } from '../store/aggregates/sharing.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { findTeam, resolveUsers } from './teams.ts'

const ACCESS_BY_GRANT: Record<CollaboratorRow['may_write'], string> = { 0: 'read', 1: 'read and write' }

type Grantee = Pick<CollaboratorRow, 'kind' | 'name'>

/** Recipient of an invitation. */
interface Recipient {
  email: string | null
  name: string
}

async function loadCollaborators(
  readers: Readers,
  { owner, idlocal }: Fid,
  forOwner: boolean,
): Promise<Collaborator[]> {
  const [{ collaborators }] = await readers.relations.loadRelations([{ owner, idlocal }])
  return collaborators.map((row) => formatCollaborator(row, forOwner))
}

/** Resolves a username or e-mail address. Does not reveal whether an address has an account. */
async function resolveUser({ accounts }: Readers, text: string): Promise<Grantee & Recipient> {
  if (text.includes('@')) {
    if (!isEmailAddress(text))
      throw invalidUser(`not an e-mail address: ${JSON.stringify(text.slice(0, 100))}`)
    const email = lowerCaseAscii(text)
    return { kind: 'email', name: email, email }
  }
  const user = isUsername(text) ? await accounts.findUserByName(text) : undefined
  if (!user) throw invalidUser(`no user named ${JSON.stringify(text.slice(0, 100))}`)
  return { kind: 'user', name: user.owner, email: user.email }
}

function invalidUser(why: string): Problem {
  return new Problem('invalid_request', `users: ${why}`, {
    field: 'users',
    hint: 'Use usernames, or e-mail addresses of people without an account.',
  })
}

/** Resolves a team that the caller belongs to. Throws `invalid_request`. */
async function resolveTeam(readers: Readers, name: string, caller: string): Promise<Grantee> {
  const team = await findTeam(readers, caller, name)
  if (!team)
    throw new Problem(
      'invalid_request',
      `teams: you are not in a team named ${JSON.stringify(name.slice(0, 100))}`,
      { field: 'teams' },
    )
  return { kind: 'team', name: team.name_key }
}

/** Returns the file and, with `withGrids`, the grids of a plot that belong to the same owner. */
async function resolveFiles(writers: Writers, fid: Fid, withGrids: boolean): Promise<Fid[]> {
  const grids = withGrids ? await writers.plots.listReferences(fid.owner, [fid.idlocal]) : []
  return [
    fid,
    ...grids
      .filter(({ kind, to_owner }) => kind === 'grid' && to_owner === fid.owner)
      .map(({ to_owner, to_idlocal }) => ({ owner: to_owner, idlocal: to_idlocal })),
  ]
}

function tooManyCollaborators(count: number, limit: number): Problem {
  return new Problem('invalid_request', `${count} collaborators; the limit is ${limit} (collaborators)`, {
    hint: 'Create a team, and share the file with it.',
  })
}

async function formatChanged(service: Service, call: Call): Promise<CollaboratorsChanged> {
  const collaborators = await service.store.read((readers) => loadCollaborators(readers, call.fid, true))
  return { collaborators, emails_sent: 0, warnings: [] }
}

/**
 * Returns a warning with the reasons why a user can still open a file that is no longer shared with them.
 * Grants to e-mail addresses are left out: they would reveal whose address it is.
 */
async function warnOfRemainingAccess(writers: Writers, file: FileRow, text: string): Promise<string[]> {
  const { owner } = file
  const user = isUsername(text) ? await writers.accounts.findUserByName(text) : undefined
  if (!user || user.owner === owner) return []
  if (file.world_readable === 1) return [`${user.owner} can still read the file: it is public`]
  const reasons: string[] = []
  for (const ancestor of [file, ...(await writers.folders.loadAncestors(file))]) {
    const [{ collaborators }] = await writers.relations.loadRelations([{ owner, idlocal: ancestor.idlocal }])
    for (const { kind, name, may_write, team } of collaborators) {
      const isMember = kind === 'team' && (await writers.sharing.listMembers(name)).includes(user.owner)
      if (!isMember && !(kind === 'user' && name === user.owner)) continue
      const by = isMember ? `the team ${team?.name ?? name}` : 'a share'
      const location = ancestor === file ? '' : ` of the folder ${ancestor.filename}`
      reasons.push(`${by}${location} (${ACCESS_BY_GRANT[may_write]})`)
    }
  }
  if (reasons.length === 0) return []
  return [`${user.owner} can still open the file, through ${reasons.join(' and ')}`]
}

export const sharingHandlers = {
  'collaborators.list': (service, call) =>
    service.store.read(async (readers) => {
      const { file, roles } = await authorizeCall(readers, call)
      return { body: await loadCollaborators(readers, call.fid, roles.has('owner')), etag: fileEtag(file) }
    }),

  'collaborators.add': async (service, call) => {
    const { users = [], teams = [], readonly = false, add_to_grids = false, ...letter } = call.fields
    const grantees = users.length + teams.length
    if (grantees > service.limits.collaborators)
      throw tooManyCollaborators(grantees, service.limits.collaborators)
    // Lock the users: one who is deleted concurrently must not leave a grant to a later user of the same
    // name.
    const usernames = await service.store.read(({ accounts }) => resolveUsers(accounts, users))
    let title = ''
    // Reset by each attempt. A replayed request leaves it empty, so that it sends no e-mails again.
    let recipients: Recipient[] = []
    await updateFile(
      service,
      call,
      async (writers, { file }) => {
        title = file.filename
        recipients = []
        const added: Grantee[] = []
        for (const text of users) {
          const { email, ...who } = await resolveUser(writers, text)
          if (who.kind === 'user' && who.name === file.owner) continue
          // Skip the owner's own e-mail address.
          if (email !== null && email === (await writers.accounts.getUser(file.owner))?.email) continue
          added.push(who)
          recipients.push({ email, name: who.name })
        }
        for (const name of teams) {
          const team = await resolveTeam(writers, name, call.caller!.username)
          added.push(team)
          for (const member of await writers.sharing.listMembers(team.name)) {
            const user = await writers.accounts.getUser(member)
            if (user && user.owner !== file.owner) recipients.push({ email: user.email, name: user.owner })
          }
        }
        for (const { owner, idlocal } of await resolveFiles(writers, call.fid, add_to_grids)) {
          for (const { kind, name } of added)
            await writers.sharing.addCollaborator({ owner, idlocal, kind, name, may_write: readonly ? 0 : 1 })
          await writers.files.updateGrantCopies(owner, idlocal)
          const count = (await writers.sharing.listCollaborators(owner, [idlocal])).length
          const limit = service.limits.collaborators
          if (count > limit) throw tooManyCollaborators(count, limit)
          await writers.files.change(owner, idlocal)
        }
        return null
      },
      usernames,
    )
    const body = await formatChanged(service, call)
    if (letter.send_email && recipients.length > 0 && !service.store.isDry) {
      const invited = await sendInvitations(service, call, title, recipients, letter.email_text)
      body.emails_sent = invited.sent
      body.warnings.push(...invited.warnings)
    }
    return { body }
  },

  'collaborators.remove': async (service, call) => {
    const { users = [], teams = [] } = call.fields
    const { warnings, remaining_access } = await updateFile(service, call, async (writers, { file }) => {
      const { owner, idlocal } = file
      const [{ collaborators }] = await writers.relations.loadRelations([{ owner, idlocal }])
      const notices: string[] = []
      const removeGrants = async (
        text: string,
        isMeant: (grant: RelatedCollaborator) => boolean,
      ): Promise<void> => {
        const matches = collaborators.filter(isMeant)
        for (const { kind, name } of matches)
          await writers.sharing.removeCollaborator(owner, idlocal, kind, name)
        if (matches.length === 0) notices.push(`${text} was not a collaborator`)
      }
      for (const text of users) {
        // Former names resolve too.
        const user = isUsername(text) ? await writers.accounts.findUserByName(text) : undefined
        const username = lowerCaseAscii(user?.owner ?? text)
        await removeGrants(text, ({ kind, name }) => kind !== 'team' && lowerCaseAscii(name) === username)
      }
      for (const text of teams) {
        const [, owner, name] = /^(?:([^:]*):)?(.*)$/s.exec(text.toLowerCase())!
        await removeGrants(
          text,
          ({ team }) =>
            team?.name.toLowerCase() === name && (owner === undefined || team.owner.toLowerCase() === owner),
        )
      }
      await writers.files.change(owner, idlocal)
      const remainingAccess: string[] = []
      for (const text of users) remainingAccess.push(...(await warnOfRemainingAccess(writers, file, text)))
      return { warnings: notices, remaining_access: remainingAccess }
    })
    const body = await formatChanged(service, call)
    return { body: { ...body, warnings, remaining_access } }
  },
} satisfies Partial<Handlers>

/** Maximum time to wait for the mail server before responding, in ms. */
const MAIL_TIMEOUT_MS = 20_000
const MAX_CONCURRENT_MAILS = 5

/** Sends invitations. Failures become warnings and do not undo the sharing. */
async function sendInvitations(
  service: Service,
  call: Call,
  title: string,
  to: readonly Recipient[],
  words: string | undefined,
): Promise<{ sent: number; warnings: string[] }> {
  const { mailer } = service
  if (!mailer)
    return {
      sent: 0,
      warnings: ['no e-mail was sent: SMTP is not configured on this server (gridline serve --smtp)'],
    }
  const warnings: string[] = []
  let sent = 0
  const limit = service.limits.emails_per_day
  const addressable = to.filter(({ email }) => email !== null).length
  const { username } = call.caller!
  let left = await service.store.write([username], ({ accounts }) =>
    accounts.takeQuota(username, 'emails', addressable, limit),
  )
  if (left < addressable)
    warnings.push(
      `${addressable - left} e-mails were not sent: the limit is ${limit} per user and day (emails_per_day)`,
    )
  const until = performance.now() + MAIL_TIMEOUT_MS
  const sendTo = async ({ email, name }: Recipient): Promise<void> => {
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
      await mailer.send({
        to: email,
        ...formatInvitation({
          from: call.caller!.username,
          title,
          fid: formatFid(call.fid),
          link: formatWebUrl(service.url, call.fid),
          message: words,
        }),
      })
      sent++
    } catch {
      // Do not pass on errors of the mail server: they may contain e-mail addresses.
      warnings.push(`no e-mail was sent to ${name}: the mail server did not accept it`)
    }
  }
  for (let k = 0; k < to.length; k += MAX_CONCURRENT_MAILS)
    await Promise.all(to.slice(k, k + MAX_CONCURRENT_MAILS).map(sendTo))
  return { sent, warnings }
}
