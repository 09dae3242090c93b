// Users, API keys and quotas.
import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import { scopeNames } from '../../contract/resources/index.ts'
import type { Quota, Usage } from '../store/aggregates/usage.ts'
import { sha256 } from '../store/schema/hash.ts'
import type { Store, Writers } from '../store/store.ts'

/** New API key. It is random, shown once, and stored only as a hash. */
export interface NewKey {
  username: string
  api_key: string
  name: string
  scopes: string[]
  expires_at: string | null
}

/** New key with the hash that is stored. */
export type CreatedKey = NewKey & { hash: string }

export interface KeyOptions {
  name?: string
  /** Comma-separated. */
  scopes?: string
  /** Lifetime: `30d`, `12h`, `90m`. Default: unlimited. */
  expires?: string
  /** Latest expiry, in ms since 1970; null for none. */
  expiresAt?: number | null
}

/** Creates a user with a first API key. Throws `already_exists` for current and former names. */
export async function createUser(
  store: Store,
  username: string,
  options: { email?: string; admin?: boolean } = {},
): Promise<NewKey> {
  if (!isUsername(username)) {
    throw new Problem('invalid_request', `invalid username: ${JSON.stringify(username)}`, {
      hint: 'Use up to 64 letters and digits, with . _ - between them.',
    })
  }
  return store.write([username], async (writers) => {
    const former = await writers.accounts.findFormerOwner(username)
    if (former !== undefined) throw formerNameTaken(username, former)
    const existing = await writers.accounts.findUserByName(username)
    if (existing)
      throw new Problem('already_exists', `a user named ${existing.owner} already exists`, {
        hint: `Create another key for this user with: gridline admin create-key ${existing.owner}`,
      })
    await writers.accounts.addUser({
      owner: username,
      email: options.email ?? null,
      is_admin: options.admin ? 1 : 0,
      date_joined: Date.now(),
    })
    return addKey(writers, username, {})
  })
}

/** Returns the error for a former name: it still leads to its user, so nobody else can have it. */
export function formerNameTaken(name: string, owner: string): Problem {
  return owner === ''
    ? new Problem('already_exists', `${name} is a former name of a user who was deleted`, {
        hint: 'Choose another name.',
      })
    : new Problem('already_exists', `${name} is a former name of ${owner}`, {
        hint: `Links and scripts with this name lead to ${owner}. Choose another name.`,
      })
}

/** Creates an API key. Throws `not_found` for an unknown user. */
export async function createKey(
  store: Store,
  username: string,
  options: KeyOptions = {},
): Promise<CreatedKey> {
  // Names are case-sensitive here, except that a former name resolves to its user.
  const match = await store.read(({ accounts }) => accounts.findUserByName(username))
  const isOther = match?.owner !== username && match?.name_key === username.toLowerCase()
  const owner = match && !isOther ? match.owner : username
  return store.write([owner], async (writers) => {
    if (!(await writers.accounts.getUser(owner)))
      throw new Problem('not_found', `no user named ${username}`, {
        hint: `Create one with: gridline admin create-user ${username}`,
      })
    return addKey(writers, owner, options)
  })
}

/** Creates an API key in an open transaction. */
export async function addKey(
  { credentials }: Writers,
  owner: string,
  options: KeyOptions,
): Promise<CreatedKey> {
  const api_key = randomBytes(24).toString('base64url').replace(/^[-_]/, 'k')
  const scopes = parseScopes(options.scopes ?? 'read,write')
  const now = Date.now()
  const requestedExpiry = options.expires === undefined ? null : now + parseDuration(options.expires)
  const expires_at =
    requestedExpiry === null
      ? (options.expiresAt ?? null)
      : Math.min(requestedExpiry, options.expiresAt ?? requestedExpiry)
  const name = options.name ?? 'key'
  const row = {
    owner,
    hash: sha256(api_key),
    name,
    scopes: scopes.join(','),
    created_at: now,
    expires_at,
    revoked_at: null,
  }
  await credentials.addKey(row)
  return {
    hash: row.hash,
    username: owner,
    api_key,
    name,
    scopes,
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
  }
}

/** Parses comma-separated scopes. Throws `invalid_request` for unknown ones. */
export function parseScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  const unknown = scopes.find((scope) => !scopeNames.some((name) => name === scope))
  if (unknown !== undefined)
    throw new Problem('invalid_request', `unknown scope: ${JSON.stringify(unknown)}`, {
      hint: `Available scopes: ${scopeNames.join(', ')}.`,
    })
  return scopes
}

const UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 }

/** Parses a duration such as 30d, 12h or 90m, to ms. Throws `invalid_request` for other texts. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,5})([dhm])$/.exec(text)
  if (!match || match[1] === '0')
    throw new Problem('invalid_request', `invalid duration: ${JSON.stringify(text)}`, {
      hint: 'Give a duration such as 30d, 12h or 90m.',
    })
  return Number(match[1]) * UNITS_MS[match[2]]
}

/** User as operators see them. */
export interface ListedUser {
  username: string
  email: string | null
  is_admin: boolean
  date_joined: string
  disabled_at: string | null
  /** Number of files, including those in the trash. */
  files: number
  /** Number of valid API keys. */
  keys: number
}

/** Lists all users, with their files and keys. Times are in ISO 8601. */
export async function listUsers(store: Store): Promise<ListedUser[]> {
  const rows = await store.read(({ accounts }) => accounts.listAllUsers())
  return rows.map(({ owner, email, is_admin, date_joined, disabled_at, files, keys }) => ({
    username: owner,
    email,
    is_admin: is_admin === 1,
    date_joined: new Date(date_joined).toISOString(),
    disabled_at: disabled_at === null ? null : new Date(disabled_at).toISOString(),
    files,
    keys,
  }))
}

