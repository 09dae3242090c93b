// Charts and boards that are sent by e-mail.
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { createService } from '../../../src/service/index.ts'
import { nextTime, parseSchedule } from '../../../src/service/mailings/schedule.ts'
import { runs } from '../../support/property-runs.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe('schedules', () => {
  const times = async (
    given: Parameters<typeof parseSchedule>[0],
    after: string,
    count = 3,
  ): Promise<string[]> => {
    const schedule = parseSchedule(given)
    const found: string[] = []
    for (let at = Date.parse(after); found.length < count; ) {
      at = await nextTime(schedule, at)
      found.push(new Date(at).toISOString().slice(0, 16))
    }
    return found
  }

  it.each([
    [
      { every: 'monday', at: '07:00', zone: 'Europe/Oslo' },
      '2026-01-01',
      ['2026-01-05T06:00', '2026-01-12T06:00'],
    ],
    [{ every: 'Tuesday, friday' }, '2026-01-01', ['2026-01-02T07:00', '2026-01-06T07:00']],
    [{ every: 'weekday', at: '23:59' }, '2026-01-02T23:59', ['2026-01-05T23:59', '2026-01-06T23:59']],
    // There is no 30 February: its last day.
    [{ every: 'month', on: 30 }, '2026-01-15', ['2026-01-30T07:00', '2026-02-28T07:00', '2026-03-30T07:00']],
    [{ every: 'month', on: 29 }, '2028-02-01', ['2028-02-29T07:00', '2028-03-29T07:00']],
    [
      { every: 'month', on: 31 },
      '2026-03-31T08:00',
      ['2026-04-30T07:00', '2026-05-31T07:00', '2026-06-30T07:00'],
    ],
    [
      { every: 'month', on: 31, zone: 'Pacific/Auckland' },
      '2026-01-15',
      ['2026-01-30T18:00', '2026-02-27T18:00'],
    ],
    [{ every: 'month' }, '2026-01-01T07:00', ['2026-02-01T07:00']],
    // The hour that is skipped, and the one that is repeated.
    [
      { every: 'day', at: '02:30', zone: 'Europe/Oslo' },
      '2026-03-28T00:00',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      { every: 'day', at: '02:30', zone: 'Europe/Oslo' },
      '2026-10-24T00:00',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
  ])('%j after %s', async (given, after, expected) => {
    expect(
      await times(given, `${after.padEnd(16, 'T00:00'.slice(after.length - 10))}Z`, expected.length),
    ).toEqual(expected)
  })

  it.each([
    [{ every: 'mon' }, { every: 'monday' }],
    [{ every: 'Mondays, thurs' }, { every: 'monday,thursday' }],
    [{ every: 'monday and friday' }, { every: 'monday,friday' }],
    [
      { every: 'daily', at: '7' },
      { every: 'day', at: '07:00' },
    ],
    [
      { every: 'weekdays', at: '7:30pm' },
      { every: 'weekday', at: '19:30' },
    ],
    [
      { every: 'monthly', at: '12am' },
      { every: 'month', at: '00:00', day: 1 },
    ],
    [{ every: 'day', zone: 'europe/oslo' }, { zone: 'Europe/Oslo' }],
  ])('%j is read', (given, expected) => {
    expect(parseSchedule(given)).toMatchObject(expected)
  })

  it('each day has one time, whatever the zone, and the time is that of its clock', async () => {
    const zones = [
      'UTC',
      'Europe/Oslo',
      'America/New_York',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'America/St_Johns',
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...zones),
        fc.nat(23),
        fc.nat(59),
        fc.date({ min: new Date('2025-01-01'), max: new Date('2027-01-01'), noInvalidDate: true }),
        async (zone, hour, minute, from) => {
          const at = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
          const format = new Intl.DateTimeFormat('en-CA', {
            timeZone: zone,
            dateStyle: 'short',
            timeStyle: 'short',
            hourCycle: 'h23',
          })
          const schedule = parseSchedule({ every: 'day', at, zone })
          let time = from.getTime()
          const days: string[] = []
          for (let k = 0; k < 5; k++) {
            const next = await nextTime(schedule, time)
            expect(next).toBeGreaterThan(time)
            expect(next - time).toBeLessThanOrEqual(26 * 3600_000)
            time = next
            days.push(format.format(time).slice(0, 10))
          }
          expect(new Set(days).size).toBe(5)
        },
      ),
      { numRuns: runs(20, 300), seed: runs(5, Date.now()) },
    )
  })

  it.each([
    [{ every: 'sundae' }, 'is no day'],
    [{ every: '' }, 'is no day'],
    [{ every: 'day', at: '24:00' }, 'is no time of day'],
    [{ every: 'day', at: '13pm' }, 'is no time of day'],
    [{ every: 'day', at: '7:5' }, 'is no time of day'],
    [{ every: 'weekly' }, 'every: "weekly" is no day'],
    [{ every: 'mo' }, 'is no day'],
    [{ every: `monday,${'x'.repeat(300)}` }, 'is no day'],
    [{ every: 'day', on: 3 }, 'on: needs every: month'],
    [{ every: 'month', on: 32 }, 'on: must be from 1 to 31'],
    [{ every: 'day', zone: 'Mars/Olympus' }, 'no time zone'],
  ])('%j is refused', (given, why) => {
    expect(() => parseSchedule(given)).toThrow(why)
  })

  it.each([
    ['oslo', 'Did you mean Europe/Oslo?'],
    ['New York', 'Did you mean America/New_York?'],
    ['Europe/Belrin', 'Did you mean Europe/Berlin?'],
    ['x'.repeat(1e6), 'Zones are named as'],
  ])('the zone %.20s leads to the hint %j', (zone, hint) => {
    expect(() => parseSchedule({ every: 'day', zone })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(hint) }),
    )
  })
})

