// Glob patterns of file names.
import { describe, expect, it } from 'vitest'
import { compilePattern, isPattern } from '../../src/cli/files/patterns.ts'

describe('patterns of file names', () => {
  it.each([
    ['*', 'anything', true],
    ['sales*', 'sales 2024', true],
    ['sales*', 'Sales', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a😀c', true],
    ['[ab]x', 'bx', true],
    ['[!ab]x', 'bx', false],
    ['[!ab]x', 'cx', true],
    ['a.b', 'axb', false],
    ['a+(b)', 'a+(b)', true],
    ['*', 'two\nlines', true],
    ['[^a]', 'a', true],
    ['[\\]', '\\', true],
  ])('pattern %s against %s: %s', (pattern, name, matches) => {
    expect(compilePattern(pattern).test(name)).toBe(matches)
  })

  it('links are not patterns', () => {
    expect(['a*', 'a?', '[a]', 'a', 'https://h/~a/1/?share_key=x'].map(isPattern)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })
})
