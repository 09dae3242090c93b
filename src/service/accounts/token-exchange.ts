// Exchanges identity tokens of CI systems for API keys.
import { randomBytes } from 'node:crypto'
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { Problem } from '../../contract/errors.ts'
import { matchesWildcard } from '../../contract/wildcard.ts'
import type { TrustRow } from '../store/aggregates/credentials.ts'
import { sha256 } from '../store/schema/hash.ts'
import type { Store } from '../store/store.ts'
import { addKey, type NewKey, parseScopes } from './accounts.ts'
import { boundedFetch } from './bounded-fetch.ts'

/** Lifetime of a key that a token is exchanged for. */
const API_KEY_LIFETIME = '1h'
/** Accepted signature algorithms: those with a public key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Maximum age of a token, in seconds. */
const MAX_TOKEN_AGE_SECONDS = 3600
/** Maximum number of keys per token and process. */
const MAX_KEYS_PER_TOKEN = 10
/** Timeout of requests to issuers, in ms. */
const ISSUER_TIMEOUT_MS = 5000
/** Time before an issuer that did not answer is asked again, in ms. */
const ISSUER_RETRY_MS = 10_000
const MAX_TOKEN_CHARACTERS = 16 * 1024

/** Exchanges identity tokens of CI systems for API keys. Contacts only issuers that an operator trusts. */
export class TokenExchanger {
  private readonly keys = new Map<string, ReturnType<typeof createRemoteJWKSet>>()
  private readonly retryTimes = new Map<string, number>()
  /** Exchanged tokens, by the hash of their claims, until they expire. */
  private readonly used = new Map<string, { times: number; until: number }>()

  constructor(
    private readonly store: Store,
    /** Audience that tokens must name: the URL of this service. */
    private readonly audience: string,
  ) {}

  /**
   * Creates a key for a token whose issuer and subject are trusted, at most `MAX_KEYS_PER_TOKEN` times per
   * token, and removes expired keys of the user. Throws `unauthenticated` for others.
   */
  async exchange(store: Store, token: string): Promise<NewKey & { hash: string }> {
    const trusted = await this.loadTrust(token)
    const [{ issuer }] = trusted
    const claims = await this.verifyToken(token, issuer)
    const { sub } = claims
    // The library does not check the type of this claim.
    if (typeof sub !== 'string') throw new Problem('unauthenticated', 'the token is not valid')
    this.countUse(claims)
    const trust = trusted.find(({ subject }) => matchesWildcard(subject, sub))
    if (!trust)
      throw new Problem('unauthenticated', `the subject of the token is not trusted: ${sub.slice(0, 200)}`, {
        hint: `An operator can trust it: gridline admin trust add ${issuer} ${JSON.stringify(sub.slice(0, 200))} --user NAME`,
      })
    return store.withActor({ user: trust.username }).write([trust.username], async (writers) => {
      const user = await writers.accounts.getUser(trust.username)
      if (!user || user.disabled_at !== null)
        throw new Problem(
          'unauthenticated',
          `the user of this trust ${user ? 'is disabled' : 'no longer exists'}`,
        )
      await writers.credentials.removeExpiredKeys(trust.username)
      return addKey(writers, trust.username, {
        scopes: trust.scopes,
        expires: API_KEY_LIFETIME,
        name: `oidc ${sub}`.slice(0, 100),
      })
    })
  }

  /** Throws if a token was exchanged too often: a CI job has one token, but needs few keys. */
  private countUse(claims: JWTPayload): void {
    const now = Date.now()
    for (const [hash, { until }] of this.used) if (until < now) this.used.delete(hash)
    // Hash the claims: one token can be encoded in several ways.
    const hash = sha256(JSON.stringify(claims))
    const times = this.used.get(hash)?.times ?? 0
    if (times >= MAX_KEYS_PER_TOKEN)
      throw new Problem('unauthenticated', `the token was used ${times} times before`)
    this.used.set(hash, { times: times + 1, until: now + (MAX_TOKEN_AGE_SECONDS + 60) * 1000 })
  }

