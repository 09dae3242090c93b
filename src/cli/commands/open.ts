// `gridline open`: opens a page in the browser, signed in.
import { type Client, resolveFid, resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatWebUrl, parseFid } from '../../contract/fid.ts'
import { readLimits } from '../../contract/limits.ts'
import { formatEmbedBlock } from '../../contract/web/embed-block.ts'
import type { RunningService } from '../../service/index.ts'
import { databaseUrl, readLocalServer } from '../config/settings.ts'
import { openBrowser } from '../connect/browser.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'

export const command = defineCommand({
  output: otherOutput('nothing'),
  mayWrite: true,
  arguments: '[file]',
  options: [
    { flags: '--no-browser', description: 'print the link instead of opening a browser' },
    { flags: '--embed', description: 'print the HTML that embeds a plot in a web page' },
  ],
  examples: [
    'gridline open "Sales 2024"',
    'gridline open',
    'gridline open alice:7 --no-browser',
    'gridline open sales@3',
    'gridline open sales-chart --embed',
  ],
  async run(context, [file], { browser, embed }) {
    const { client, server } = await context.connect()
    if (embed) {
      await printEmbedBlock(context, client, file)
      return undefined
    }
    const target = file === undefined ? undefined : await resolveVersion(client, file)
    const fid = target && parseFid(target.fid)
    // Fails here if the version does not exist.
    if (target?.version !== undefined)
      await client.call('files.get', { fid: target.fid, version: target.version })
    const version = target?.version === undefined ? '' : `?version=${encodeURIComponent(target.version)}`
    const { username } = await client.call('users.current')
    const page = fid ? formatWebUrl('', fid) + version : `/~${username}/`
    const { path } = await client.call('sessions.create', { json: { path: page } })
    const localServer = readLocalServer(context.environment)
    const base = server ?? (localServer.running ? localServer.url : undefined)
    if (base !== undefined) {
      await openOrPrint(context, signInUrl(base, path), browser !== false)
      return undefined
    }
    await serveUntilStopped(context, path, browser !== false)
    return undefined
  },
})

/** Prints the HTML that embeds a plot, with its secret link if it is private and has one. */
async function printEmbedBlock(context: Context, client: Client, file: string | undefined): Promise<void> {
  if (file === undefined)
    throw new Problem('usage', '--embed needs a plot', { hint: 'gridline open PLOT --embed' })
  const plot = await client.call('plots.get', { fid: await resolveFid(client, file) })
  const base = plot.web_url.slice(0, plot.web_url.indexOf('/~'))
  const hasKey = !plot.world_readable && plot.share_key_enabled === true && Boolean(plot.share_key)
  process.stdout.write(
    `${formatEmbedBlock(base, parseFid(plot.fid)!, plot.filename, hasKey ? plot.share_key! : undefined)}\n`,
  )
  if (!plot.world_readable && !hasKey)
    context.messages.note(
      `${plot.filename} is private: others see a picture that says so. Publish it, or share a secret link: gridline share ${plot.fid} --link`,
    )
}

/** Returns the sign-in URL. The path comes from the server: it must not lead to another host or program. */
function signInUrl(base: string, path: string): string {
  const url = new URL(path, base)
  if (/^\/signin\?code=[\w.~%-]+(&next=[\w.~%-]+)?$/.test(path) && url.origin === new URL(base).origin)
    return `${base}${path}`
  throw new Problem(
    'failed',
    `the server returned a link to another host: ${JSON.stringify(path.slice(0, 100))}`,
  )
}

/**
 * Opens the link in the browser if `browser` is true, else prints it. Throws `failed` if the browser does not
 * start.
 */
async function openOrPrint(context: Context, url: string, browser: boolean): Promise<void> {
  if (!browser) {
    process.stdout.write(`${url}\n`)
    return
  }
  context.messages.note(`Opening ${url.replace(/\?.*/, '')} in the browser`)
  const print = (program: string): void => {
    context.messages.warning(`${program} opened no browser; open this link yourself:`)
    process.stdout.write(`${url}\n`)
  }
  await openBrowser(url, context.environment, print)
}

/** Serves the local database until Ctrl-C. Other machines cannot reach it. */
async function serveUntilStopped(context: Context, path: string, browser: boolean): Promise<void> {
  const { createService, listen } = await import('../../service/index.ts')
  const { environment } = context
  let service: RunningService | undefined
  const limits = readLimits(environment)
  const listening = await listen(() => service, { host: '127.0.0.1', port: 0, limits })
  const url = `http://127.0.0.1:${listening.port}`
  try {
    service = await createService({ database: databaseUrl(environment), url, environment })
    await openOrPrint(context, signInUrl(url, path), browser)
    context.messages.line('serving the files on this machine; press Ctrl+C to stop')
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
