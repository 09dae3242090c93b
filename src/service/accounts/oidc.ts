import { randomBytes } from 'node:crypto'
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { Problem } from '../../contract/errors.ts'
import { scopeNames } from '../../contract/resources/index.ts'
import { matchesWildcard } from '../../contract/wildcard.ts'
import type { TrustRow } from '../store/aggregates/accounts.ts'
import { sha256 } from '../store/schema/hash.ts'
import type { Store } from '../store/store.ts'
import { addKey, type NewKey } from './accounts.ts'
import { boundedFetch } from './bounded-fetch.ts'

/** Lifetime of a key that is given for a token. */
const LIFETIME = '1h'
/** Algorithms with a public key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Tokens are this old at most, in seconds. */
const OLDEST = 3600
/** Keys that one token gives, in one process. */
const MAX_KEYS = 10
const TIMEOUT_MS = 5000
/** How long an issuer that does not answer is not asked again, in ms. */
const PAUSE_MS = 10_000
const MAX_TOKEN = 16 * 1024

/** Exchanges identity tokens of CI systems for API keys. Only issuers that an operator trusts are asked. */
export class OidcLogin {
  private readonly keys = new Map<string, ReturnType<typeof createRemoteJWKSet>>()
  private readonly failed = new Map<string, number>()
  /** Tokens that were exchanged, until they have expired. */
  private readonly used = new Map<string, { times: number; until: number }>()

  constructor(
    private readonly store: Store,
    /** The audience that tokens must be for: the URL of this service. */
    private readonly audience: string,
  ) {}

  /** A key for a token whose issuer and subject are trusted. Throws `unauthenticated` for others. */
  async exchange(store: Store, token: string): Promise<NewKey & { hash: string }> {
    const trusted = await this.trustedBy(token)
    const [{ issuer }] = trusted
    const claims = await this.verified(token, issuer)
    const { sub } = claims
    // Nothing in the library says what kind of value a claim has.
    if (typeof sub !== 'string') throw new Problem('unauthenticated', 'the token is not valid')
    this.take(claims)
    const found = trusted.find(({ subject }) => matchesWildcard(subject, sub))
    if (!found)
      throw new Problem('unauthenticated', `the subject of the token is not trusted: ${sub.slice(0, 200)}`, {
        hint: `An operator can trust it: gridline admin trust add ${issuer} ${JSON.stringify(sub.slice(0, 200))} --user NAME`,
      })
    return store.by({ user: found.username }).write([found.username], async (writers) => {
      const user = await writers.accounts.user(found.username)
      if (!user || user.disabled_at !== null)
        throw new Problem(
          'unauthenticated',
          `the user of this trust ${user ? 'is disabled' : 'no longer exists'}`,
        )
      await writers.accounts.removeExpiredKeys(found.username)
      return addKey(writers, found.username, {
        scopes: found.scopes,
        expires: LIFETIME,
        name: `oidc ${sub}`.slice(0, 100),
      })
    })
  }

  /** Throws if a token was exchanged too often: a job has one for all its steps, but needs few keys. */
  private take(claims: JWTPayload): void {
    const now = Date.now()
    for (const [hash, { until }] of this.used) if (until < now) this.used.delete(hash)
    // The claims, since one token can be spelled in several ways.
    const hash = sha256(JSON.stringify(claims))
    const times = this.used.get(hash)?.times ?? 0
    if (times >= MAX_KEYS) throw new Problem('unauthenticated', `the token was used ${times} times before`)
    this.used.set(hash, { times: times + 1, until: now + (OLDEST + 60) * 1000 })
  }

  private async trustedBy(token: string): Promise<TrustRow[]> {
    let issuer: string | undefined
    let subject: unknown
    if (token.length <= MAX_TOKEN) {
      try {
        const claims = decodeJwt(token)
        issuer = claims.iss
        subject = claims.sub
      } catch {
        // It is no token.
      }
    }
    if (typeof issuer !== 'string')
      throw new Problem('unauthenticated', 'this is not an identity token', {
        hint: 'Send the token that the CI system issues for the job.',
      })
    const trusted = await this.store.read(({ accounts }) => accounts.trustOf(issuer))
    if (trusted.length === 0)
      throw new Problem(
        'unauthenticated',
        `the issuer of the token is not trusted: ${issuer.slice(0, 200)}`,
        {
          hint: `An administrator can trust it: gridline admin trust add ${issuer.slice(0, 200)} ${String(subject).slice(0, 200)} --user NAME`,
        },
      )
    return trusted
  }

