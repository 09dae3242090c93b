// What mail servers do.
import { type AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { describe, expect, it, vi } from 'vitest'
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
  it('each answer has a time limit; a message that was not confirmed may have been accepted', async () => {
    const setTimeoutOf = vi.spyOn(Socket.prototype, 'setTimeout')
    const answerMs = 54_321
    const hasData = fail(
      {
        onData: (stream) => {
          stream.resume()
          // The time passes.
          const sockets = setTimeoutOf.mock.contexts.filter(
            (_, k) => setTimeoutOf.mock.calls[k][0] === answerMs,
          )
          stream.once('end', () => {
            for (const socket of sockets) (socket as Socket).emit('timeout')
          })
        },
      },
      answerMs,
    )
    expect(await hasData).toMatchObject({
      message: expect.stringContaining('the mail server has not answered'),
      isUnreachable: false,
      isRefused: false,
    })
    setTimeoutOf.mockRestore()
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
