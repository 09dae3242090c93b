import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import type { Configuration } from '../../vendor/openid.ts'
import type { Store, Writers } from '../store/store.ts'
import { boundedFetch } from './bounded-fetch.ts'

/** How people sign in with an identity provider that speaks OpenID Connect. */
export interface ProviderOptions {
  /** URL of the issuer. */
  issuer: string
  clientId: string
  clientSecret?: string
  /** Domains of e-mail addresses that may sign in. Default: everybody whom the provider lets in. */
  domains?: readonly string[]
  /** The claim with the groups of a person. Default: `groups`. */
  groupsClaim?: string
  /** Teams whose members follow from groups. */
  teams?: readonly GroupTeam[]
}

export interface GroupTeam {
  group: string
  /** The user who owns the team. */
  owner: string
  team: string
}

/** Somebody whom the provider has authenticated. */
interface Person {
  issuer: string
  subject: string
  email: string | null
  /** Whether the provider says that the address is theirs. */
  isVerified: boolean
  /** What they are called, as the beginning of a username. */
  name: string
  groups: readonly string[]
}

/** What a browser keeps while its user is at the provider. */
export interface Leaving {
  url: string
  /** For a cookie: state, nonce, verifier and the path to show afterwards. */
  kept: string
}

const TIMEOUT_SECONDS = 10
/** How long the provider is not asked again after it did not answer, in ms. */
const PAUSE_MS = 5_000
/** How far the clock of the provider may be ahead, in ms. */
const CLOCK_TOLERANCE_MS = 300_000
const MAX_GROUPS = 10_000
const MAX_LETTERS = 255

/** Signs people in by an identity provider (OpenID Connect: code flow with PKCE). */
export class PeopleLogin {
  private configuration: Promise<Configuration> | undefined
  private failedAt = Number.NEGATIVE_INFINITY
  private failure: unknown

  constructor(
    private readonly store: Store,
    private readonly provider: ProviderOptions,
    /** Base URL of the service. */
    private readonly url: string,
  ) {}

  /** The host of the provider, as people know it. */
  get name(): string {
    return new URL(this.provider.issuer).host
  }

  private get callback(): string {
    return `${this.url}/signin/oidc/return`
  }

  /** Where the browser goes to sign in. `next`: the path to show afterwards. */
  async begin(next: string): Promise<Leaving> {
    const client = await import('../../vendor/openid.ts')
    const configuration = await this.configured()
    const [state, nonce, verifier] = [
      client.randomState(),
      client.randomNonce(),
      client.randomPKCECodeVerifier(),
    ]
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.callback,
      scope: 'openid email profile',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const kept = Buffer.from(JSON.stringify([state, nonce, verifier, next])).toString('base64url')
    return { url: url.href, kept }
  }

  /**
   * The user whom the provider sends back, created at the first time, by `store`. `query`: that of the address of return; `kept`: from
   * `begin`. Throws `unauthenticated` or `forbidden` for anybody else.
   */
  async finish(
    store: Store,
    query: string,
    kept: string | undefined,
  ): Promise<{ username: string; next: string }> {
    const [state, nonce, verifier, next] = keptOnes(kept)
    const person = await this.person(query, { state, nonce, verifier })
    const { domains } = this.provider
    const domain = person.email?.split('@').at(-1)
    if (domains && !(person.isVerified && domain && domains.includes(domain)))
      throw new Problem(
        'forbidden',
        person.email === null
          ? 'the identity provider gives no e-mail address'
          : `the address ${person.email} ${person.isVerified ? 'is of another domain' : 'is not verified'}; people of ${domains.join(', ')} may sign in`,
        { hint: 'Sign in with another account, or ask the administrator of this server.' },
      )
    return { username: await this.userOf(store, person), next }
  }