  /** Loads the trust rows for the token's issuer, before the token is verified. Throws if there are none. */
  private async loadTrust(token: string): Promise<TrustRow[]> {
    let issuer: string | undefined
    let subject: unknown
    if (token.length <= MAX_TOKEN_CHARACTERS) {
      try {
        const claims = decodeJwt(token)
        issuer = claims.iss
        subject = claims.sub
      } catch {
        // Not a token: handled below.
      }
    }
    if (typeof issuer !== 'string')
      throw new Problem('unauthenticated', 'this is not an identity token', {
        hint: 'Send the token that the CI system issues for the job.',
      })
    const trusted = await this.store.read(({ credentials }) => credentials.listTrustOfIssuer(issuer))
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

  /** Verifies signature, audience and age of a token. Returns its claims; throws `unauthenticated`. */
  private async verifyToken(token: string, issuer: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, await this.loadKeys(issuer), {
        issuer,
        audience: this.audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp', 'iat'],
        maxTokenAge: MAX_TOKEN_AGE_SECONDS,
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

  /** Returns the public keys of an issuer, from its discovery document. */
  private async loadKeys(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
    const cached = this.keys.get(issuer)
    if (cached) return cached
    if ((this.retryTimes.get(issuer) ?? 0) > Date.now())
      throw new Problem('overloaded', 'the issuer of the token does not answer')
    try {
      const response = await boundedFetch(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`, {
        redirect: 'error',
        signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
      })
      const { jwks_uri, issuer: announced }: { jwks_uri: string; issuer: string } = await response.json()
      if (announced !== issuer) throw new Error('another issuer')
      const url = new URL(checkIssuer(jwks_uri))
      const { host } = new URL(issuer)
      if (url.host !== host && url.host !== KEY_HOSTS.get(host)) throw new Error('keys at another host')
      const keys = createRemoteJWKSet(url, {
        timeoutDuration: ISSUER_TIMEOUT_MS,
        [customFetch]: boundedFetch,
      })
      this.keys.set(issuer, keys)
      return keys
    } catch {
      this.retryTimes.set(issuer, Date.now() + ISSUER_RETRY_MS)
      throw new Problem('overloaded', 'the issuer of the token does not answer')
    }
  }
}

/** Issuers that publish their keys on another host. */
const KEY_HOSTS = new Map([['accounts.google.com', 'www.googleapis.com']])
/** Returns an issuer URL. Throws `invalid_request` unless it is https, or http on this machine. */
function checkIssuer(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isLocal = parsed?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(parsed.hostname)
  if (parsed && (parsed.protocol === 'https:' || isLocal)) return url
  throw new Problem('invalid_request', `not the URL of an issuer: ${url}`, {
    hint: 'An issuer URL starts with https://',
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

/** Trusts tokens of an issuer whose subject matches. They act as the user. */
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
  // The text before the first * must name the owner of the token, as `repo:OWNER/` does.
  const prefix = subject.split('*')[0]
  if (subject.replaceAll('*', '').length < 3 || (prefix !== subject && !/[:/].*[:/]/.test(prefix)))
    throw new Problem(
      'invalid_request',
      `subject ${JSON.stringify(subject)}: it would match tokens of others at the same issuer`,
      { hint: 'Begin it with the owner, such as repo:OWNER/REPOSITORY:ref:refs/heads/main.' },
    )
  const names = parseScopes(scopes)
  const owner = await store.read(
    async ({ accounts }) =>
      ((await accounts.getUser(username)) ?? (await accounts.findUserByName(username)))?.owner,
  )
  return store.write([owner ?? username], async ({ accounts, credentials }) => {
    const user = await accounts.getUser(owner ?? username)
    if (!user) throw new Problem('not_found', `no user named ${username}`)
    const row = {
      id: randomBytes(6).toString('hex'),
      issuer,
      subject,
      username: user.owner,
      scopes: names.join(','),
      created_at: Date.now(),
    }
    await credentials.addTrust(row)
    return formatTrust(row)
  })
}

/** Lists the trusted issuers of tokens of CI jobs, of all users. */
export async function listTrust(store: Store): Promise<Trust[]> {
  return (await store.read(({ credentials }) => credentials.listAllTrust())).map(formatTrust)
}

/** Removes a trust, and revokes the keys that were issued for it. Throws `not_found`. */
export async function removeTrust(store: Store, id: string): Promise<Trust> {
  const existing = (await store.read(({ credentials }) => credentials.listAllTrust())).find(
    (trust) => trust.id === id,
  )
  return store.write(existing ? [existing.username] : [], async ({ credentials }) => {
    const row = (await credentials.listAllTrust()).find((trust) => trust.id === id)
    if (!row)
      throw new Problem('not_found', `no trust with the id ${id}`, { hint: 'See: gridline admin trust list' })
    await credentials.removeTrust(id)
    // End keys that were issued for this trust now, not when they expire.
    for (const key of await credentials.listApiKeys(row.username)) {
      const subject = /^oidc (.*)$/s.exec(key.name)?.[1]
      if (subject !== undefined && (subject.length >= 95 || matchesWildcard(row.subject, subject)))
        await credentials.revokeKey(row.username, key.hash)
    }
    return formatTrust(row)
  })
}

function formatTrust({ scopes, created_at, ...row }: TrustRow): Trust {
  return { ...row, scopes: scopes.split(','), created_at: new Date(created_at).toISOString() }
}
