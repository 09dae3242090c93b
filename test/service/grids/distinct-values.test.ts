// The set of distinct values of describe, against Set.
import { expect, it } from 'vitest'
import { DistinctValues } from '../../../src/service/grids/read/distinct-values.ts'

const add = (values: DistinctValues, text: string): void => {
  const bytes = Buffer.from(`[${text}]`, 'latin1')
  values.add(bytes, 1, bytes.length - 1)
}

it('values are counted as in a Set, through every growth of the table', () => {
  const [ours, model] = [new DistinctValues(), new Set<string>()]
  let seed = 1
  for (let k = 0; k < 60_000; k++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    const text = String(seed % 20_000).repeat(1 + (seed % 3))
    add(ours, text)
    model.add(text)
    if (k % 1000 === 0) expect(ours.size).toBe(model.size)
  }
  expect(ours.size).toBe(model.size)
})

/** Returns a text for a number, such that near numbers have different texts. */
function blockOf(k: number): string {
  return (Math.imul(k, 0x9e3779b1) >>> 0).toString(36)
}

/** Returns 2 ** `pairs` texts whose hashes (FNV-1a) are equal. */
function collidingTexts(pairs: number): string[] {
  let state = 0x811c9dc5 | 0
  let texts = ['']
  for (let pair = 0; pair < pairs; pair++) {
    const seen = new Map<number, number>()
    for (let k = 0; ; k++) {
      let hash = state
      for (const c of Buffer.from(blockOf(k))) hash = Math.imul(hash ^ c, 0x01000193)
      const other = seen.get(hash)
      seen.set(hash, k)
      if (other === undefined) continue
      texts = texts.flatMap((text) => [text + blockOf(k), text + blockOf(other)])
      state = hash
      break
    }
  }
  return texts
}

it('values chosen to collide are counted in linear time', () => {
  const texts = collidingTexts(8)
  const values = new DistinctValues()
  for (const text of [...texts, ...texts, 'other']) add(values, text)
  expect(values.size).toBe(2 ** 8 + 1)
  // Without the limit, each of them would be compared with all others.
  expect(values.remainingSteps).toBeGreaterThan(-(2 ** 8))
})
