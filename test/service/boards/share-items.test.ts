// Boards that share their items: readers see what the board shows of private files, and nothing else of them.
import { beforeAll, expect, it } from 'vitest'
import { idlocal, onSqliteFirst, scatter } from '../../support/service.ts'

onSqliteFirst('boards that share their items', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  let grid: string
  let plot: string
  let fid: string
  let key: string
  beforeAll(async () => {
    grid = (await test().grid('alice', 'secret grid', { city: ['Oslo', 'Rome'], temp: [17, 25] })).fid
    plot = (await test().plot('alice', scatter([3, 1, 4]), { filename: 'secret chart' })).file.fid
    const rows = [
      { items: [{ plot }, { number: grid, value: 'sum:temp' }] },
      { items: [{ table: grid, columns: ['temp'] }] },
    ]
    const content = { settings: { board: { filters: [{ column: 'city' }], rows } } }
    const json = { content, filename: 'shared', share_key_enabled: true }
    fid = (await ask('alice', 'POST', '/v2/dashboards', { json })).json.file.fid
    key = (await ask('alice', 'GET', `/v2/files/${fid}`)).json.share_key
  })
  const change = (json: object, user = 'alice', of = fid) => ask(user, 'PATCH', `/v2/files/${of}`, { json })
  const page = async (user?: string, query = `share_key=${key}`) =>
    (await ask(user, 'GET', `/~alice/${idlocal(fid)}/?${query}`)).text
  const frameOf = (text: string): string =>
    /<iframe src="([^"]*)"/
      .exec(text)![1]
      .replaceAll('&amp;', '&')
      .replace(/^https?:\/\/[^/]+/, '')
  const watchOf = (text: string): string => /data-watch="([^"]*)"/.exec(text)![1]

  it('without it, a reader sees notes; the owner is told which files are private', async () => {
    expect((await page()).match(/private, in the trash/g)).toHaveLength(3)
    const { private_items, share_items } = (await ask('alice', 'GET', `/v2/dashboards/${fid}`)).json
    expect([share_items, private_items.map((one: { fid: string }) => one.fid)]).toEqual([false, [plot, grid]])
    expect((await ask(undefined, 'GET', `/v2/dashboards/${fid}?share_key=${key}`)).json).not.toHaveProperty(
      'private_items',
    )
  })

  it('with it, a reader sees the items, in pages, frames and files, but cannot open their files', async () => {
    expect((await change({ share_items: true })).status).toBe(200)
    const text = await page()
    expect(text).not.toContain('private, in the trash')
    expect(text).toContain('<p class="number">42</p>')
    expect(text).toContain('<td class="n">25</td>')
    expect(text).not.toContain('17</td><td')
    expect(text).not.toContain(`/~alice/${idlocal(grid)}/`)
    const frame = frameOf(text)
    expect(frame).not.toContain('link=true')
    const opened = (await ask(undefined, 'GET', frame)).text
    expect(opened).toContain('[3,1,4]')
    const watch = watchOf(opened)
    for (const [kind, status] of [
      ['state', 200],
      ['live', 200],
      ['events', 404],
    ] as const)
      expect(
        (await ask(undefined, 'GET', `/~alice/${idlocal(plot)}.${kind}?watch=${watch}`)).status,
        kind,
      ).toBe(status)
    const html = (await ask(undefined, 'GET', `/~alice/${idlocal(fid)}.html?share_key=${key}`)).text
    expect(html).toContain('<p class="number">42</p>')
    expect(html).not.toContain(`/~alice/${idlocal(plot)}/`)
    for (const [user, path] of [
      [undefined, `/~alice/${idlocal(plot)}.embed`],
      [undefined, `/~alice/${idlocal(plot)}.embed?share_key=${key}`],
      [undefined, `/v2/plots/${plot}?share_key=${key}`],
      [undefined, `/v2/grids/${grid}/content?share_key=${key}`],
      ['bob', `/v2/grids/${grid}`],
    ] as const)
      expect((await ask(user, 'GET', path)).status, path).toBe(404)
    expect(await page(undefined, `share_key=${key}&filter.city=Oslo`)).toContain('<p class="number">17</p>')
  })

  it('readers see the current content only, and what changes', async () => {
    const frame = frameOf(await page())
    const json = { figure: scatter([9, 9]), raw_data: 'grid' }
    expect((await ask('alice', 'PATCH', `/v2/plots/${plot}`, { json })).status).toBe(200)
    expect((await ask(undefined, 'GET', `${frame}&version=1`)).text).toContain('[9,9]')
    const state = async (user?: string): Promise<string> =>
      (await ask(user, 'GET', `/~alice/${idlocal(fid)}.state?share_key=${key}`)).json.state
    const before = await state()
    const row = { json: { rows: [['Bern', 8]] } }
    expect((await ask('alice', 'POST', `/v2/grids/${grid}/row`, row)).status).toBe(201)
    // All who see the same have the same state; the answer for one of them is cached for a second.
    expect(await state('bob')).not.toBe(before)
    expect(await page(undefined, `share_key=${key}&version=${new Date(0).toISOString()}`)).not.toContain('[3')
  })

  it('others cannot choose what it shows, and a copy does not share', async () => {
    await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    const content = { settings: { board: { rows: [{ items: [{ table: grid }] }] } } }
    expect((await ask('bob', 'PUT', `/v2/dashboards/${fid}`, { json: { content } })).status).toBe(403)
    expect((await change({ filename: 'shared too' }, 'bob')).status).toBe(200)
    for (const json of [{ share_items: false }, { world_readable: true }])
      expect((await change(json, 'bob')).status).toBe(403)
    // A record that is sent back is no change.
    expect((await change({ share_items: true }, 'bob')).status).toBe(200)
    const copy = (await ask('bob', 'POST', `/v2/dashboards/${fid}/copy`, { json: {} })).json.new_fid
    expect((await ask('bob', 'GET', `/~bob/${idlocal(copy)}/`)).text.match(/private, in/g)).toHaveLength(3)
    expect((await ask('bob', 'GET', `/v2/files/${copy}`)).json.share_items).toBe(false)
    expect((await change({ share_items: true }, 'alice', plot)).status).toBe(400)
    // What it shows is for its owner to know, not for whoever shares a board with items of others.
    const taken = { settings: { board: { rows: [{ items: [{ table: grid }, { plot }] }] } } }
    const { json } = await ask('bob', 'POST', '/v2/dashboards', { json: { content: taken } })
    await change({ share_items: true }, 'bob', json.file.fid)
    const own = (await ask('bob', 'GET', `/~bob/${idlocal(json.file.fid)}/`)).text
    expect(own.match(/private, in the trash/g)).toHaveLength(2)
  })

  it.each([
    ['the board does not share its items any more', () => change({ share_items: false })],
    ['the link has ended', () => change({ share_key_enabled: false })],
    ['the board is in the trash', () => ask('alice', 'POST', `/v2/files/${fid}/trash`)],
    [
      'the board does not show the chart any more',
      () => ask('alice', 'PUT', `/v2/dashboards/${fid}`, { json: { content: { layout: null } } }),
    ],
  ])('a frame that is open shows nothing more when %s', async (_, end) => {
    const rows = [{ items: [{ plot }] }]
    await ask('alice', 'POST', `/v2/files/${fid}/restore`)
    await change({ share_items: true, share_key_enabled: true })
    await ask('alice', 'PUT', `/v2/dashboards/${fid}`, {
      json: { content: { settings: { board: { rows } } } },
    })
    key = (await ask('alice', 'GET', `/v2/files/${fid}`)).json.share_key
    const frame = frameOf(await page())
    const watch = watchOf((await ask(undefined, 'GET', frame)).text)
    await end()
    expect((await ask(undefined, 'GET', frame)).status).toBe(404)
    for (const kind of ['state', 'live'])
      expect((await ask(undefined, 'GET', `/~alice/${idlocal(plot)}.${kind}?watch=${watch}`)).status).toBe(
        404,
      )
  })
})
