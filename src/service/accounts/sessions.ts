// Browser sessions, and one-time codes for sign-in and `gridline login`.
import { createHash, randomBytes } from 'node:crypto'
import type { ApiKeyRow, SessionRow } from '../store/aggregates/credentials.ts'
import { sha256 } from '../store/schema/hash.ts'
import type { Readers, Store } from '../store/store.ts'

/** Lifetimes of browser sessions and of one-time codes, in ms. */
const LIFETIMES_MS = { session: 30 * 86_400_000, code: 5 * 60_000, login: 5 * 60_000 } as const

/** Permissions of a new session: the scopes of the key that opens it. The session ends with this key. */
export interface SessionGrant {
  owner: string
  scopes: string
  key_hash: string | null
}

/** Creates a session or code for `lifetime` ms. Returns its token; only the hash is stored. */
export async function openSession(
  store: Store,
  kind: 'session' | 'code',
  grant: SessionGrant,
  lifetime: number = LIFETIMES_MS[kind],
): Promise<{ token: string; expires_at: number }> {
  const secret = randomBytes(32).toString('base64url')
  const expires_at = await storeSession(store, kind, sha256(secret), grant, lifetime)
  return { token: `${grant.owner}.${secret}`, expires_at }
}

/** Stores a session or code. Returns its expiry, in ms since 1970: at the latest that of the key. */
function storeSession(
  store: Store,
  kind: SessionRow['kind'],
  hash: string,
  { owner, scopes, key_hash }: SessionGrant,
  lifetime: number,
): Promise<number> {
  const created_at = Date.now()
  return store.withActor({ user: owner }).write([owner], async ({ credentials }) => {
    const key = key_hash === null ? undefined : await credentials.getKey(owner, key_hash)
    const expires_at = Math.min(created_at + lifetime, key?.expires_at ?? Number.POSITIVE_INFINITY)
    await credentials.addSession({ owner, hash, kind, key_hash, scopes, created_at, expires_at })
    return expires_at
  })
}

/** Returns the user of a valid code; undefined otherwise. Does not use the code up. */
export async function findUserOfCode(store: Store, code: string): Promise<string | undefined> {
  return (await findSession(store, 'code', code))?.owner
}

/** Exchanges a code for a session. A code works once. Returns undefined for other texts. */
export async function redeemCode(
  store: Store,
  code: string,
): Promise<{ token: string; expires_at: number } | undefined> {
  const row = await findSession(store, 'code', code)
  if (!row) return undefined
  // Of two requests with one code, only one removes it.
  const isRemoved = await store.write([row.owner], ({ credentials }) =>
    credentials.removeSessions(row.owner, row.hash),
  )
  return isRemoved ? openSession(store, 'session', row) : undefined
}

/**
 * Creates a one-time code that logs in a command line. Redeeming it takes the secret whose SHA-256 is
 * `challenge` (as in PKCE, RFC 7636): the stored hash covers the challenge.
 */
export async function createLoginCode(store: Store, grant: SessionGrant, challenge: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await storeSession(store, 'login', sha256(`${secret}.${challenge}`), grant, LIFETIMES_MS.login)
  return `${grant.owner}.${secret}`
}

/**
 * Redeems a login code. Returns the user, the scopes, and the latest expiry of the new key: that of the key
 * that created the code. Returns undefined for other texts, and if that key is no longer valid.
 */
export async function redeemLoginCode(
  store: Store,
  code: string,
  verifier: string,
): Promise<{ owner: string; scopes: string; keyExpiresAt: number | null } | undefined> {
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const row = await findSession(store, 'login', `${code}.${challenge}`, code.lastIndexOf('.'))
  if (!row) return undefined
  return store.write([row.owner], async ({ credentials }) => {
    // Of two requests with one code, only one removes it.
    if (!(await credentials.removeSessions(row.owner, row.hash))) return undefined
    if (row.key_hash === null) return { owner: row.owner, scopes: row.scopes, keyExpiresAt: null }
    const key = await credentials.getKey(row.owner, row.key_hash)
    return isValidKey(key)
      ? { owner: row.owner, scopes: row.scopes, keyExpiresAt: key.expires_at }
      : undefined
  })
}

/** Returns the session of a token; undefined if it has expired, or its API key is no longer valid. */
export async function findSession(
  store: Store,
  kind: SessionRow['kind'],
  token: string,
  separator = token.lastIndexOf('.'),
): Promise<SessionRow | undefined> {
  const owner = token.slice(0, separator)
  if (separator <= 0 || token.length > 200 || owner.includes('\0')) return undefined
  return store.read(async (readers) => {
    const row = await readers.credentials.getSession(owner, sha256(token.slice(separator + 1)))
    return row?.kind === kind && (await isValidSession(readers, row)) ? row : undefined
  })
}

/** Returns whether session, user and API key are all still valid. */
async function isValidSession(
  { accounts, credentials }: Readers,
  { owner, key_hash, expires_at }: SessionRow,
): Promise<boolean> {
  if (expires_at <= Date.now() || (await accounts.getUser(owner))?.disabled_at !== null) return false
  return key_hash === null || isValidKey(await credentials.getKey(owner, key_hash))
}

/** Returns whether an API key is neither revoked nor expired. */
export function isValidKey(key: ApiKeyRow | undefined): key is ApiKeyRow {
  return (
    key !== undefined && key.revoked_at === null && (key.expires_at === null || key.expires_at > Date.now())
  )
}

/** Returns whether the session or API key with the hash `credential` is still valid. */
export async function isStillSignedIn(readers: Readers, owner: string, credential: string): Promise<boolean> {
  const { accounts, credentials } = readers
  const session = await credentials.getSession(owner, credential)
  if (session) return isValidSession(readers, session)
  return (
    isValidKey(await credentials.getKey(owner, credential)) &&
    (await accounts.getUser(owner))?.disabled_at === null
  )
}

/** Ends the session of a token. */
export async function closeSession(store: Store, token: string): Promise<void> {
  const row = await findSession(store, 'session', token)
  if (row)
    await store.write([row.owner], ({ credentials }) => credentials.removeSessions(row.owner, row.hash))
}
