// Every figure is drawn by the service as plotly.js draws the original.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultLimits } from '../../src/contract/limits.ts'
import { Drawer } from '../../src/draw/index.ts'
import { difference } from '../support/png.ts'
import { runs } from '../support/property-runs.ts'
import { onSqliteFirst, URL_OF_TESTS } from '../support/service.ts'

/** A folder of figures: the sample in test/data, or a larger one that GRIDLINE_FIGURES names. */
const folder = process.env.GRIDLINE_FIGURES ?? fileURLToPath(new URL('../data/figures', import.meta.url))
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))

/** The part of the pixels that may differ: WebGL does not draw the same twice. */
const MAX = 0.002

let drawer: Drawer
beforeAll(() => {
  drawer = new Drawer({ maxMemoryBytes: defaultLimits.image_memory_bytes, timeoutSeconds: 30 })
})
afterAll(() => drawer.close())

onSqliteFirst('figures', (test) => {
  // The drawing is the same code on both stores.
  const drawn = files.filter((_, k) => k % runs(10, 1) === 0)
  it.each(drawn)('figure %s is drawn like the original', async (name) => {
    const text = readFileSync(join(folder, name))
    const made = await test().ask('alice', 'POST', '/v2/plots', {
      body: `{"figure": ${text}, "filename": ${JSON.stringify(name)}, "raw_data": "grid"}`,
      headers: { 'content-type': 'application/json' },
    })
    const { fid } = made.json.file
    const authorization = `Basic ${Buffer.from(`alice:${test().keys.get('alice')}`).toString('base64')}`
    const path = `/v2/files/${fid}/image?width=700&height=500`
    const drawn = await test().service.fetch(new Request(URL_OF_TESTS + path, { headers: { authorization } }))
    const options = { format: 'png', width: 700, height: 500, scale: 1 } as const
    const original = await drawer.draw(text, options).catch((error: Error) => error.message)
    // What plotly.js cannot draw, the service cannot either, for the same reason.
    if (typeof original === 'string') {
      expect(await drawn.json()).toMatchObject({ detail: original })
      return
    }
    expect(drawn.status).toBe(200)
    expect(difference(new Uint8Array(await drawn.arrayBuffer()), original)).toBeLessThan(MAX)
  })
})
