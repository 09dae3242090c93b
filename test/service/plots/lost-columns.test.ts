// Plots whose columns were removed.
import { expect, it } from 'vitest'
import { onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('columns that a chart no longer finds', (test) => {
  const ask = (user: string | undefined, method: string, path: string, more = {}) =>
    test().ask(user, method, path, more)
  const upload = (name: string, csv: string) =>
    ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        'x-file-name': `${name}.csv`,
        'content-type': 'text/csv',
        'gridline-on-conflict': 'replace',
      },
    })

  /** Creates a grid with a bar chart of qty and a line of price. */
  async function chart(name: string) {
    const { json } = await upload(name, 'name,price,qty\na,1,10\nb,2,20\n')
    const { fid, cols } = json.file
    const uid = (column: string): string => cols.find((one: { name: string }) => one.name === column).uid
    const figure = {
      data: [
        { type: 'bar', xsrc: `${fid}:${uid('name')}`, ysrc: `${fid}:${uid('qty')}` },
        { type: 'scatter', ysrc: `${fid}:${uid('price')}` },
      ],
      layout: { annotations: [{ text: 'own' }] },
    }
    const made = await ask('alice', 'POST', '/v2/plots', {
      json: { figure, filename: `${name} chart`, world_readable: true },
    })
    const plot: string = made.json.file.fid
    const page = `/~alice/${plot.split(':')[1]}`
    const drawn = async () => (await ask(undefined, 'GET', `${page}.live`)).json
    return { fid, plot, page, uid, drawn }
  }

  it('removed columns draw nothing and are reported wherever the chart is shown, until they are added again', async () => {
    const { fid, plot, page, uid, drawn } = await chart('stock')
    expect((await drawn()).data[0].y).toEqual([10, 20])
    const { json, status } = await upload('stock', 'name,price\na,1\nb,3\n')
    expect([status, json.action]).toEqual([201, 'replaced'])
    expect(json.warnings.join('\n')).toBe(
      `plot stock chart (${plot}) shows a column that no longer exists: qty; its trace is empty until it comes back`,
    )
    const figure = await drawn()
    // x is empty too, since plotly.js would draw it alone.
    expect([figure.data[0].x, figure.data[0].y, figure.data[1].y]).toEqual([[], [], [1, 3]])
    expect(figure.layout.annotations.map(({ text }: { text: string }) => text)).toEqual([
      'own',
      'No data: the column qty no longer exists',
    ])
    expect((await ask(undefined, 'GET', page)).text).toContain('No data: the column qty no longer exists')
    expect((await ask(undefined, 'GET', `${page}.embed`)).text).toContain('No data: the column qty')
    // The API returns all references and the existing data.
    const content = await ask('alice', 'GET', `/v2/plots/${plot}/content?inline_data=true`)
    expect([content.json.data[0].y, content.json.data[0].x, content.json.layout.annotations.length]).toEqual([
      undefined,
      ['a', 'b'],
      1,
    ])
    const again = await upload('stock', 'qty,name\n7,a\n8,b\n')
    expect(again.json.file.cols.find(({ name }: { name: string }) => name === 'qty').uid).toBe(uid('qty'))
    expect((await drawn()).data[0]).toMatchObject({ x: ['a', 'b'], y: [7, 8] })
    expect((await drawn()).layout.annotations.at(-1).text).toBe('No data: the column price no longer exists')
    expect((await upload('stock', 'name,price,qty\na,1,2\n')).json.warnings).toEqual([])
    expect((await drawn()).layout.annotations).toHaveLength(1)
    expect(
      await test().service.store.read(({ grids }) =>
        grids.listRemovedColumns('alice', Number(fid.split(':')[1])),
      ),
    ).toEqual([])
  })

  it('columns removed one by one are reported, and restored when they are added', async () => {
    const { fid, uid, drawn } = await chart('removed')
    expect((await ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${uid('qty')}`)).status).toBe(204)
    expect((await drawn()).data[0].y).toEqual([])
    const added = await ask('alice', 'POST', `/v2/grids/${fid}/col`, {
      json: { cols: JSON.stringify([{ name: 'qty', data: [5, 6] }]) },
    })
    expect([added.status, added.json.cols[0].uid]).toEqual([201, uid('qty')])
    expect((await drawn()).data[0].y).toEqual([5, 6])
  })

  it('columns of a deleted grid leave the chart empty, without their names', async () => {
    const { fid, page, drawn } = await chart('deleted')
    await ask('alice', 'POST', `/v2/files/${fid}/trash`)
    await ask('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)
    const figure = await drawn()
    expect(figure.data.map(({ y }: { y: number[] }) => y)).toEqual([[], []])
    expect(figure.layout.annotations.at(-1).text).toBe(
      'No data: the data of this chart is no longer available',
    )
    expect((await ask(undefined, 'GET', page)).text).not.toMatch(/qty|deleted\.csv/)
  })

  it('the note about removed columns works without layout, and with markup in names', async () => {
    const { json } = await upload('markup', 'v,"<b>x&y"\n1,2\n')
    const [, column] = json.file.cols
    const figure = { data: [{ type: 'bar', ysrc: `${json.file.fid}:${column.uid}` }] }
    const made = await ask('alice', 'POST', '/v2/plots', {
      json: { figure, filename: 'm', world_readable: true },
    })
    await upload('markup', 'v\n1\n')
    const { layout } = (await ask(undefined, 'GET', `/~alice/${made.json.file.fid.split(':')[1]}.live`)).json
    expect(layout.annotations[0].text).toBe('No data: the column &lt;b&gt;x&amp;y no longer exists')
  })

  it('grids without plots do not record removed columns', async () => {
    const { json } = await upload('plain', 'a,b\n1,2\n')
    await upload('plain', 'a\n1\n')
    const idlocal = Number(json.file.fid.split(':')[1])
    expect(
      await test().service.store.read(({ grids }) => grids.listRemovedColumns('alice', idlocal)),
    ).toEqual([])
  })
})
