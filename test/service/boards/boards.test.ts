// Boards: pages of charts, tables, numbers and text, and the dashboards of Chart Studio clients.
import { beforeAll, describe, expect, it } from 'vitest'
import { renameUser } from '../../../src/service/admin.ts'
import { encodeBoard, parseBoard, toNode } from '../../../src/service/boards/content.ts'
import { idlocal, onSqliteFirst, scatter } from '../../support/service.ts'

const box = (fileId: string, title = '') => ({ type: 'box', boxType: 'plot', fileId, shareKey: null, title })
const split = (first: object, second: object, direction = 'vertical', size = 50) => ({
  ...{ type: 'split', size, sizeUnit: '%', direction },
  ...{ first, second },
})
const boardOf = (rows: unknown, more: object = {}) => ({ settings: { board: { rows, ...more } } })

onSqliteFirst('boards', (test) => {
  let plot: string
  let hidden: string
  let grid: string
  beforeAll(async () => {
    const columns = { city: ['Oslo', 'Rome', 'Bern'], temp: [1.5, 20, -3] }
    grid = (await test().grid('alice', 'weather', columns, { world_readable: true })).fid
    plot = (await test().plot('alice', scatter([1, 2, 3]), { filename: 'shown', world_readable: true })).file
      .fid
    hidden = (await test().plot('alice', scatter([4]), { filename: 'hidden' })).file.fid
  })
  const create = (content: unknown, more: object = {}, user = 'alice') =>
    test().ask(user, 'POST', '/v2/dashboards', { json: { content, ...more } })
  const page = async (fid: string, user?: string) =>
    test().ask(user, 'GET', `/~${fid.split(':')[0]}/${idlocal(fid)}/`)

  it('the calls of dashboard_ops: create, look up, replace, list, get', async () => {
    const layout = split(split(box(plot, 'one'), box(hidden, 'two'), 'horizontal', 30), {
      type: 'box',
      boxType: 'empty',
    })
    const content = JSON.stringify({ layout, version: 2, settings: { logoUrl: 'x' } })
    const made = await create(content, { filename: 'sales', world_readable: true })
    expect([made.status, made.json.file.filetype]).toEqual([201, 'dashboard'])
    const { fid } = made.json.file
    const found = (await test().ask('alice', 'GET', '/v2/files/lookup?path=sales')).json
    expect([found.filetype, found.fid]).toEqual(['dashboard', fid])
    const again = { content: content.replace('"one"', '"first"'), filename: 'sales', world_readable: true }
    const replaced = await test().ask('alice', 'PUT', `/v2/dashboards/${fid}`, { json: again })
    expect([replaced.status, replaced.json.web_url]).toEqual([200, found.web_url])
    for (const name of ['b', 'c']) await create('{"layout":null}', { filename: name })
    const names: string[] = []
    for (let url: string | null = '/v2/dashboards?page_size=2'; url !== null; ) {
      const { json } = await test().ask('alice', 'GET', url.replace(/^https?:\/\/[^/]+/, ''))
      for (const { filename, deleted, api_urls } of json.results) {
        names.push(filename)
        expect([deleted, new URL(api_urls.dashboards).pathname]).toEqual([
          false,
          expect.stringMatching(/^\/v2\/dashboards\/alice:\d+$/),
        ])
      }
      url = json.next
    }
    expect(names).toEqual(['b', 'c', 'sales'])
    const { json } = await test().ask('alice', 'GET', `/v2/dashboards/${fid}`)
    expect(JSON.parse(json.content)).toEqual(JSON.parse(again.content))
    await test().ask('alice', 'POST', `/v2/dashboards/${fid}/trash`)
    const listed = (await test().ask('alice', 'GET', '/v2/dashboards')).json.results
    expect(listed.map(({ filename }: { filename: string }) => filename)).toEqual(['b', 'c'])
    await test().ask('alice', 'POST', `/v2/files/${fid}/restore`)
    expect((await test().ask(undefined, 'GET', '/v2/dashboards/schema')).json.properties).toHaveProperty(
      'layout',
    )
    // An old link leads to the page.
    const old = await test().ask(undefined, 'GET', `/dashboard/${fid}/view`)
    expect([old.status, old.headers.get('location')]).toEqual([
      301,
      `http://gridline.test/~alice/${idlocal(fid)}/`,
    ])
  })

  it('a page shows each reader what they may read, and says what is missing', async () => {
    const rows = [
      { items: [{ text: '# Hello <b>you</b>\n\n<script>alert(1)</script> [x](javascript:alert(1))' }] },
      {
        height: 300,
        items: [
          { plot, width: 3 },
          { plot: hidden, title: 'Two & three' },
        ],
      },
      {
        items: [
          { number: grid, value: 'max:temp', unit: '°C' },
          { number: grid, value: 'count', where: 'temp > 0' },
          { table: grid, sort: '-temp', columns: ['city'], limit: 2 },
          { number: 'bob:99' },
        ].map((item) => ({ value: 'number' in item ? 'count' : undefined, ...item })),
      },
    ]
    const made = await create(boardOf(rows), { filename: 'page', world_readable: true })
    expect(made.status).toBe(201)
    const { fid } = made.json.file
    const own = await page(fid, 'alice')
    expect(own.status).toBe(200)
    expect(own.text).toContain('<h2>Hello &lt;b&gt;you&lt;/b&gt;</h2>')
    expect(own.text).not.toMatch(/<script>alert|href="javascript/)
    expect(own.text.match(/<iframe /g)).toHaveLength(2)
    expect(own.text).toContain('height="300"')
    expect(own.text).toContain('>20 <small>°C</small>')
    expect(own.text).toContain('<p class="number">2</p>')
    expect(own.text).toMatch(/<td>Rome<\/td><\/tr>\s*<tr><td>Oslo<\/td>/)
    expect(own.text).toContain('2 of 3 rows')
    expect(own.text).toContain('Two &amp; three')
    const others = await page(fid)
    expect([others.status, others.text.match(/<iframe /g)?.length]).toEqual([200, 1])
    expect(others.text).toContain('This chart is private, in the trash or deleted.')
    expect(others.text).not.toContain(`${idlocal(hidden)}.embed`)
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    expect((await page(fid)).status).toBe(404)
    // Clients that know layouts only get the charts.
    const { layout } = JSON.parse((await test().ask('alice', 'GET', `/v2/dashboards/${fid}`)).json.content)
    expect([layout.direction, layout.first, layout.second]).toEqual([
      'horizontal',
      box(plot),
      { ...box(hidden), title: 'Two & three' },
    ])
  })

  it('wrong content is refused with the item at fault', async () => {
    for (const [content, said] of [
      ['[]', 'must be an object'],
      ['{', 'must be an object'],
      [{ layout: { type: 'x' } }, 'content.layout.type: must be box or split'],
      [{ layout: split(box('alice:1'), { type: 'row' }) }, 'content.layout.second.type'],
      [{ settings: 3 }, 'content.settings'],
      [boardOf(3), 'rows: must be a list of rows'],
      [boardOf([{ items: [] }]), 'row 1: has no items'],
      [boardOf([{ items: [{}] }]), 'row 1, item 1: must have one of plot, table, number and text'],
      [boardOf([{ items: [{ plot: 'sales' }] }]), 'is not the id of a file'],
      [boardOf([{ items: [{ text: 1 }] }]), 'text: must be of type string'],
      [
        boardOf([{ items: [{ number: 'alice:1', value: 'avg:x' }] }]),
        'value: must be a function and a column',
      ],
      [boardOf([{ items: [{ text: 'a', colour: 'red' }] }]), '"colour" is none of'],
      [boardOf([{ items: [{ table: 'alice:1', limit: 1e6 }] }]), 'limit: must be from 1 to 200'],
      [boardOf([{ height: 1, items: [{ text: 'a' }] }]), 'height: must be from'],
      [boardOf([{ items: Array(201).fill({ text: 'a' }) }]), 'the limit is 200'],
    ] as const) {
      const { status, json } = await create(content)
      expect([content, status, json.detail]).toEqual([content, 400, expect.stringContaining(said)])
    }
    expect((await create({ settings: { text: 'x'.repeat(2 ** 20) } })).status).toBe(413)
  })

  it('readers do not get the file of a board; strangers store nothing; columns are checked', async () => {
    const rows = [{ items: [{ text: 'a' }] }]
    const made = await create(boardOf(rows, { source: '# ask Bob about layoffs' }), { world_readable: true })
    const { fid } = made.json.file
    for (const path of [`/v2/dashboards/${fid}`, `/v2/files/${fid}/content`]) {
      expect((await test().ask('bob', 'GET', path)).text).not.toContain('layoffs')
      expect((await test().ask('alice', 'GET', path)).text).toContain('layoffs')
    }
    const count = async () =>
      (await test().service.store.engine.read((db) => db.selectFrom('objects').select('key').execute()))
        .length
    const before = await count()
    const content = JSON.stringify({ settings: { text: 'x'.repeat(500_000) } })
    expect(await test().status('bob', 'PUT', `/v2/dashboards/${fid}`, { json: { content } })).toBe(403)
    expect(await test().status('bob', 'PUT', '/v2/dashboards/nobody:5', { json: { content } })).toBe(404)
    expect(await count()).toBe(before)
    for (const [item, said] of [
      [{ number: grid, value: 'sum:tmp' }, 'row 1, item 1: weather has no column "tmp"'],
      [{ table: grid, where: 'tmp > 3' }, 'weather has no column "tmp"'],
      [{ table: grid, where: 'temp >' }, 'row 1, item 1'],
      [{ table: grid, columns: [{}] }, 'columns: must be a list of names'],
      [{ text: 'x'.repeat(20_001) }, 'at most 20000 characters'],
    ] as const) {
      const { status, json } = await create(boardOf([{ items: [item] }]))
      expect([item, status, json.detail]).toEqual([item, 400, expect.stringContaining(said)])
    }
    const deep = `{"settings":{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`
    expect((await create(deep)).status).toBe(400)
  })

  it('texts that are slow to parse elsewhere delay nobody, and renamed users keep their boards', async () => {
    for (const text of [
      '* '.repeat(9_000),
      '[a]('.repeat(4_900),
      '[a]: x\n'.repeat(2_500),
      '>'.repeat(19_000),
    ]) {
      const { fid } = (await create(boardOf([{ items: Array(5).fill({ text }) }]))).json.file
      const started = process.cpuUsage()
      expect((await page(fid, 'alice')).status).toBe(200)
      expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000)
    }
    await test().user('dora')
    const { fid: own } = await test().grid('dora', 'mine', { a: [1] }, { world_readable: true })
    const made = await create(boardOf([{ items: [{ table: own }] }]), {}, 'dora')
    await renameUser(test().service.store, 'dora', 'dorothy')
    const { text } = await page(made.json.file.fid.replace('dora', 'dorothy'), 'dorothy')
    expect(text).not.toContain('private, in the trash')
  })

  it('copies, renames and sharing are those of other files; it has no versions', async () => {
    const { fid } = (await create(boardOf([{ items: [{ text: 'a' }] }]), { filename: 'mine' })).json.file
    const copy = (await test().ask('alice', 'POST', `/v2/dashboards/${fid}/copy`, { json: {} })).json.new_fid
    const contentOf = async (one: string) =>
      (await test().ask('alice', 'GET', `/v2/dashboards/${one}`)).json.content
    expect(await contentOf(copy)).toBe(await contentOf(fid))
    expect(
      await test().status('alice', 'PATCH', `/v2/dashboards/${fid}`, { json: { filename: 'ours' } }),
    ).toBe(200)
    expect((await create('{}', { filename: 'ours' })).status).toBe(409)
    expect(await test().status('bob', 'GET', `/v2/dashboards/${fid}`)).toBe(404)
    expect(await test().status('bob', 'PUT', `/v2/dashboards/${fid}`, { json: { content: '{}' } })).toBe(404)
    expect(await test().status('alice', 'GET', `/v2/dashboards/${plot}`)).toBe(404)
    expect(await test().status('alice', 'GET', `/v2/files/${fid}/versions`)).toBe(400)
    const { headers, text } = await test().ask('alice', 'GET', `/v2/files/${fid}/content`)
    expect([headers.get('content-type'), text]).toEqual(['application/json', await contentOf(fid)])
  })
})

describe('layouts', () => {
  it('deep and wide layouts are refused', () => {
    let deep: object = box('alice:1')
    for (let k = 0; k < 60; k++) deep = split(deep, box('alice:2'))
    expect(() => encodeBoard({ layout: deep })).toThrow('nested more than 50 deep')
    const full = (depth: number): object =>
      depth === 0 ? box('alice:1') : split(full(depth - 1), full(depth - 1))
    expect(() => encodeBoard({ layout: full(9) })).toThrow('more than 200 boxes')
  })

  it('widths of a split follow its size, and an unknown box shows its text', () => {
    const text = { type: 'box', boxType: 'text', text: '**a**', title: 'b' }
    const layout = split(box('alice:1'), text, 'horizontal', 25)
    expect(toNode(parseBoard(encodeBoard({ layout })))).toMatchObject({
      kind: 'columns',
      children: [
        { share: 0.25, node: { kind: 'item', item: { plot: 'alice:1' } } },
        { share: 0.75, node: { kind: 'item', item: { text: '**a**', title: 'b' } } },
      ],
    })
  })
})
