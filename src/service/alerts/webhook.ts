// Sends messages to URLs, signed as in Standard Webhooks (https://www.standardwebhooks.com).
import { createHmac, randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { PublicHosts } from '../import/public-hosts.ts'

/** Maximum time to a response, in ms. */
const RESPONSE_TIMEOUT_MS = 15_000
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 24

/** A message. `id` is the same for each attempt. */
export interface WebhookMessage {
  id: string
  body: string
}

/** Creates the secret of a receiver. */
export function createSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Returns the headers that sign a message. `now`: in ms since 1970. */
function signMessage({ id, body }: WebhookMessage, secret: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Sends messages to URLs at public addresses. Redirects are not followed. */
export class Webhooks {
  private readonly hosts: PublicHosts

  constructor(
    canConnect?: (address: string) => boolean,
    private readonly timeoutMs = RESPONSE_TIMEOUT_MS,
  ) {
    this.hosts = new PublicHosts('to', canConnect)
  }

  /** Throws `invalid_request` for a URL to which no message may be sent. */
  checkUrl(url: string): Promise<void> {
    return this.hosts.check(url)
  }

  /** Sends a message. Throws a Problem unless the receiver accepts it. */
  async send(url: string, message: WebhookMessage, secret: string): Promise<void> {
    const { Agent, request } = await import('../../vendor/undici.ts')
    const agent = new Agent({ connect: { timeout: 10_000, lookup: this.hosts.lookup as never } })
    try {
      const { statusCode, body } = await request(this.hosts.parseUrl(url), {
        method: 'POST',
        dispatcher: agent,
        signal: AbortSignal.timeout(this.timeoutMs),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'gridline',
          ...signMessage(message, secret, Date.now()),
        },
        body: message.body,
      })
      // The answer is not read.
      body.on('error', () => {}).destroy()
      if (statusCode < 200 || statusCode > 299) throw failed(`the receiver answered ${statusCode}`)
    } catch (error) {
      if (error instanceof Problem) throw error
      const { name, message: text, cause } = error as Error
      if (cause instanceof Problem) throw cause
      throw failed(name === 'TimeoutError' ? `no answer within ${this.timeoutMs / 1000} s` : text)
    } finally {
      agent.destroy().catch(() => {})
    }
  }
}

function failed(why: string): Problem {
  return new Problem('unreachable', why)
}
