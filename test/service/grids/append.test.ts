// Random appends and reads against a model.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { onBothStores } from '../../support/service.ts'

onBothStores('appends', (test) => {
  let made = 0

  it('appends and reads agree with an array model under any interleaving', async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('rows' as const),
          count: fc.integer({ min: 1, max: 1500 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('csv' as const), count: fc.integer({ min: 1, max: 4000 }) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('put' as const), count: fc.constant(0) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        const { fid, cols } = await test().grid('alice', `m${made++}`, { n: [], s: [] })
        const n: unknown[] = []
        const s: unknown[] = []
        for (const { kind, count } of steps) {
          const rows = Array.from({ length: count }, (_, k): [number, string] => [n.length + k, `s${k}`])
          if (kind === 'put') {
            for (let k = 0; k < n.length; k++) n[k] = -(n[k] as number)
            await test().ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, {
              json: { cols: JSON.stringify([{ data: n }]) },
            })
            continue
          }
          n.push(...rows.map(([a]) => a))
          s.push(...rows.map(([, b]) => b))
          const answer =
            kind === 'rows'
              ? await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
              : await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
                  body: `s,n\n${rows.map(([a, b]) => `${b},${a}\n`).join('')}`,
                  headers: { 'content-type': 'text/csv' },
                })
          expect([answer.status, answer.json.row_count], answer.text).toEqual([201, n.length])
        }
        const content = (await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols
        expect(content.n.data).toEqual(n.map((x) => (Object.is(x, -0) ? 0 : x)))
        expect(content.s.data).toEqual(s)
      }),
      { numRuns: 12 },
    )
  })
})
