// Invitations by e-mail.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUser } from '../../../src/service/admin.ts'
import { createService } from '../../../src/service/index.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe('invitations over SMTP', () => {
  const letters: string[] = []
  const folder = temporaryFolder()
  let smtp: SMTPServer
  let test: TestService
  beforeAll(async () => {
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, _session, done) {
        let text = ''
        stream.on('data', (part) => {
          text += part
        })
        stream.on('end', () => {
          letters.push(text)
          done()
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    const { port } = smtp.server.address() as AddressInfo
    test = new TestService(
      await createService({
        database: `sqlite:${folder.path}/mail.db`,
        url: URL_OF_TESTS,
        environment: {},
        smtp: `smtp://127.0.0.1:${port}`,
      }),
    )
    await test.user('alice')
    await createUser(test.service.store, 'bob', { email: 'bob@example.org' })
  })
  afterAll(async () => {
    await test.service.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
    folder.remove()
  })

  it('invitations are sent only with send_email and once per idempotency key; user text is quoted', async () => {
    const { fid } = await test.grid('alice', 'Numbers', { a: [1] })
    // Names that were stored before invisible characters were refused.
    const filename = 'Numbers\u2028Bcc: evil@example.org'
    await test.service.store.engine.write([], (db) =>
      db.updateTable('files').set({ filename, live_name: filename }).where('owner', '=', 'alice').execute(),
    )
    const add = (json: object, key: string) =>
      test.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
        json,
        headers: { 'idempotency-key': key },
      })
    expect((await add({ users: ['bob'] }, '1')).json.emails_sent).toBe(0)
    expect(letters).toHaveLength(0)
    const json = {
      users: ['bob', 'new@example.org'],
      send_email: true,
      email_text: 'Look\n.\nSubject: not mine',
    }
    expect((await add(json, '2')).json).toMatchObject({ emails_sent: 2, warnings: [] })
    await add(json, '2')
    expect(letters).toHaveLength(2)
    expect(letters[0]).toMatch(/^To: bob@example\.org$/im)
    expect(letters[0]).toContain('> Look\r\n> .\r\n> Subject: not mine')
    expect(letters[0].split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im)
    expect(letters[0]).toContain(`/~alice/${fid.split(':')[1]}/`)
  })
})
