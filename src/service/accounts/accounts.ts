import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { scopeNames } from '../../contract/resources.ts'
import { sha256 } from '../store/hash.ts'
import type { Store, Writers } from '../store/store.ts'

/** A new API key. It is random, shown once, and stored as a hash only. */
export interface NewKey {
  username: string
  api_key: string
  name: string
  scopes: string[]
  expires_at: string | null
}

/** A new key with the hash it is stored under. */
export type MadeKey = NewKey & { hash: string }

export interface KeyOptions {
  name?: string
  /** Comma-separated. */
  scopes?: string
  /** `30d`, `12h`, `90m`. Default: never. */
  expires?: string
  /** When it expires at the latest, in ms since 1970; null for never. */
  expiresAt?: number | null
}

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
  return store.write(async (writers) => {
    const taken = await writers.accounts.userLike(username)
    if (taken)
      throw new Problem('already_exists', `a user named ${taken.owner} already exists`, {
        hint: `Create another key for this user with: gridline admin create-key ${taken.owner}`,
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

export async function createKey(store: Store, username: string, options: KeyOptions = {}): Promise<MadeKey> {
  return store.write(async (writers) => {
    if (!(await writers.accounts.user(username))) {
      throw new Problem('not_found', `no user named ${username}`, {
        hint: `Create one with: gridline admin create-user ${username}`,
      })
    }
    return addKey(writers, username, options)
  })
}

/** Creates an API key inside an open transaction. */
export async function addKey({ accounts }: Writers, owner: string, options: KeyOptions): Promise<MadeKey> {
  const api_key = randomBytes(24).toString('base64url').replace(/^[-_]/, 'k')
  const chosen = (options.scopes ?? 'read,write').split(',').map((scope) => scope.trim())
  const unknown = chosen.find((scope) => !(scopeNames as readonly string[]).includes(scope))
  if (unknown !== undefined) {
    throw new Problem('invalid_request', `unknown scope: ${JSON.stringify(unknown)}`, {
      hint: `Available scopes: ${scopeNames.join(', ')}.`,
    })
  }
  const now = Date.now()
  const wanted = options.expires === undefined ? null : now + duration(options.expires)
  const expires_at =
    wanted === null ? (options.expiresAt ?? null) : Math.min(wanted, options.expiresAt ?? wanted)
  const name = options.name ?? 'key'
  const row = {
    owner,
    hash: sha256(api_key),
    name,
    scopes: chosen.join(','),
    created_at: now,
    expires_at,
    revoked_at: null,
  }
  await accounts.addKey(row)
  return {
    hash: row.hash,
    username: owner,
    api_key,
    name,
    scopes: chosen,
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
  }
}

export function duration(text: string): number {
  const match = /^(\d{1,5})([dhm])$/.exec(text)
  if (!match || match[1] === '0')
    throw new Problem('invalid_request', `invalid duration: ${JSON.stringify(text)}`, {
      hint: 'Give a duration such as 30d, 12h or 90m.',
    })
  return Number(match[1]) * { d: 86_400_000, h: 3_600_000, m: 60_000 }[match[2] as 'd' | 'h' | 'm']
}

/** Creates the user if missing, so that local use needs no setup. */
export async function ensureUser(store: Store, username: string): Promise<void> {
  if (await store.read(({ accounts }) => accounts.user(username))) return
  await store.write(async ({ accounts }) => {
    if (await accounts.user(username)) return
    await accounts.addUser({ owner: username, email: null, is_admin: 1, date_joined: Date.now() })
  })
}
