// Drafts of grids, and images of reviews.
import { expect, it } from 'vitest'
import { expireDrafts } from '../../../src/service/store/aggregates/retention.ts'
import { verifyStore } from '../../../src/service/store/upkeep/verify.ts'
import { onSqliteFirst } from '../../support/service.ts'

const DAY = 24 * 3600 * 1000

onSqliteFirst('drafts', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = (name: string, csv: string, headers: Record<string, string> = {}) =>
    ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        'content-type': 'text/csv',
        'x-file-name': `${name}.csv`,
        'gridline-on-conflict': 'replace',
        ...headers,
      },
    })
  const draft = (name: string, csv: string, of = 'pr-1', headers: Record<string, string> = {}) =>
    upload(name, csv, { 'gridline-draft': of, ...headers })
  const csvOf = async (fid: string, version = '', user = 'alice') =>
    ask(user || undefined, 'GET', `/v2/grids/${fid}/content?format=csv${version && `&version=${version}`}`)

  it('a draft leaves the grid unchanged, and is a version for users with write access', async () => {
    const { fid } = (await upload('sales', 'n,m\n1,x\n')).json.file
    await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { json: { users: ['bob'], readonly: true } })
    const made = await draft('sales', 'n,k\n1,new\n2,new\n')
    expect(made.json).toMatchObject({
      action: 'drafted',
      file: {
        fid,
        draft: 'pr-1',
        version: 0,
        row_count: 2,
        web_url: expect.stringMatching(/\?version=pr-1$/),
      },
    })
    expect((await csvOf(fid)).text).toBe('n,m\n1,x\n')
    expect((await csvOf(fid, 'pr-1')).text).toBe('n,k\n1,new\n2,new\n')
    expect((await ask('alice', 'GET', `/v2/files/${fid}`)).json.version).toBe(1)
    expect((await ask('alice', 'GET', `/v2/files/${fid}/versions`)).json.versions).toHaveLength(1)
    for (const user of ['bob', '']) {
      const { status, text } = await csvOf(fid, 'pr-1', user)
      expect([status, text.includes('new'), text.includes('draft')]).toEqual([403, false, false])
      // Equal to the response for a missing draft.
      expect((await csvOf(fid, 'pr-2', user)).text).toBe(text)
    }
    expect((await ask('bob', 'GET', '/v2/drafts')).json.drafts).toEqual([])
    const diff = await ask('alice', 'GET', `/v2/grids/${fid}/diff?version=pr-1&base_version=-0`)
    expect(diff.json).toMatchObject({ rows_added: 1, columns: [{ change: 'removed' }, { change: 'added' }] })
  })

  it('the content of a draft is sent again once it has been stored again', async () => {
    const { fid } = (await upload('stored twice', 'n\n0\n')).json.file
    await draft('stored twice', 'n\n1\n')
    const read = async (tag: string | null) => {
      const headers: Record<string, string> = tag === null ? {} : { 'if-none-match': tag }
      const path = `/v2/grids/${fid}/content?format=csv&version=pr-1`
      return ask('alice', 'GET', path, { headers })
    }
    const first = await read(null)
    await draft('stored twice', 'n\n2\n')
    const second = await read(first.headers.get('etag'))
    expect([first.text, second.status, second.text]).toEqual(['n\n1\n', 200, 'n\n2\n'])
  })

  it('a draft shows plots with its data to users with write access', async () => {
    const { fid, cols } = (await upload('plotted', 'x,y\n1,2\n')).json.file
    const figure = { data: [{ xsrc: `${fid}:${cols[0].uid}`, ysrc: `${fid}:${cols[1].uid}` }], layout: {} }
    const plot = (
      await ask('alice', 'POST', '/v2/plots', { json: { figure, filename: 'chart', world_readable: true } })
    ).json.file.fid
    await draft('plotted', 'y,x\n20,10\n')
    const content = (user: string | undefined, version: string) =>
      ask(user, 'GET', `/v2/plots/${plot}/content?inline_data=true${version}`)
    expect((await content('alice', '')).json.data[0]).toMatchObject({ x: [1], y: [2] })
    expect((await content('alice', '&version=pr-1')).json.data[0]).toMatchObject({ x: [10], y: [20] })
    expect((await content(undefined, '&version=pr-1')).status).toBe(403)
    expect((await content('alice', '&version=pr-9')).status).toBe(404)
    await draft('plotted', 'y,x\n21,11\n')
    expect((await content('alice', '&version=pr-1')).json.data[0]).toMatchObject({ x: [11], y: [21] })
    const page = await ask('alice', 'GET', `/~alice/${fid.split(':')[1]}/?version=pr-1`)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Draft pr-1')
    expect(page.text).toContain('Charts with this draft:')
  })

  it('a plot shows drafts and earlier data only to users with write access to the grid', async () => {
    const { fid, cols } = (await upload('owned', 'x,y\n1,111\n')).json.file
    const figure = { data: [{ xsrc: `${fid}:${cols[0].uid}`, ysrc: `${fid}:${cols[1].uid}` }], layout: {} }
    const plot = (
      await ask('alice', 'POST', '/v2/plots', {
        json: { figure, filename: 'owned chart', world_readable: true },
      })
    ).json.file.fid
    await ask('alice', 'POST', `/v2/files/${plot}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    const before = new Date(Date.now() + 1).toISOString()
    const wait = Date.now() + 2
    while (Date.now() <= wait) await new Promise((resolve) => setImmediate(resolve))
    await upload('owned', 'x,y\n1,222\n')
    await draft('owned', 'x,y\n1,333\n')
    const ys = async (user: string | undefined, version: string, path = 'content?inline_data=true&') =>
      (await ask(user, 'GET', `/v2/plots/${plot}/${path}version=${version}`)).text
    for (const order of [
      ['alice', undefined, 'bob'],
      [undefined, 'alice', 'bob'],
    ])
      for (const user of order) {
        expect([user, (await ys(user, before)).includes('[111]')]).toEqual([user, user !== undefined])
        expect([user, (await ys(user, 'pr-1')).includes('[333]')]).toEqual([user, user === 'alice'])
        const page = await ask(
          user,
          'GET',
          `/~alice/${plot.split(':')[1]}.json?version=${encodeURIComponent(before)}`,
        )
        expect([user, page.text.includes('111')]).toEqual([user, user !== undefined])
      }
  })

  it('a draft is stored even if it violates the key of the grid, which its report says', async () => {
    const { fid } = (await upload('keyed', 'id,n\n1,a\n2,b\n', { 'gridline-key': 'id' })).json.file
    for (const [csv, message] of [
      ['nr,n\n1,a\n', 'keyed.csv has no column "id", which is the key'],
      ['id,n\n1,a\n1,b\n', 'keyed.csv: lines 2 and 3 have the same key: id 1'],
    ]) {
      const { json } = await draft('keyed', csv, 'pr-5')
      expect(json).toMatchObject({
        action: 'drafted',
        warnings: [`check: ${message}`],
        checks: { passed: false, errors: 1, results: [{ rule: 'key', message }] },
      })
      expect((await csvOf(fid, 'pr-5')).text).toBe(csv)
      expect((await upload('keyed', csv)).json.errors[0].message).toBe(message)
    }
  })

  it('deleting drafts never deletes other grids in the folder of drafts', async () => {
    const real = await upload('mine', 'n\n42\n', { 'gridline-parent-path': 'Drafts/pr-2' })
    expect((await draft('mine', 'n\n0\n', 'pr-2')).status).toBe(409)
    expect((await csvOf(real.json.file.fid)).text).toBe('n\n42\n')
  })

  it('later uploads update a draft of a new file, which survives moving its folder', async () => {
    const first = (await draft('again', 'n\n1\n', 'pr-3')).json.file.fid
    const made = async () => (await ask('alice', 'GET', '/v2/drafts?name=pr-3')).json.drafts[0].made_at
    const before = await made()
    const wait = Date.now() + 2
    while (Date.now() <= wait) await new Promise((resolve) => setImmediate(resolve))
    await draft('again', 'n\n2\n', 'pr-3')
    expect((await made()) > before).toBe(true)
    const folder = (await ask('alice', 'GET', '/v2/folders/lookup?path=Drafts/pr-3')).json.fid
    await ask('alice', 'PATCH', `/v2/files/${folder}`, { json: { filename: 'results', parent: -1 } })
    expect((await ask('alice', 'DELETE', '/v2/drafts/pr-3')).status).toBe(200)
    expect((await csvOf(first)).text).toBe('n\n2\n')
  })

  it('a draft of a new file is a private grid, which is deleted with the draft', async () => {
    const made = await draft('fresh', 'n\n1\n', 'pr-7', { 'gridline-parent-path': 'public/data' })
    const { fid } = made.json.file
    expect(made.json).toMatchObject({ action: 'drafted', file: { world_readable: false, draft: 'pr-7' } })
    expect((await ask('alice', 'GET', '/v2/grids/lookup?path=Drafts/pr-7/public/data/fresh')).json.fid).toBe(
      fid,
    )
    expect((await ask('alice', 'GET', '/v2/folders/lookup?path=public')).status).toBe(404)
    expect(
      (await draft('fresh', 'n\n2\n', 'pr-7', { 'gridline-parent-path': 'public/data' })).json.file.fid,
    ).toBe(fid)
    const { drafts } = (await ask('alice', 'GET', '/v2/drafts?name=pr-7')).json
    expect(drafts).toMatchObject([{ name: 'pr-7', fid, is_new: true, row_count: 1 }])
    expect((await ask('alice', 'DELETE', '/v2/drafts/pr-7')).json).toEqual({ name: 'pr-7', deleted: 1 })
    expect((await ask('alice', 'GET', `/v2/files/${fid}`)).status).toBe(404)
    expect((await ask('alice', 'DELETE', '/v2/drafts/pr-7')).status).toBe(404)
  })

  it('a draft expires after 14 days with its data; a moved grid stays', async () => {
    const { fid } = (await upload('expiring', 'n\n1\n')).json.file
    await draft('expiring', 'n\n2\n', 'old')
    const moved = (await draft('moved', 'n\n3\n', 'old')).json.file.fid
    await ask('alice', 'PATCH', `/v2/files/${moved}`, { json: { parent: -1 } })
    const gone = (await draft('gone', 'n\n4\n', 'old')).json.file.fid
    const { store } = test().service
    const rules = { draft_days: 14 }
    expect(await expireDrafts(store.engine, rules, Date.now() + 13 * DAY)).toBe(0)
    expect((await csvOf(fid, 'old')).text).toBe('n\n2\n')
    await expireDrafts(store.engine, rules, Date.now() + 15 * DAY)
    expect((await csvOf(fid, 'old')).status).toBe(404)
    expect((await csvOf(fid)).text).toBe('n\n1\n')
    expect([(await csvOf(moved)).status, (await csvOf(gone)).status]).toEqual([200, 404])
    expect((await ask('alice', 'GET', '/v2/drafts')).json.drafts).toEqual([])
    const left = await store.read(({ versions }) =>
      versions.listSlicesIn({ owner: 'alice', idlocal: Number(fid.split(':')[1]), epoch: -1 }),
    )
    expect(left.size).toBe(0)
    expect((await verifyStore(store)).damage).toEqual([])
  })

  it('a draft survives changes, sweeps and forgotten versions of its grid, and verify accepts it', async () => {
    const { fid } = (await upload('busy', 'n\n1\n')).json.file
    await draft('busy', 'n\n10\n', 'a')
    await draft('busy', 'n\n20\n', 'b')
    await upload('busy', 'n\n2\n')
    await ask('alice', 'DELETE', `/v2/files/${fid}/versions?version=1`)
    await ask('alice', 'DELETE', '/v2/drafts/b')
    await test().service.store.sweep(0)
    expect((await csvOf(fid, 'a')).text).toBe('n\n10\n')
    expect((await csvOf(fid)).text).toBe('n\n2\n')
    expect((await verifyStore(test().service.store)).damage).toEqual([])
    // The merged content is already stored.
    const merged = await upload('busy', 'n\n10\n')
    expect(merged.json.file.version).toBe(3)
  })

  it('a draft is stored even if it fails checks, with a report', async () => {
    const { fid } = (await upload('ruled', 'n\n1\n')).json.file
    const checks = { columns: { n: { minimum: 0 } }, table: { change: { rows: '-10%..+10%' } } }
    await ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    const { status, json } = await draft('ruled', 'n\n-1\n2\n')
    expect([status, json.checks]).toMatchObject([201, { passed: false, errors: 2 }])
    const report = await ask('alice', 'POST', `/v2/grids/${fid}/check?version=pr-1`, { json: {} })
    expect(report.json).toMatchObject({ passed: false, errors: 2 })
  })

  it.each([
    ['versions.revert', 'revert', { version: 'pr-1' }],
    ['versions.keep', 'keep', { version: 'pr-1' }],
  ])('a draft cannot become a version by %s', async (_, path, json) => {
    const { fid } = (await upload('kept', 'n\n1\n')).json.file
    await draft('kept', 'n\n2\n')
    const answer = await ask('alice', 'POST', `/v2/grids/${fid}/${path}`, { json })
    expect([answer.status, answer.json.detail]).toEqual([400, 'pr-1 is a draft, not a version'])
  })

  it.each([
    ['1abc', {}],
    ['a/b', {}],
    ['ok', { 'gridline-on-conflict': 'append' }],
  ])('an invalid draft name or rule is refused: %s %j', async (name, headers) => {
    expect((await draft('odd', 'n\n1\n', name, headers)).status).toBe(400)
  })

  it('a draft of a trashed grid becomes a new grid; restoring the old one ignores it', async () => {
    const { fid } = (await upload('trashed', 'n\n1\n')).json.file
    await ask('alice', 'POST', `/v2/files/${fid}/trash`)
    const made = (await draft('trashed', 'n\n2\n', 'pr-t')).json
    expect(made).toMatchObject({ action: 'drafted' })
    expect(made.file.fid).not.toBe(fid)
    await ask('alice', 'POST', `/v2/files/${fid}/restore`)
    expect((await csvOf(fid)).text).toBe('n\n1\n')
  })

  it('the images of a review show its data, and expire with the draft, the trashed chart or its trashed grid', async () => {
    const { fid: grid } = (await upload('reviewed', 'n\n1\n')).json.file
    const { cols } = (await ask('alice', 'GET', `/v2/grids/${grid}`)).json
    const figure = { data: [{ type: 'bar', ysrc: `${grid}:${cols[0].uid}` }], layout: {} }
    const { fid } = (await ask('alice', 'POST', '/v2/plots', { json: { figure, filename: 'r' } })).json.file
    await draft('reviewed', 'n\n2\n')
    const { charts } = (await ask('alice', 'GET', '/v2/drafts/pr-1/charts')).json
    const link = (name: 'before_url' | 'after_url') =>
      charts.find((one: { fid: string }) => one.fid === fid)[name].replace('http://gridline.test', '')
    /** Returns whether the link is accepted: an unfinished image is refused only after that check. */
    const status = async (path: string) => (await ask(undefined, 'GET', path)).status
    const opens = async (path: string) => (await status(`${path}&format=none`)) !== 404
    const [before, after] = [link('before_url'), link('after_url')]
    expect([await opens(before), await opens(after)]).toEqual([true, true])
    expect(await status(`${before}&width=3000`)).toBe(400)
    expect(new URL(before, 'http://gridline.test').searchParams.get('version')).toMatch(/^\d{4}-/)
    for (const path of [`/v2/plots/${fid}`, `/v2/grids/${grid}`]) {
      await ask('alice', 'POST', `${path}/trash`)
      expect([await opens(before), await opens(after)]).toEqual([false, false])
      await ask('alice', 'POST', `${path}/restore`)
      expect([await opens(before), await opens(after)]).toEqual([true, true])
    }
    // After the reviewed version is forgotten, the link shows no other version.
    await upload('reviewed', 'n\n3\n')
    expect(await opens(before)).toBe(true)
    await ask('alice', 'DELETE', `/v2/grids/${grid}/versions?version=1`)
    expect(await opens(before)).toBe(false)
    await ask('alice', 'DELETE', '/v2/drafts/pr-1')
    expect(await opens(after)).toBe(false)
  })
})
