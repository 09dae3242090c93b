// Text edits of figures agree with edits of parsed figures.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { NO_JSON_LIMITS, parseRaw } from '../../../src/json/index.ts'
import { replaceArrays, splitAtData } from '../../../src/service/plots/edit-figure.ts'
import { type Reference, scanFigure } from '../../../src/service/plots/scan.ts'

type Json = Record<string, unknown>

/** Random traces with arrays, references, both or neither, on three levels. */
const attributes = ['x', 'y', 'text', 'name', 'mode']
const members = (names: string[]) =>
  fc.uniqueArray(
    fc.tuple(
      fc.constantFrom(...names.flatMap((name) => [name, `${name}src`])),
      fc.constantFrom<'array' | 'text' | 'null'>('array', 'text', 'null'),
    ),
    { selector: ([name]) => name },
  )
const trace = fc
  .record({
    top: members(attributes),
    marker: members(['color', 'size', 'symbol']),
    line: members(['color', 'width']),
    at: fc.nat(4),
  })
  .map(({ top, marker, line, at }): Json => {
    const filled = (list: [string, string][]): [string, unknown][] =>
      list.map(([name, kind]) => {
        if (name.endsWith('src')) return [name, { array: 'alice:7:c0ffee', text: '', null: null }[kind]]
        return [name, kind === 'array' ? [1, 'a', null] : kind === 'text' ? 'plain, {"x"}' : null]
      })
    const inner = Object.fromEntries([...filled(marker), ['line', Object.fromEntries(filled(line))]])
    const all = filled(top)
    all.splice(at, 0, ['marker', inner])
    return { ...Object.fromEntries(all), type: 'scatter' }
  })
const figure = fc.record({ data: fc.array(trace, { maxLength: 4 }), layout: fc.constant({ colorway: [1] }) })

/** Applies the edit to parsed objects: the expected result of the text edit. */
function mapped(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null) return value
  return change(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapped(item, change)])))
}

const dataNames = new Set(['x', 'y', 'text', 'color', 'size', 'symbol', 'width'])
const spaces = fc.constantFrom(undefined, 1, '\t')

describe('edits of figure text match edits of the parsed value', () => {
  it('a figure edit replaces arrays, and existing references next to them, by new references', () => {
    fc.assert(
      fc.property(figure, spaces, (value, space) => {
        const raw = parseRaw(Buffer.from(JSON.stringify(value, null, space)), 'the text', NO_JSON_LIMITS)
        const found = scanFigure(raw)
        const arrays = new Set(found.filter(({ kind }) => kind === 'array').map(({ path }) => path))
        const out = replaceArrays(raw, found, (path) => (arrays.has(path) ? `bob:1:${path}` : undefined))
        const expected = mapped(value.data, (object) => {
          const left = { ...object }
          for (const [name, item] of Object.entries(object)) {
            if (!Array.isArray(item) || !dataNames.has(name)) continue
            delete left[name]
            left[`${name}src`] = 'bob'
          }
          return left
        })
        const made = JSON.parse(out.toString(), (_, item) =>
          typeof item === 'string' ? item.replace(/^bob:.*/, 'bob') : item,
        )
        expect(made).toEqual({ data: expected, layout: value.layout })
        // A second survey finds only references, in place of the arrays.
        const again = scanFigure(parseRaw(out, 'the text', NO_JSON_LIMITS)) as Reference[]
        expect(again.some(({ kind }) => (kind as string) === 'array')).toBe(false)
        for (const { kind, text, path } of again)
          if (kind === 'reference' && text.startsWith('bob')) expect(text).toBe(`bob:1:${path}`)
      }),
    )
  })

  it('a figure edit inserts data next to references, replacing existing data', () => {
    fc.assert(
      fc.property(figure, spaces, (value, space) => {
        const raw = parseRaw(Buffer.from(JSON.stringify(value, null, space)), 'the text', NO_JSON_LIMITS)
        const references = scanFigure(raw).filter((one): one is Reference => one.kind === 'reference')
        const out = [...splitAtData(raw, references)].map((part) =>
          Buffer.isBuffer(part) ? part : '["here"]',
        )
        const expected = mapped(value, (object) => {
          const filled = { ...object }
          for (const name of Object.keys(object)) {
            if (object[name] === 'alice:7:c0ffee') filled[name.slice(0, -3)] = ['here']
          }
          return filled
        })
        expect(JSON.parse(out.join(''))).toEqual(expected)
      }),
    )
  })
})

describe('a survey of a figure', () => {
  it('a survey counts the referenced columns of a figure, including data arrays', () => {
    const raw = parseRaw(
      Buffer.from('{"data":[{"x":[1],"ysrc":"alice:1:a,b,c"}]}'),
      'the text',
      NO_JSON_LIMITS,
    )
    const within = (figure_columns: number) => scanFigure(raw, { ...defaultLimits, figure_columns })
    expect(within(4)).toHaveLength(2)
    expect(() => within(3)).toThrow(/at most 3 columns \(limit figure_columns\)/)
  })

  it('a survey recognizes names written with escapes', () => {
    const raw = parseRaw(
      Buffer.from('{"data":[{"\\u0078":[1],"y\\u0073rc":"alice:1:a","y":[2]}]}'),
      'the text',
      NO_JSON_LIMITS,
    )
    expect(scanFigure(raw).map(({ kind, path }) => [kind, path])).toEqual([
      ['array', 'data.0.x'],
      ['reference', 'data.0.y'],
      ['array', 'data.0.y'],
    ])
  })
})
