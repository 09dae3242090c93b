// The history of one row.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('history of a row', (test) => {
  it('the changes of a row are listed: who, when, why, and the values before and after', async () => {
    const upload = (body: string, message: string) =>
      test().ask('alice', 'POST', '/v2/grids/upload', {
        headers: {
          'x-file-name': 'stock.csv',
          'gridline-on-conflict': 'replace',
          'gridline-message': encodeURIComponent(message),
        },
        body,
      })
    const { json } = await upload('id,n,price\n1,a,1.10\n2,b,5\n', 'first')
    const { fid } = json.file
    await upload('id,n,price\n1,a,1.10\n2,b,6\n3,c,7\n', 'dearer')
    await upload('id,n,price,note\n1,a,1.10,\n2,b2,6,x\n3,c,7,\n', 'named')
    await upload('id,n,price,note\n1,a,1.10,\n3,c,7,\n', 'sold out')
    const history = async (where: string, user = 'alice') => {
      const path = `/v2/grids/${fid}/row?where=${encodeURIComponent(where)}`
      const { status, json: body } = await test().ask(user, 'GET', path)
      return status === 200 ? body : [status, body.errors[0].message]
    }
    const { changes, next } = await history('id = 2')
    expect(next).toBeNull()
    expect(
      changes.map(({ version, made_by, message, change, cells }: Record<string, unknown>) => [
        ...[version, made_by, message, change],
        (cells as { column: string; before: string; after: string }[]).map(
          ({ column, before, after }) => `${column}: ${before} > ${after}`,
        ),
      ]),
    ).toEqual([
      [
        4,
        'alice',
        'sold out',
        'removed',
        ['id: 2 > null', 'n: "b2" > null', 'price: 6 > null', 'note: "x" > null'],
      ],
      [3, 'alice', 'named', 'changed', ['n: "b" > "b2"', 'note: null > "x"']],
      [2, 'alice', 'dearer', 'changed', ['price: 5 > 6']],
      [1, 'alice', 'first', 'added', ['id: null > 2', 'n: null > "b"', 'price: null > 5']],
    ])
    // Numbers are as they were written, and rows that did not change have one entry.
    expect((await history("n = 'a'")).changes.map(({ version }: { version: number }) => version)).toEqual([
      3, 1,
    ])
    expect((await history("note = 'x'")).changes.map(({ version }: { version: number }) => version)).toEqual([
      4, 3,
    ])
    expect((await history('id = 99')).changes).toEqual([])
    expect(await history('price > 0')).toEqual([400, expect.stringContaining('several rows match')])
    expect(await history('id = ')).toEqual([400, expect.any(String)])
    expect(await history('id = 2', 'bob')).toEqual([404, expect.any(String)])
  })
})
