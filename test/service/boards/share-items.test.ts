// Boards that share their items: readers see what the board shows of private files, and nothing else of them.
import { beforeAll, expect, it, vi } from 'vitest'
import { renameUser } from '../../../src/service/admin.ts'
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

  it('without share_items, a page has notes in place of private items, whose files its owner can list', async () => {
    expect((await page()).match(/private, in the trash/g)).toHaveLength(3)
    const { private_items, share_items } = (await ask('alice', 'GET', `/v2/dashboards/${fid}`)).json
    expect([share_items, private_items.map((one: { fid: string }) => one.fid)]).toEqual([false, [plot, grid]])
    expect((await ask(undefined, 'GET', `/v2/dashboards/${fid}?share_key=${key}`)).json).not.toHaveProperty(
      'private_items',
    )
  })

  it('with share_items, a reader sees the items, in pages, frames and files, but cannot open their files', async () => {
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

  it('files in the trash, and those made later, are not shown', async () => {
    const other = (await test().grid('alice', 'other', { n: [4711] })).fid
    const src = `${other}:${(await ask('alice', 'GET', `/v2/grids/${other}`)).json.cols[0].uid}`
    const chart = (await test().plot('alice', { data: [{ ysrc: src }] }, { filename: 'of other' })).file.fid
    const future = `alice:${Number(idlocal(chart)) + 5}`
    const rows = [{ items: [{ plot: chart }, { table: other }, { table: future }] }]
    const json = { content: { settings: { board: { rows } } }, share_key_enabled: true }
    const made = (await ask('alice', 'POST', '/v2/dashboards', { json })).json.file
    await change({ share_items: true }, 'alice', made.fid)
    while ((await test().grid('alice', `later ${Math.random()}`, { n: [8088] })).fid !== future);
    const secret = (await ask('alice', 'GET', `/v2/files/${made.fid}`)).json.share_key
    const read = async () =>
      (await ask(undefined, 'GET', `/~alice/${idlocal(made.fid)}/?share_key=${secret}`)).text
    const text = await read()
    expect(text).toContain('4711')
    expect(text).not.toContain('8088')
    const frame = frameOf(text)
    const opened = (await ask(undefined, 'GET', frame)).text
    expect(opened).toContain('[4711]')
    await ask('alice', 'POST', `/v2/files/${other}/trash`)
    expect((await ask(undefined, 'GET', frame)).text).not.toContain('4711')
    await ask('alice', 'POST', `/v2/files/${chart}/trash`)
    for (const url of [frame, `/~alice/${idlocal(chart)}.live?watch=${watchOf(opened)}`])
      expect((await ask(undefined, 'GET', url)).status).toBe(404)
    expect(await read()).not.toContain('4711')
    const { private_items } = (await ask('alice', 'GET', `/v2/dashboards/${made.fid}`)).json
    expect(private_items).toHaveLength(3)
    // The owner chooses the items anew.
    await ask('alice', 'PUT', `/v2/dashboards/${made.fid}`, { json: { content: json.content } })
    expect(await read()).toContain('8088')
  })

  it('the chart of somebody else shows what its owner may read, and not what the owner of the board may', async () => {
    const shared = (await test().grid('alice', 'shared', { n: [4242] })).fid
    const people = { json: { users: ['bob'] } }
    await ask('alice', 'POST', `/v2/files/${shared}/collaborators`, people)
    const ysrc = `${shared}:${(await ask('alice', 'GET', `/v2/grids/${shared}`)).json.cols[0].uid}`
    const chart = (await test().plot('bob', { data: [{ ysrc }] }, { filename: 'of bob' })).file.fid
    await ask('bob', 'POST', `/v2/files/${chart}/collaborators`, { json: { users: ['alice'] } })
    const content = { settings: { board: { rows: [{ items: [{ plot: chart }] }] } } }
    const { json } = await ask('alice', 'POST', '/v2/dashboards', { json: { content, world_readable: true } })
    await change({ share_items: true }, 'alice', json.file.fid)
    const read = async () => (await ask(undefined, 'GET', `/~alice/${idlocal(json.file.fid)}/`)).text
    expect((await ask(undefined, 'GET', frameOf(await read()))).text).toContain('4242')
    await ask('alice', 'DELETE', `/v2/files/${shared}/collaborators`, people)
    expect((await ask(undefined, 'GET', frameOf(await read()))).text).not.toContain('4242')
  })

  it('lists of filters have the values of shown rows, and none of drafts and former versions', async () => {
    const own = (
      await test().grid('alice', 'towns', { city: ['Oslo', 'Hidden', 'Rome'], open: ['y', 'n', 'y'] })
    ).fid
    const rows = [{ items: [{ table: own, where: "open = 'y'" }] }]
    const json = {
      content: { settings: { board: { filters: [{ column: 'city' }], rows } } },
      world_readable: true,
    }
    const made = (await ask('alice', 'POST', '/v2/dashboards', { json })).json.file.fid
    await change({ share_items: true }, 'alice', made)
    const before = new Date().toISOString()
    await ask(
      'alice',
      'PUT',
      `/v2/grids/${own}/col?uid=${(await ask('alice', 'GET', `/v2/grids/${own}`)).json.cols[0].uid}`,
      {
        json: { cols: [{ data: ['Bern', 'Hidden', 'Rome'] }] },
      },
    )
    const optionsOf = (text: string) => [...text.matchAll(/<option value="(\w+)"/g)].map(([, value]) => value)
    const read = async (query = '') => (await ask(undefined, 'GET', `/~alice/${idlocal(made)}/${query}`)).text
    expect(optionsOf(await read())).toEqual(['Bern', 'Rome'])
    expect(await read(`?version=${before}`)).not.toContain('Oslo')
  })

  it('a renamed user still knows what their boards share', async () => {
    await test().user('carol')
    const own = (await test().grid('carol', 'mine', { n: [3133] })).fid
    const content = { settings: { board: { rows: [{ items: [{ table: own }] }] } } }
    const { json } = await ask('carol', 'POST', '/v2/dashboards', { json: { content, world_readable: true } })
    await change({ share_items: true }, 'carol', json.file.fid)
    await renameUser(test().service.store, 'carol', 'karla')
    const now = json.file.fid.replace('carol', 'karla')
    // Names are cached for two seconds.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3000)
    await ask('carol', 'GET', `/v2/dashboards/${now}`)
    vi.restoreAllMocks()
    expect((await ask(undefined, 'GET', `/~karla/${idlocal(now)}/`)).text).toContain('3133')
    expect((await ask('carol', 'GET', `/v2/dashboards/${now}`)).json.private_items).toHaveLength(1)
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
