// Options of `gridline serve`, and what they set.
import { Problem } from '../../contract/errors.ts'
import { readLimits } from '../../contract/limits.ts'
import type { ProviderOptions } from '../../service/index.ts'
import type { Option, OptionValues } from '../core/define.ts'
import { readKeyPairOptions } from './serve.tls.ts'

export const serveOptions = [
  {
    flags: '--host <address>',
    variable: 'GRIDLINE_HOST',
    description: 'address to listen on (default: 127.0.0.1)',
  },
  {
    flags: '--port <port>',
    integer: { max: 65_535 },
    variable: 'GRIDLINE_PORT',
    description: 'port to listen on; 0 for any free port (default: 8080)',
  },
  {
    flags: '--database <url>',
    variable: 'GRIDLINE_DATABASE',
    description: 'sqlite:FILE or postgres://… (default: the database on this machine)',
  },
  {
    flags: '--blobs <place>',
    variable: 'GRIDLINE_BLOBS',
    description:
      'storage of large values: sql (the database), file:DIR or s3://bucket/prefix?endpoint=…&region=… (default: unchanged)',
  },
  {
    flags: '--url <url>',
    variable: 'GRIDLINE_PUBLIC_URL',
    description: 'public URL of the server, used in links',
  },
  {
    flags: '--tls-cert <file>',
    variable: 'GRIDLINE_TLS_CERT',
    description: 'serve HTTPS with this certificate (PEM, with its issuers); read again when it changes',
  },
  {
    flags: '--tls-key <file>',
    variable: 'GRIDLINE_TLS_KEY',
    description: 'private key of --tls-cert (PEM)',
  },
  {
    flags: '--tls <kind>',
    variable: 'GRIDLINE_TLS',
    choices: ['self-signed'],
    description: 'serve HTTPS with a certificate made for this machine: self-signed',
  },
  {
    flags: '--health-port <port>',
    integer: { max: 65535 },
    variable: 'GRIDLINE_HEALTH_PORT',
    description: 'also serve /healthz on this port, from a thread that load does not delay',
  },
  {
    flags: '--proxies <count>',
    integer: { max: 16 },
    variable: 'GRIDLINE_PROXIES',
    description: 'number of trusted proxies that add to X-Forwarded-For (default: 0)',
  },
  {
    flags: '--smtp <url>',
    variable: 'GRIDLINE_SMTP',
    description: 'SMTP server for invitations, alerts and mailings: smtp://user:password@host:587',
  },
  {
    flags: '--mail-from <address>',
    variable: 'GRIDLINE_MAIL_FROM',
    description: 'sender of e-mails (default: gridline@HOST, where HOST is the host of --url)',
  },
  {
    flags: '--oidc-issuer <url>',
    variable: 'GRIDLINE_OIDC_ISSUER',
    description: 'OpenID Connect provider for signing in with the browser',
  },
  {
    flags: '--oidc-client-id <id>',
    variable: 'GRIDLINE_OIDC_CLIENT_ID',
    description: 'OAuth client id; secret: GRIDLINE_OIDC_CLIENT_SECRET; redirect URI: URL/signin/oidc/return',
  },
  {
    flags: '--oidc-domain <domain>',
    variable: 'GRIDLINE_OIDC_DOMAINS',
    repeatable: true,
    description: 'allow only verified e-mail addresses of this domain (default: all users of the provider)',
  },
  {
    flags: '--oidc-team <group=owner:team>',
    variable: 'GRIDLINE_OIDC_TEAMS',
    repeatable: true,
    description: 'sync a team with a group of the identity provider',
  },
  {
    flags: '--oidc-groups-claim <name>',
    variable: 'GRIDLINE_OIDC_GROUPS_CLAIM',
    description: 'claim with the groups of a user (default: groups)',
  },
  {
    flags: '--server-name <name>',
    variable: 'GRIDLINE_SERVER_NAME',
    description: 'unique name of this server on a shared database',
  },
  {
    flags: '--allow-url-import',
    variable: 'GRIDLINE_ALLOW_URL_IMPORT',
    description: 'allow grids to be created from files at public URLs (source_url)',
  },
  {
    flags: '--allow-private-urls',
    variable: 'GRIDLINE_ALLOW_PRIVATE_URLS',
    description:
      'allow refreshes, imports and messages of alerts to reach private addresses, such as this machine',
  },
  {
    flags: '--no-sql',
    variable: 'GRIDLINE_NO_SQL',
    description: 'run no queries in SQL (gridline query)',
  },
  {
    flags: '--theme <theme>',
    variable: 'GRIDLINE_THEME',
    description: 'default theme of new charts: a built-in theme or a JSON file',
  },
  {
    flags: '--limit <name=value>',
    repeatable: true,
    description: 'set a limit, such as requests_per_minute=600; see docs/api.md [GRIDLINE_LIMIT_NAME]',
  },
] as const satisfies readonly Option[]

type ServeOptions = OptionValues<typeof serveOptions>

