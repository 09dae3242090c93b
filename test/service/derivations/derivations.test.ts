// Derived grids: their content follows the grids that their query reads.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { verifyStore } from '../../../src/service/store/upkeep/verify.ts'
import { itLong, runs } from '../../support/property-runs.ts'
import { onBothStores, onSqliteFirst, TestService } from '../../support/service.ts'

/** Number of grids that are derived one from the other. */
const CHAIN_LENGTH = 2

/** Runs the background jobs of a server until none is due, after the minimum time between two refreshes. */
async function settle(test: TestService): Promise<void> {
  const { service } = test
  const countDue = () => service.store.read(({ jobs }) => jobs.countDue(Date.now()))
  // A grid that was refreshed before its input waits for its next turn.
  for (let turn = 0; turn < CHAIN_LENGTH; turn++) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 })
    do await service.runJobs()
    while ((await countDue()).jobs > 0)
  }
}
afterAll(() => {
  vi.useRealTimers()
})

async function rows(test: TestService, fid: string, user = 'alice'): Promise<string> {
  return (await test.ask(user, 'GET', `/v2/grids/${fid}/content?format=csv`)).text
}

async function derive(test: TestService, filename: string, sql: string, more: object = {}, user = 'alice') {
  return test.ask(user, 'POST', '/v2/grids/derive', { json: { filename, sql, ...more } })
}

async function stateOf(test: TestService, fid: string, user = 'alice') {
  return (await test.ask(user, 'GET', `/v2/grids/${fid}/derivation`)).json
}

