import { Problem } from '../../contract/errors.ts'
import { remote } from '../connect.ts'
import { defineCommand } from '../define.ts'
import { wholeOf } from '../input.ts'
import { ask } from '../prompt.ts'
import { checkUrl, LOCAL, originOf } from '../settings.ts'
import { whoView } from './whoami.ts'

export const command = defineCommand({
  arguments: '[url]',
  options: [{ flags: '--user <name>', description: 'your username on the server' }],
  examples: [
    'gridline login https://charts.example.com',
    'echo "$KEY" | gridline login https://charts.example.com --user ci',
    'gridline login localhost:8080 --profile test',
  ],
  async run(context, [given], options) {
    const profile = context.flags.profile ?? context.environment.GRIDLINE_PROFILE ?? 'default'
    if (profile === LOCAL || context.flags.local)
      throw new Problem('usage', 'the profile local is the database on this machine and needs no login', {
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
    const { client, close } = await remote(url, { user, apiKey })
    try {
      const me = await client.call('users.current')
      await context.config.change((config) => {
        config.profiles = {
          ...config.profiles,
          [profile]: { url, user, api_key: apiKey, key_origin: originOf(url) },
        }
        config.profile = profile
      })
      context.messages.note(`Logged in to ${url} as ${me.username}.`)
      return { one: { username: me.username, server: url, profile }, view: whoView }
    } finally {
      await close()
    }
  },
})

/** Reads a line from the terminal without echo. */
async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  process.stdin.setRawMode(true)
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
