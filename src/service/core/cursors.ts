// Signs the cursors of lists, so that clients cannot change them.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { Store } from '../store/store.ts'

const SECRET_NAME = 'cursor'
/** Format version of all cursors. Increase it with any change that makes older cursors invalid. */
const FORMAT_VERSION = 1
const TAG_BYTES = 16

/**
 * Signs and verifies cursors: base64url of a version byte, an HMAC and JSON. All processes on one store share
 * the secret.
 */
export class CursorSigner {
  private secret: Promise<string> | undefined

  constructor(private readonly store: Store) {}

  /** Returns a cursor that holds `value`. It is valid only for the list named `list`. */
  async sign(value: unknown, list: string): Promise<string> {
    const body = Buffer.from(JSON.stringify(value))
    return Buffer.concat([Buffer.of(FORMAT_VERSION), await this.computeTag(body, list), body]).toString(
      'base64url',
    )
  }

  /** Returns the value that was signed for `purpose`; undefined for any other text. */
  async tryVerify<T>(text: string, purpose: string): Promise<T | undefined> {
    return this.verify<T>(text, purpose).catch((error) => {
      if (error instanceof Problem) return undefined
      throw error
    })
  }

  /** Returns the value of a cursor of this list. Throws `invalid_request` for any other text. */
  async verify<T>(cursor: string, list: string): Promise<T> {
    const [version, tag, body] = splitCursor(Buffer.from(cursor, 'base64url'))
    const signed = version === FORMAT_VERSION && body.length > 0
    if (signed && timingSafeEqual(tag, await this.computeTag(body, list)))
      return JSON.parse(body.toString('utf8'))
    throw new Problem('invalid_request', 'cursor: not valid for this list', {
      field: 'cursor',
      hint: 'Use a cursor from next or previous.',
    })
  }

  private async computeTag(body: Buffer, list: string): Promise<Buffer> {
    this.secret ??= this.loadSecret()
    this.secret.catch(() => {
      this.secret = undefined
    })
    return createHmac('sha256', await this.secret)
      .update(`${list}\n`)
      .update(body)
      .digest()
      .subarray(0, TAG_BYTES)
  }

  private async loadSecret(): Promise<string> {
    const stored = await this.store.read(({ credentials }) => credentials.getSecret(SECRET_NAME))
    if (stored !== undefined) return stored
    // If two processes add it, one transaction fails and is retried.
    return this.store.write([], async ({ credentials }) => {
      const added = await credentials.getSecret(SECRET_NAME)
      if (added !== undefined) return added
      const secret = randomBytes(32).toString('hex')
      await credentials.addSecret(SECRET_NAME, secret)
      return secret
    })
  }
}

function splitCursor(cursor: Buffer): [number | undefined, Buffer, Buffer] {
  return [cursor[0], cursor.subarray(1, 1 + TAG_BYTES), cursor.subarray(1 + TAG_BYTES)]
}