onSqliteFirst('derived grids', (test) => {
  let sales: string
  let totals: string
  const total = 'select city, sum(amount) as amount from sales group by city order by city'
  beforeAll(async () => {
    test().service.store.onJob(() => {})
    sales = (await test().grid('alice', 'sales', { city: ['Oslo', 'Rome', 'Oslo'], amount: [1, 2, 5] })).fid
    const made = await derive(test(), 'totals', total)
    expect([made.status, made.json.action, made.json.derivation.state]).toEqual([201, 'created', 'current'])
    totals = made.json.file.fid
  })
  const append = (values: unknown[], fid = sales, user = 'alice') =>
    test().ask(user, 'POST', `/v2/grids/${fid}/row`, { json: { rows: [values] } })

  it('follow appends, replacements and renames of their inputs; a chart of one follows too', async () => {
    expect(await rows(test(), totals)).toBe('city,amount\nOslo,6\nRome,2\n')
    const uid = (await test().ask('alice', 'GET', `/v2/grids/${totals}`)).json.cols[1].uid
    const figure = { data: [{ type: 'bar', ysrc: `${totals}:${uid}` }], layout: {} }
    const plot = (await test().ask('alice', 'POST', '/v2/plots', { json: { figure } })).json.file.fid
    await append(['Bern', 7])
    expect((await stateOf(test(), totals)).state).toBe('pending')
    await settle(test())
    expect(await rows(test(), totals)).toBe('city,amount\nBern,7\nOslo,6\nRome,2\n')
    const drawn = await test().ask('alice', 'GET', `/v2/plots/${plot}/content?inline_data=true`)
    expect(drawn.json.data[0].y).toEqual([7, 6, 2])
    // The query names a grid by its path, but follows the grid.
    await test().ask('alice', 'PATCH', `/v2/files/${sales}`, { json: { filename: 'sold' } })
    await append(['Bern', 1])
    await settle(test())
    expect(await rows(test(), totals)).toBe('city,amount\nBern,8\nOslo,6\nRome,2\n')
    await test().ask('alice', 'PATCH', `/v2/files/${sales}`, { json: { filename: 'sales' } })
    const { versions } = (await test().ask('alice', 'GET', `/v2/grids/${totals}/versions`)).json
    expect(versions.map(({ operation }: { operation: string }) => operation)).toEqual([
      'refresh',
      'refresh',
      'create',
    ])
  })

  it('an unchanged result is no new version, and several changes are one refresh', async () => {
    const version = async () => (await test().ask('alice', 'GET', `/v2/grids/${totals}`)).json.version
    const before = await version()
    for (let k = 0; k < 5; k++) await append(['Bern', 0])
    await settle(test())
    expect([await version(), (await stateOf(test(), totals)).state]).toEqual([before, 'current'])
  })

  it('the same rows give the same result, to the last digit, in the same order', async () => {
    const numbers = Array.from({ length: 200_000 }, (_, k) => k)
    await test().grid('alice', 'waves', {
      wave: numbers.map((k) => k % 50),
      height: numbers.map((k) => Math.sin(k) * 100),
    })
    const sql = 'select wave, avg(height) as height from waves group by wave'
    const { fid } = (await derive(test(), 'heights', sql)).json.file
    const before = await rows(test(), fid)
    for (let k = 0; k < 3; k++) {
      expect(await test().status('alice', 'POST', `/v2/grids/${fid}/refresh`, { json: {} })).toBe(200)
      expect(await rows(test(), fid)).toBe(before)
    }
    const { versions } = (await test().ask('alice', 'GET', `/v2/grids/${fid}/versions`)).json
    expect(versions.length).toBe(1)
  })

  it('nobody writes to them, but key, checks, name and sharing can be set', async () => {
    for (const [method, path, json] of [
      ['POST', `/v2/grids/${totals}/row`, { rows: [['X', 1]] }],
      ['POST', `/v2/grids/${totals}/col`, { cols: JSON.stringify([{ name: 'more', data: [1] }]) }],
      ['POST', `/v2/grids/${totals}/revert`, { version: '1' }],
    ] as const) {
      const { status, json: answer } = await test().ask('alice', method, path, { json })
      expect([path, status, answer.errors[0].code]).toEqual([path, 409, 'derived_grid'])
    }
    const upload = await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: 'city,amount\nX,1\n',
      headers: { 'x-file-name': 'totals.csv', 'gridline-on-conflict': 'replace' },
    })
    expect([upload.status, upload.json.errors[0].code]).toEqual([409, 'derived_grid'])
    expect(await test().status('alice', 'PATCH', `/v2/files/${totals}`, { json: { filename: 'sums' } })).toBe(
      200,
    )
    const checks = { columns: { amount: { maximum: 1000 } } }
    const path = `/v2/grids/${totals}/checks`
    expect(await test().status('alice', 'PUT', path, { json: { checks } })).toBe(200)
    // Not that the data fails the checks: other data would be refused as well.
    const failing = await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: 'city,amount\nX,5000\n',
      headers: { 'x-file-name': 'sums.csv', 'gridline-on-conflict': 'append' },
    })
    expect([failing.status, failing.json.errors[0].code]).toEqual([409, 'derived_grid'])
    await append(['Bern', 5000])
    await settle(test())
    const stale = await stateOf(test(), totals)
    expect([stale.state, stale.error.code]).toEqual(['stale', 'checks_failed'])
    const { uid } = (await test().ask('alice', 'GET', `/v2/grids/${totals}`)).json.cols[1]
    const figure = { data: [{ type: 'bar', ysrc: `${totals}:${uid}` }], layout: {} }
    const { file } = (await test().ask('alice', 'POST', '/v2/plots', { json: { figure } })).json
    const page = await test().ask('alice', 'GET', `/~${file.fid.replace(':', '/')}/`)
    expect(page.text).toMatch(/stale since \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
    const saved = await test().ask('alice', 'HEAD', `/~${file.fid.replace(':', '/')}.html`)
    expect(decodeURIComponent(saved.headers.get('gridline-warning') ?? '')).toMatch(/^sums is stale since/)
    expect(await rows(test(), totals)).toBe('city,amount\nBern,8\nOslo,6\nRome,2\n')
    await test().ask('alice', 'PUT', path, { json: { checks: null } })
    const refreshed = await test().ask('alice', 'POST', `/v2/grids/${totals}/refresh`)
    expect(refreshed.json).toMatchObject({ state: 'current', error: null, stale_since: null })
    expect(await rows(test(), totals)).toBe('city,amount\nBern,5008\nOslo,6\nRome,2\n')
    await test().ask('alice', 'PATCH', `/v2/files/${totals}`, { json: { filename: 'totals' } })
  })

  it('keep their content, and say why, while an input is in the trash, lacks a column or is private again', async () => {
    const other = (await test().grid('bob', 'rates', { city: ['Oslo'], rate: [2] }, { world_readable: true }))
      .fid
    const made = await derive(test(), 'rated', 'select city, rate from bob.rates')
    const { fid } = made.json.file
    const chained = (await derive(test(), 'chained', 'select * from rated')).json.file.fid
    const expectStale = async (detail: RegExp): Promise<void> => {
      await settle(test())
      // What is derived from a stale grid is stale.
      const after = await stateOf(test(), chained)
      expect([after.state, after.error?.detail]).toEqual(['stale', 'rated is stale'])
      const derivation = await stateOf(test(), fid)
      expect([derivation.state, derivation.error?.detail]).toEqual(['stale', expect.stringMatching(detail)])
      expect(derivation.stale_since).not.toBeNull()
      expect(await rows(test(), fid)).toBe('city,rate\nOslo,2\n')
    }
    const expectCurrent = async (): Promise<void> => {
      await settle(test())
      for (const one of [fid, chained])
        expect(await stateOf(test(), one)).toMatchObject({ state: 'current', error: null })
    }
    await test().ask('bob', 'PATCH', `/v2/files/${other}`, { json: { world_readable: false } })
    await expectStale(/^bob\.rates \(bob:\d+\) is in the trash, deleted, or no longer readable$/)
    await test().ask('bob', 'PATCH', `/v2/files/${other}`, { json: { world_readable: true } })
    await expectCurrent()
    await test().ask('bob', 'POST', `/v2/files/${other}/trash`)
    await expectStale(/in the trash/)
    await test().ask('bob', 'POST', `/v2/files/${other}/restore`)
    await expectCurrent()
    const rate = (await test().ask('bob', 'GET', `/v2/grids/${other}`)).json.cols[1].uid
    const rename = (name: string) =>
      test().ask('bob', 'PUT', `/v2/grids/${other}/col?uid=${rate}`, {
        json: { cols: JSON.stringify([{ name }]) },
      })
    expect((await rename('quota')).status).toBe(200)
    await expectStale(/rate/)
    await rename('rate')
    await expectCurrent()
    await test().ask('bob', 'POST', `/v2/files/${other}/trash`)
    await test().ask('bob', 'DELETE', `/v2/files/${other}/permanent_delete`)
    await expectStale(/deleted/)
    // Readers see that it is stale, but not why.
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    const seen = await stateOf(test(), fid, 'bob')
    expect(Object.keys(seen).sort()).toEqual(['fid', 'filename', 'refreshed_at', 'stale_since', 'state'])
    expect(seen.state).toBe('stale')
  })

  it('are not derived from each other in a circle', async () => {
    const { fid } = (await derive(test(), 'next', 'select * from totals')).json.file
    const { fid: after } = (await derive(test(), 'after', 'select * from next')).json.file
    await append(['Bern', 1])
    await settle(test())
    expect(await rows(test(), after)).toBe(await rows(test(), totals))
    const circle = await derive(test(), 'totals', 'select * from after', { on_conflict: 'replace' })
    expect([circle.status, circle.json.errors[0].code]).toEqual([409, 'conflict'])
    const itself = await derive(test(), 'next', 'select * from next', { on_conflict: 'replace' })
    expect(itself.status).toBe(409)
    expect((await stateOf(test(), fid)).sql).toBe('select * from totals')
  })

  it('sources shows inputs and derived grids; a copy is a grid of its own; parameters are bound', async () => {
    const relation = async (fid: string, name: string) => {
      const { graph } = (await test().ask('alice', 'GET', `/v2/files/${fid}/sources?relation=${name}`)).json
      return graph.edges.map(({ target }: { target: string }) => target)
    }
    expect(await relation(sales, 'derived grids')).toContain(totals)
    expect(await relation(totals, 'source grids')).toEqual([sales])
    const sql = 'select * from sales where city = $city'
    const params = { city: "O'Brien' or true --" }
    const { file } = (await derive(test(), 'bound', sql, { params })).json
    expect(await rows(test(), file.fid)).toBe('city,amount\n')
    const copy = (await test().ask('alice', 'POST', `/v2/files/${totals}/copy`, { json: {} })).json
    const copied = copy.new_fid
    expect(await test().status('alice', 'GET', `/v2/grids/${copied}/derivation`)).toBe(400)
    expect((await append(['X', 1], copied)).status).toBe(201)
    expect(await test().status('alice', 'DELETE', `/v2/grids/${file.fid}/derivation`)).toBe(204)
    expect((await append(['X', 1], file.fid)).status).toBe(201)
    const failed = await derive(test(), 'none', 'select nope from sales')
    expect(failed.status).toBe(400)
    expect(await test().status('alice', 'GET', '/v2/grids/lookup?path=none')).toBe(404)
  })

  itLong('a missing version or a draft of an input breaks nothing, and tells strangers nothing', async () => {
    const { fid } = await test().grid('alice', 'Merger_ACME', { a: [1] })
    const upload = (more: object) =>
      test().ask('alice', 'POST', '/v2/grids/upload', {
        body: 'a\n5\n',
        headers: { 'x-file-name': 'Merger_ACME.csv', 'gridline-on-conflict': 'replace', ...more },
      })
    expect((await upload({})).json.action).toBe('replaced')
    const made = await derive(test(), 'old', 'select a from "Merger_ACME@1"', { world_readable: true })
    const old = made.json.file.fid
    expect((await test().ask('alice', 'DELETE', `/v2/files/${fid}/versions?version=1`)).status).toBe(200)
    await settle(test())
    await test().ask('alice', 'POST', `/v2/grids/${old}/refresh`)
    expect((await stateOf(test(), old)).state).toBe('stale')
    for (const path of [`/~alice/${old.split(':')[1]}/`, `/v2/grids/${old}/derivation`]) {
      const seen = await test().ask(undefined, 'GET', path)
      expect([path, seen.status, seen.text.includes('ACME')]).toEqual([path, 200, false])
    }
    expect(await test().status('alice', 'DELETE', `/v2/grids/${old}/derivation`)).toBe(204)
    await upload({ 'gridline-draft': 'mine' })
    const draft = await derive(test(), 'drafty', 'select a from "Merger_ACME@mine"')
    expect([draft.status, draft.json.detail]).toEqual([400, expect.stringContaining('is a draft')])
  })

  it('a change of an input while the query runs is not lost, and an older result is not stored over a later one', async () => {
    const { fid } = await test().grid('alice', 'slow', { a: [1] })
    const sql =
      'select count(*) as n, (select count(*) from range(3000000) t(i) where i % 7 = 3) as m from slow'
    const making = derive(test(), 'slowly', sql)
    await append([2], fid)
    const { file } = (await making).json
    await settle(test())
    expect((await rows(test(), file.fid)).startsWith('n,m\n2,')).toBe(true)
    // Another query meanwhile, also after the derivation was ended.
    const running = test().ask('alice', 'POST', `/v2/grids/${file.fid}/refresh`)
    await test().ask('alice', 'DELETE', `/v2/grids/${file.fid}/derivation`)
    await derive(test(), 'slowly', 'select 7 as seven', { on_conflict: 'replace' })
    await running
    await settle(test())
    expect(await rows(test(), file.fid)).toBe('seven\n7\n')
  })

  it('only those who may read the inputs learn why it is stale; keys without read access query nothing', async () => {
    const { fid: secret } = await test().grid('alice', 'salaries', { pay: ['1'] })
    const { fid } = (await derive(test(), 'paid', 'select cast(pay as int) as pay from salaries')).json.file
    await test().ask('alice', 'POST', `/v2/grids/${fid}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    await append(['Carol: 91000'], secret)
    await settle(test())
    expect((await stateOf(test(), fid)).error.detail).toContain('Carol')
    for (const path of [
      `/v2/grids/${fid}/derivation`,
      `/v2/grids/${fid}/refresh`,
      `/~alice/${fid.split(':')[1]}/`,
    ]) {
      const { status, text } = await test().ask('bob', 'GET', path)
      expect([path, status, /Carol|salaries/.test(text)]).toEqual([path, 200, false])
    }
    const key = await test().key('alice', { scopes: 'write' })
    const headers = { authorization: `Bearer ${key}` }
    for (const path of ['/v2/grids/derive', `/v2/grids/${fid}/refresh`]) {
      const { status } = await test().ask(undefined, 'POST', path, {
        json: { filename: 'x', sql: 'select 1' },
        headers,
      })
      expect([path, status]).toEqual([path, 403])
    }
  })

  itLong('a new query that drops columns is refused if the client asks for that', async () => {
    await derive(test(), 'dropping', 'select city, amount from sales')
    const replace = (headers: Record<string, string>) =>
      test().ask('alice', 'POST', '/v2/grids/derive', {
        json: { filename: 'dropping', sql: 'select city from sales', on_conflict: 'replace' },
        headers,
      })
    const refused = await replace({ 'gridline-allow-column-loss': 'false' })
    expect([refused.status, refused.json.errors[0].code]).toEqual([409, 'column_loss'])
    expect(refused.json.detail).toContain('the result of the query lacks a column')
    expect((await replace({ 'gridline-allow-column-loss': 'true' })).status).toBe(201)
  })

  itLong('in the trash it is not refreshed, after it is; If-Match is checked', async () => {
    const { fid } = (await derive(test(), 'resting', 'select count(*) as n from sales')).json.file
    const before = await rows(test(), fid)
    await test().ask('alice', 'POST', `/v2/files/${fid}/trash`)
    await append(['Bern', 1])
    await settle(test())
    await test().ask('alice', 'POST', `/v2/files/${fid}/restore`)
    expect(await rows(test(), fid)).toBe(before)
    await settle(test())
    expect(await rows(test(), fid)).not.toBe(before)
    const json = { filename: 'resting', sql: 'select 1 as a', on_conflict: 'replace' }
    const { status } = await test().ask('alice', 'POST', '/v2/grids/derive', {
      json,
      headers: { 'if-match': '"999"' },
    })
    expect(status).toBe(412)
  })

  it('take the rights of their owner, whoever changes the inputs, and no collaborator changes the query', async () => {
    await test().ask('alice', 'POST', `/v2/grids/${totals}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    expect(await test().status('bob', 'DELETE', `/v2/grids/${totals}/derivation`)).toBe(403)
    expect(await test().status('bob', 'POST', `/v2/grids/${totals}/refresh`)).toBe(200)
    expect(await rows(test(), totals, 'bob')).toBe(await rows(test(), totals))
    const stolen = await derive(test(), 'stolen', `select * from "${sales}"`, {}, 'bob')
    expect([stolen.status, stolen.json.errors[0].code]).toEqual([400, 'unknown_table'])
  })
})

