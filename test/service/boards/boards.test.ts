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

  it('a table shows sums of decimal numbers without the error of their last digits', async () => {
    const values = { n: [0.1 + 0.2, 12382.249999999995, 1e21, 9007199254740991] }
    const { fid: sums } = await test().grid('alice', 'sums', values, { world_readable: true })
    const { fid } = (await create(boardOf([{ items: [{ table: sums }] }]), { filename: 'of sums' })).json.file
    const cells = [...(await page(fid, 'alice')).text.matchAll(/<td class="n">(.*?)<\/td>/g)]
    expect(cells.map(([, text]) => text.replaceAll(/<\/?i>/g, ''))).toEqual([
      '0.30',
      '12382.25',
      '1e+21',
      '9007199254740991.00',
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
    // The title of an item replaces that of its chart.
    expect(own.text.match(/<iframe [^>]*title=false/g)).toHaveLength(1)
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

  it('a number has its change since the version before, for those who may know it, and a line', async () => {
    const columns = { day: ['2024-01-02', '2024-01-01', '2024-02-01', null], amount: [10, 20, 30, 1] }
    const { fid } = await test().grid('alice', 'changing', columns, { world_readable: true })
    const number = { number: fid, value: 'sum:amount', change: true, spark: 'day', per: 'month' }
    const more = { filename: 'numbers', world_readable: true }
    const made = (await create(boardOf([{ items: [number] }]), more)).json.file.fid
    const foreign = (await create(boardOf([{ items: [number] }]), more, 'bob')).json.file.fid
    expect((await page(made)).text).not.toContain('class="change"')
    await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [['2024-02-02', 60]] } })
    for (const [board, user, isTold] of [
      [made, undefined, true],
      [foreign, 'alice', true],
      // The versions of a grid are for its writers.
      [foreign, 'bob', false],
    ] as const) {
      const { text } = await page(board, user)
      expect(text).toContain('<p class="number">121</p>')
      expect(/<p class="change">\+60 \(\+98\.4%\) since \d{4}-\d\d-\d\d \d\d:\d\d UTC<\/p>/.test(text)).toBe(
        isTold,
      )
      expect(text).toContain('2024-01-01 to 2024-02-01: from 30 to 90, lowest 30, highest 90')
    }
    const exact = (await create(boardOf([{ items: [{ ...number, decimals: 2 }] }]))).json.file.fid
    expect((await page(exact, 'alice')).text).toMatch(/>121\.00<\/p><p class="change">\+60\.00 /)
    for (const wrong of [
      { number: fid, value: 'count', decimals: 11 },
      { text: 'a', change: true },
      { number: fid, value: 'count', per: 'month' },
      { number: fid, value: 'count', spark: 'nope' },
    ])
      expect((await create(boardOf([{ items: [wrong] }]), { filename: 'wrong' })).status).toBe(400)
  })

  it('the state of a board changes with what its reader sees of tables and numbers', async () => {
    const open = (await test().grid('alice', 'open', { n: [1] }, { world_readable: true })).fid
    const closed = (await test().grid('alice', 'closed', { n: [1] })).fid
    const rows = [{ items: [{ table: open }, { number: closed, value: 'count' }] }]
    const more = { filename: 'followed', world_readable: true }
    const { fid } = (await create(boardOf(rows), more)).json.file
    let asked = 0
    const state = async (user?: string): Promise<string> => {
      // A key that is not needed makes each answer its own: others are cached for a second.
      const path = `/~alice/${idlocal(fid)}.state?share_key=${asked++}`
      return (await test().ask(user, 'GET', path)).json.state
    }
    const before = [await state(), await state('alice')]
    await test().ask('alice', 'POST', `/v2/grids/${closed}/row`, { json: { rows: [[2]] } })
    const between = [await state(), await state('alice')]
    expect(between[0]).toBe(before[0])
    expect(between[1]).not.toBe(before[1])
    await test().ask('alice', 'POST', `/v2/grids/${open}/row`, { json: { rows: [[2]] } })
    expect(await state()).not.toBe(between[0])
    expect((await test().ask('bob', 'GET', `/~alice/${idlocal(fid)}.state`)).status).toBe(200)
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    expect((await test().ask('bob', 'GET', `/~alice/${idlocal(fid)}.events`)).status).toBe(404)
  })

  it('a board is framed by other pages, drawn, and written as one file', async () => {
    const rows = [
      { items: [{ plot }, { table: grid }] },
      { items: [{ text: '<script>alert(1)</script>' }, { plot: hidden }] },
    ]
    const more = { filename: 'a <b>board', world_readable: true }
    const { fid } = (await create(boardOf(rows), more)).json.file
    const path = `/~alice/${idlocal(fid)}`
    const frame = await test().ask(undefined, 'GET', `${path}.embed`)
    expect(frame.headers.get('content-security-policy')).toMatch(/^default-src 'none';.* frame-src /)
    expect(frame.text).toContain(`${idlocal(plot)}.embed`)
    const file = await test().ask(undefined, 'GET', `${path}.html`)
    for (const { text } of [frame, file]) {
      expect(text).toContain('a &lt;b&gt;board')
      expect(text).not.toContain('<script')
      expect(text).toContain('This chart is private')
    }
    expect(file.text).toContain('data:image/png;base64,')
    expect([...file.text.matchAll(/(?:src|href)="(?!data:|http)/g)]).toEqual([])
    for (const format of ['png', 'jpeg', 'webp', 'pdf']) {
      const drawn = await test().ask('alice', 'GET', `/v2/files/${fid}/image?format=${format}&width=600`)
      expect([format, drawn.status, drawn.headers.get('content-type')]).toEqual([
        format,
        200,
        format === 'pdf' ? 'application/pdf' : `image/${format}`,
      ])
    }
    // A high board is drawn whole, in an image of limited size.
    const text = 'line\n\n'.repeat(1500)
    const tall = (await create(boardOf([{ items: [{ text }] }]), { filename: 'tall' })).json.file.fid
    for (const query of ['format=webp&scale=2', 'format=png&width=4000&scale=3']) {
      const { status, text } = await test().ask('alice', 'GET', `/v2/files/${tall}/image?${query}`)
      expect([query, status, text.length > 1000]).toEqual([query, 200, true])
    }
    expect((await test().ask('alice', 'GET', `/v2/files/${fid}/image?format=svg`)).status).toBe(400)
    expect((await test().ask('alice', 'GET', `/v2/files/${grid}/image`)).status).toBe(400)
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    for (const ending of ['embed', 'html', 'png'])
      expect((await test().ask('bob', 'GET', `${path}.${ending}`)).status).toBe(404)
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
        'value: "avg:x" is not a function and a column',
      ],
      [boardOf([{ items: [{ table: 'alice:1', unit: '€' }] }]), 'unit: only a number has it'],
      [boardOf([{ items: [{ plot: 'alice:1', where: 'a > 1' }] }]), 'where: only a table or a number has it'],
      [boardOf([{ items: [{ table: 'alice:1', share_key: 'x' }] }]), 'share_key: only a plot has it'],
      [boardOf([{ items: [{ text: 'a', plot: 'alice:1' }] }]), 'not plot, text'],
      [boardOf([{ items: [{ text: 'a', colour: 'red' }] }]), '"colour" is not known'],
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
    for (const [user, isTold] of [
      ['bob', false],
      ['alice', true],
    ] as const) {
      const { json } = await test().ask(user, 'POST', `/v2/files/${fid}/copy`, { json: {} })
      const copy = (await test().ask(user, 'GET', `/v2/dashboards/${json.new_fid}`)).text
      expect([user, copy.includes('layoffs'), copy.includes('\\"text\\"')]).toEqual([user, isTold, true])
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
      [{ number: grid, value: 'sum:city' }, 'row 1, item 1: value: city has text, not numbers'],
      [{ number: grid, value: 'count', spark: 'city' }, 'spark: city has text, not dates or numbers'],
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

  it('the start page has public boards, but none in a folder that is trashed', async () => {
    const place = { filename: 'for all', world_readable: true, parent_path: 'Open' }
    const { json } = await create(boardOf([{ items: [{ number: grid }] }]), place)
    const { fid, parent } = json.file
    const startPage = async () => (await test().ask(undefined, 'GET', '/')).text
    expect(await startPage()).toMatch(/<h2>Public boards<\/h2>[\s\S]*for all/)
    for (const [path, isListed] of [
      [`alice:${parent}/trash`, false],
      [`alice:${parent}/restore`, true],
    ] as const) {
      await test().ask('alice', 'POST', `/v2/folders/${path}`)
      expect((await startPage()).includes('for all')).toBe(isListed)
    }
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    expect(await startPage()).not.toContain('for all')
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