describe('mailings', () => {
  const folder = temporaryFolder()
  let smtp: SMTPServer
  let test: TestService
  let second: TestService
  let plot: string
  let board: string
  let isRefusing = false
  /** Receivers that do not exist. */
  const gone = new Set<string>()
  /** Receivers that the mail server refuses for now. */
  const busy = new Set<string>()
  let mails: { to: string[]; text: string }[] = []
  /** Called when a mail has arrived, before that is confirmed. */
  let onMail = async (): Promise<void> => {}
  const open = async (): Promise<TestService> => {
    const running = new TestService(
      await createService({
        ...{ database: `sqlite:${folder.path}/test.db`, url: URL_OF_TESTS, environment: {} },
        smtp: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
      }),
    )
    running.service.store.onJob(() => {})
    return running
  }
  beforeAll(async () => {
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      onRcptTo: ({ address }, _, done) =>
        done(
          busy.has(address)
            ? Object.assign(new Error('try later'), { responseCode: 451 })
            : isRefusing || gone.has(address)
              ? new Error('no such mailbox')
              : null,
        ),
      onData(stream, session, done) {
        let text = ''
        stream.setEncoding('latin1').on('data', (chunk) => {
          text += chunk
        })
        stream.on('end', () => {
          mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
          onMail().then(() => done(), done)
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    test = await open()
    for (const name of ['alice', 'bob']) await test.user(name)
    second = await open()
    for (const [user, key] of test.keys) second.keys.set(user, key)
    const grid = await test.grid('alice', 'g', { x: [1, 2], y: [3, 4] })
    const figure = { data: [{ y: [1, 2] }], layout: {} }
    const made = await test.ask('alice', 'POST', '/v2/plots', {
      json: { filename: 'my plot', figure, raw_data: 'grid' },
    })
    plot = made.json.file?.fid ?? made.json.fid
    const rows = [
      { items: [{ plot }, { number: grid.fid, value: 'sum:y' }] },
      { items: [{ text: 'Some *words*' }] },
    ]
    const content = JSON.stringify({
      version: 2,
      layout: null,
      settings: { board: { rows, filters: [{ column: 'x' }] } },
    })
    board = (await test.ask('alice', 'POST', '/v2/dashboards', { json: { content, filename: 'my board' } }))
      .json.file.fid
  })
  afterAll(async () => {
    vi.useRealTimers()
    for (const { service } of [test, second]) await service.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
    folder.remove()
  })
  beforeEach(() => {
    mails = []
    isRefusing = false
  })
  /** Lets time pass, in hours, and two servers run what is due. */
  const pass = async (hours: number): Promise<void> => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3600_000 })
    for (const { service } of [test, second]) await service.runJobs()
  }
  const list = async () => (await test.ask('alice', 'GET', '/v2/mailings')).json.mailings

  it('a chart and a board are sent now, with a picture of what the sender sees, and the link', async () => {
    for (const fid of [plot, board]) {
      const { status, json } = await test.ask('alice', 'POST', `/v2/files/${fid}/send`, {
        json: { to: ['a@example.com', 'b@example.com'] },
      })
      expect([status, json]).toEqual([200, { fid, to: ['a@example.com', 'b@example.com'] }])
    }
    expect(mails.map(({ to }) => to)).toEqual([
      ['a@example.com'],
      ['b@example.com'],
      ['a@example.com'],
      ['b@example.com'],
    ])
    expect(mails[0].text).toMatch(/^Subject: my plot, \d{4}-\d\d-\d\d\r$/m)
    expect(mails[2].text).toContain(`${URL_OF_TESTS}/~alice/`)
    for (const { text } of mails) expect(text).toMatch(/filename="?my (?:plot|board)\.png/)
    expect(mails[2].text).toMatch(/^g, sum of y: 7\r$/m)
  })

  it('a repeated request is sent to those who have not got it, and to nobody twice', async () => {
    const send = () =>
      test.ask('alice', 'POST', `/v2/files/${plot}/send`, {
        json: { to: ['a@example.com', 'late@example.com', 'b@example.com'] },
        headers: { 'idempotency-key': 'send once' },
      })
    busy.add('late@example.com')
    expect((await send()).json.to).toEqual(['a@example.com', 'b@example.com'])
    busy.delete('late@example.com')
    const all = ['a@example.com', 'b@example.com', 'late@example.com']
    for (let time = 0; time < 2; time++) expect((await send()).json.to).toEqual(all)
    expect(mails.flatMap(({ to }) => to)).toEqual(all)
  })

  it('a request that is repeated while it runs gets its answer; who was refused is not tried again', async () => {
    gone.add('nobody@example.com')
    const send = () =>
      test.ask('alice', 'POST', `/v2/files/${plot}/send`, {
        json: { to: ['a@example.com', 'nobody@example.com'] },
        headers: { 'idempotency-key': 'send at once' },
      })
    const answers = [...(await Promise.all([send(), send(), send()])), await send()]
    gone.delete('nobody@example.com')
    // Not even when the mailbox is there.
    answers.push(await send())
    for (const { status, json, headers } of answers) {
      expect([status, json.to]).toEqual([200, ['a@example.com']])
      expect(decodeURIComponent(headers.get('gridline-warning')!)).toMatch(/^nobody@example\.com: .*refused/)
    }
    expect(mails.flatMap(({ to }) => to)).toEqual(['a@example.com'])
  })

  it('a request ends before its connection does, if the mail server is slow', async () => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    // Each mail takes 30 s.
    onMail = async () => {
      passed += 30_000
    }
    const to = Array.from({ length: 10 }, (_, k) => `r${k}@example.com`)
    const { status, json, headers } = await test.ask('alice', 'POST', `/v2/files/${plot}/send`, {
      json: { to },
    })
    onMail = async () => {}
    clock.mockRestore()
    expect([status, json.to]).toEqual([200, to.slice(0, 2)])
    expect(decodeURIComponent(headers.get('gridline-warning')!)).toBe(
      'r2@example.com: the mail server is too slow',
    )
  })

  it('a board is sent with a filter, now and regularly, and its link has it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T12:00:00Z') })
    const json = { to: ['a@example.com'], filter: ['x=2'] }
    const post = (path: string, more: object) =>
      test.ask('alice', 'POST', path, { json: { ...json, ...more } })
    expect((await post(`/v2/files/${board}/send`, {})).status).toBe(200)
    expect(mails[0].text).toMatch(/^g, sum of y: 4\r$/m)
    const made = await post(`/v2/files/${board}/mailings`, { every: 'day' })
    expect(made.json.filter).toEqual(['x=2'])
    const all = await post(`/v2/files/${board}/mailings`, { every: 'day', filter: [] })
    expect(all.json.filter).toEqual([])
    await pass(24)
    expect(
      mails.map(({ text }) => [/^Subject: (.*)\r$/m.exec(text)![1], text.includes('?filter.x=3D2')]),
    ).toEqual([
      ['my board, 2, 2026-01-01', true],
      ['my board, 2, 2026-01-02', true],
      ['my board, 2026-01-02', false],
    ])
    for (const [path, filter, why] of [
      [`/v2/files/${board}/send`, ['y=2'], 'the board has no filter "y"'],
      [`/v2/files/${board}/mailings`, ['y=2'], 'the board has no filter "y"'],
      [`/v2/files/${board}/mailings`, ['x'], 'must be column=value'],
      [`/v2/files/${board}/send`, [`x=${'2'.repeat(2000)}`], 'longer than 2000 characters'],
      [`/v2/files/${plot}/mailings`, ['x=2'], 'only boards have filters'],
    ] as const)
      expect((await post(path, { every: 'day', filter })).json.detail).toContain(why)
    for (const { id } of [made.json, all.json]) await test.ask('alice', 'DELETE', `/v2/mailings/${id}`)
  })

  it('a mailing is sent once by two servers, retried after a failure, and not after its end', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T12:00:00Z') })
    const made = await test.ask('alice', 'POST', `/v2/files/${plot}/mailings`, {
      json: { to: ['a@example.com'], every: 'monday', at: '07:00', zone: 'Europe/Oslo' },
    })
    expect([made.status, made.json.schedule, made.json.next_at]).toEqual([
      201,
      'every monday at 07:00 (Europe/Oslo)',
      '2026-01-05T06:00:00.000Z',
    ])
    await pass(24 * 3)
    expect(mails).toEqual([])
    await pass(18)
    await pass(1)
    expect(mails.length).toBe(1)
    const [sent] = await list()
    expect([sent.next_at, sent.sent_at !== null, sent.error]).toEqual([
      '2026-01-12T06:00:00.000Z',
      true,
      null,
    ])
    // A server that was off for weeks sends once.
    await pass(24 * 30)
    await pass(1)
    expect(mails.length).toBe(2)
    // A clock that is set back sends nothing twice.
    await pass(-24 * 20)
    expect(mails.length).toBe(2)
    // After that, the clock decides when it is due.
    await pass(24 * 20)
    expect(mails.length).toBe(3)
    isRefusing = true
    await pass(24 * 7)
    const [failed] = await list()
    expect([failed.error, failed.failing_since]).toEqual([
      expect.stringMatching(/^a@example.com: the mail server refused the (address|message): .*mailbox/),
      expect.any(String),
    ])
    isRefusing = false
    await pass(1)
    expect(mails.length).toBe(4)
    expect((await list())[0].error).toBeNull()
    expect((await test.ask('bob', 'DELETE', `/v2/mailings/${made.json.id}`)).status).toBe(404)
    expect((await test.ask('alice', 'DELETE', `/v2/mailings/${made.json.id}`)).status).toBe(204)
    await pass(24 * 30)
    expect(mails.length).toBe(4)
  })

  it('receivers who have got a mail get it no second time, whatever happens to others', async () => {
    gone.add('gone@example.com')
    const to = ['a@example.com', 'gone@example.com', 'b@example.com', 'a@example.com']
    const json = { to, every: 'day', at: '07:00' }
    const { id } = (await test.ask('alice', 'POST', `/v2/files/${plot}/mailings`, { json })).json
    await pass(24)
    for (let k = 0; k < 4; k++) await pass(0.2)
    expect(mails.flatMap((mail) => mail.to)).toEqual(['a@example.com', 'b@example.com'])
    expect((await list())[0].error).toContain('gone@example.com: ')
    gone.clear()
    await pass(0.2)
    expect(mails.flatMap((mail) => mail.to)).toEqual(['a@example.com', 'b@example.com', 'gone@example.com'])
    // A clock that was years ahead for a moment.
    await pass(24 * 1000)
    const { length } = mails
    await pass(-24 * 1000)
    await pass(25)
    expect(mails.length).toBeGreaterThan(length)
    await test.ask('alice', 'DELETE', `/v2/mailings/${id}`)
  })

  it('a mail of which some receivers are refused is sent to the others, once, also if the request is repeated', async () => {
    gone.add('gone@example.com')
    const json = { to: ['a@example.com', 'gone@example.com', 'b@example.com'] }
    const send = (to: string[], key: string) =>
      test.ask('alice', 'POST', `/v2/files/${plot}/send`, {
        json: { to },
        headers: { 'idempotency-key': key },
      })
    for (let k = 0; k < 2; k++) {
      const { status, json: body, headers } = await send(json.to, 'send-1')
      expect([status, body.to]).toEqual([200, ['a@example.com', 'b@example.com']])
      const warning = decodeURIComponent(headers.get('gridline-warning') ?? '')
      if (k === 0) expect(warning).toContain('gone@example.com: the mail server refused the address')
    }
    expect(mails.flatMap((mail) => mail.to)).toEqual(['a@example.com', 'b@example.com'])
    // 400 is not retried by clients.
    expect((await send(['gone@example.com'], 'send-2')).status).toBe(400)
    gone.clear()
  })

  it('who has got a mail is stored at once, so that a killed server sends it to others only', async () => {
    const to = ['a@example.com', 'b@example.com', 'c@example.com']
    const json = { to, every: 'day', at: '07:00' }
    const { id } = (await test.ask('alice', 'POST', `/v2/files/${board}/mailings`, { json })).json
    const pending: (string | null | undefined)[] = []
    onMail = async () => {
      const row = await test.service.store.read(({ mailings }) => mailings.get('alice', id))
      pending.push(row?.pending)
    }
    await pass(24)
    onMail = async () => {}
    expect(pending).toEqual([null, JSON.stringify(to.slice(1)), JSON.stringify(to.slice(2))])
    expect(mails.flatMap((mail) => mail.to)).toEqual(to)
    // As a server leaves it that is killed after the first mail.
    const kill = (next_at: number): Promise<void> =>
      test.service.store.write(['alice'], async ({ mailings, jobs }) => {
        const row = (await mailings.get('alice', id))!
        await mailings.change(row, { next_at, pending: JSON.stringify(to.slice(1)) })
        await jobs.setDue('alice', 'mail', id, next_at)
      })
    await kill(Date.now())
    mails.length = 0
    await pass(0.2)
    expect(mails.flatMap((mail) => mail.to)).toEqual(to.slice(1))
    // If the next one is due meanwhile, all get that.
    await kill(Date.now() - 30 * 3600_000)
    mails.length = 0
    await pass(0.2)
    expect(mails.flatMap((mail) => mail.to)).toEqual(to)
    await test.ask('alice', 'DELETE', `/v2/mailings/${id}`)
  })

  it('repeated attempts that fail use up no e-mails of the day', async () => {
    const to = ['a@example.com', 'b@example.com', 'c@example.com']
    const json = { to, every: 'day', at: '07:00' }
    const { id } = (await test.ask('alice', 'POST', `/v2/files/${plot}/mailings`, { json })).json
    isRefusing = true
    await pass(25)
    // Enough for one other attempt is left.
    const { emails_per_day } = defaultLimits
    const used = emails_per_day - 2 * to.length
    const taken = await test.service.store.write(['alice'], ({ accounts }) =>
      accounts.takeQuota('alice', 'emails', used, emails_per_day),
    )
    expect(taken).toBe(used)
    for (let k = 0; k < 7; k++) await pass(0.2)
    isRefusing = false
    await pass(0.2)
    expect(mails.flatMap((mail) => mail.to)).toEqual(to)
    await test.ask('alice', 'DELETE', `/v2/mailings/${id}`)
  })

  it('the subject has the date of the zone, and nothing is sent for a disabled account', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2027-01-01T11:30:00Z') })
    const setPublic = (world_readable: boolean) =>
      test.ask('alice', 'PATCH', `/v2/files/${board}`, { json: { world_readable } })
    await setPublic(true)
    const json = { to: ['a@example.com'], every: 'day', at: '01:00', zone: 'Pacific/Auckland' }
    const { id } = (await test.ask('bob', 'POST', `/v2/files/${board}/mailings`, { json })).json
    await pass(1)
    expect(mails.map(({ text }) => /^Subject: (.*)\r$/m.exec(text)![1])).toEqual(['my board, 2027-01-02'])
    const disable = (at: number | null) =>
      test.service.store.write(['bob'], ({ accounts }) => accounts.setDisabled('bob', at))
    await disable(Date.now())
    await pass(24)
    expect(mails.length).toBe(1)
    await disable(null)
    await pass(0.2)
    expect(mails.length).toBe(2)
    await test.ask('bob', 'DELETE', `/v2/mailings/${id}`)
    await setPublic(false)
  })

  it('each mail shows what its sender may see then; of a deleted file nothing is sent', async () => {
    await test.ask('alice', 'PATCH', `/v2/files/${plot}`, { json: { world_readable: true } })
    const json = { to: ['a@example.com'], every: 'day' }
    expect((await test.ask('bob', 'POST', `/v2/files/${plot}/mailings`, { json })).status).toBe(201)
    await pass(25)
    expect(mails.length).toBe(1)
    await test.ask('alice', 'PATCH', `/v2/files/${plot}`, { json: { world_readable: false } })
    await pass(25)
    expect(mails.length).toBe(1)
    const { mailings } = (await test.ask('bob', 'GET', '/v2/mailings')).json
    expect(mailings[0].error).toMatch(/no |not/)
    // Nor the name of a file that is hidden now.
    expect(mailings[0].filename).toBe('')
    const own = await test.ask('alice', 'POST', `/v2/files/${plot}/mailings`, { json })
    const { graph } = (await test.ask('alice', 'GET', `/v2/files/${plot}/sources?relation=mailings`)).json
    expect(graph.nodes[`mailing:${own.json.id}`].label).toMatch(/^every day .*, to a@example\.com$/)
    await test.ask('alice', 'POST', `/v2/files/${plot}/trash`)
    const [trashed] = (await test.ask('alice', 'GET', '/v2/mailings')).json.mailings
    expect([trashed.filename, trashed.error]).toEqual([expect.any(String), 'it is in the trash'])
    await pass(25)
    expect(mails.length).toBe(1)
    expect(
      (await test.ask('alice', 'POST', `/v2/files/${plot}/send`, { json: { to: json.to } })).status,
    ).toBe(409)
    await test.ask('alice', 'DELETE', `/v2/files/${plot}/permanent_delete`)
    await pass(25)
    expect((await test.ask('bob', 'GET', '/v2/mailings')).json.mailings).toEqual([])
    expect(mails.length).toBe(1)
  })

  it.each([
    [{ to: [] }, 400],
    [{ to: ['nobody'] }, 400],
    [{ to: ['a@example.com,b@example.com'] }, 400],
    [{ to: Array.from({ length: 11 }, (_, k) => `a${k}@example.com`) }, 400],
    [{ to: ['a@example.com'] }, 404, 'bob'],
  ])('%j is refused with %i', async (json, expected, user = 'alice') => {
    expect((await test.ask(user, 'POST', `/v2/files/${board}/send`, { json })).status).toBe(expected)
    expect(mails).toEqual([])
  })
})