onBothStores('derived grids as a model has them', (test) => {
  it('after any writes, dead servers and jobs of two servers, the content is the result of the query', async () => {
    const second = new TestService(
      await createService({
        database: test().database,
        url: 'http://gridline.test',
        environment: {},
        ...test().place,
      }),
    )
    for (const [user, key] of test().keys) second.keys.set(user, key)
    const servers = [test(), second]
    // Servers run jobs only when the test says so.
    for (const { service } of servers) service.store.onJob(() => {})
    const model: { key: string; value: number }[] = []
    const input = (await test().grid('alice', 'model', { key: ['a'], value: [1] })).fid
    model.push({ key: 'a', value: 1 })
    const sum = await derive(test(), 'sum', 'select key, sum(value)::bigint as value from model group by key')
    const sorted = await derive(test(), 'sorted', 'select * from alice.sum order by key', {}, 'alice')
    const write = fc.oneof(
      fc.record({
        do: fc.constant('append' as const),
        key: fc.constantFrom('a', 'b', 'c'),
        value: fc.nat(9),
      }),
      fc.record({ do: fc.constant('replace' as const), key: fc.constantFrom('a', 'b'), value: fc.nat(9) }),
      fc.record({
        do: fc.constantFrom('jobs' as const, 'dies' as const),
        key: fc.constant(''),
        value: fc.nat(1),
      }),
    )
    const seed = Number(process.env.GRIDLINE_TEST_SEED ?? runs(3, Date.now()))
    for (const [n, steps] of fc
      .sample(fc.array(fc.tuple(fc.nat(1), write), { minLength: 1, maxLength: 12 }), {
        numRuns: runs(2, 100),
        seed,
      })
      .entries()) {
      for (const [server, step] of steps) {
        const on = servers[server]
        if (step.do === 'jobs') await on.service.runJobs()
        else if (step.do === 'dies') {
          // A server takes jobs, and is gone for longer than its lease.
          const { store } = on.service
          const now = Date.now()
          const due = await store.read(({ jobs }) => jobs.listDue(now, 2, ['feed', 'refresh']))
          for (const job of due.filter(({ owner }) => owner !== ''))
            await store.write([job.owner], ({ jobs }) => jobs.claim(job, 'dead', now, now - 1))
        } else if (step.do === 'append') {
          model.push({ key: step.key, value: step.value })
          await on.ask('alice', 'POST', `/v2/grids/${input}/row`, {
            json: { rows: [[step.key, step.value]] },
          })
        } else {
          model.splice(0, model.length, { key: step.key, value: step.value })
          const { status } = await on.ask('alice', 'POST', '/v2/grids/upload', {
            body: `key,value\n${step.key},${step.value}\n`,
            headers: {
              'x-file-name': 'model.csv',
              'gridline-on-conflict': 'replace',
              'gridline-allow-row-loss': 'true',
            },
          })
          expect(status).toBe(201)
        }
      }
      await settle(servers[n % 2])
      const sums = new Map<string, number>()
      for (const { key, value } of model) sums.set(key, (sums.get(key) ?? 0) + value)
      const expected = [...sums].sort().map(([key, value]) => `${key},${value}\n`)
      expect(await rows(test(), sorted.json.file.fid)).toBe(`key,value\n${expected.join('')}`)
      expect((await stateOf(second, sum.json.file.fid)).state).toBe('current')
    }
    expect((await verifyStore(test().service.store)).damage).toEqual([])
    await second.service.close()
  })
})
