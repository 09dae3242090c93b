/** Authenticates requests by API key or session cookie, and checks scopes. */
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import type { HttpRequest } from '../../contract/http.ts'
import type { Caller } from '../access/access.ts'
import { findSession, isValidKey } from '../accounts/sessions.ts'
import type { FormerNames } from '../core/former-names.ts'
import type { ApiKeyRow } from '../store/aggregates/credentials.ts'
import { sha256 } from '../store/schema/hash.ts'
import { Lru } from '../store/schema/lru.ts'
import type { Store } from '../store/store.ts'

/** Lifetime of a cached credential, in ms. A revoked key works at most this much longer. */
export const CREDENTIAL_CACHE_MS = 2000
/** Maximum number of cached credentials. */
const MAX_CACHED_CREDENTIALS = 1000

/**
 * Returns the name of the session cookie. Browsers accept the prefix `__Host-` over HTTPS only, and then no
 * other host of the same domain can set the cookie.
 */
export function sessionCookieName(url: string): string {
  return url.startsWith('https:') ? '__Host-gridline_session' : 'gridline_session'
}

/** Returns the value of a cookie; undefined if it is missing. */
export function readCookie(headers: HttpRequest['headers'], name: string): string | undefined {
  return headers
    .get('cookie')
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

/** Returns the session token in the cookie of a request; undefined if there is none. */
export function readSessionToken(headers: HttpRequest['headers'], url: string): string | undefined {
  return readCookie(headers, sessionCookieName(url))
}

/** Creates an empty cache of verified credentials. `until` is in ms of `performance.now()`. */
function createCredentialCache(): Lru<{ caller: Caller; until: number }> {
  return new Lru(MAX_CACHED_CREDENTIALS, () => 1)
}

/** Authenticates requests by their headers. */
export class Authenticator {
  private cache = createCredentialCache()

  constructor(
    private readonly store: Store,
    /** Caller of requests without credentials: the local user when no server runs, else undefined. */
    private readonly localUser: Caller | undefined,
    /** Base URL of the service. */
    url: string,
    private readonly names: FormerNames,
  ) {
    this.cookiePrefix = `${sessionCookieName(url)}=`
  }

  private readonly cookiePrefix: string

  private readSessionCookie(headers: HttpRequest['headers']): string | undefined {
    const token = readCookie(headers, this.cookiePrefix.slice(0, -1))
    return token && this.cookiePrefix + token
  }

  /** Returns the authorization header, or else the session cookie. */
  private readCredential(headers: HttpRequest['headers']): string | undefined {
    return (
      headers.get('plotly-authorization') || headers.get('authorization') || this.readSessionCookie(headers)
    )
  }

  /**
   * Returns the caller, or `actingAs` without credentials. Wrong credentials always throw (401).
   * `Plotly-Authorization` takes precedence, since a proxy may use `Authorization`.
   */
  async authenticate(headers: HttpRequest['headers']): Promise<Caller | undefined> {
    const credential = this.readCredential(headers)
    if (credential === undefined) return this.localUser
    const cached = this.cache.get(credential)
    if (cached && cached.until > performance.now()) return cached.caller
    const caller = credential.startsWith(this.cookiePrefix)
      ? await this.loadSessionCaller(credential)
      : await this.authenticateHeader(credential)
    if (!caller) return this.localUser
    this.cache.set(credential, { caller, until: performance.now() + CREDENTIAL_CACHE_MS })
    return caller
  }

  /** Loads the caller of a session cookie; undefined if it has ended: pages then offer to sign in. */
  private async loadSessionCaller(cookie: string): Promise<Caller | undefined> {
    const [, name, secret] = /^(.*)\.([^.]*)$/s.exec(cookie.slice(this.cookiePrefix.length)) ?? []
    if (name === undefined) return undefined
    const session = await this.findOfOwner(name, (owner) =>
      findSession(this.store, 'session', `${owner}.${secret}`),
    )
    if (!session) return undefined
    const { owner, hash, scopes, key_hash, expires_at } = session
    const user = await this.store.read(({ accounts }) => accounts.getUser(owner))
    return {
      username: owner,
      scopes: new Set(scopes.split(',')),
      isAdmin: user?.is_admin === 1,
      keyHash: key_hash ?? undefined,
      credential: hash,
      expiresAt: expires_at,
    }
  }

  /**
   * Finds a row by the current name of its owner, who may have been `name` before. Cached names may be older
   * than the last rename: they are checked if nothing is found.
   */
  private async findOfOwner<T>(
    name: string,
    find: (owner: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const cached = this.names.currentName(name)
    const found = await find(cached)
    if (found) return found
    const owner = (await this.store.read(({ accounts }) => accounts.findFormerOwner(name))) || name
    return owner === cached ? undefined : find(owner)
  }

  /** Checks a username and an API key. Throws `unauthenticated`. */
  checkApiKey(username: string, apiKey: string): Promise<Caller> {
    return this.authenticateHeader(`Basic ${Buffer.from(`${username}:${apiKey}`).toString('base64')}`)
  }

  /** Returns the username of cached credentials; undefined if they are not in the cache. */
  cachedUsername(headers: HttpRequest['headers']): string | undefined {
    const credential = this.readCredential(headers)
    return credential === undefined ? undefined : this.cache.get(credential)?.caller.username
  }

  /** Clears the cache of verified credentials. */
  clearCache(): void {
    this.cache = createCredentialCache()
  }

  /** Loads the caller of an authorization header. Throws `unauthenticated`. */
  private async authenticateHeader(header: string): Promise<Caller> {
    const [, scheme, value] = /^(\w+)\s+(\S.*)$/.exec(header.trim()) ?? []
    const kind = scheme?.toLowerCase()
    if (kind === 'basic') {
      const [, username, key] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? []
      return this.toCaller(
        username && isUsername(username)
          ? await this.findOfOwner(username, (owner) =>
              this.store.read(({ credentials }) => credentials.getKey(owner, sha256(key))),
            )
          : undefined,
      )
    }
    if (kind === 'bearer')
      return this.toCaller(
        await this.store.read(({ credentials }) => credentials.findKeyByHash(sha256(value.trim()))),
      )
    throw new Problem('unauthenticated', 'unsupported authorization scheme', {
      hint: 'Send Authorization: Basic with username:api_key, or Bearer with an API key.',
    })
  }

  /** Converts an API key to its caller. Throws `unauthenticated` for invalid keys and disabled users. */
  private async toCaller(key: ApiKeyRow | undefined): Promise<Caller> {
    if (!isValidKey(key)) {
      throw new Problem('unauthenticated', 'wrong username or API key', {
        hint: 'Check the key, or create a new one with: gridline admin create-key NAME',
      })
    }
    const user = await this.store.read(({ accounts }) => accounts.getUser(key.owner))
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

/** Throws unless the caller is an administrator and their API key has the admin scope. */
export function checkOperator(caller: Caller | undefined): void {
  if (!caller) throw new Problem('unauthenticated', 'this requires an account')
  if (caller.isAdmin && caller.scopes.has('admin')) return
  throw new Problem('forbidden', 'only an administrator of this service may do this', {
    hint: 'Use an account created with --admin, and a key with --scopes admin.',
  })
}
