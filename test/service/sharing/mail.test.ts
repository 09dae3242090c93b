// What mail servers do.
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import { Mailer } from '../../../src/service/sharing/mail.ts'

/** Sends a mail to a server; returns why it failed. */
async function fail(options: SMTPServerOptions, answerMs = 60_000): Promise<unknown> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const mailer = new Mailer(`smtp://127.0.0.1:${port}`, 'from@example.com', {
    connectMs: 60_000,
    answerMs,
  })
  try {
    await mailer.send({ to: 'to@example.com', subject: 's', text: 't' })
    return undefined
  } catch (error) {
    return error
  } finally {
    await mailer.close()
    server.close()
  }
}

const refuse = (responseCode: number): Error => Object.assign(new Error('no'), { responseCode })

describe('failures of mail servers', () => {
  it('one that does not answer is unreachable, after the time for an answer', async () => {
    expect(await fail({ onData: (stream) => stream.resume() }, 100)).toMatchObject({ isUnreachable: true })
  })

  it.each([
    ['the mail server refused the address: ', true, { onRcptTo: (_, __, done) => done(refuse(550)) }],
    [
      'the mail server refused the address for now: ',
      false,
      { onRcptTo: (_, __, done) => done(refuse(451)) },
    ],
    [
      'the mail server refused the sender of this ',
      false,
      { onMailFrom: (_, __, done) => done(refuse(550)) },
    ],
    [
      'the mail server refused the sender of this ',
      false,
      { onMailFrom: (_, __, done) => done(refuse(451)) },
    ],
  ] satisfies [string, boolean, SMTPServerOptions][])('%s', async (text, isRefused, options) => {
    expect(await fail(options)).toMatchObject({ message: expect.stringContaining(text), isRefused })
  })
})
