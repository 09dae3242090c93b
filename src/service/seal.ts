import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Problem } from '../contract/errors.ts'
import type { Store } from './store/store.ts'

const NAME = 'cursor'
const TAG_BYTES = 16

/** Makes cursors: JSON that clients carry and cannot change. All processes on one store share the secret. */
export class Seal {
  private secret: Promise<string> | undefined

  constructor(private readonly store: Store) {}

  /** `list` says what list the cursor is of: it opens in no other. */
  async close(value: unknown, list: string): Promise<string> {
    const body = Buffer.from(JSON.stringify(value))
    return Buffer.concat([await this.tag(body, list), body]).toString('base64url')
  }

  /** What was closed; Problem `invalid_request` for anything that was not closed here. */
  async open<T>(cursor: string, list: string): Promise<T> {
    const bytes = Buffer.from(cursor, 'base64url')
    const body = bytes.subarray(TAG_BYTES)
    if (bytes.length > TAG_BYTES && timingSafeEqual(bytes.subarray(0, TAG_BYTES), await this.tag(body, list)))
      return JSON.parse(body.toString('utf8'))
    throw new Problem('invalid_request', 'cursor: not one of this list', {
      field: 'cursor',
      hint: 'Take it from next or previous.',
    })
  }

  private async tag(body: Buffer, list: string): Promise<Buffer> {
    this.secret ??= this.load()
    this.secret.catch(() => {
      this.secret = undefined
    })
    return createHmac('sha256', await this.secret)
      .update(`${list}\n`)
      .update(body)
      .digest()
      .subarray(0, TAG_BYTES)
  }

  private async load(): Promise<string> {
    const known = await this.store.read(({ accounts }) => accounts.secret(NAME))
    if (known !== undefined) return known
    return this.store.write(async ({ accounts }) => {
      const secret = (await accounts.secret(NAME)) ?? randomBytes(32).toString('hex')
      if ((await accounts.secret(NAME)) === undefined) await accounts.addSecret(NAME, secret)
      return secret
    })
  }
}
