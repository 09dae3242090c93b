// Alerts: conditions on grids, and the messages of their changes.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Webhooks } from '../../../src/service/alerts/webhook.ts'
import { createService } from '../../../src/service/index.ts'
import { AlertReader } from '../../../src/service/store/aggregates/alerts.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

interface Received {
  path: string
  body: string
  headers: Record<string, string>
}

describe('alerts', () => {
  const folder = temporaryFolder()
  let receiver: Server
  let smtp: SMTPServer
  let base: string
  let test: TestService
  let second: TestService
  let received: Received[] = []
  let mails: { to: string[]; text: string }[] = []
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const accept: typeof answer = (_, response) => response.writeHead(204).end()
  const open = async (): Promise<TestService> => {
    const running = new TestService(
      await createService({
        ...{ database: `sqlite:${folder.path}/test.db`, url: URL_OF_TESTS, environment: {} },
        ...{ smtp: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}` },
        webhooks: new Webhooks((address) => address === '127.0.0.1'),
      }),
    )
    running.service.store.onJob(() => {})
    return running
  }
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        received.push({ path: request.url!, body, headers: request.headers as Record<string, string> })
        answer(request, response)
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, session, done) {
        let text = ''
        stream.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        stream.on('end', () => {
          mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
          done()
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    test = await open()
    await test.user('alice')
    await test.user('bob')
    second = await open()
    for (const [user, key] of test.keys) second.keys.set(user, key)
  })
  afterAll(async () => {
    vi.useRealTimers()
    receiver.closeAllConnections()
    receiver.close()
    for (const { service } of [test, second]) await service.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
    folder.remove()
  })
  beforeEach(() => {
    received = []
    mails = []
    answer = accept
  })

  let count = 0
  const names = new Map<string, string>()
  /** Creates a grid of sensors. */
  const grid = async (
    columns: Record<string, unknown[]> = { id: [1, 2], temp: [10, 20] },
  ): Promise<string> => {
    const { fid } = await test.grid('alice', `g${++count}`, columns)
    names.set(fid, `g${count}`)
    return fid
  }
  const add = (fid: string, condition: object, to = `${base}/${fid}`, user = 'alice') =>
    test.ask(user, 'POST', `/v2/grids/${fid}/alerts`, { json: { ...condition, to } })
  const append = (fid: string, rows: unknown[][]) =>
    test.ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
  const replace = (fid: string, csv: string, headers: Record<string, string> = {}) =>
    test.ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: {
        ...{ 'x-file-name': `${names.get(fid)}.csv`, 'content-type': 'text/csv' },
        ...{ 'gridline-on-conflict': 'replace', ...headers },
      },
    })
  /** Runs the jobs that are due, and those that follow from them, on one of two servers after the other. */
  const deliver = async (): Promise<void> => {
    const countDue = () => test.service.store.read(({ jobs }) => jobs.countDue(Date.now()))
    do for (const { service } of [test, second, test]) await service.runJobs()
    while ((await countDue()).jobs > 0)
  }
  /** Lets time pass, in minutes. */
  const pass = async (minutes: number): Promise<void> => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 })
    await deliver()
  }
  /** Types of the messages to a receiver. */
  const told = (path: string) =>
    received.flatMap((one) => (one.path === `/${path}` ? [JSON.parse(one.body).type] : []))
  const stateOf = async (fid: string) =>
    (await test.ask('alice', 'GET', `/v2/alerts?fid=${fid}`)).json.alerts.map(
      ({ state, reason }: { state: string; reason: string }) => `${state}: ${reason}`,
    )

  it('each write judges a condition, and each change of state is told once, signed', async () => {
    const fid = await grid()
    const added = await add(fid, { when: 'max(temp) > 40' })
    expect([added.status, added.json.state, added.json.reason, added.json.condition]).toEqual([
      201,
      'ok',
      'max(temp) is 20',
      'max(temp) > 40',
    ])
    await deliver()
    expect(told(fid)).toEqual([])
    await append(fid, [[3, 41]])
    await append(fid, [[4, 50]])
    await replace(fid, 'id,temp\n1,10\n')
    await append(fid, [[5, 99]])
    await deliver()
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok', 'alert.firing'])
    const { body, headers } = received[0]
    expect(new Webhook(added.json.secret).verify(body, headers)).toMatchObject({
      type: 'alert.firing',
      text: expect.stringContaining(': max(temp) &gt; 40 (max(temp) is 41) http'),
      data: { alert: added.json.id, fid, state: 'firing', previous_state: 'ok', value: 41 },
    })
    expect(() => new Webhook(added.json.secret).verify(`${body} `, headers)).toThrow()
    expect(new Set(received.map((one) => one.headers['webhook-id'])).size).toBe(3)
    // A retry of an applied write judges nothing.
    received = []
    const key = { 'idempotency-key': 'again' }
    for (let k = 0; k < 2; k++) {
      const rows = { json: { rows: [[6, 1]] }, headers: key }
      await test.ask('alice', 'POST', `/v2/grids/${fid}/row`, rows)
    }
    const to = { json: { version: '3' } }
    expect((await test.ask('alice', 'POST', `/v2/grids/${fid}/revert`, to)).json.action).toBe('reverted')
    await deliver()
    expect(told(fid)).toEqual(['alert.ok'])
    expect(await stateOf(fid)).toEqual(['ok: max(temp) is 10'])
  })

  it.each([
    [{ when: 'count(*) >= 3' }, 'ok: count(*) is 2'],
    [{ when: 'rows() = 2' }, 'firing: count(*) is 2'],
    [{ when: 'avg( temp ) < 15.5' }, 'firing: mean(temp) is 15'],
    [{ when: 'median("temp") <> 15' }, 'ok: median(temp) is 15'],
    [{ when: "last(status) = 'it''s'" }, 'firing: last(status) is "it\'s"'],
    [{ when: "max(day) < '2024-02-01'" }, 'firing: max(day) is "2024-01-31"'],
    [{ when: 'max(temp) > -1e1', where: 'id = 1' }, 'firing: max(temp) is 10'],
    [{ when: 'count(*) = 0', where: "status = 'gone'" }, 'firing: count(*) is 0'],
    [{ when: 'max(temp) > 1', where: 'id > 5' }, 'unknown: max(temp) has no value'],
    [{ failed_checks: true }, 'unknown: the grid has no checks'],
    [{ changed_percent: 10 }, 'ok: the number of rows is 2'],
    [{ stale_seconds: 60 }, /^ok: the last change was /],
  ])('%j', async (condition, state) => {
    const fid = await grid({
      id: [1, 2],
      temp: [10, 20],
      status: ['ok', "it's"],
      day: ['2024-01-01', '2024-01-31'],
    })
    const { status } = await add(fid, condition)
    expect(status).toBe(201)
    expect(await stateOf(fid)).toEqual([typeof state === 'string' ? state : expect.stringMatching(state)])
  })

  it.each([
    ['max', 1e300, 'max(n) is 1e+300'],
    ['sum', 1, 'sum(n) is 2.5'],
    ['mean', 1, 'mean(n) is 1.25'],
    ['median', 1, 'median(n) is 1.25'],
    ['min', -1e300, 'min(n) is -1e+300'],
    ['last', 1, 'last(n) is 1.5'],
    ['first', 1, 'first(n) is 1'],
    ['count', 1, 'count(n) is 2'],
  ])('%s of numbers between missing ones', async (name, first, reason) => {
    const body = `n,m\n${first},\n,\n1.5,\n,x\n${',x\n'.repeat(300)}`
    const headers = { 'x-file-name': `${name}.csv`, 'content-type': 'text/csv' }
    const { json } = await test.ask('alice', 'POST', '/v2/grids/upload', { body, headers })
    const fid = json.file?.fid ?? json.fid
    await add(fid, { when: `${name}(n) = 77` })
    expect(await stateOf(fid)).toEqual([`ok: ${reason}`])
  })

  it.each([
    [{}, 'give one of'],
    [{ when: 'max(temp) > 1', stale_seconds: 60 }, 'give one of'],
    [{ when: 'max(temp)' }, 'a comparison is missing'],
    [{ when: 'temp > 40' }, 'a function of a column is missing'],
    [{ when: 'max(temp) > 40 or 1 = 1' }, 'expected a number'],
    [{ when: 'max(temp) > ' }, 'expected a number'],
    [{ when: 'maxi(temp) > 1' }, 'unknown function maxi'],
    [{ when: 'max(*) > 1' }, 'max needs a column'],
    [{ when: 'max(temp) > 1', where: 'temp >' }, 'where'],
    [{ where: 'temp > 1', failed_checks: true }, 'where: needs when or of'],
    [{ of: 'sum(temp)', stale_seconds: 60 }, 'of: needs changed_percent'],
    [{ changed_percent: 0 }, 'must be above 0'],
    [{ stale_seconds: 1 }, 'must be from 60'],
    [{ when: 'max(tem) > 5' }, 'no column "tem"'],
    [{ when: "max(temp) > 'a'" }, 'max(temp) is a number'],
    [{ when: 'last(name) > 5' }, 'last(name) is a text'],
    [{ when: 'sum(name) > 5' }, 'sum: name has no numbers'],
    [{ when: 'max(ok) > 4' }, 'max: ok is true or false. Count rows: count where ok = true'],
    [{ when: 'max(temp) > 5', where: 'tem > 1' }, 'tem'],
  ])('%j is refused', async (condition, why) => {
    const { status, json } = await add(await grid({ temp: [1], name: ['a'], ok: [true] }), condition)
    expect([status, json.detail]).toEqual([400, expect.stringContaining(why)])
  })

  it('a new alert also judges rows that were appended one by one, and a value that was lowered', async () => {
    const fid = await grid()
    await append(fid, [[3, 70]])
    await add(fid, { when: 'max(temp) > 40' })
    expect(await stateOf(fid)).toEqual(['firing: max(temp) is 70'])
    const headers = {
      'x-file-name': `${names.get(fid)}.csv`,
      'gridline-on-conflict': 'append',
      'gridline-key': 'id',
    }
    const body = 'id,temp\n3,5\n'
    expect((await test.ask('alice', 'POST', '/v2/grids/upload', { body, headers })).status).toBe(201)
    expect(await stateOf(fid)).toEqual(['ok: max(temp) is 20'])
  })

  it('dates are compared by time, and percentages without the noise of floating-point numbers', async () => {
    const local = await grid({ t: ['2024-01-31T08:30:00', '2024-01-30 23:00'] })
    const zoned = await grid({ t: ['2024-01-31T08:00:00+09:00', '2024-01-30T23:30:00Z'] })
    const states = async (fid: string, ...conditions: string[]): Promise<string[]> => {
      for (const when of conditions) expect((await add(fid, { when })).status).toBe(201)
      return (await stateOf(fid)).map((text: string) => text.split(':')[0])
    }
    expect(
      await states(
        local,
        "max(t) > '2024-01-31 09:30'",
        "max(t) = '2024-01-31T08:30'",
        "min(t) < '2024-01-31'",
      ),
    ).toEqual(['ok', 'firing', 'firing'])
    expect(await states(zoned, "max(t) > '2024-01-31T02:00:00Z'", "max(t) = '2024-01-31 00:30+01'")).toEqual([
      'ok',
      'firing',
    ])
    const large = await grid({ x: [1234567890122, 1], y: [4.00000000000049, 0], z: [0.1, 0.2] })
    expect(
      await states(
        large,
        'sum(x) = 1234567890123',
        'sum(x) > 1234567890122',
        'sum(y) > 4',
        'sum(z) = 0.3',
        'mean(z) = 0.15',
        'median(y) > 2',
        'median(z) = 0.15',
      ),
    ).toEqual(Array.from({ length: 7 }, () => 'firing'))
    const fid = await grid({ v: [4] })
    await add(fid, { changed_percent: 20, of: 'sum(v)' })
    await replace(fid, 'v\n4.8\n')
    expect(await stateOf(fid)).toEqual(['firing: sum(v) went from 4 to 4.8 (+20%)'])
  })

  it('staleness fires once, by time, and ends with the next change', async () => {
    const fid = await grid()
    await add(fid, { stale_seconds: 3600 })
    await pass(50)
    expect(told(fid)).toEqual([])
    await append(fid, [[3, 1]])
    await pass(50)
    expect(told(fid)).toEqual([])
    await pass(15)
    await pass(500)
    expect(told(fid)).toEqual(['alert.firing'])
    await append(fid, [[4, 1]])
    await deliver()
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok'])
    // A clock that was set back makes nothing stale, and delays nothing for longer than the time.
    await pass(-10_000)
    await pass(61)
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok', 'alert.firing'])
  })

  it('changes of the number of rows, or of a value, are compared with the write before', async () => {
    const fid = await grid()
    await add(fid, { changed_percent: 49.5 }, `${base}/rows`)
    await add(fid, { changed_percent: 50, of: 'sum(temp)' }, `${base}/sum`)
    await append(fid, [[3, 1]])
    await append(fid, [[4, 1]])
    await replace(fid, 'id,temp\n1,100\n2,1\n3,1\n4,1\n')
    await replace(fid, 'id,temp\n1,100\n')
    await deliver()
    const by = (path: string) =>
      received.flatMap((one) => (one.path === path ? [JSON.parse(one.body).data] : []))
    // 2 rows, 3 (+50 %), 4 (+33 %), 4, 1 (-75 %).
    expect(by('/rows').map(({ state, reason }) => [state, reason])).toEqual([
      ['firing', 'the number of rows went from 2 to 3 (+50%)'],
      ['ok', 'the number of rows went from 3 to 4 (+33.3%)'],
      ['firing', 'the number of rows went from 4 to 1 (-75%)'],
    ])
    // 30, 31, 32, 103 (+222 %), 100.
    expect(by('/sum').map(({ state }) => state)).toEqual(['firing', 'ok'])
  })

  it('failed checks fire, also those that refuse a write', async () => {
    const fid = await grid()
    const checks = {
      columns: [
        { name: 'temp', maximum: 100 },
        { name: 'temp', maximum: 50, severity: 'warn' },
      ],
    }
    await test.ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    await add(fid, { failed_checks: true })
    expect(await stateOf(fid)).toEqual(['ok: all checks pass'])
    expect((await append(fid, [[3, 500]])).status).toBe(422)
    expect((await stateOf(fid))[0]).toMatch(
      /^firing: a write that was refused fails 1 check: column temp, at most 100/,
    )
    // The content that is there, once more.
    expect((await replace(fid, 'id,temp\n1,10\n2,20\n')).json.action).toBe('unchanged')
    await append(fid, [[4, 60]])
    await deliver()
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok', 'alert.firing'])
  })

  it('what cannot be evaluated is unknown: a lost column, the trash, a query that fails', async () => {
    const fid = await grid()
    await add(fid, { when: 'max(temp) > 40' })
    await replace(fid, 'id,other\n1,10\n')
    expect((await stateOf(fid))[0]).toMatch(/^unknown: .*temp/)
    await replace(fid, 'id,temp\n1,50\n')
    await test.ask('alice', 'POST', `/v2/files/${fid}/trash`)
    await deliver()
    expect(await stateOf(fid)).toEqual(['unknown: the grid is in the trash'])
    await test.ask('alice', 'POST', `/v2/files/${fid}/restore`)
    await deliver()
    expect(told(fid)).toEqual(['alert.unknown', 'alert.firing', 'alert.unknown', 'alert.firing'])
    received = []
    const sql = `select id, temp from "${fid}"`
    const json = { filename: `derived${count}`, sql }
    const derived = (await test.ask('alice', 'POST', '/v2/grids/derive', { json })).json.file.fid
    await add(derived, { when: 'max(temp) > 40' })
    await replace(fid, 'id,other\n1,10\n')
    await pass(1)
    expect((await stateOf(derived))[0]).toMatch(
      /^unknown: the grid is stale, since its refresh fails: .*temp/,
    )
    await replace(fid, 'id,temp\n1,5\n')
    await pass(1)
    expect(await stateOf(derived)).toEqual(['ok: max(temp) is 5'])
    expect(told(derived)).toEqual(['alert.firing', 'alert.unknown', 'alert.ok'])
  })

  it('a receiver that fails is asked again, in order, for two days', async () => {
    const fid = await grid()
    await add(fid, { when: 'last(temp) > 40' })
    answer = (_, response) => response.writeHead(500).end()
    await append(fid, [[3, 50]])
    await append(fid, [[4, 5]])
    await deliver()
    await pass(0.05)
    expect(told(fid).length).toBe(1)
    await pass(0.1)
    expect(told(fid).length).toBe(2)
    const ids = received.flatMap(({ path, headers }) => (path === `/${fid}` ? [headers['webhook-id']] : []))
    expect(ids[0]).toBe(ids[1])
    const [alert] = (await test.ask('alice', 'GET', `/v2/alerts?fid=${fid}`)).json.alerts
    expect([alert.error, alert.failing_since]).toEqual(['the receiver answered 500', expect.any(String)])
    answer = accept
    received = []
    await pass(600)
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok'])
    expect((await test.ask('alice', 'GET', `/v2/alerts?fid=${fid}`)).json.alerts[0].error).toBeNull()
    // A redirect is no acceptance. After two days the message is given up.
    answer = (_, response) => response.writeHead(302, { location: `${base}/elsewhere` }).end()
    await append(fid, [[5, 50]])
    received = []
    for (let hours = 0; hours < 60; hours += 4) await pass(240)
    const attempts = told(fid).length
    expect(received.filter(({ path }) => path === '/elsewhere')).toEqual([])
    expect(attempts).toBeGreaterThan(8)
    await pass(10_000)
    expect(told(fid).length).toBe(attempts)
  })

  it('a mail tells the state, the reason, the link and how to end it', async () => {
    const fid = await grid()
    const { json } = await add(fid, { when: 'max(temp) > 40' }, 'ops@example.com')
    expect(json.secret).toBeUndefined()
    await append(fid, [[3, 41]])
    await deliver()
    expect(mails.map(({ to }) => to)).toEqual([['ops@example.com']])
    for (const part of [
      `Subject: Firing: g${count}: max(temp) > 40`,
      'max(temp) is 41',
      `${URL_OF_TESTS}/~alice/`,
      `gridline alert remove ${json.id}`,
    ])
      expect(mails[0].text).toContain(part)
    // The second request repeats the first one.
    for (const _ of [1, 2]) {
      const headers = { 'idempotency-key': `${json.id}-test` }
      const sent = await test.ask('alice', 'POST', `/v2/alerts/${json.id}/test`, { headers })
      expect([sent.status, sent.json]).toEqual([200, { sent: true, to: 'ops@example.com' }])
    }
    expect(mails[1].text).toContain('Subject: Test: g')
    expect((await test.ask('alice', 'DELETE', `/v2/alerts/${json.id}`)).status).toBe(204)
    await append(fid, [[3, 1]])
    await deliver()
    expect(mails.length).toBe(2)
  })

  it('a changed alert is judged again, and a new receiver has a new secret', async () => {
    const fid = await grid()
    const { json } = await add(fid, { when: 'max(temp) > 40', where: 'temp > 0' })
    const change = (fields: object) => test.ask('alice', 'PATCH', `/v2/alerts/${json.id}`, { json: fields })
    await append(fid, [[3, 41]])
    const changed = await change({ when: 'max(temp) > 50' })
    expect([changed.status, changed.json]).toEqual([
      200,
      expect.objectContaining({ id: json.id, condition: 'max(temp) > 50 where temp > 0', state: 'ok' }),
    ])
    expect(changed.json.secret).toBeUndefined()
    await deliver()
    // Each message has the condition that was judged.
    const conditions = () =>
      received.flatMap(({ path, body }) => (path === `/${fid}` ? [JSON.parse(body).data.condition] : []))
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok'])
    expect(conditions()).toEqual(['max(temp) > 40 where temp > 0', 'max(temp) > 50 where temp > 0'])
    expect((await change({ where: '', when: 'max(temp) > 30' })).json).toMatchObject({
      ...{ state: 'firing', condition: 'max(temp) > 30' },
    })
    // What is the same is no change.
    for (const fields of [{}, { when: 'max(temp) > 30' }])
      expect((await change(fields)).json.state).toBe('firing')
    // Changes at the same time are both made.
    await Promise.all([change({ when: 'max(temp) > 31' }), change({ where: 'temp > 2' })])
    expect((await change({})).json.condition).toBe('max(temp) > 31 where temp > 2')
    await deliver()
    expect(told(fid)).toEqual(['alert.firing', 'alert.ok', 'alert.firing'])
    const again = (key: string) =>
      test.ask('alice', 'PATCH', `/v2/alerts/${json.id}`, {
        ...{ json: { to: `${base}/elsewhere` }, headers: { 'idempotency-key': key } },
      })
    const dry = await test.ask('alice', 'PATCH', `/v2/alerts/${json.id}`, {
      ...{ json: { to: `${base}/elsewhere` }, headers: { 'gridline-dry-run': 'true' } },
    })
    expect([dry.status, dry.json.to, dry.json.secret]).toEqual([200, `${base}/elsewhere`, undefined])
    const moved = await again('move-1')
    expect((await again('move-1')).json.secret).toBe(moved.json.secret)
    expect([moved.json.to, moved.json.secret === json.secret]).toEqual([`${base}/elsewhere`, false])
    expect(moved.json.secret).toMatch(/^whsec_/)
    await deliver()
    expect(told('elsewhere')).toEqual(['alert.firing'])
    expect((await change({ stale_seconds: 3600 })).json).toMatchObject({
      condition: 'no change for 1 h',
      state: 'ok',
    })
    expect((await change({ of: 'sum(temp)' })).json.errors[0].code).toBe('invalid_request')
    expect((await change({ when: 'max(nothing) > 1' })).json.errors[0].code).toBe('unknown_column')
    expect(
      (await test.ask('bob', 'PATCH', `/v2/alerts/${json.id}`, { json: { to: 'b@example.com' } })).status,
    ).toBe(404)
    const { graph } = (await test.ask('alice', 'GET', `/v2/files/${fid}/sources?relation=alerts`)).json
    expect(graph.nodes[`alert:${json.id}`].label).toBe(`no change for 1 h, to ${new URL(base).host}`)
    // The same again would tell everything twice.
    const same = await add(fid, { stale_seconds: 3600 }, `${base}/elsewhere`)
    expect([same.status, same.json.errors[0].code]).toEqual([409, 'already_exists'])
  })

  it('a judgement of a former condition does not count, nor a failure of a former receiver', async () => {
    const fid = await grid()
    const { json } = await add(fid, { when: 'max(temp) > 1000' })
    const change = (fields: object) => test.ask('alice', 'PATCH', `/v2/alerts/${json.id}`, { json: fields })
    // The alert changes after the write has read it, and before it is judged.
    const { list } = AlertReader.prototype
    const spy = vi.spyOn(AlertReader.prototype, 'list').mockImplementationOnce(async function (
      this: AlertReader,
      key,
    ) {
      const rows = await list.call(this, key)
      await change({ when: 'max(temp) < 0' })
      return rows
    })
    await replace(fid, 'id,temp\n1,2999\n')
    expect(spy).toHaveBeenCalled()
    spy.mockRestore()
    await deliver()
    expect(told(fid)).toEqual([])
    expect(await stateOf(fid)).toEqual(['ok: max(temp) is 2999'])
    answer = (request, response) => {
      if (request.url !== `/${fid}`) return accept(request, response)
      void change({ to: `${base}/later` }).then(() => response.writeHead(500).end())
    }
    await change({ when: 'max(temp) > 0' })
    await deliver()
    await pass(0.1)
    const [alert] = (await test.ask('alice', 'GET', `/v2/alerts?fid=${fid}`)).json.alerts
    expect([alert.to, alert.error]).toEqual([`${base}/later`, null])
    expect(told('later')).toEqual(['alert.firing'])
  })

  it('alerts send half of the mails of a day, and the others on the next days', async () => {
    // The first minute of a day, of which nothing was sent.
    const dayMs = 86_400_000
    vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / dayMs) * dayMs + 60_000 })
    const fid = await grid()
    await add(fid, { when: 'last(temp) > 40' }, 'ops@example.com')
    for (let k = 0; k < 30; k++) await append(fid, [[k, k % 2 === 0 ? 50 : 5]])
    await deliver()
    expect(mails.length).toBe(25)
    const [alert] = (await test.ask('alice', 'GET', `/v2/alerts?fid=${fid}`)).json.alerts
    expect(alert.error).toContain('half of emails_per_day')
    // More changes do not send what has to wait.
    await append(fid, [[3, 50]])
    await pass(241)
    expect(mails.length).toBe(25)
    for (let hours = 0; hours < 28; hours += 4) await pass(241)
    expect(mails.length).toBe(31)
  })

  it('an alert that changes all the time sends 60 messages an hour, then the last state', async () => {
    const fid = await grid()
    await add(fid, { when: 'last(temp) > 40' })
    for (let k = 0; k < 65; k++) await append(fid, [[k, k % 2 === 0 ? 50 : 5]])
    await deliver()
    expect(told(fid).length).toBe(60)
    await pass(61)
    const { data } = JSON.parse(received.filter(({ path }) => path === `/${fid}`)[60].body)
    expect([told(fid).length, data.state, data.unsent]).toEqual([61, 'firing', 5])
  })

  it('a receiver that fails is not asked again by each write, but after the time to wait', async () => {
    const fid = await grid()
    await add(fid, { when: 'last(temp) > 40' })
    answer = (_, response) => response.writeHead(500).end()
    for (let k = 0; k < 6; k++) {
      await append(fid, [[k, k % 2 === 0 ? 50 : 5]])
      await deliver()
    }
    expect(told(fid).length).toBe(1)
    answer = accept
    await pass(0.1)
    await pass(0)
    expect(told(fid).length).toBe(7)
  })

  it('a new rule, a trashed folder and new data of a plot are noticed', async () => {
    const fid = await grid()
    await test.ask('alice', 'PUT', `/v2/grids/${fid}/checks`, {
      json: { checks: { table: { rows: '1..' } } },
    })
    await add(fid, { failed_checks: true })
    const checks = { columns: [{ name: 'temp', maximum: 0, severity: 'warn' }] }
    await test.ask('alice', 'PUT', `/v2/grids/${fid}/checks`, { json: { checks } })
    await deliver()
    expect(await stateOf(fid)).toEqual([
      'firing: 1 check failed: column temp, at most 0: 2 of 2 values are too high, first in row 1',
    ])
    const json = { path: 'place' }
    const folder = (await test.ask('alice', 'POST', '/v2/folders', { json })).json.file.fid
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { parent_path: 'place' } })
    await test.ask('alice', 'POST', `/v2/folders/${folder}/trash`)
    await deliver()
    expect(await stateOf(fid)).toEqual(['unknown: the grid is in the trash'])
    await test.ask('alice', 'POST', `/v2/folders/${folder}/restore`)
    await deliver()
    expect(await stateOf(fid)).toEqual([
      'firing: 1 check failed: column temp, at most 0: 2 of 2 values are too high, first in row 1',
    ])
    const figure = { data: [{ y: [1, 2] }], layout: {} }
    const plot = await test.ask('alice', 'POST', '/v2/plots', {
      json: { figure, raw_data: 'grid', filename: 'own' },
    })
    const meta = plot.json.file ?? plot.json
    const sources = (await test.ask('alice', 'GET', `/v2/files/${meta.fid}/sources`)).json
    const own = JSON.stringify(sources)
      .match(/alice:\d+/g)!
      .find((one) => one !== meta.fid)!
    await add(own, { when: 'count(*) > 2' })
    await test.ask('alice', 'PUT', `/v2/plots/${meta.fid}`, {
      json: { figure: { data: [{ y: [1, 2, 3, 4] }], layout: {} }, raw_data: 'grid' },
    })
    await deliver()
    expect(await stateOf(own)).toEqual(['firing: count(*) is 4'])
  })

  it('rows that pass do not hide earlier ones that fail, and a rule that is refused is no failure of data', async () => {
    const fid = await grid()
    const setChecks = (maximum: number, severity: string) =>
      test.status('alice', 'PUT', `/v2/grids/${fid}/checks`, {
        json: { checks: { columns: [{ name: 'temp', maximum, severity }] } },
      })
    expect(await setChecks(100, 'warn')).toBe(200)
    await add(fid, { failed_checks: true })
    await append(fid, [[1, 5]])
    await append(fid, [[2, 500]])
    await append(fid, [[3, 5]])
    await deliver()
    await deliver()
    expect(await stateOf(fid)).toEqual([
      expect.stringContaining('firing: 1 check failed: column temp, at most 100'),
    ])
    expect(await setChecks(1, 'error')).toBe(422)
    await replace(fid, 'id,temp\n1,5\n')
    await deliver()
    expect(await stateOf(fid)).toEqual(['ok: all checks pass'])
    expect(await setChecks(1, 'error')).toBe(422)
    await deliver()
    expect(await stateOf(fid)).toEqual(['ok: all checks pass'])
    // Messages name versions that exist: appends of one user share one.
    const { versions } = (await test.ask('alice', 'GET', `/v2/grids/${fid}/versions`)).json
    const known = versions.map(({ version }: { version: number }) => version)
    const named = received.map(({ body }) => JSON.parse(body).data.version)
    expect([named.length, named.filter((version) => !known.includes(version))]).toEqual([2, []])
  })

  it('a lost column keeps the value that the next one is compared with; a cell is no mention in a chat', async () => {
    const fid = await grid()
    await add(fid, { changed_percent: 50, of: 'sum(temp)' })
    await replace(fid, 'id,other\n1,10\n')
    await replace(fid, 'id,temp\n1,9999\n')
    expect((await stateOf(fid))[0]).toMatch(/^firing: sum\(temp\) went from 30 to 9999/)
    const other = await grid({ id: [1], name: ['a'] })
    await add(other, { when: "last(name) <> 'a'" })
    await append(other, [[2, '<!channel> & more']])
    await deliver()
    const { body } = received.find(({ path }) => path === `/${other}`)!
    expect(JSON.parse(body).text).toContain('&lt;!channel&gt; &amp; more')
    expect(JSON.parse(body).data.value).toBe('<!channel> & more')
  })

  it('a key without the scope read gets no values, by alert or by mail', async () => {
    const fid = await grid()
    const key = await test.key('alice', { scopes: 'write' })
    const headers = { authorization: `Basic ${Buffer.from(`alice:${key}`).toString('base64')}` }
    const json = { when: 'max(temp) > 1', to: base }
    expect((await test.ask(undefined, 'POST', `/v2/grids/${fid}/alerts`, { json, headers })).status).toBe(403)
    const mail = { json: { to: ['a@example.com'] }, headers }
    expect((await test.ask(undefined, 'POST', `/v2/files/${fid}/send`, mail)).status).toBe(403)
  })

  it('only the owner of a grid has alerts on it, and nobody reaches private addresses', async () => {
    const fid = await grid()
    await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    expect((await add(fid, { stale_seconds: 60 }, undefined, 'bob')).status).toBe(403)
    const { json } = await add(fid, { stale_seconds: 60 })
    expect((await test.ask('bob', 'GET', '/v2/alerts')).json.alerts).toEqual([])
    const page = `/~${fid.replace(':', '/')}/`
    expect((await test.ask('alice', 'GET', page)).text).toContain('ok: no change for 1 min')
    expect((await test.ask('bob', 'GET', page)).text).not.toContain('no change for')
    expect((await test.ask('bob', 'GET', `/v2/alerts?fid=${fid}`)).status).toBe(400)
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/test'],
    ])
      expect((await test.ask('bob', method, `/v2/alerts/${json.id}${path}`)).status).toBe(404)
    for (const to of [
      'http://10.0.0.1/',
      'http://[::1]/',
      'ftp://example.com',
      'nobody',
      'http://a:b@example.com/',
    ])
      expect((await add(fid, { stale_seconds: 60 }, to)).status, to).toBe(400)
    // A name that leads to a private address.
    const strict = new Webhooks()
    await expect(
      strict.send(base.replace('127.0.0.1', 'localhost'), { id: 'a', body: '{}' }, json.secret),
    ).rejects.toThrow('not public')
    expect(told(fid)).toEqual([])
  })
})
