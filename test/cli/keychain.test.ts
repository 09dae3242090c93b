// API keys in the keychain of the system.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { Keychain } from '../../src/cli/config/keychain.ts'
import { ended, gridline, serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

/** A keychain in memory, with the interface of the library. */
function memory(broken = false) {
  const kept = new Map<string, string>()
  class Entry {
    private readonly name: string
    constructor(service: string, account: string) {
      if (broken) throw new Error('no storage')
      this.name = `${service}/${account}`
    }
    getPassword(): string | null {
      return kept.get(this.name) ?? null
    }
    setPassword(password: string): void {
      kept.set(this.name, password)
    }
    deletePassword(): void {
      kept.delete(this.name)
    }
  }
  return { kept, load: async () => ({ Entry }) }
}

it('the keychain stores keys by profile and server, and deletes them', async () => {
  const { kept, load } = memory()
  const keychain = new Keychain({}, load)
  expect(await keychain.set('work', 'https://a.test', 'secret')).toBe(true)
  expect([...kept]).toEqual([['gridline/work https://a.test', 'secret']])
  expect(await keychain.get('work', 'https://a.test')).toBe('secret')
  await expect(keychain.get('work', 'https://b.test')).rejects.toThrow(/no key for profile work/)
  await keychain.delete('work', 'https://a.test')
  expect(kept.size).toBe(0)
})

it.each([
  ['GRIDLINE_HOME', { GRIDLINE_HOME: '/x' }],
  ['CI', { CI: 'true' }],
  ['GRIDLINE_KEYCHAIN=off', { GRIDLINE_KEYCHAIN: 'off' }],
])('the keychain is not used with %s', async (_, environment) => {
  const { kept, load } = memory()
  expect([await new Keychain(environment, load).set('p', 'https://a.test', 'k'), kept.size]).toEqual([
    false,
    0,
  ])
})

it('without a keychain, keys are stored elsewhere, and reading explains why', async () => {
  const none = new Keychain({}, memory(true).load)
  expect(await none.set('p', 'https://a.test', 'k')).toBe(false)
  await expect(none.get('p', 'https://a.test')).rejects.toThrow(/cannot open the keychain: no storage/)
})

const hasKeyring = ['dbus-run-session', 'gnome-keyring-daemon'].every(
  (program) => spawnSync(program, ['--version']).error === undefined,
)

it.skipIf(!hasKeyring)('the desktop keychain keeps the key of a login until logout', async () => {
  const folder = temporaryFolder()
  const [home, run] = [join(folder.path, 'home'), join(folder.path, 'run')]
  for (const path of [home, run]) mkdirSync(path, { mode: 0o700 })
  const server = await serve([], { home: join(folder.path, 'server') })
  try {
    const made = await gridline(['admin', 'create-user', 'kim', '--json'], {
      home: join(folder.path, 'server'),
    })
    const { api_key: key } = JSON.parse(made.stdout)
    const cli = `'${process.execPath}' '${fileURLToPath(new URL('../../bin/gridline.js', import.meta.url))}'`
    const script = `printf '\\n' | gnome-keyring-daemon --unlock --components=secrets > /dev/null
      set -e
      echo '${key}' | ${cli} login ${server.url} --user kim
      cp "$HOME/.config/gridline/config.json" "$HOME/after-login.json"
      ${cli} whoami
      ${cli} logout
      ! ${cli} whoami --profile default
      echo '${key}' | ${cli} login ${server.url} --user kim
      ${cli} config unset api_key
      ! ${cli} whoami --profile default`
    const { stdout, stderr } = await ended(
      spawn('dbus-run-session', ['--', 'sh', '-c', script], {
        env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: run },
      }),
    )
    const login = `kim\t${server.url}\tdefault\n`
    expect(stdout, stderr).toBe(
      `${login}kim\t${server.url}\tdefault\tkeychain, profile default\n${login}api_key\t\tdefault\n`,
    )
    const settings = readFileSync(join(home, 'after-login.json'), 'utf8')
    expect(settings).not.toContain(key)
    expect(JSON.parse(settings).profiles.default).toMatchObject({ user: 'kim', keychain: true })
  } finally {
    await server.stop()
    folder.remove()
  }
})
