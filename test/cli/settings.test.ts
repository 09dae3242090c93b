// The config file, and the precedence of settings.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigStore, resolveSettings } from '../../src/cli/config/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'gridline-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the config file', () => {
  const file = join(folder, 'config.json')
  const store = new ConfigStore(folder)

  it('the config file is readable by its owner only, and read back', async () => {
    await store.update((changed) => {
      changed.profile = 'work'
      changed.profiles = { work: { url: 'https://a.test', user: 'ann' } }
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await store.read()).toEqual({
      profile: 'work',
      profiles: { work: { url: 'https://a.test', user: 'ann' } },
    })
  })

  it('the config file may begin with a byte order mark', async () => {
    writeFileSync(file, '\ufeff{"profile":"x"}')
    expect(await store.read()).toEqual({ profile: 'x' })
  })

  it.each([
    '',
    'null',
    '[]',
    '{"profiles":null}',
    '{"profiles":{"a":null}}',
    '{"profiles":{"a":{"url":5}}}',
    '{',
  ])('the config file %j is an error that says what to do', async (text) => {
    writeFileSync(file, text)
    await expect(store.read()).rejects.toMatchObject({
      code: 'bad_data',
      message: expect.stringContaining(file),
      hint: 'Fix or delete the file.',
    })
  })
})

const config = {
  profile: 'work',
  profiles: {
    work: { url: 'https://work.example.com', user: 'ann', api_key: 'key-of-work' },
    home: { url: 'https://home.example.com', user: 'ben', api_key: 'key-of-home' },
  },
}

describe('where a setting comes from', () => {
  it.each([
    ['the profile of the config file', {}, {}, ['https://work.example.com', 'ann', 'key-of-work']],
    ['--profile', { profile: 'home' }, {}, ['https://home.example.com', 'ben', 'key-of-home']],
    [
      'GRIDLINE_PROFILE',
      {},
      { GRIDLINE_PROFILE: 'home' },
      ['https://home.example.com', 'ben', 'key-of-home'],
    ],
    [
      '--profile before GRIDLINE_PROFILE',
      { profile: 'work' },
      { GRIDLINE_PROFILE: 'home' },
      ['https://work.example.com', 'ann', 'key-of-work'],
    ],
    [
      'the environment before the profile',
      {},
      { GRIDLINE_USER: 'cat', GRIDLINE_API_KEY: 'k' },
      ['https://work.example.com', 'cat', 'k'],
    ],
    ['--local: no server', { local: true }, {}, [undefined, undefined, undefined]],
  ])('%s', (_, flags, environment, expected) => {
    const { url, user, api_key } = resolveSettings(config, environment, flags)
    expect([url.value, user.value, api_key.value]).toEqual(expected)
  })

  it('a stored key is not sent to another server than the one it was stored for', () => {
    const { url, api_key } = resolveSettings(config, { GRIDLINE_URL: 'https://other.example.com' }, {})
    expect([url.value, api_key.value]).toEqual(['https://other.example.com', undefined])
  })

  it('an unknown profile is a usage error, with the way to create it', () => {
    expect(() => resolveSettings(config, {}, { profile: 'nowhere' })).toThrow(/no profile named nowhere/)
  })
})
