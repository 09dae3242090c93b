// Login in the browser.
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { openBrowser } from '../connect/browser.ts'
import type { Context } from '../core/context.ts'

/** Time to wait for the browser, in ms. */
const BROWSER_TIMEOUT_MS = 5 * 60_000

/**
 * Logs in with the browser: the server's page sends a one-time code to a local port. The code works only with
 * a secret that never leaves this process. Throws `unauthenticated` after a timeout.
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
  let resolveCode: (code: string) => void = () => {}
  const codeReceived = new Promise<string>((resolve) => {
    resolveCode = resolve
  })
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams
    const code = query.get('code')
    const isExpected = code !== null && query.get('state') === state
    response.writeHead(isExpected ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    })
    response.end(isExpected ? 'You are logged in. You can close this page.\n' : 'Unexpected request.\n')
    if (isExpected) resolveCode(code)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const timer = setTimeout(() => resolveCode(''), BROWSER_TIMEOUT_MS)
  try {
    const page = `${url}/authorize?${new URLSearchParams({ port: String(port), challenge, state, name })}`
    context.messages.line('Opening the browser to log in. If it does not open, go to:')
    context.messages.line(page)
    // Without a browser, the user can open the URL by hand.
    await openBrowser(page, context.environment).catch(() =>
      context.messages.line('No browser could be opened. Use --no-browser to enter an API key.'),
    )
    const code = await codeReceived
    if (code === '')
      throw new Problem('unauthenticated', 'no response from the browser in 5 minutes', {
        hint: 'Try again, or use --no-browser.',
      })
    return await client.call('logins.redeem', { json: { code, verifier, name: `gridline on ${name}` } })
  } finally {
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
  }
}
