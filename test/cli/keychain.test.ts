import { expect, it } from 'vitest'
import { Keychain } from '../../src/cli/keychain.ts'

/** A keychain in memory, in the form of the library. */
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

it('a key is kept by profile and server, and deleted', async () => {
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
])('it is not used with %s', async (_, environment) => {
  const { kept, load } = memory()
  expect([await new Keychain(environment, load).set('p', 'https://a.test', 'k'), kept.size]).toEqual([
    false,
    0,
  ])
})

it('where there is none, keys are kept elsewhere, and reading says why', async () => {
  const none = new Keychain({}, memory(true).load)
  expect(await none.set('p', 'https://a.test', 'k')).toBe(false)
  await expect(none.get('p', 'https://a.test')).rejects.toThrow(/does not open: no storage/)
})