  private async person(
    query: string,
    { state, nonce, verifier }: { state: string; nonce: string; verifier: string },
  ): Promise<Person> {
    const client = await import('../../vendor/openid.ts')
    const configuration = await this.configured()
    const { groupsClaim = 'groups', teams = [] } = this.provider
    try {
      const tokens = await client.authorizationCodeGrant(
        configuration,
        new URL(`${this.callback}?${query}`),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      )
      const token: Record<string, unknown> = tokens.claims()!
      const { sub, iss, iat } = token as { sub: string; iss: string; iat: number }
      if (iat * 1000 > Date.now() + CLOCK_TOLERANCE_MS) throw new Error('its token is from the future')
      let claims = token
      // Providers differ in what they put into the token.
      const isShort = token.email === undefined || (teams.length > 0 && token[groupsClaim] === undefined)
      if (isShort && configuration.serverMetadata().userinfo_endpoint !== undefined) {
        const info = await client.fetchUserInfo(configuration, tokens.access_token, sub)
        // An address and its proof are of one answer.
        const { email, email_verified } = token.email === undefined ? info : token
        claims = { ...info, ...token, email, email_verified }
      }
      if (!isPlain(sub) || sub.length > MAX_LETTERS) throw new Error('its sub is not a plain text')
      const email = emailOf(claims.email)
      const groups = claims[groupsClaim]
      return {
        issuer: iss,
        subject: sub,
        email,
        isVerified: claims.email_verified === true || claims.email_verified === 'true',
        name: textOf(claims.preferred_username) ?? email ?? textOf(claims.name) ?? 'user',
        groups: (Array.isArray(groups) ? groups : [groups])
          .filter((group) => typeof group === 'string')
          .slice(0, MAX_GROUPS),
      }
    } catch (error) {
      // What the provider has against this server is nothing that the person did.
      if (error instanceof client.ResponseBodyError)
        throw new Problem(
          'overloaded',
          `the identity provider ${this.name} refuses this server: ${error.error}`,
          {
            hint: 'An administrator must correct GRIDLINE_OIDC_CLIENT_ID (--oidc-client-id) or GRIDLINE_OIDC_CLIENT_SECRET.',
          },
        )
      if (error instanceof client.AuthorizationResponseError)
        throw new Problem('unauthenticated', `the identity provider refuses: ${error.error}`, {
          hint: (error.error_description ?? '').slice(0, 300) || 'Try again.',
        })
      const { code = '', message } = error as Error & { code?: string }
      if (/TIMEOUT|REQUEST_TIMEOUT|RESPONSE_IS_NOT_CONFORM|fetch failed/i.test(`${code} ${message}`))
        throw this.silent(error)
      throw new Problem('unauthenticated', `this sign-in is not valid: ${message}`, { hint: 'Try again.' })
    }
  }