/** Returns one user. Throws `not_found`, with a similar name as a hint. */
export async function findUser(store: Store, username: string): Promise<ListedUser> {
  const users = await listUsers(store)
  // Former names resolve too.
  const row = await store.read(({ accounts }) => accounts.findUserByName(username))
  const listed = users.find((user) => user.username === row?.owner)
  if (listed) return listed
  const similar = findClosest(
    username,
    users.map((user) => user.username),
  )
  throw new Problem('not_found', `no user named ${username}`, {
    hint: withSuggestion(similar, 'See: gridline admin user list'),
  })
}

/** Disables a user or enables them again. Keys, sessions and tokens stop working; files and links stay. */
export async function setDisabled(store: Store, username: string, isDisabled: boolean): Promise<ListedUser> {
  const { username: owner, disabled_at } = await findUser(store, username)
  if (isDisabled === (disabled_at !== null)) return findUser(store, owner)
  await store.write([owner], async ({ accounts, credentials }) => {
    await accounts.setDisabled(owner, isDisabled ? Date.now() : null)
    if (isDisabled) await credentials.removeSessions(owner)
  })
  return findUser(store, owner)
}

/** Unlinks a user from their identities, and ends their sessions. Keys still work. */
export async function unlinkUser(store: Store, username: string): Promise<ListedUser> {
  const { username: owner } = await findUser(store, username)
  await store.write([owner], async ({ accounts, credentials }) => {
    await accounts.removeIdentities(owner)
    await credentials.removeSessions(owner)
  })
  return findUser(store, owner)
}

/** Deletes a user with all their files, keys, sessions, teams and grants. */
export async function deleteUser(store: Store, username: string): Promise<ListedUser> {
  const deleted = await findUser(store, username)
  const otherAdmins = (await listUsers(store)).filter(
    (user) => user.is_admin && user.username !== deleted.username,
  )
  if (deleted.is_admin && otherAdmins.length === 0)
    throw new Problem('forbidden', `${deleted.username} is the only administrator`, {
      hint: 'Create another one first: gridline admin create-user NAME --admin',
    })
  await store.write([deleted.username], ({ accounts }) => accounts.removeUser(deleted.username))
  return deleted
}

/** Length of a key id, in characters: the beginning of the key's hash. The key itself is not stored. */
export const KEY_ID_CHARACTERS = 12

/** Returns the keys of a user that are not revoked. */
export async function listKeys(store: Store, username: string) {
  const { username: owner } = await findUser(store, username)
  const keys = await store.read(({ credentials }) => credentials.listApiKeys(owner))
  return keys.map(({ hash, name, scopes, created_at, expires_at }) => ({
    username: owner,
    id: hash.slice(0, KEY_ID_CHARACTERS),
    name,
    scopes: scopes.split(','),
    created_at: new Date(created_at).toISOString(),
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
  }))
}

/** Revokes keys of a user by id, or all, and ends the sessions that they opened. Returns the revoked keys. */
export async function revokeKeys(store: Store, username: string, ids: readonly string[] | 'all') {
  const keys = await listKeys(store, username)
  const missing = ids === 'all' ? undefined : ids.find((id) => !keys.some((key) => key.id === id))
  if (missing !== undefined)
    throw new Problem('not_found', `${username} has no API key ${missing}`, {
      hint: `See: gridline admin key list ${username}`,
    })
  const revoked = keys.filter(({ id }) => ids === 'all' || ids.includes(id))
  const { username: owner } = await findUser(store, username)
  await store.write([owner], async ({ credentials }) => {
    for (const { hash } of await credentials.listApiKeys(owner))
      if (revoked.some(({ id }) => hash.startsWith(id))) await credentials.revokeKey(owner, hash)
    if (ids === 'all') await credentials.removeSessions(owner)
  })
  return revoked
}

/** Creates a user, as an administrator, if missing, so that local use needs no setup. */
export async function ensureUser(store: Store, username: string): Promise<void> {
  if (await store.read(({ accounts }) => accounts.getUser(username))) return
  await store.write([username], async ({ accounts }) => {
    if (await accounts.getUser(username)) return
    await accounts.addUser({ owner: username, email: null, is_admin: 1, date_joined: Date.now() })
  })
}

/** Quota and usage of a user. */
export interface UserQuota {
  username: string
  /** True for a quota of this user; false for the default quota. */
  is_own: boolean
  quota: Quota
  used: Usage
}

/** Loads quota and usage of a user. */
export async function loadUserQuota(store: Store, username: string): Promise<UserQuota> {
  const { username: owner } = await findUser(store, username)
  await store.quotas.refresh()
  return store.read(async ({ usage }) => ({
    username: owner,
    is_own: store.quotas.hasOwnQuota(owner),
    quota: usage.getQuota(owner),
    used: await usage.measureUsage(owner),
  }))
}

/** Changes the quota of a user; undefined resets it to the default quota. */
export async function setUserQuota(
  store: Store,
  username: string,
  change: Partial<Quota> | undefined,
): Promise<UserQuota> {
  const { username: owner } = await findUser(store, username)
  await store.quotas.refresh()
  await store.write([owner], ({ usage, accounts }) => {
    accounts.recordQuotaChange(owner, change)
    return usage.setQuota(owner, change && { ...usage.getQuota(owner), ...change })
  })
  return loadUserQuota(store, owner)
}
