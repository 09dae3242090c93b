import { describe, expect, it } from 'vitest'
import { resolveSettings } from '../../src/cli/settings.ts'

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
