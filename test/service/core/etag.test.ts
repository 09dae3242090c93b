// Entity tags.
import { describe, expect, it } from 'vitest'
import { checkIfMatch, etagWithBody, fileEtag, hasMatchingEtag } from '../../../src/service/core/etag.ts'

describe('entity tags', () => {
  const tag = fileEtag({ version: 7 })
  const long = etagWithBody(tag, { stars: 1 })

  it('the entity tag of a body begins with the tag of the version', () => {
    expect([tag, long]).toEqual(['"7"', expect.stringMatching(/^"7-[0-9a-f]{8}"$/)])
    expect(etagWithBody(tag, { stars: 2 })).not.toBe(long)
  })

  it.each([
    [tag, true],
    [long, true],
    [`W/${tag}`, true],
    [`"6", ${tag}`, true],
    ['"6"', false],
    ['7', false],
    ['"77"', false],
    ['', false],
  ])('version 7 matches %s: %s', (given, found) => {
    expect(hasMatchingEtag(given, tag)).toBe(found)
  })

  it('If-Match compares the version only; * and its absence match all', () => {
    for (const given of [undefined, '*', tag, long, etagWithBody(tag, 'other')])
      expect(() => checkIfMatch({ version: 7 }, given)).not.toThrow()
    expect(() => checkIfMatch({ version: 8 }, tag)).toThrow(/version "8", not "7"/)
  })
})
