import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { openBrowser } from '../connect/browser.ts'
import type { Context } from '../core/context.ts'

/** How long the browser is waited for, in ms. */
const PATIENCE_MS = 5 * 60_000

/**
 * Logs in with the browser: it shows a page of the server, and brings a one-time code to a port of this machine. The
 * code is of use only with a secret that never leaves this process.
 */
export async function loginInBrowser(
  context: Context,
  client: Client,
  url: string,
): Promise<{ username: string; api_key: string }> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const name = hostname().slice(0, 100)
  let arrive: (code: string) => void = () => {}
  const arrived = new Promise<string>((resolve) => {
    arrive = resolve
  })
  const server = createServer((request, response) => {
    const given = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams
    const code = given.get('code')
    const isOurs = code !== null && given.get('state') === state
    response.writeHead(isOurs ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    })
    response.end(isOurs ? 'You are logged in. You can close this page.\n' : 'Unexpected request.\n')
    if (isOurs) arrive(code)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const late = setTimeout(() => arrive(''), PATIENCE_MS)
  try {
    const page = `${url}/authorize?${new URLSearchParams({ port: String(port), challenge, state, name })}`
    context.messages.line('Opening the browser to log in. If it does not open, go to:')
    context.messages.line(page)
    // Without a browser on this machine, the address can be opened by hand.
    await openBrowser(page, context.environment).catch(() =>
      context.messages.line('No browser could be opened. Use --no-browser to enter an API key.'),
    )
    const code = await arrived
    if (code === '')
      throw new Problem('unauthenticated', 'the browser did not answer in 5 minutes', {
        hint: 'Try again, or use --no-browser.',
      })
    return await client.call('logins.redeem', { json: { code, verifier, name: `gridline on ${name}` } })
  } finally {
    clearTimeout(late)
    server.close()
    server.closeAllConnections()
  }
}
