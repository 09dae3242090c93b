/** Authenticates requests by API key or session cookie, and checks scopes. */
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import type { HttpRequest } from '../../contract/http.ts'
import type { Caller } from '../access/access.ts'
import { findSession, isValidKey } from '../accounts/sessions.ts'
import type { FormerNames } from '../core/former-names.ts'
import { Lru } from '../core/lru.ts'
import type { KeyRow } from '../store/aggregates/accounts.ts'
import { sha256 } from '../store/schema/hash.ts'
import type { Store } from '../store/store.ts'

/** Lifetime of a cached credential, in ms. A revoked key works at most this much longer. */
const FRESH_MS = 2000
/** Maximum number of cached credentials. */
const MAX_KNOWN = 1000

/**
 * Returns the name of the session cookie. Browsers accept the prefix `__Host-` over HTTPS only, and then no
 * other host of the same domain can set the cookie.
 */
export function cookieName(url: string): string {
  return url.startsWith('https:') ? '__Host-gridline_session' : 'gridline_session'
}

/** Returns the value of a cookie; undefined if it is missing. */
export function cookieOf(headers: HttpRequest['headers'], name: string): string | undefined {
  return headers
    .get('cookie')
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

/** Returns the session token in the cookie of a request; undefined if there is none. */
export function sessionToken(headers: HttpRequest['headers'], url: string): string | undefined {
  return cookieOf(headers, cookieName(url))
}

/** Creates an empty cache of verified credentials. `until` is in ms of `performance.now()`. */
function verifiedOnes(): Lru<{ caller: Caller; until: number }> {
  return new Lru(MAX_KNOWN, () => 1)
}

/** Authenticates requests by their headers. */
export class Authenticator {
  private known = verifiedOnes()

  constructor(
    private readonly store: Store,
    /** Caller of requests without credentials: the local user when no server runs, else undefined. */
    private readonly actingAs: Caller | undefined,
    /** Base URL of the service. */
    url: string,
    private readonly names: FormerNames,
  ) {
    this.cookie = `${cookieName(url)}=`
  }

  private readonly cookie: string

  private cookieIn(headers: HttpRequest['headers']): string | undefined {
    const token = cookieOf(headers, this.cookie.slice(0, -1))
    return token && this.cookie + token
  }

  /** Returns the authorization header, or else the session cookie. */
  private credentialOf(headers: HttpRequest['headers']): string | undefined {
    return headers.get('plotly-authorization') || headers.get('authorization') || this.cookieIn(headers)
  }

  /**
   * Returns the caller, or `actingAs` without credentials. Wrong credentials always throw (401).
   * `Plotly-Authorization` takes precedence, since a proxy may use `Authorization`.
   */
  async caller(headers: HttpRequest['headers']): Promise<Caller | undefined> {
    const credential = this.credentialOf(headers)
    if (credential === undefined) return this.actingAs
    const cached = this.known.get(credential)
    if (cached && cached.until > performance.now()) return cached.caller
    const caller = credential.startsWith(this.cookie)
      ? await this.session(credential)
      : await this.check(credential)
    if (!caller) return this.actingAs
    this.known.set(credential, { caller, until: performance.now() + FRESH_MS })
    return caller
  }

  /** Loads the caller of a session cookie; undefined if it has ended: pages then offer to sign in. */
  private async session(cookie: string): Promise<Caller | undefined> {
    const [, name, secret] = /^(.*)\.(.*)$/s.exec(cookie.slice(this.cookie.length)) ?? []
    if (name === undefined) return undefined
    const session = await findSession(this.store, 'session', `${this.names.current(name)}.${secret}`)
    if (!session) return undefined
    const { owner, hash, scopes, key_hash, expires_at } = session
    const user = await this.store.read(({ accounts }) => accounts.user(owner))
    return {
      username: owner,
      scopes: new Set(scopes.split(',')),
      isAdmin: user?.is_admin === 1,
      keyHash: key_hash ?? undefined,
      credential: hash,
      expiresAt: expires_at,
    }
  }

  /** Checks a username and an API key. Throws `unauthenticated`. */
  password(username: string, apiKey: string): Promise<Caller> {
    return this.check(`Basic ${Buffer.from(`${username}:${apiKey}`).toString('base64')}`)
  }

  /** Returns the username of cached credentials; undefined if they are not in the cache. */
  knownUser(headers: HttpRequest['headers']): string | undefined {
    const credential = this.credentialOf(headers)
    return credential === undefined ? undefined : this.known.get(credential)?.caller.username
  }

  /** Clears the cache of verified credentials. */
  forget(): void {
    this.known = verifiedOnes()
  }

  /** Loads the caller of an authorization header. Throws `unauthenticated`. */
  private async check(header: string): Promise<Caller> {
    const [, scheme, value] = /^(\w+)\s+(.+)$/.exec(header.trim()) ?? []
    const kind = scheme?.toLowerCase()
    if (kind === 'basic') {
      const [, username, key] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? []
      return this.good(
        username && isUsername(username)
          ? await this.store.read(({ accounts }) => accounts.key(this.names.current(username), sha256(key)))
          : undefined,
      )
    }
    if (kind === 'bearer')
      return this.good(await this.store.read(({ accounts }) => accounts.keyByHash(sha256(value.trim()))))
    throw new Problem('unauthenticated', 'unsupported authorization scheme', {
      hint: 'Send Authorization: Basic with username:api_key, or Bearer with an API key.',
    })
  }

  /** Converts an API key to its caller. Throws `unauthenticated` for invalid keys and disabled users. */
  private async good(key: KeyRow | undefined): Promise<Caller> {
    if (!isValidKey(key)) {
      throw new Problem('unauthenticated', 'wrong username or API key', {
        hint: 'Check the key, or create a new one with: gridline admin create-key NAME',
      })
    }
    const user = await this.store.read(({ accounts }) => accounts.user(key.owner))
    if (!user || user.disabled_at !== null)
      throw new Problem('unauthenticated', `the account ${key.owner} is disabled`, {
        hint: 'Ask the administrator of this server.',
      })
    return {
      username: key.owner,
      scopes: new Set(key.scopes.split(',')),
      isAdmin: user?.is_admin === 1,
      keyHash: key.hash,
      credential: key.hash,
      expiresAt: key.expires_at,
    }
  }
}

/** Throws `forbidden` unless the caller's API key has `scope` (or `admin`). */
export function checkScope(caller: Caller | undefined, scope: 'read' | 'write'): void {
  if (!caller || caller.scopes.has(scope) || caller.scopes.has('admin')) return
  throw new Problem('forbidden', `this API key has no ${scope} scope`, {
    hint: 'Create a key that has it with: gridline key create --scopes read,write',
  })
}

/** Throws unless the caller is an administrator and their API key has the admin scope. */
export function checkOperator(caller: Caller | undefined): void {
  if (!caller) throw new Problem('unauthenticated', 'this requires an account')
  if (caller.isAdmin && caller.scopes.has('admin')) return
  throw new Problem('forbidden', 'only an administrator of this service may do this', {
    hint: 'Use an account created with --admin, and a key with --scopes admin.',
  })
}
