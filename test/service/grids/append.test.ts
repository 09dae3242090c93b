// Random appends and reads against a model.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { onBothStores, type TestService } from '../../support/service.ts'

/** A body of two parts. `between` is awaited when the first one has been read. */
function inTwoParts(first: string, second: string, between: () => Promise<unknown>): ReadableStream {
  const parts = [
    async () => first,
    async () => {
      await between()
      return second
    },
  ]
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    const next = parts.shift()
    if (next) controller.enqueue(Buffer.from(await next()))
    else controller.close()
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

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

  it('numbers of JSON are kept in a column of texts, whatever the grid has', async () => {
    const ask: TestService['ask'] = (...given) => test().ask(...given)
    for (const name of ['nothing', 'checks', 'key']) {
      const headers = {
        'x-file-name': `texts and ${name}.csv`,
        ...(name === 'key' && { 'gridline-key': 'id' }),
      }
      const { json: made } = await ask('alice', 'POST', '/v2/grids/upload', {
        body: 'id,v\n1,abc\n',
        headers,
      })
      const { fid } = made.file
      const checks = { columns: { id: { required: true } } }
      if (name === 'checks') await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
      const rows = [
        [2, 499],
        [3, 500],
      ]
      expect((await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })).status).toBe(201)
      const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([name, json.cols.v.data]).toEqual([name, ['abc', 499, 500]])
    }
  })

  it('records are refused, not stored in wrong columns, if the columns change while they arrive', async () => {
    const lines = (from: number): string =>
      Array.from({ length: 3000 }, (_, k) => `{"k":${from + k},"p":"p","q":"q"}\n`).join('')
    const kinds: Record<string, { cols: Record<string, unknown[]>; key?: string }> = {
      plain: { cols: { k: [1], p: ['p'], q: ['q'] } },
      keyed: { cols: { k: [1], p: ['p'], q: ['q'] }, key: 'k' },
      ragged: { cols: { k: [1], p: ['p'], q: [] } },
    }
    const changes: Record<string, (fid: string, uid: string) => Promise<number>> = {
      'another order': (fid, uid) =>
        test().status('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, { json: { cols: [{ order: 1 }] } }),
      'fewer columns': (fid, uid) => test().status('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${uid}`),
      'another column': async (fid, uid) => {
        await test().status('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${uid}`)
        const cols = JSON.stringify([{ name: 'r', data: ['r'] }])
        return test().status('alice', 'POST', `/v2/grids/${fid}/col`, { json: { cols } })
      },
    }
    for (const [kind, { cols, key }] of Object.entries(kinds))
      for (const [change, perform] of Object.entries(changes)) {
        const grid = await test().grid('alice', `m${made++}`, cols)
        if (key)
          await test().ask('alice', 'POST', `/v2/grids/${grid.fid}/row`, {
            body: 'k,p,q\n1,p,q\n',
            headers: { 'content-type': 'text/csv', 'gridline-key': key },
          })
        const body = inTwoParts(lines(2), lines(3002), async () =>
          expect(await perform(grid.fid, grid.cols[2].uid)).toBeLessThan(300),
        )
        const { status, json } = await test().ask('alice', 'POST', `/v2/grids/${grid.fid}/row`, {
          body,
          headers: { 'content-type': 'application/x-ndjson' },
        })
        expect([kind, change, status, json.errors?.[0].code]).toEqual([kind, change, 409, 'conflict'])
      }
  })

  it('days are refused, not stored in another order, if their column is replaced while they arrive', async () => {
    for (const key of [undefined, 'id']) {
      const headers = {
        'content-type': 'text/csv',
        'gridline-on-conflict': 'replace',
        'x-file-name': `days ${made++}.csv`,
      }
      const put = (body: string) => test().ask('alice', 'POST', '/v2/grids/upload', { body, headers })
      const { fid } = (await put('id,d\n1,31/01/2024\n')).json.file
      const send = (body: ReadableStream | string) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body,
          headers: { 'content-type': 'text/csv', ...(key && { 'gridline-key': key }) },
        })
      const lines = (from: number) =>
        Array.from({ length: 4000 }, (_, k) => `${from + k},02/03/2024\n`).join('')
      const body = inTwoParts(`id,d\n${lines(2)}`, lines(4002), async () =>
        expect((await put('id,d\n1,01/31/2024\n')).status).toBeLessThan(300),
      )
      const { status, json } = await send(body)
      expect([key, status, json.errors?.[0].code]).toEqual([key, 409, 'conflict'])
      expect((await send('id,d\n2,02/03/2024\n')).status).toBe(201)
      const { text } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)
      expect(text).toBe('id,d\n1,2024-01-31\n2,2024-02-03\n')
    }
  })
})
