// The client of Chromium beside programs that are none.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Browser } from '../../src/draw/chromium.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

/** Starts a program in place of Chromium. */
function launch(name: string, code: string): Promise<Browser> {
  const file = join(folder.path, name)
  writeFileSync(file, `#!${process.execPath}\n${code}\n`, { mode: 0o755 })
  return Browser.launch(file, [], {})
}

/** Answers each command, as Chromium does. */
const ANSWERS = `
const { createReadStream, writeSync } = require('node:fs')
let text = ''
createReadStream(null, { fd: 3 }).on('data', (chunk) => {
  text += chunk
  for (let end = text.indexOf('\\0'); end >= 0; end = text.indexOf('\\0')) {
    const message = JSON.parse(text.slice(0, end))
    text = text.slice(end + 1)
    answer(message)
  }
})`

it('a program that ends is reported with its error output, also if it leaves another one behind', async () => {
  const leaves = `require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit', detached: true }).unref()
process.stderr.write('no display')
process.exitCode = 1
process.on('beforeExit', () => process.exit())`
  await expect(launch('leaves', leaves)).rejects.toThrow('no display')
  await expect(launch('ends', 'process.exit(3)')).rejects.toThrow('it ended with code 3')
  await expect(Browser.launch(join(folder.path, 'missing'), [], {})).rejects.toThrow('ENOENT')
})

it('a program that writes no messages is ended', async () => {
  await expect(
    launch('chatter', "require('node:fs').writeSync(4, 'hello\\0'); setInterval(() => {}, 1000)"),
  ).rejects.toThrow('it ended with SIGKILL')
})

it('commands fail when Chromium ends or refuses them; messages can come in parts', async () => {
  const code = `${ANSWERS}
function answer({ id, method }) {
  if (method === 'Target.getTargets') return process.exit()
  const reply = method === 'Browser.close' ? { id, error: { message: 'not allowed' } } : { id, result: { product: 'é' } }
  for (const byte of Buffer.from(JSON.stringify(reply) + '\\0')) writeSync(4, Buffer.from([byte]))
}`
  const browser = await launch('answers', code)
  expect(await browser.send('Browser.getVersion')).toEqual({ product: 'é' })
  await expect(browser.send('Browser.close')).rejects.toThrow('not allowed')
  const closed = new Promise((resolve) => browser.once('closed', resolve))
  await expect(browser.openPage()).rejects.toThrow('Chromium has ended')
  await closed
  expect(browser.connected).toBe(false)
  await expect(browser.send('Browser.getVersion')).rejects.toThrow('Chromium has ended')
  await browser.close()
})