  /** What the provider says of itself, asked once. */
  private async configured(): Promise<Configuration> {
    if (!this.configuration && performance.now() - this.failedAt < PAUSE_MS) throw this.silent(this.failure)
    const { issuer, clientId, clientSecret } = this.provider
    this.configuration ??= (async () => {
      const client = await import('../../vendor/openid.ts')
      const at = new URL(issuer)
      const isHere = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(at.hostname)
      return client.discovery(
        at,
        clientId,
        undefined,
        clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          execute: [
            client.enableNonRepudiationChecks,
            ...(isHere && at.protocol === 'http:' ? [client.allowInsecureRequests] : []),
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
      throw this.silent(error)
    }
  }

  private silent(error: unknown): Problem {
    const { message = '', cause } = error as Error
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message
    return new Problem(
      'overloaded',
      `the identity provider ${this.name} does not answer: ${why} (--oidc-issuer)`,
    )
  }

  /** The user of a person; a new one at the first time. Their teams follow from their groups. */
  private async userOf(store: Store, person: Person): Promise<string> {
    const known = await this.known(person)
    const names = known === undefined ? await this.freeNames(person) : [known]
    const teams = await this.teams()
    for (const name of names) {
      const owners = [name, ...teams.map(({ owner }) => owner)]
      const username = await store.by({ user: name }).write(owners, async (writers) => {
        const owner = await this.enter(writers, person, name)
        if (owner !== undefined) await keepTeams(writers, owner, teams, person.groups)
        return owner
      })
      if (username !== undefined) return username
    }
    throw new Problem('overloaded', 'no username is free for you')
  }

  /** The user in a transaction, who may have been added meanwhile; undefined if somebody else has the name. */
  private async enter(writers: Writers, person: Person, name: string): Promise<string | undefined> {
    const { accounts } = writers
    const { issuer, subject, email } = person
    const linked = await accounts.identity(issuer, subject)
    if (linked !== undefined) {
      const user = await accounts.user(linked)
      if (user && user.disabled_at === null) return linked
      throw new Problem('forbidden', 'this user is disabled', {
        hint: 'Ask the administrator of this server.',
      })
    }
    const present = await accounts.userLike(name)
    // Somebody who was created before signs in as themselves, if the address is proven to be theirs.
    const isTheirs = present !== undefined && person.isVerified && email !== null && present.email === email
    if (present && !isTheirs) return undefined
    if (present?.disabled_at !== undefined && present.disabled_at !== null)
      throw new Problem('forbidden', 'this user is disabled', {
        hint: 'Ask the administrator of this server.',
      })
    const owner = present?.owner ?? name
    if (!present) {
      if ((await accounts.formerOwner(name)) !== undefined) return undefined
      await accounts.addUser({
        owner,
        email: person.isVerified ? email : null,
        is_admin: 0,
        date_joined: Date.now(),
      })
    }
    await accounts.addIdentity({ owner, issuer, subject, created_at: Date.now() })
    return owner
  }

  /** The teams of groups. Their owners may have been renamed since the server was set up. */
  private teams(): Promise<readonly GroupTeam[]> {
    const { teams = [] } = this.provider
    return this.store.read(({ accounts }) =>
      Promise.all(
        teams.map(async (team) => ({
          ...team,
          owner: (await accounts.userLike(team.owner))?.owner ?? team.owner,
        })),
      ),
    )
  }

  /** Who has the identity, or the proven address of a user. */
  private known({ issuer, subject, email, isVerified }: Person): Promise<string | undefined> {
    return this.store.read(async ({ accounts }) => {
      const linked = await accounts.identity(issuer, subject)
      return linked ?? (isVerified && email !== null ? accounts.ownerOfEmail(email) : undefined)
    })
  }

  private async freeNames({ name }: Person): Promise<string[]> {
    const plain = name
      .split('@')[0]
      .normalize('NFKD')
      .replace(/[^A-Za-z0-9._-]+/g, '')
      .replace(/^[._-]+|[._-]+$/g, '')
      .slice(0, 48)
    const base = isUsername(plain) ? plain : 'user'
    const candidates = [base, ...Array.from({ length: 200 }, (_, k) => `${base}-${k + 2}`)]
    return this.store.read(async ({ accounts }) => {
      const free: string[] = []
      for (const one of candidates) {
        const isTaken =
          (await accounts.userLike(one)) !== undefined ||
          (await accounts.formerOwner(one)) !== undefined ||
          (await accounts.hasCounter(one))
        if (!isTaken) free.push(one)
        if (free.length === 3) break
      }
      return free
    })
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 320 && isPlain(value) ? value : undefined
}

/** Whether a text has no control characters: databases end or refuse texts at some of them. */
function isPlain(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text)
}

/** An address of e-mail; null for what is none. Only letters of ASCII have a case: others are different addresses. */
function emailOf(value: unknown): string | null {
  const text = textOf(value)
  if (text === undefined || !/^[^\s@]+@[^\s@]+$/.test(text)) return null
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function keptOnes(kept: string | undefined): [string, string, string, string] {
  try {
    const values = JSON.parse(Buffer.from(kept ?? '', 'base64url').toString('utf8')) as unknown[]
    if (values.length === 4 && values.every((value) => typeof value === 'string'))
      return values as [string, string, string, string]
  } catch {
    // It is not what `begin` made.
  }
  throw new Problem('unauthenticated', 'this sign-in was begun in another browser, or long ago', {
    hint: 'Sign in again.',
  })
}

/** Makes a user a member of the teams of their groups, and of no other team of these. */
async function keepTeams(
  { sharing, accounts }: Writers,
  username: string,
  teams: readonly GroupTeam[],
  groups: readonly string[],
): Promise<void> {
  const wanted = new Map<string, { owner: string; name: string; isIn: boolean }>()
  for (const { group, owner, team } of teams) {
    const key = `${owner}:${team}`
    const isIn = groups.includes(group) || wanted.get(key)?.isIn === true
    wanted.set(key, { owner, name: team, isIn })
  }
  for (const { owner, name, isIn } of wanted.values()) {
    const user = await accounts.user(owner)
    if (!user || owner === username) continue
    const own = (await sharing.teamsOf(owner)).filter((team) => team.owner === owner)
    const found = own.find((team) => team.name.toLowerCase() === name.toLowerCase())
    if (!found && !isIn) continue
    const team = found ?? (await sharing.addTeam(name, owner))
    const isMember = (await sharing.members(team.name_key)).includes(username)
    if (isIn && !isMember) await sharing.addMember(team.name_key, username)
    if (!isIn && isMember) await sharing.removeMember(team.name_key, username)
  }
}
