// Automata of checks, compared with RE2.
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import {
  accepts,
  compileLengths,
  compilePattern,
  compileTexts,
} from '../../../src/service/grids/checks/automaton.ts'
import { CellReader } from '../../../src/service/grids/column/kernel/cells.ts'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { runs } from '../../support/property-runs.ts'

let seed = 3
const random = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
const pick = (texts: readonly string[]): string => texts[random(texts.length)]

function pattern(depth: number): string {
  const atom = (): string =>
    depth > 0 && random(4) === 0
      ? `(${pick(['', '?:'])}${pattern(depth - 1)})`
      : pick([
          'a',
          'b',
          '.',
          '[ab]',
          '[^a]',
          '[a-c1-9]',
          '\\d',
          '\\w',
          '\\.',
          '[\\d.-]',
          '\\s',
          '[^\\s@]',
          '@',
        ])
  const piece = (): string => atom() + pick(['', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '*?'])
  const sequence = (): string => Array.from({ length: 1 + random(3) }, piece).join('')
  return Array.from({ length: 1 + random(2) }, sequence).join('|')
}

describe('automata', () => {
  it('automata accept exactly the texts that the library matches', () => {
    for (let round = 0; round < runs(150, 5000); round++) {
      const given = pattern(2)
      const automaton = compilePattern(given)
      if (!automaton) continue
      const compiled = RE2JS.compile(given)
      for (let k = 0; k < 20; k++) {
        const text = Array.from({ length: random(7) }, () =>
          pick(['a', 'b', 'c', '1', '.', '-', ' ', '@', '\n', '_']),
        ).join('')
        expect([given, text, accepts(automaton, text)]).toEqual([given, text, compiled.testExact(text)])
      }
    }
  })

  it.each([
    '^abc$',
    'a|b',
    '[^@]+@[^@]+\\.[a-z]{2,}',
    '\\d{4}-\\d\\d-\\d\\d',
    '(open|closed)?',
    '[-a]',
    '[]a]',
  ])('%s has an automaton', (given) => {
    expect(compilePattern(given)).toBeDefined()
  })

  it.each([
    '(?i)a',
    '\\pL',
    '\\bx',
    '^a|b',
    'a$b',
    '[[:alpha:]]',
    '(a{50}){50}',
    'é',
    '\\x41',
    'a**',
    '(?P<n>a)',
  ])('%s has no automaton', (given) => {
    expect(compilePattern(given)).toBeUndefined()
  })

  it('automata of lists and of lengths accept exactly their texts', () => {
    const words = compileTexts(['open', 'closed', 'é'])!
    expect(['open', 'closed', 'clos', '', 'opened'].map((text) => accepts(words, text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    const lengths = compileLengths(2, 3)!
    expect(['a', 'ab', 'abc', 'abcd'].map((text) => accepts(lengths, text))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  it('the kernel finds the rows that an automaton does not accept', () => {
    if (KernelPool.use === 'never') return
    const automaton = compilePattern('[a-c]+|-?[0-9]+')!
    const text = Buffer.from(
      '"abc", "", null,12,"x","a\\u0062","é", 1.5,true,[1,"]"],{"a":2} , "ab","a\\"b",-7',
    )
    const reader = CellReader.open(text.length)
    expect(reader.findRejected(text, automaton, 100)).toEqual([4, 5, 6, 7, 8, 9, 10, 12])
    expect(reader.findRejected(text, automaton, 3)).toBeUndefined()
    const ascends = (json: string): boolean => reader.isAscending(Buffer.from(json))
    expect(['-2, 0,7 ,100000000000000', '1', ''].map(ascends)).toEqual([true, true, true])
    for (const json of ['1,1', '2,1', '1,null', '1,2.5', '1,1e3', '1,"2"', '1,1234567890123456', '-1,-2'])
      expect([json, ascends(json)]).toEqual([json, false])
    reader.release()
  })
})