  private async verified(token: string, issuer: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, await this.keysOf(issuer), {
        issuer,
        audience: this.audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp', 'iat'],
        maxTokenAge: OLDEST,
        clockTolerance: 30,
      })
      return payload
    } catch (error) {
      if (error instanceof Problem) throw error
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
        throw new Problem('unauthenticated', `the token is for another audience; it must be ${this.audience}`)
      if (error instanceof errors.JWTExpired) throw new Problem('unauthenticated', 'the token has expired')
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
        throw new Problem('unauthenticated', 'the token is not valid')
      throw new Problem('overloaded', 'the issuer of the token does not answer')
    }
  }

  /** The public keys of an issuer, as its discovery document names them. */
  private async keysOf(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
    const known = this.keys.get(issuer)
    if (known) return known
    if ((this.failed.get(issuer) ?? 0) > Date.now())
      throw new Problem('overloaded', 'the issuer of the token does not answer')
    try {
      const response = await boundedFetch(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`, {
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const { jwks_uri, issuer: named } = (await response.json()) as { jwks_uri: string; issuer: string }
      if (named !== issuer) throw new Error('another issuer')
      const at = new URL(checkIssuer(jwks_uri))
      const { host } = new URL(issuer)
      if (at.host !== host && at.host !== KEY_HOSTS.get(host)) throw new Error('keys at another host')
      const keys = createRemoteJWKSet(at, { timeoutDuration: TIMEOUT_MS, [customFetch]: boundedFetch })
      this.keys.set(issuer, keys)
      return keys
    } catch {
      this.failed.set(issuer, Date.now() + PAUSE_MS)
      throw new Problem('overloaded', 'the issuer of the token does not answer')
    }
  }
}

/** Issuers whose keys are at another host than they are themselves. */
const KEY_HOSTS = new Map([['accounts.google.com', 'www.googleapis.com']])
/** Throws `invalid_request` unless an issuer has an https URL, or is on this machine. */
function checkIssuer(url: string): string {
  const found = URL.canParse(url) ? new URL(url) : undefined
  const isLocal = found?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(found.hostname)
  if (found && (found.protocol === 'https:' || isLocal)) return url
  throw new Problem('invalid_request', `not the URL of an issuer: ${url}`, {
    hint: 'It begins with https://',
  })
}

export interface Trust {
  id: string
  issuer: string
  subject: string
  username: string
  scopes: string[]
  created_at: string
}

/** Trusts an issuer for subjects, which then act as a user. */
export async function addTrust(
  store: Store,
  {
    issuer,
    subject,
    username,
    scopes = 'read,write',
  }: { issuer: string; subject: string; username: string; scopes?: string },
): Promise<Trust> {
  checkIssuer(issuer)
  // What is before the first * must name whose token it is, as `repo:OWNER/` does.
  const named = subject.split('*')[0]
  if (subject.replaceAll('*', '').length < 3 || (named !== subject && !/[:/].*[:/]/.test(named)))
    throw new Problem(
      'invalid_request',
      `subject ${JSON.stringify(subject)}: it would match tokens of others at the same issuer`,
      { hint: 'Begin it with the owner, such as repo:OWNER/REPOSITORY:ref:refs/heads/main.' },
    )
  const names = scopes.split(',').map((scope) => scope.trim())
  const unknown = names.find((scope) => !(scopeNames as readonly string[]).includes(scope))
  if (unknown !== undefined)
    throw new Problem('invalid_request', `unknown scope: ${JSON.stringify(unknown)}`, {
      hint: `Available scopes: ${scopeNames.join(', ')}.`,
    })
  const owner = await store.read(
    async ({ accounts }) => ((await accounts.user(username)) ?? (await accounts.userLike(username)))?.owner,
  )
  return store.write([owner ?? username], async ({ accounts }) => {
    const user = await accounts.user(owner ?? username)
    if (!user) throw new Problem('not_found', `no user named ${username}`)
    const row = {
      id: randomBytes(6).toString('hex'),
      issuer,
      subject,
      username: user.owner,
      scopes: names.join(','),
      created_at: Date.now(),
    }
    await accounts.addTrust(row)
    return shown(row)
  })
}

export async function listTrust(store: Store): Promise<Trust[]> {
  return (await store.read(({ accounts }) => accounts.trust())).map(shown)
}

export async function removeTrust(store: Store, id: string): Promise<Trust> {
  const known = (await store.read(({ accounts }) => accounts.trust())).find((one) => one.id === id)
  return store.write(known ? [known.username] : [], async ({ accounts }) => {
    const row = (await accounts.trust()).find((one) => one.id === id)
    if (!row)
      throw new Problem('not_found', `no trust with the id ${id}`, { hint: 'See: gridline admin trust list' })
    await accounts.removeTrust(id)
    // Keys that were given for it end now, not within the hour.
    for (const key of await accounts.keys(row.username)) {
      const subject = /^oidc (.*)$/s.exec(key.name)?.[1]
      if (subject !== undefined && (subject.length >= 95 || matchesWildcard(row.subject, subject)))
        await accounts.revokeKey(row.username, key.hash)
    }
    return shown(row)
  })
}

function shown({ scopes, created_at, ...row }: TrustRow): Trust {
  return { ...row, scopes: scopes.split(','), created_at: new Date(created_at).toISOString() }
}
