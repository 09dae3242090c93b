import { resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid, webUrl } from '../../contract/fid.ts'
import { limitsFrom } from '../../contract/limits.ts'
import type { RunningService } from '../../service/index.ts'
import { databaseUrl, localLinks } from '../config/settings.ts'
import { openBrowser } from '../connect/browser.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'

export const command = defineCommand({
  prints: other('nothing'),
  stores: true,
  arguments: '[file]',
  options: [{ flags: '--no-browser', description: 'print the link instead of opening a browser' }],
  examples: [
    'gridline open "Sales 2024"',
    'gridline open',
    'gridline open alice:7 --no-browser',
    'gridline open sales@3',
  ],
  async run(context, [file], { browser }) {
    const { client, server } = await context.connect()
    const found = file === undefined ? undefined : await resolveVersion(client, file)
    const fid = found && parseFid(found.fid)
    // A version that does not exist is said here.
    if (found?.version !== undefined)
      await client.call('files.get', { fid: found.fid, version: found.version })
    const version = found?.version === undefined ? '' : `?version=${encodeURIComponent(found.version)}`
    const { username } = await client.call('users.current')
    const page = fid ? webUrl('', fid) + version : `/~${username}/`
    const { path } = await client.call('sessions.create', { json: { path: page } })
    const local = localLinks(context.environment)
    const base = server ?? (local.running ? local.url : undefined)
    if (base !== undefined) {
      await show(context, signInUrl(base, path), browser !== false)
      return undefined
    }
    await serveUntilStopped(context, path, browser !== false)
    return undefined
  },
})

/** The link that signs in. The server says the path: it must not lead to another host or program. */
function signInUrl(base: string, path: string): string {
  const url = new URL(path, base)
  if (/^\/signin\?code=[\w.~%-]+(&next=[\w.~%-]+)?$/.test(path) && url.origin === new URL(base).origin)
    return `${base}${path}`
  throw new Problem(
    'failed',
    `the server answered with a link that is not one of its own: ${JSON.stringify(path.slice(0, 100))}`,
  )
}

/** Prints the link, or opens it in the browser. */
async function show(context: Context, url: string, browser: boolean): Promise<void> {
  if (!browser) {
    process.stdout.write(`${url}\n`)
    return
  }
  context.messages.note(`Opening ${url.replace(/\?.*/, '')} in the browser`)
  await openBrowser(url, context.environment)
}

/** Serves the database of this machine while the page is in use. Nothing else can reach it. */
async function serveUntilStopped(context: Context, path: string, browser: boolean): Promise<void> {
  const { createService, listen } = await import('../../service/index.ts')
  const { environment } = context
  let service: RunningService | undefined
  const limits = limitsFrom(environment)
  const listening = await listen(() => service, { host: '127.0.0.1', port: 0, limits })
  const url = `http://127.0.0.1:${listening.port}`
  try {
    service = await createService({ database: databaseUrl(environment), url, environment })
    await show(context, signInUrl(url, path), browser)
    context.messages.line('serving the files of this machine; press Ctrl+C to stop')
    await new Promise<void>((done) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.removeAllListeners(signal)
        process.once(signal, () => done())
      }
    })
  } finally {
    await listening.stop(0)
    await service?.close()
  }
}
