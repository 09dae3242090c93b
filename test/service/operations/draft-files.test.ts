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

  it('drafts read only grids of their own draft, and not what they make', async () => {
    await upload('self', 'x\n1\n')
    const twice = async () => {
      const made = await derive('self', 'select x + 1 as x from self', { parent_path: 'own' }, DRAFT)
      return csvOf(made.json.file.fid)
    }
    expect([await twice(), await twice()]).toEqual(['x\n2\n', 'x\n2\n'])
    // A grid that somebody made in the folder of drafts is no draft.
    await upload('own/base', 'x\n7\n')
    await upload('Drafts/pr-1/own/base', 'x\n1\n')
    const read = await derive('reads', 'select x from base', { parent_path: 'own' }, DRAFT)
    expect(await csvOf(read.json.file.fid)).toBe('x\n7\n')
    // A draft of somebody else with the same name is not in the way.
    const bobs = await test().grid('bob', 'bobs', { n: [1] }, { world_readable: true })
    await ask('bob', 'POST', '/v2/grids/upload', {
      body: 'n\n2\n',
      headers: { 'content-type': 'text/csv', 'x-file-name': 'bobs.csv', ...DRAFT },
    })
    const theirs = await derive('theirs', `select n from "${bobs.fid}"`, {}, DRAFT)
    expect(await csvOf(theirs.json.file.fid)).toBe('n\n1\n')
    await ask('alice', 'DELETE', '/v2/drafts/pr-1')
  })

  it('a draft replaces only its own draft of the same type, and is private again', async () => {
    const plot = await ask('alice', 'POST', '/v2/plots', {
      json: { figure: figure(), filename: 'both' },
      headers: DRAFT,
    })
    expect((await draftBoard('both', [{ text: 'x' }])).status).toBe(409)
    expect((await ask('alice', 'GET', `/v2/plots/${plot.json.file.fid}/content`)).json.data).toHaveLength(1)
    const board = (await draftBoard('shown', [{ text: 'one' }])).json.file
    for (const { fid } of [board, plot.json.file])
      await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    await draftBoard('shown', [{ text: 'two' }])
    await ask('alice', 'POST', '/v2/plots', { json: { figure: figure(), filename: 'both' }, headers: DRAFT })
    for (const { fid } of [board, plot.json.file])
      expect((await ask(undefined, 'GET', `/v2/files/${fid}`)).status).toBe(404)
    // Moved elsewhere, it is no draft of what has its name there.
    await ask('alice', 'POST', '/v2/plots', { json: { figure: figure(), filename: 'namesake' } })
    const moved = await ask('alice', 'POST', '/v2/plots', {
      json: { figure: figure(), filename: 'namesake', parent_path: 'a/b' },
      headers: DRAFT,
    })
    await ask('alice', 'PATCH', `/v2/files/${moved.json.file.fid}`, { json: { parent_path: 'A/B' } })
    const { charts } = (await ask('alice', 'GET', '/v2/drafts/pr-1/charts')).json
    expect(charts.map(({ filename }: { filename: string }) => filename)).not.toContain('namesake')
    await ask('alice', 'DELETE', '/v2/drafts/pr-1')
  })

  it('the links of a board end when it becomes another, and show no past to who cannot see it', async () => {
    const old = await upload('past', 'x\n10\n')
    await ask('alice', 'PATCH', `/v2/files/${old.fid}`, { json: { world_readable: true } })
    const content = (text: string) => boardOf([{ number: old.fid, value: 'sum:x', change: true }, { text }])
    const made = await ask('alice', 'POST', '/v2/dashboards', {
      json: { content: content('first'), filename: 'pinned', world_readable: true },
    })
    const { fid } = made.json.file
    const before = new Date().toISOString()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await upload('past', 'x\n30\n')
    await draftBoard('pinned', [{ text: 'second' }])
    const { charts } = (await ask('alice', 'GET', '/v2/drafts/pr-1/charts')).json
    const { before_url } = charts.find((one: { filename: string }) => one.filename === 'pinned')
    const get = (url: string) => ask(undefined, 'GET', url.replace(/^https?:\/\/[^/]+/, ''))
    expect([200, 501]).toContain((await get(before_url)).status)
    // Who can write the board chooses its grids: their past is not for him.
    await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    const page = (user: string) =>
      ask(user, 'GET', `/~alice/${idlocal(fid)}/?version=${encodeURIComponent(before)}`)
    expect((await page('bob')).text).not.toMatch(/<p class="number">10</)
    const shown = (await page('alice')).text
    expect(shown).toMatch(/<p class="number">10</)
    // Before its first version, there was none.
    expect(shown).not.toContain('<p class="change">')
    await ask('alice', 'PUT', `/v2/dashboards/${fid}`, { json: { content: content('other') } })
    expect((await get(before_url)).status).toBe(400)
  })
})
