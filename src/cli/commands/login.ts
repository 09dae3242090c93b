import { resolve } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { checkUrl, LOCAL, originOf, type Profile } from '../config/settings.ts'
import { remote } from '../connect/connect.ts'
import { identityToken } from '../connect/oidc.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { object } from '../core/prints.ts'
import { ask } from '../core/prompt.ts'
import { wholeOf } from '../files/input.ts'
import { loginInBrowser } from './login.browser.ts'
import { whoView } from './whoami.ts'

const loginView = { ...whoView, columns: whoView.columns.slice(0, 3) }

export const command = defineCommand({
  prints: object([], { username: 'your name', server: 'its URL', profile: 'the profile' }),
  arguments: '[url]',
  options: [
    { flags: '--user <name>', description: 'your username on the server' },
    { flags: '--no-browser', description: 'ask for username and API key instead of opening the browser' },
    {
      flags: '--oidc',
      description:
        'in a CI job: log in with its identity token, without a stored key (GitHub Actions, GitLab CI)',
    },
  ],
  examples: [
    'gridline login https://charts.example.com',
    'echo "$KEY" | gridline login https://charts.example.com --user ci',
    'gridline login localhost:8080 --profile test',
    'gridline login https://charts.example.com --oidc      # in a CI job',
  ],
  async run(context, [given], options) {
    const profile = context.flags.profile ?? context.environment.GRIDLINE_PROFILE ?? 'default'
    if (profile === LOCAL || context.flags.local)
      throw new Problem('usage', 'the profile local needs no login: it is this machine', {
        hint: 'Use another name: --profile NAME',
      })
    const before = (await context.config.read()).profiles?.[profile]
    const terminal = process.stdin.isTTY === true && process.stderr.isTTY === true
    const address =
      given ??
      context.environment.GRIDLINE_URL ??
      before?.url ??
      (terminal ? await ask('Server URL: ') : undefined)
    if (!address)
      throw new Problem('usage', 'no server given', {
        hint: 'Pass its URL: gridline login https://charts.example.com',
      })
    const url = checkUrl(address)
    const caFile = certificatesOf(context, before, url)
    if (options.oidc) {
      const { token } = await identityToken(url, context.environment)
      const { client, close } = await remote(url, { caFile })
      try {
        const { username, api_key, expires_at } = await client.call('oidc.exchange', { json: { token } })
        await store(context, profile, { url, user: username, ca_file: caFile }, api_key)
        context.messages.note(`Logged in to ${url} as ${username}, until ${expires_at}.`)
        return { one: { username, server: url, profile, expires_at }, view: loginView }
      } finally {
        await close()
      }
    }
    const inBrowser =
      terminal &&
      options.browser !== false &&
      options.user === undefined &&
      !context.environment.GRIDLINE_USER &&
      !context.environment.GRIDLINE_API_KEY
    if (inBrowser) {
      const { client, close } = await remote(url, { ...context.connectOptions(), caFile })
      try {
        const { username, api_key } = await loginInBrowser(context, client, url)
        await store(context, profile, { url, user: username, ca_file: caFile }, api_key)
        context.messages.note(`Logged in to ${url} as ${username}.`)
        return { one: { username, server: url, profile }, view: loginView }
      } finally {
        await close()
      }
    }
    const user =
      (options.user as string | undefined) ??
      context.environment.GRIDLINE_USER ??
      (terminal ? await ask('Username: ') : undefined)
    if (!user) throw new Problem('usage', 'no user given', { hint: 'Use --user NAME.' })
    const apiKey =
      context.environment.GRIDLINE_API_KEY ??
      (terminal ? await askHidden('API key: ') : (await wholeOf('-')).toString('utf8').trim())
    if (!apiKey)
      throw new Problem('usage', 'no API key given', {
        hint: 'Set GRIDLINE_API_KEY, or pass the key on standard input.',
      })
    const keyFrom = context.environment.GRIDLINE_API_KEY
      ? 'environment GRIDLINE_API_KEY'
      : terminal
        ? 'what was typed'
        : 'standard input'
    const { client, close } = await remote(url, { user, apiKey, keyFrom, caFile })
    try {
      const me = await client.call('users.current')
      await store(context, profile, { url, user, ca_file: caFile }, apiKey)
      context.messages.note(`Logged in to ${url} as ${me.username}.`)
      return { one: { username: me.username, server: url, profile }, view: loginView }
    } finally {
      await close()
    }
  },
})

/** The certificates that are trusted: those that are named, or those of the profile, if it is for this server. */
function certificatesOf(context: Context, before: Profile | undefined, url: string): string | undefined {
  const { caFile } = context.connectOptions()
  // A file is found from every folder.
  if (caFile !== undefined) return resolve(caFile)
  return before?.url !== undefined && originOf(before.url) === originOf(url) ? before.ca_file : undefined
}

/** Keeps a key in a profile, which becomes the active one. */
async function store(
  context: Context,
  profile: string,
  { url, user, ca_file }: { url: string; user: string; ca_file: string | undefined },
  apiKey: string,
): Promise<void> {
  const key_origin = originOf(url)
  const isKept = await context.keychain.set(profile, key_origin, apiKey)
  if (!isKept)
    context.messages.aside(
      `The key is kept in ${context.config.path}, which only you can read: no keychain was found.`,
    )
  const key = isKept ? { keychain: true as const } : { api_key: apiKey }
  const trusted = ca_file === undefined ? {} : { ca_file }
  if (profile !== 'default')
    context.messages.aside(`Profile ${profile} is now in use; go back with: gridline profile use NAME`)
  await context.config.change((config) => {
    config.profiles = { ...config.profiles, [profile]: { url, user, ...key, key_origin, ...trusted } }
    config.profile = profile
  })
}

/** Reads a line from the terminal without echo. */
async function askHidden(question: string): Promise<string> {
  // No echo from the moment on in which it is asked: keys are pasted fast.
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
