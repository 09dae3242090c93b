// The preview field of grids.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('previews', (test) => {
  it('preview contains the first values by column name, as JSON text', async () => {
    const { fid } = await test().grid('alice', 'previewed', { a: [1, null, 'x'], 'b "c"': [true] })
    const { preview } = (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).json
    expect(JSON.parse(preview)).toEqual({ a: [1, null, 'x'], 'b "c"': [true] })
    const forR = await test().ask('alice', 'GET', `/v2/grids/${fid}`, {
      headers: { 'plotly-client-platform': 'R 4.10.1' },
    })
    expect(forR.json.preview).toEqual({ a: [1, null, 'x'], 'b "c"': [true] })
    const large = '"'.repeat(20_000)
    const columns = Object.fromEntries(
      Array.from({ length: 30 }, (_, k) => [`column ${k}`, Array(12).fill(k % 2 ? large : [large])]),
    )
    const wide = await test().grid('alice', 'previewed wide', columns)
    const short = (await test().ask('alice', 'GET', `/v2/grids/${wide.fid}`)).json.preview
    expect(short.length).toBeLessThan(17_000)
    const shown = JSON.parse(short)
    expect(shown['column 0']).toEqual(Array(10).fill(null))
    expect(shown['column 1'][0]).toMatch(/^"{90,100}…$/)
  })
})
