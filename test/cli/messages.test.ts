// Alerts and mailings as commands, with a server, a mail server and a receiver of webhooks.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

describe('messages', () => {
  const folder = temporaryFolder()
  const home = join(folder.path, 'home')
  let smtp: SMTPServer
  let receiver: Server
  let hook: string
  let server: Awaited<ReturnType<typeof serve>>
  let env: Record<string, string>
  const mails: string[] = []
  const hooks: { type: string }[] = []
  const run = (...args: string[]) =>
    gridline(args, { home: join(folder.path, 'client'), cwd: folder.path, env })
  const lines = async (...args: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await run(...args)
    expect([code, stderr.replace(/^(?:Save|warning).*\n/gm, '')]).toEqual([0, ''])
    return stdout.trimEnd().split('\n')
  }
  beforeAll(async () => {
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, _, done) {
        let text = ''
        stream.setEncoding('latin1').on('data', (chunk) => {
          text += chunk
        })
        stream.on('end', () => {
          mails.push(text)
          done()
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        hooks.push(JSON.parse(body))
        response.end()
      })
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const { port } = smtp.server.address() as AddressInfo
    server = await serve(['--smtp', `smtp://127.0.0.1:${port}`, '--allow-private-urls'], { home })
    const { stdout } = await gridline(['admin', 'create-user', 'ada', '--json'], { home })
    env = { GRIDLINE_URL: server.url, GRIDLINE_USER: 'ada', GRIDLINE_API_KEY: JSON.parse(stdout).api_key }
    writeFileSync(join(folder.path, 'sensors.csv'), 'id,temp\n1,10\n2,20\n')
    await lines('upload', 'sensors.csv', '--plot', 'line', '--x', 'id', '--y', 'temp')
  })
  afterAll(async () => {
    await server.stop()
    receiver.closeAllConnections()
    receiver.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
    folder.remove()
  })

  it('alert add, list, test and remove; a write that fires it sends a message', async () => {
    const [added] = await lines('alert', 'add', 'sensors', '--when', 'max(temp) > 40', '--to', hook)
    const [id, ...shown] = added.split('\t')
    expect(shown.slice(0, 4)).toEqual(['sensors', 'ok', 'max(temp) > 40', 'max(temp) is 20'])
    await lines('append', 'sensors', '--row', '3,50')
    await expect.poll(() => hooks.map(({ type }) => type), { timeout: 60_000 }).toEqual(['alert.firing'])
    expect((await lines('alert', 'list', 'sensors'))[0]).toMatch(
      /\tfiring\tmax\(temp\) > 40\tmax\(temp\) is 50\t/,
    )
    await lines('alert', 'test', id)
    expect(hooks.map(({ type }) => type)).toEqual(['alert.firing', 'alert.test'])
    await lines('alert', 'remove', id)
    expect(await lines('alert', 'list')).toEqual([''])
  })

  it.each([
    [['alert', 'add', 'sensors', '--to', 'a@example.com'], 'give one of --when'],
    [['alert', 'add', 'sensors', '--stale', '1h'], '--to is missing'],
    [
      ['alert', 'add', 'sensors', '--stale', 'soon', '--to', 'a@example.com'],
      '--stale soon: expected minutes',
    ],
    [['alert', 'add', 'sensors', '--changed', '0', '--to', 'a@example.com'], 'above 0'],
    [['alert', 'add', 'sensors', '--when', 'max(tmp) > 1', '--to', 'a@example.com'], 'Did you mean temp'],
    [['alert', 'remove', 'none'], 'no alert "none"'],
    [['send', 'sensors line', '--every', 'sundae', '--to', 'a@example.com'], 'is no day'],
    [['send', 'sensors line', '--at', '07:00', '--to', 'a@example.com'], 'only be used with --every'],
    [['send', 'sensors', '--to', 'a@example.com'], 'only charts and boards'],
    [['send', 'sensors line'], '--to is missing'],
  ])('%j is refused', async (args, why) => {
    const { code, stderr } = await run(...args)
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(why)])
  })

  it('send now, regularly, and no more', async () => {
    expect(await lines('send', 'sensors line', '--to', 'a@example.com,b@example.com')).toEqual([
      expect.stringMatching(/^ada:\d+\ta@example\.com, b@example\.com$/),
    ])
    expect(mails.length).toBe(2)
    const args = [
      'send',
      'sensors line',
      '--every',
      'monday',
      '--zone',
      'Europe/Oslo',
      '--to',
      'a@example.com',
    ]
    // What cannot be undone is not tried.
    const tried = await run('send', 'sensors line', '--to', 'a@example.com', '--dry-run')
    expect([tried.code, tried.stdout, mails.length]).toEqual([0, expect.stringContaining('send now'), 2])
    expect((await lines(...args, '--dry-run'))[0]).toContain('send regularly')
    expect(await lines('send')).toEqual([''])
    const [made] = await lines(...args)
    expect(made).toContain('every monday at 07:00 (Europe/Oslo)')
    const [id] = made.split('\t')
    expect((await lines('send'))[0]).toContain(id)
    await lines('send', '--stop', id)
    expect(await lines('send')).toEqual([''])
  })
})
