// Real figures survive a round trip.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { NO_JSON_LIMITS, parseRaw } from '../../../src/json/index.ts'
import { splitArrays } from '../../../src/service/plots/edit-figure.ts'
import { scanFigure } from '../../../src/service/plots/scan.ts'
import { onSqliteFirst } from '../../support/service.ts'

/** A folder of figures: the sample in test/data, or a larger one that GRIDLINE_FIGURES names. */
const folder = process.env.GRIDLINE_FIGURES ?? fileURLToPath(new URL('../../data/figures', import.meta.url))
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))

/** Members that the service adds to a figure. */
function withoutSources(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSources)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(name.endsWith('src') && /^\w+:\d+:[0-9a-f]{6}$/.test(String(member))))
      .map(([name, member]) => [name, withoutSources(member)]),
  )
}

describe('real figures', () => {
  onSqliteFirst('plot create', (test) => {
    it.each(files)('%s', async (name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const original = JSON.parse(text)
      const made = await test().ask('alice', 'POST', '/v2/plots', {
        body: `{"figure": ${text}, "filename": ${JSON.stringify(name)}, "raw_data": "grid"}`,
        headers: { 'content-type': 'application/json' },
      })
      expect([made.status, made.text.slice(0, 300)]).toEqual([200, expect.anything()])
      const { fid } = made.json.file
      const stored = await test().ask('alice', 'GET', `/v2/plots/${fid}/content`)
      const left = splitArrays(scanFigure(parseRaw(Buffer.from(stored.text), 'the text', NO_JSON_LIMITS)))
      expect([...left.arrays, ...left.typed].map(({ path }) => path)).toEqual([])
      const inlined = await test().ask('alice', 'GET', `/v2/plots/${fid}/content?inline_data=true`)
      expect(withoutSources(inlined.json)).toEqual(original)
    })
  })
})