/** Adds the limits of `--limit name=value` to the environment. Throws `usage`. */
function applyLimitOptions(
  environment: NodeJS.ProcessEnv,
  limitOptions: readonly string[],
): NodeJS.ProcessEnv {
  const pairs = limitOptions.map((text) => {
    const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined) throw new Problem('usage', `--limit ${text}: must be NAME=NUMBER`)
    const variable = `GRIDLINE_LIMIT_${name.toUpperCase()}`
    try {
      readLimits({ [variable]: value })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw new Problem('usage', error.message.replace(variable, `--limit ${name}`), { hint: error.hint })
    }
    return [variable, value]
  })
  return { ...environment, ...Object.fromEntries(pairs) }
}

/** Returns the identity provider from the options. Throws `usage` if incomplete or invalid. */
function parseProvider(
  options: Pick<ServeOptions, 'oidcIssuer' | 'oidcClientId' | 'oidcDomain' | 'oidcTeam' | 'oidcGroupsClaim'>,
  environment: NodeJS.ProcessEnv,
): ProviderOptions | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcDomain, oidcTeam, oidcGroupsClaim } = options
  if (issuer === undefined) {
    if ([clientId, oidcDomain, oidcTeam, oidcGroupsClaim].some((option) => option !== undefined))
      throw new Problem('usage', '--oidc-issuer is missing: other --oidc options need it')
    return undefined
  }
  if (clientId === undefined)
    throw new Problem('usage', '--oidc-client-id is missing: the id of this server at the identity provider')
  const isLocalhost = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/.test(issuer)
  if (!URL.canParse(issuer) || !(issuer.startsWith('https://') || isLocalhost))
    throw new Problem('usage', `--oidc-issuer ${issuer}: must be a URL that starts with https://`)
  const invalidDomain = oidcDomain?.find((domain) => !/^@?[^\s@]+\.[^\s@]+$/.test(domain))
  if (invalidDomain !== undefined)
    throw new Problem('usage', `--oidc-domain ${invalidDomain}: must be a domain, such as example.com`)
  const teams = oidcTeam?.map((text) => {
    const [, group, owner, team] = /^(.+)=([^=:]+):([^=:]+)$/.exec(text) ?? []
    if (team === undefined)
      throw new Problem('usage', `--oidc-team ${text}: must be GROUP=OWNER:TEAM`, {
        hint: 'For example: engineering=alice:engineers. A missing team is created.',
      })
    return { group, owner, team }
  })
  return {
    issuer,
    clientId,
    clientSecret: environment.GRIDLINE_OIDC_CLIENT_SECRET || undefined,
    domains: oidcDomain?.map((domain) => domain.toLowerCase().replace(/^@/, '')),
    groupsClaim: oidcGroupsClaim,
    teams,
  }
}

export type Settings = ReturnType<typeof readSettings>

/** Checks the options, and groups those of the service. Throws `usage`. */
export function readSettings(processEnvironment: NodeJS.ProcessEnv, options: ServeOptions) {
  const {
    host = '127.0.0.1',
    port = 8080,
    database,
    blobs,
    url,
    proxies,
    healthPort,
    tls,
    tlsCert,
    tlsKey,
    smtp,
    mailFrom,
    allowUrlImport,
    allowPrivateUrls,
    sql,
    theme,
    serverName,
    limit: limitOptions = [],
    oidcIssuer,
    oidcClientId,
    oidcDomain,
    oidcTeam,
    oidcGroupsClaim,
    ...unread
  } = options
  // Does not compile if an option is declared above, but not read here.
  unread satisfies Record<string, never>
  const environment = applyLimitOptions(processEnvironment, limitOptions)
  if (serverName !== undefined && !/^[A-Za-z0-9-]{1,80}$/.test(serverName))
    throw new Problem('usage', '--server-name: use up to 80 letters, digits and hyphens')
  if (smtp !== undefined && !(URL.canParse(smtp) && /^smtps?:\/\/[^/]/.test(smtp)))
    throw new Problem('usage', '--smtp: must be smtp://user:password@host:587, or begin with smtps://')
  if (mailFrom !== undefined && !/^[^\s@]+@[^\s@]+$|^[^<>]*<[^\s@<>]+@[^\s@<>]+>$/.test(mailFrom))
    throw new Problem('usage', `--mail-from ${mailFrom}: must be an e-mail address`)
  if (database === 'sqlite::memory:')
    throw new Problem('usage', '--database sqlite::memory:: a server needs a persistent database', {
      hint: 'Name a file: --database sqlite:FILE',
    })
  const keyPair = readKeyPairOptions({ tls, tlsCert, tlsKey, url })
  const provider = parseProvider(
    { oidcIssuer, oidcClientId, oidcDomain, oidcTeam, oidcGroupsClaim },
    processEnvironment,
  )
  const service = {
    ...{ blobs, smtp, mailFrom, serverName, environment },
    urlImport: allowUrlImport === true,
    privateUrls: allowPrivateUrls === true,
    sql: sql !== false,
  }
  return { host, port, proxies, database, url, healthPort, theme, environment, provider, service, keyPair }
}
