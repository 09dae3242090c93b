import { createHash, randomBytes } from 'node:crypto'
import type { SessionRow } from '../store/accounts.ts'
import { sha256 } from '../store/hash.ts'
import type { Store } from '../store/store.ts'

/** How long a browser stays signed in, and how long a code can be used, in ms. */
const LIFETIMES = { session: 30 * 86_400_000, code: 5 * 60_000, login: 5 * 60_000 } as const

export const SESSION_SECONDS = LIFETIMES.session / 1000

/** What a new session may do: the scopes of the key that opens it. */
export interface Opening {
  owner: string
  scopes: string
  key_hash: string | null
}

/** Creates a session or a code. Returns its token, which is random and stored as a hash only. */
export async function openSession(
  store: Store,
  kind: SessionRow['kind'],
  { owner, scopes, key_hash }: Opening,
): Promise<{ token: string; expires_at: number }> {
  const secret = randomBytes(32).toString('base64url')
  const created_at = Date.now()
  const expires_at = created_at + LIFETIMES[kind]
  const row = { owner, hash: sha256(secret), kind, key_hash, scopes, created_at, expires_at }
  await store.write(({ accounts }) => accounts.addSession(row))
  return { token: `${owner}.${secret}`, expires_at }
}

/** Exchanges a code for a session. A code works once. Returns undefined for any other text. */
export async function redeemCode(store: Store, code: string): Promise<string | undefined> {
  const row = await findSession(store, 'code', code)
  if (!row) return undefined
  // Of two requests with one code, one removes it.
  const mine = await store.write(({ accounts }) => accounts.removeSessions(row.owner, row.hash))
  return mine ? (await openSession(store, 'session', row)).token : undefined
}

/**
 * Creates a code that logs a command line in, once: only with the secret whose SHA-256 is `challenge` (as in PKCE,
 * RFC 7636). The challenge is part of what the stored hash is of.
 */
export async function openLogin(
  store: Store,
  owner: string,
  scopes: string,
  challenge: string,
): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  const created_at = Date.now()
  const row = {
    owner,
    hash: sha256(`${secret}.${challenge}`),
    kind: 'login' as const,
    key_hash: null,
    scopes,
    created_at,
    expires_at: created_at + LIFETIMES.login,
  }
  await store.write(({ accounts }) => accounts.addSession(row))
  return `${owner}.${secret}`
}

/** The user and scopes of a code that logs a command line in. It works once. Undefined for any other text. */
export async function redeemLogin(
  store: Store,
  code: string,
  verifier: string,
): Promise<{ owner: string; scopes: string } | undefined> {
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const row = await findSession(store, 'login', `${code}.${challenge}`, code.lastIndexOf('.'))
  if (!row) return undefined
  const mine = await store.write(({ accounts }) => accounts.removeSessions(row.owner, row.hash))
  return mine ? row : undefined
}

/** The session of a token: undefined if it has expired, or the API key that opened it is no longer valid. */
export async function findSession(
  store: Store,
  kind: SessionRow['kind'],
  token: string,
  at = token.lastIndexOf('.'),
): Promise<SessionRow | undefined> {
  const owner = token.slice(0, at)
  if (at <= 0 || token.length > 200 || owner.includes('\0')) return undefined
  return store.read(async ({ accounts }) => {
    const row = await accounts.session(owner, sha256(token.slice(at + 1)))
    const now = Date.now()
    if (!row || row.kind !== kind || row.expires_at <= now) return undefined
    if (row.key_hash === null) return row
    const key = await accounts.key(owner, row.key_hash)
    const valid = key && key.revoked_at === null && (key.expires_at === null || key.expires_at > now)
    return valid ? row : undefined
  })
}

/** Ends the session of a token. */
export async function closeSession(store: Store, token: string): Promise<void> {
  const row = await findSession(store, 'session', token)
  if (row) await store.write(({ accounts }) => accounts.removeSessions(row.owner, row.hash))
}
