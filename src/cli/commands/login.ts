// `gridline login`: stores the credentials for a server in a profile.
import { resolve } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { LOCAL_PROFILE, normalizeServerUrl, originOf, type Profile } from '../config/settings.ts'
import { connectRemote } from '../connect/connect.ts'
import { fetchIdentityToken } from '../connect/oidc.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { promptLine } from '../core/prompt.ts'
import { readWhole } from '../files/input.ts'
import { loginInBrowser } from './login.browser.ts'
import { whoView } from './whoami.ts'

const loginView = { ...whoView, columns: whoView.columns.slice(0, 3) }

export const command = defineCommand({
  output: objectOf([], {
    username: 'your username',
    server: 'URL of the server',
    profile: 'name of the profile',
  }),
  arguments: '[url]',
  options: [
    { flags: '--user <name>', description: 'your username on the server' },
    { flags: '--no-browser', description: 'ask for username and API key instead of opening the browser' },
    {
      flags: '--oidc',
      description:
        'in CI jobs: log in with the identity token instead of a stored key (GitHub Actions, GitLab CI)',
    },
  ],
  examples: [
    'gridline login https://charts.example.com',
    'echo "$KEY" | gridline login https://charts.example.com --user ci',
    'gridline login localhost:8080 --profile test',
    'gridline login https://charts.example.com --oidc      # in a CI job',
  ],
  async run(context, [urlArgument], options) {
    const profile = context.flags.profile ?? context.environment.GRIDLINE_PROFILE ?? 'default'
    if (profile === LOCAL_PROFILE || context.flags.local)
      throw new Problem('usage', 'the profile local needs no login: it is this machine', {
        hint: 'Use another name: --profile NAME',
      })
    const existingProfile = (await context.config.read()).profiles?.[profile]
    const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
    const serverAddress =
      urlArgument ??
      context.environment.GRIDLINE_URL ??
      existingProfile?.url ??
      (isTerminal ? await promptLine('Server URL: ') : undefined)
    if (!serverAddress)
      throw new Problem('usage', 'the server is missing', {
        hint: 'Pass its URL: gridline login https://charts.example.com',
      })
    const url = normalizeServerUrl(serverAddress)
    const caFile = resolveCertificates(context, existingProfile, url)
    const usesBrowser =
      !options.oidc &&
      isTerminal &&
      options.browser !== false &&
      options.user === undefined &&
      !context.environment.GRIDLINE_USER &&
      !context.environment.GRIDLINE_API_KEY
    const identity = options.oidc ? await fetchIdentityToken(url, context.environment) : undefined
    const given =
      identity || usesBrowser ? undefined : await readCredentials(context, isTerminal, options.user)
    const { client, close } = await connectRemote(url, {
      ...(usesBrowser && context.connectOptions()),
      ...given,
      caFile,
    })
    try {
      const login = identity
        ? await client.call('oidc.exchange', { json: identity })
        : given
          ? { ...(await client.call('users.current')), api_key: given.apiKey }
          : await loginInBrowser(context, client, url)
      const { username, api_key } = login
      const user = given?.user ?? username
      await storeCredentials(context, profile, { url, user, ca_file: caFile }, api_key)
      const expiry = identity && 'expires_at' in login ? { expires_at: login.expires_at } : undefined
      const until = expiry ? `, until ${expiry.expires_at}` : ''
      context.messages.note(`Logged in to ${url} as ${username}${until}.`)
      return { item: { username, server: url, profile, ...expiry }, view: loginView }
    } finally {
      await close()
    }
  },
})

/** Reads user and API key from option, environment, terminal or standard input. Throws `usage` without one. */
async function readCredentials(
  { environment: { GRIDLINE_USER, GRIDLINE_API_KEY } }: Context,
  isTerminal: boolean,
  userOption: string | undefined,
): Promise<{ user: string; apiKey: string; keyFrom: string }> {
  const user = userOption ?? GRIDLINE_USER ?? (isTerminal ? await promptLine('Username: ') : undefined)
  if (!user) throw new Problem('usage', 'the user is missing', { hint: 'Use --user NAME.' })
  const apiKey =
    GRIDLINE_API_KEY ??
    (isTerminal ? await promptHidden('API key: ') : (await readWhole('-')).toString('utf8').trim())
  if (!apiKey)
    throw new Problem('usage', 'the API key is missing', {
      hint: 'Set GRIDLINE_API_KEY, or pass the key on standard input.',
    })
  const input = isTerminal ? 'the terminal' : 'standard input'
  return { user, apiKey, keyFrom: GRIDLINE_API_KEY ? 'environment GRIDLINE_API_KEY' : input }
}

/**
 * Returns the path of trusted certificates: from --ca-file, or from the profile if it is for the same server.
 */
function resolveCertificates(
  context: Context,
  existingProfile: Profile | undefined,
  url: string,
): string | undefined {
  const { caFile } = context.connectOptions()
  // An absolute path works in every folder.
  if (caFile !== undefined) return resolve(caFile)
  return existingProfile?.url !== undefined && originOf(existingProfile.url) === originOf(url)
    ? existingProfile.ca_file
    : undefined
}

/**
 * Stores the key in the keychain, or in the config file without one, and makes the profile the active one.
 */
async function storeCredentials(
  context: Context,
  profile: string,
  { url, user, ca_file }: { url: string; user: string; ca_file: string | undefined },
  apiKey: string,
): Promise<void> {
  const key_origin = originOf(url)
  const isInKeychain = await context.keychain.set(profile, key_origin, apiKey)
  if (!isInKeychain)
    context.messages.aside(
      `Without a keychain, the key is stored in ${context.config.path}, which only you can read.`,
    )
  const key = isInKeychain ? { keychain: true as const } : { api_key: apiKey }
  const certificates = ca_file === undefined ? {} : { ca_file }
  if (profile !== 'default')
    context.messages.note(`Profile ${profile} is now active; switch back with: gridline profile use NAME`)
  await context.config.update((config) => {
    config.profiles = { ...config.profiles, [profile]: { url, user, ...key, key_origin, ...certificates } }
    config.profile = profile
  })
}

/** Reads a line from the terminal without echo. */
async function promptHidden(question: string): Promise<string> {
  // Disable the echo before asking: users paste keys fast.
  process.stdin.setRawMode(true)
  process.stderr.write(question)
  process.stdin.resume()
  let text = ''
  try {
    for await (const chunk of process.stdin) {
      for (const c of String(chunk)) {
        if (c === '\r' || c === '\n') return text.trim()
        if (c === '\u0003') throw new Problem('interrupted', 'interrupted')
        text = c === '\u007f' ? text.slice(0, -1) : text + c
      }
    }
    return text.trim()
  } finally {
    process.stdin.setRawMode(false)
    process.stdin.pause()
    process.stderr.write('\n')
  }
}
