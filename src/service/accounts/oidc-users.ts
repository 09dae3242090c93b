// Signs users in with an OpenID Connect provider.
import { lowerCaseAscii } from '../../contract/ascii-case.ts'
import { causeMessageOf, errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'
import type { Configuration } from '../../vendor/openid.ts'
import type { Store } from '../store/store.ts'
import { boundedFetch, isFetchError } from './bounded-fetch.ts'
import { type GroupTeam, type OidcUser, signInUser } from './link-identity.ts'

/** Settings of sign-in with an OpenID Connect provider. */
export interface ProviderOptions {
  /** URL of the issuer. */
  issuer: string
  clientId: string
  clientSecret?: string
  /** Allowed domains of verified e-mail addresses. Default: all users of the provider. */
  domains?: readonly string[]
  /** Claim that holds the groups of a user. Default: `groups`. */
  groupsClaim?: string
  /** Teams that are synced with groups of the provider. */
  teams?: readonly GroupTeam[]
}

/** Redirect to the provider, and the state that the browser keeps meanwhile. */
export interface SignInRedirect {
  url: string
  /** Cookie value: state, nonce, verifier and the path to show afterwards. */
  cookie: string
}

/** Timeout of requests to the provider. */
const PROVIDER_TIMEOUT_SECONDS = 10
/** Time before a provider that did not answer is asked again, in ms. */
const PROVIDER_RETRY_MS = 5_000
/** Maximum time that the provider's clock may be ahead, in ms. */
const CLOCK_TOLERANCE_MS = 300_000
/** Codes of errors of the provider's responses. */
const PROVIDER_FAULTS = /TIMEOUT|RESPONSE_IS_NOT_CONFORM|RESPONSE_IS_NOT_JSON|PARSE_ERROR/
const MAX_GROUPS = 10_000
const MAX_SUBJECT_CHARACTERS = 255

/** Signs users in with an identity provider (OpenID Connect: code flow with PKCE). */
export class OidcSignIn {
  private configuration: Promise<Configuration> | undefined
  private failedAt = Number.NEGATIVE_INFINITY
  private failure: unknown

  constructor(
    private readonly provider: ProviderOptions,
    /** Base URL of the service. */
    private readonly url: string,
  ) {}

  /** Host of the provider, for messages. */
  get host(): string {
    return new URL(this.provider.issuer).host
  }

  private get redirectUri(): string {
    return `${this.url}/signin/oidc/return`
  }

  /** Returns the redirect to the provider. `next`: path to show after sign-in. */
  async begin(next: string): Promise<SignInRedirect> {
    const client = await import('../../vendor/openid.ts')
    const configuration = await this.loadConfiguration()
    const [state, nonce, verifier] = [
      client.randomState(),
      client.randomNonce(),
      client.randomPKCECodeVerifier(),
    ]
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: 'openid email profile',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const cookie = Buffer.from(JSON.stringify([state, nonce, verifier, next])).toString('base64url')
    return { url: url.href, cookie }
  }

  /**
   * Completes a sign-in and returns the user, created on the first sign-in. `query`: query string of the
   * redirect URI; `cookie`: value from `begin`. Throws `unauthenticated` or `forbidden` for other users.
   */
  async finish(
    store: Store,
    query: string,
    cookie: string | undefined,
  ): Promise<{ username: string; next: string }> {
    const [state, nonce, verifier, next] = parseCookie(cookie)
    const user = await this.authenticate(query, { state, nonce, verifier })
    const { domains } = this.provider
    const domain = user.email?.split('@').at(-1)
    if (domains && !(user.isVerified && domain && domains.includes(domain)))
      throw new Problem(
        'forbidden',
        user.email === null
          ? 'the identity provider returned no e-mail address'
          : `the address ${user.email} is not ${user.isVerified ? 'an' : 'a verified'} address of ${domains.join(' or ')}`,
        { hint: 'Sign in with another account, or ask the administrator of this server.' },
      )
    return { username: await signInUser(store, user, this.provider.teams ?? []), next }
  }

  /** Exchanges the code for tokens and verifies them. Returns the authenticated user. */
  private async authenticate(
    query: string,
    { state, nonce, verifier }: { state: string; nonce: string; verifier: string },
  ): Promise<OidcUser> {
    const client = await import('../../vendor/openid.ts')
    const configuration = await this.loadConfiguration()
    const { groupsClaim = 'groups', teams = [] } = this.provider
    try {
      const tokens = await client.authorizationCodeGrant(
        configuration,
        new URL(`${this.redirectUri}?${query}`),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      )
      const token = tokens.claims()!
      const { sub, iss, iat } = token
      if (iat * 1000 > Date.now() + CLOCK_TOLERANCE_MS) throw new Error('its token is from the future')
      let claims: Record<string, unknown> = token
      // Some providers return e-mail and groups only from the userinfo endpoint.
      const isShort = token.email === undefined || (teams.length > 0 && token[groupsClaim] === undefined)
      if (isShort && configuration.serverMetadata().userinfo_endpoint !== undefined) {
        const info = await client.fetchUserInfo(configuration, tokens.access_token, sub)
        // Take address and verification from the same response.
        const { email, email_verified } = token.email === undefined ? info : token
        claims = { ...info, ...token, email, email_verified }
      }
      if (!isPlainText(sub) || sub.length > MAX_SUBJECT_CHARACTERS)
        throw new Error('its sub is not a plain text')
      const email = parseEmail(claims.email)
      const groups = claims[groupsClaim]
      return {
        issuer: iss,
        subject: sub,
        email,
        isVerified: claims.email_verified === true || claims.email_verified === 'true',
        name: parsePlainText(claims.preferred_username) ?? email ?? parsePlainText(claims.name) ?? 'user',
        groups: (Array.isArray(groups) ? groups : [groups])
          .filter((group) => typeof group === 'string')
          .slice(0, MAX_GROUPS),
      }
    } catch (error) {
      const message = errorMessageOf(error)
      if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant')
        throw new Problem('unauthenticated', 'this sign-in was used before, or has expired', {
          hint: 'Sign in again.',
        })
      // A provider error about this server's configuration is not the user's fault.
      if (error instanceof client.ResponseBodyError)
        throw new Problem(
          'overloaded',
          `the identity provider ${this.host} refuses this server: ${error.error}`,
          {
            hint: 'An administrator must correct GRIDLINE_OIDC_CLIENT_ID (--oidc-client-id) or GRIDLINE_OIDC_CLIENT_SECRET.',
          },
        )
      if (error instanceof client.AuthorizationResponseError)
        throw new Problem('unauthenticated', `the identity provider refuses: ${error.error}`, {
          hint: (error.error_description ?? '').slice(0, 300) || 'Try again.',
        })
      if (isFetchError(error) || PROVIDER_FAULTS.test(`${errorCodeOf(error)} ${message}`)) {
        // Its endpoints may have moved.
        this.configuration = undefined
        throw this.noAnswer(error)
      }
      throw new Problem('unauthenticated', `this sign-in is not valid: ${message}`, { hint: 'Try again.' })
    }
  }

  /** Returns the discovered configuration of the provider. It is loaded once. */
  private async loadConfiguration(): Promise<Configuration> {
    if (!this.configuration && performance.now() - this.failedAt < PROVIDER_RETRY_MS)
      throw this.noAnswer(this.failure)
    const { issuer, clientId, clientSecret } = this.provider
    this.configuration ??= (async () => {
      const client = await import('../../vendor/openid.ts')
      const url = new URL(issuer)
      const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)
      return client.discovery(
        url,
        clientId,
        undefined,
        clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret),
        {
          timeout: PROVIDER_TIMEOUT_SECONDS,
          execute: [
            client.enableNonRepudiationChecks,
            ...(isLocal && url.protocol === 'http:' ? [client.allowInsecureRequests] : []),
          ],
          [client.customFetch]: boundedFetch,
        },
      )
    })()
    try {
      return await this.configuration
    } catch (error) {
      this.configuration = undefined
      this.failedAt = performance.now()
      this.failure = error
      throw this.noAnswer(error)
    }
  }

  private noAnswer(error: unknown): Problem {
    const why = causeMessageOf(error)
    return new Problem(
      'overloaded',
      `the identity provider ${this.host} does not answer: ${why} (--oidc-issuer)`,
    )
  }
}

/** Returns a text of up to 320 characters without control characters; undefined for other values. */
function parsePlainText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 320 && isPlainText(value) ? value : undefined
}

/** Returns whether a text is not empty and has no control characters, which some databases reject. */
function isPlainText(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text)
}

/** Returns an e-mail address with ASCII letters in lower case; null for other values. */
function parseEmail(value: unknown): string | null {
  const text = parsePlainText(value)
  if (text === undefined || !/^[^\s@]+@[^\s@]+$/.test(text)) return null
  return lowerCaseAscii(text)
}

/** Returns state, nonce, verifier and path of a cookie of `begin`. Throws for other values. */
function parseCookie(cookie: string | undefined): [string, string, string, string] {
  try {
    const values: unknown[] = JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString('utf8'))
    if (values.length === 4 && values.every((value) => typeof value === 'string')) {
      const [state, nonce, verifier, path] = values
      return [state, nonce, verifier, path]
    }
  } catch {
    // Not a cookie of `begin`: handled below.
  }
  throw new Problem('unauthenticated', 'this sign-in was started in another browser, or has expired', {
    hint: 'Sign in again.',
  })
}
