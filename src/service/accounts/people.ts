import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import type { Configuration } from '../../vendor/openid.ts'
import type { Store, Writers } from '../store/store.ts'

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
const MOST_GROUPS = 1_000

/** Signs people in by an identity provider (OpenID Connect: code flow with PKCE). */
export class PeopleLogin {
  private configuration: Promise<Configuration> | undefined
  private failedAt = Number.NEGATIVE_INFINITY

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
   * The user whom the provider sends back, created at the first time. `query`: that of the address of return; `kept`: from
   * `begin`. Throws `unauthenticated` or `forbidden` for anybody else.
   */
  async finish(query: string, kept: string | undefined): Promise<{ username: string; next: string }> {
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
    return { username: await this.userOf(person), next }
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
      let claims: Record<string, unknown> = tokens.claims()!
      const { sub, iss } = claims as { sub: string; iss: string }
      // Providers differ in what they put into the token.
      const isShort = claims.email === undefined || (teams.length > 0 && claims[groupsClaim] === undefined)
      if (isShort && configuration.serverMetadata().userinfo_endpoint !== undefined)
        claims = { ...(await client.fetchUserInfo(configuration, tokens.access_token, sub)), ...claims }
      const email = textOf(claims.email)?.toLowerCase() ?? null
      const groups = claims[groupsClaim]
      return {
        issuer: iss,
        subject: sub,
        email,
        isVerified: claims.email_verified === true || claims.email_verified === 'true',
        name: textOf(claims.preferred_username) ?? email ?? textOf(claims.name) ?? 'user',
        groups: (Array.isArray(groups) ? groups : [groups])
          .filter((group) => typeof group === 'string')
          .slice(0, MOST_GROUPS),
      }
    } catch (error) {
      if (error instanceof client.AuthorizationResponseError)
        throw new Problem('unauthenticated', `the identity provider refuses: ${error.error}`, {
          hint: (error.error_description ?? '').slice(0, 300) || 'Try again.',
        })
      const { code = '', message } = error as Error & { code?: string }
      if (/TIMEOUT|REQUEST_TIMEOUT|fetch failed/i.test(`${code} ${message}`)) throw this.silent()
      throw new Problem('unauthenticated', `this sign-in is not valid: ${message}`, { hint: 'Try again.' })
    }
  }

  /** What the provider says of itself, asked once. */
  private async configured(): Promise<Configuration> {
    if (!this.configuration && performance.now() - this.failedAt < PAUSE_MS) throw this.silent()
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
          execute: isHere && at.protocol === 'http:' ? [client.allowInsecureRequests] : [],
        },
      )
    })()
    try {
      return await this.configuration
    } catch {
      this.configuration = undefined
      this.failedAt = performance.now()
      throw this.silent()
    }
  }

  private silent(): Problem {
    return new Problem('overloaded', `the identity provider ${this.name} does not answer`)
  }

  /** The user of a person; a new one at the first time. Their teams follow from their groups. */
  private async userOf(person: Person): Promise<string> {
    const known = await this.known(person)
    const names = known === undefined ? await this.freeNames(person) : [known]
    const teams = this.provider.teams ?? []
    for (const name of names) {
      const owners = [name, ...teams.map(({ owner }) => owner)]
      const username = await this.store.by({ user: name }).write(owners, async (writers) => {
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
      if (await accounts.formerOwner(name)) return undefined
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
        if (!(await accounts.userLike(one)) && !(await accounts.hasCounter(one))) free.push(one)
        if (free.length === 3) break
      }
      return free
    })
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 320 ? value : undefined
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
