// Drafts of derived grids, plots and boards: what a review makes beside the drafts of data.
import { beforeAll, expect, it } from 'vitest'
import { expireDrafts } from '../../../src/service/store/aggregates/retention.ts'
import { idlocal, onSqliteFirst } from '../../support/service.ts'

const DAY_MS = 24 * 3600 * 1000
const DRAFT = { 'gridline-draft': 'pr-1' }

onSqliteFirst('drafts of derived grids, plots and boards', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = async (path: string, csv: string, headers: Record<string, string> = {}) => {
    const [name, ...above] = path.split('/').reverse()
    const place = above.length > 0 && { 'gridline-parent-path': above.reverse().join('/') }
    const { json } = await ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        'content-type': 'text/csv',
        'x-file-name': `${name}.csv`,
        'gridline-on-conflict': 'replace',
        ...place,
        ...headers,
      },
    })
    return json.file
  }
  const derive = (filename: string, sql: string, more: object = {}, headers: Record<string, string> = {}) =>
    ask('alice', 'POST', '/v2/grids/derive', {
      json: { filename, sql, on_conflict: 'replace', ...more },
      headers,
    })
  const csvOf = async (fid: string, version = '', user: string | undefined = 'alice') =>
    (await ask(user, 'GET', `/v2/grids/${fid}/content?format=csv${version && `&version=${version}`}`)).text
  const boardOf = (items: object[]) => ({ settings: { board: { rows: [{ items }] } } })
  const draftBoard = (filename: string, items: object[], more: object = {}) =>
    ask('alice', 'POST', '/v2/dashboards', {
      json: { content: boardOf(items), filename, ...more },
      headers: DRAFT,
    })

  let sales: { fid: string; cols: { uid: string }[] }
  beforeAll(async () => {
    sales = await upload('proj/sales', 'city,amount\nOslo,1\nRome,2\n')
    await ask('alice', 'PATCH', `/v2/files/${sales.fid}`, { json: { world_readable: true } })
  })
  const figure = () => ({
    data: [{ xsrc: `${sales.fid}:${sales.cols[0].uid}`, ysrc: `${sales.fid}:${sales.cols[1].uid}` }],
    layout: {},
  })

  it('a query looks names up in the folder of its grid first, then in those above it', async () => {
    await upload('sales', 'other\nx\n')
    await upload('proj/deep/sales', 'n\n7\n')
    const made = async (parent_path: string | undefined, sql: string, filename = 'scoped') => {
      const { json } = await derive(filename, sql, { parent_path })
      return csvOf(json.file?.fid ?? json.detail)
    }
    expect(await made('proj/deep/deeper', 'select * from sales')).toBe('n\n7\n')
    expect(await made('proj', 'select * from sales')).toBe('city,amount\nOslo,1\nRome,2\n')
    expect(await made(undefined, 'select * from sales')).toBe('other\nx\n')
    expect(await made('proj/deep', 'select * from "deep/sales"')).toBe('n\n7\n')
    // By the id of the folder, too.
    const { json: folder } = await ask('alice', 'GET', '/v2/folders/lookup?path=proj/deep')
    const byId = await derive('by id', 'select * from sales', { parent: idlocal(folder.fid) })
    expect(await csvOf(byId.json.file.fid)).toBe('n\n7\n')
    // Not the grid that is made: it would be derived from itself.
    expect(await made('proj/deep/new', 'select 1 as first', 'sales')).toBe('first\n1\n')
    expect(await made('proj/deep/new', 'select * from sales', 'sales')).toBe('n\n7\n')
    const own = await derive('lonely', 'select 1 as n')
    expect(own.status).toBe(201)
    expect((await derive('lonely', 'select * from lonely')).json.detail).toContain('derived from itself')
  })

  it('the draft of a derived grid reads the drafts of its inputs, and changes nothing else', async () => {
    const sql = 'select sum(amount) as total from sales'
    const total = (await derive('total', sql, { parent_path: 'proj' })).json.file
    await upload('proj/sales', 'city,amount\nOslo,10\n', DRAFT)
    await upload('proj/fresh', 'n\n5\n', DRAFT)
    const drafted = await derive(
      'total',
      sql.replace('total', 'total, 1 as one'),
      { parent_path: 'proj' },
      DRAFT,
    )
    expect(drafted.json).toMatchObject({
      action: 'drafted',
      file: { fid: total.fid, draft: 'pr-1', web_url: expect.stringMatching(/\?version=pr-1$/) },
    })
    expect(drafted.json.derivation).toBeUndefined()
    expect([await csvOf(total.fid), await csvOf(total.fid, 'pr-1')]).toEqual([
      'total\n3\n',
      'total,one\n10,1\n',
    ])
    const derivation = await ask('alice', 'GET', `/v2/grids/${total.fid}/derivation`)
    expect(derivation.json).toMatchObject({ sql, state: 'current' })
    // Files that exist only in the draft are found as well, also by the next query.
    await derive('twice', 'select n * 2 as n from fresh', { parent_path: 'proj' }, DRAFT)
    const again = await derive('again', 'select n + 1 as n from twice', { parent_path: 'proj' }, DRAFT)
    expect(await csvOf(again.json.file.fid)).toBe('n\n11\n')
    expect((await ask('alice', 'GET', '/v2/files/lookup?path=proj/again')).status).toBe(404)
    // Without a draft, drafts are no tables.
    expect((await derive('bad', 'select * from fresh', { parent_path: 'proj' })).json.errors[0].code).toBe(
      'unknown_table',
    )
    const pinned = await derive('bad', 'select * from "proj/sales@pr-1"')
    expect(pinned.json.detail).toContain('is a draft')
  })

  it('a plot and a board are drafts in the folder of drafts: private, replaced, listed', async () => {
    const place = { parent_path: 'proj', world_readable: true, share_key_enabled: true }
    const plot = () =>
      ask('alice', 'POST', '/v2/plots', {
        json: { figure: figure(), filename: 'chart', ...place },
        headers: DRAFT,
      })
    const first = (await plot()).json.file
    expect(first).toMatchObject({
      world_readable: false,
      share_key_enabled: false,
      web_url: expect.stringMatching(/\?version=pr-1$/),
    })
    expect((await ask('alice', 'GET', `/v2/files/${first.fid}/path`)).json.path).toBe(
      '/Drafts/pr-1/proj/chart',
    )
    expect((await plot()).json.file.fid).toBe(first.fid)
    const items = [{ plot: first.fid }, { number: sales.fid, value: 'sum:amount', change: true }]
    const board = (await draftBoard('report', items, place)).json.file
    expect((await draftBoard('report', items, place)).json.file.fid).toBe(board.fid)
    const { drafts } = (await ask('alice', 'GET', '/v2/drafts?name=pr-1')).json
    const listed = drafts.map(({ fid, filetype, is_new }: Record<string, unknown>) => [fid, filetype, is_new])
    expect(listed).toEqual(
      expect.arrayContaining([
        [first.fid, 'plot', true],
        [board.fid, 'dashboard', true],
      ]),
    )
    for (const fid of [first.fid, board.fid])
      expect((await ask('bob', 'GET', `/v2/files/${fid}?version=pr-1`)).status).toBe(404)
    const page = (version: string, user?: string) =>
      ask(user, 'GET', `/~alice/${idlocal(board.fid)}/${version && `?version=${version}`}`)
    const shown = (await page('pr-1', 'alice')).text
    expect(shown).toMatch(/<p class="number">10<\/p><p class="change">\+7/)
    expect(shown).toContain('Draft pr-1')
    expect(shown).toMatch(/<iframe src="[^"]*version=pr-1/)
    expect(shown).not.toContain('data-follow')
    expect((await page('', 'alice')).text).toMatch(/<p class="number">3</)
    expect((await page('3', 'alice')).status).toBe(400)
    expect((await page('pr-1')).status).toBe(404)
  })

  it('readers of a public board see no drafts and no past in it', async () => {
    const items = [{ number: sales.fid, value: 'sum:amount' }]
    const { json } = await ask('alice', 'POST', '/v2/dashboards', {
      json: { content: boardOf(items), filename: 'public', world_readable: true },
    })
    const page = (version: string, user?: string) =>
      ask(user, 'GET', `/~alice/${idlocal(json.file.fid)}/?version=${version}`)
    const past = encodeURIComponent(new Date().toISOString())
    for (const user of [undefined, 'bob'])
      for (const version of ['pr-1', 'pr-9', past]) {
        const answer = await page(version, user)
        expect([user, version, answer.status, answer.text.includes('>10<')]).toEqual([
          user,
          version,
          400,
          false,
        ])
      }
    expect((await page('pr-1', 'alice')).text).toContain('>10<')
    expect((await page(past, 'alice')).text).toContain('>3<')
    const image = await ask(undefined, 'GET', `/~alice/${idlocal(json.file.fid)}.html?version=pr-1`)
    expect(image.status).toBe(400)
    // The grid of somebody else is shown as it is.
    const bobs = await test().grid('bob', 'own', { n: [1] }, { world_readable: true })
    const mixed = (await draftBoard('mixed', [{ number: bobs.fid, value: 'sum:n' }])).json.file
    expect((await ask('alice', 'GET', `/~alice/${idlocal(mixed.fid)}/?version=pr-1`)).text).toContain('>1<')
  })

  it('the charts of a draft have images before and after, whose links end with the draft', async () => {
    await ask('alice', 'POST', '/v2/plots', {
      json: { figure: figure(), filename: 'chart', parent_path: 'proj' },
    })
    const { charts } = (await ask('alice', 'GET', '/v2/drafts/pr-1/charts')).json
    const of = (filename: string) => charts.filter((one: { filename: string }) => one.filename === filename)
    expect(of('chart')).toHaveLength(1)
    expect(of('chart')[0]).toMatchObject({ filetype: 'plot', before_url: expect.stringContaining('.png?') })
    const [board] = of('report')
    expect(board).toMatchObject({ filetype: 'dashboard', before_url: null })
    const get = (url: string, user?: string) => ask(user, 'GET', url.replace(/^https?:\/\/[^/]+/, ''))
    // Without a browser, an image is refused only after its signature is accepted.
    expect([200, 501]).toContain((await get(board.after_url)).status)
    expect((await get(board.after_url.replace('.png?', '.html?'), 'alice')).text).toContain('>10<')
    for (const url of [
      board.after_url.replace(/signature=.{4}/, 'signature=AAAA'),
      board.after_url.replace('version=pr-1', `version=${new Date().toISOString()}`),
      board.after_url.replace(/alice\/\d+/, 'alice/1'),
    ])
      expect([url, (await get(url)).status >= 400]).toEqual([url, true])
    expect((await get(`${board.after_url}&width=4000`)).status).toBe(400)
    expect((await ask('alice', 'DELETE', '/v2/drafts/pr-1')).json.deleted).toBeGreaterThan(4)
    expect((await get(board.after_url)).status).toBe(404)
    expect((await ask('alice', 'GET', '/v2/files/lookup?path=Drafts')).status).toBe(404)
    expect((await ask('alice', 'GET', '/v2/files/lookup?path=proj/chart')).status).toBe(200)
  })

  it('drafts of plots and boards expire, unless they were moved; others are not replaced', async () => {
    const [gone, moved] = await Promise.all(
      ['gone', 'moved'].map(async (name) => (await draftBoard(name, [{ text: name }])).json.file.fid),
    )
    await ask('alice', 'PATCH', `/v2/files/${moved}`, { json: { parent: -1 } })
    const mine = { content: boardOf([{ text: 'mine' }]), filename: 'mine', parent_path: 'Drafts/pr-1' }
    await ask('alice', 'POST', '/v2/dashboards', { json: mine })
    const refused = await draftBoard('mine', [{ text: 'other' }])
    expect([refused.status, refused.json.detail]).toEqual([409, 'Drafts/pr-1/mine exists and is not a draft'])
    const nameless = await ask('alice', 'POST', '/v2/plots', { json: { figure: figure() }, headers: DRAFT })
    expect(nameless.status).toBe(400)
    const { store } = test().service
    await expireDrafts(store.engine, { draft_days: 14 }, Date.now() + 15 * DAY_MS)
    const statusOf = async (fid: string) => (await ask('alice', 'GET', `/v2/files/${fid}`)).status
    expect([await statusOf(gone), await statusOf(moved)]).toEqual([404, 200])
  })
})
