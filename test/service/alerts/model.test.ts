// Alerts as a model has them: any writes, jumps of the clock, receivers that fail, servers that die.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, expect, it, vi } from 'vitest'
import { Webhooks } from '../../../src/service/alerts/webhook.ts'
import { createService } from '../../../src/service/index.ts'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst, TestService } from '../../support/service.ts'

const HOUR_MS = 3600_000
const STALE_HOURS = 12

type State = 'ok' | 'firing' | 'unknown'

/** The grid as the model has it: rows in order. `isLost`: the column `temp` is missing. */
class Model {
  rows: { id: number; temp: number }[] = [{ id: 1, temp: 10 }]
  isLost = false
  isTrashed = false
  changedAt = 0
  private isStale = false
  private change: State = 'ok'
  private countBefore = 1
  readonly told: Record<string, State[]> = { max: [], last: [], sum: [], stale: [], rows: [] }
  private readonly states: Record<string, State> = {}

  /** Records a write that has changed the content. */
  wrote(now: number): void {
    this.changedAt = now
    this.isStale = false
    const { length } = this.rows
    this.change = Math.abs(length - this.countBefore) / this.countBefore >= 0.5 ? 'firing' : 'ok'
    this.countBefore = length
    this.look(now)
  }

  /** Records the states at a time. */
  look(now: number): void {
    this.changedAt = Math.min(this.changedAt, now)
    this.isStale ||= now - this.changedAt >= STALE_HOURS * HOUR_MS
    const temps = this.rows.map(({ temp }) => temp)
    const judge = (isTrue: (values: number[]) => boolean): State => {
      if (this.isLost || temps.length === 0) return 'unknown'
      return isTrue(temps) ? 'firing' : 'ok'
    }
    const states: Record<string, State> = {
      max: judge((values) => Math.max(...values) > 40),
      last: judge((values) => values.at(-1)! > 40),
      // Sums of no rows are unknown too.
      sum: judge((values) => values.reduce((a, b) => a + b, 0) >= 100),
      stale: this.isStale ? 'firing' : 'ok',
      rows: this.change,
    }
    for (const [name, state] of Object.entries(states)) {
      const now = this.isTrashed ? 'unknown' : state
      if (now !== (this.states[name] ?? 'ok')) this.told[name].push(now)
      this.states[name] = now
    }
  }
}

onSqliteFirst('alerts as a model has them', (test) => {
  afterAll(() => {
    vi.useRealTimers()
  })

  it('each change of state is told once, in order', async () => {
    let isFailing = false
    const received: Record<string, State[]> = {}
    const seen = new Set<string>()
    const receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        // A message that was accepted is sent again only if its server died before it knew.
        const id = String(request.headers['webhook-id'])
        if (!isFailing && !seen.has(id)) {
          seen.add(id)
          const name = request.url!.slice(1)
          received[name] ??= []
          received[name].push(JSON.parse(body).data.state)
        }
        response.writeHead(isFailing ? 503 : 200).end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const webhooks = new Webhooks(() => true)
    const open = async (): Promise<TestService> => {
      const { database, place } = test()
      const settings = { url: 'http://gridline.test', environment: {}, webhooks }
      const server = new TestService(await createService({ database, ...settings, ...place }))
      for (const [user, key] of test().keys) server.keys.set(user, key)
      // Servers run jobs only when the test says so.
      server.service.store.onJob(() => {})
      return server
    }
    test().service.store.onJob(() => {})
    const servers = [await open(), await open()]

    /** Lets both servers run jobs, until none is due. */
    const settle = async (): Promise<void> => {
      for (const { service } of [...servers, ...servers]) {
        // Time does not stand still.
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 100 })
        await service.runJobs()
      }
    }
    const step = fc.record({
      server: fc.nat(1),
      do: fc.constantFrom(
        ...([
          'append',
          'append',
          'replace',
          'upsert',
          'lose',
          'revert',
          'jump',
          'trash',
          'die',
          'jobs',
          'refuse',
        ] as const),
      ),
      temp: fc.constantFrom(5, 20, 39, 41, 99),
      n: fc.nat(9),
    })
    const seed = Number(process.env.GRIDLINE_TEST_SEED ?? runs(7, Date.now()))
    const cases = fc.sample(
      fc.record({ fails: fc.boolean(), steps: fc.array(step, { minLength: 3, maxLength: 14 }) }),
      { numRuns: runs(3, 60), seed },
    )
    for (const [n, { fails, steps }] of cases.entries()) {
      const model = new Model()
      const name = `model${n}`
      const { fid } = await test().grid('alice', name, { id: [1], temp: [10] })
      const ask = (k: number, method: string, path: string, more: object = {}) =>
        servers[k].ask('alice', method, path, more)
      const upload = async (k: number, csv: string, rule: string, more: object = {}): Promise<void> => {
        const headers = { 'x-file-name': `${name}.csv`, 'gridline-on-conflict': rule, ...more }
        const { status, text } = await ask(k, 'POST', '/v2/grids/upload', { body: csv, headers })
        expect(status, text).toBe(201)
      }
      const toCsv = (): string =>
        `id,${model.isLost ? 'other' : 'temp'}\n${model.rows.map(({ id, temp }) => `${id},${temp}\n`).join('')}`
      for (const [key, condition] of Object.entries({
        max: { when: 'max(temp) > 40' },
        last: { when: 'last(temp) > 40' },
        sum: { when: 'sum(temp) >= 100' },
        stale: { stale_seconds: STALE_HOURS * 3600 },
        rows: { changed_percent: 50 },
      }))
        expect(
          (
            await ask(0, 'POST', `/v2/grids/${fid}/alerts`, {
              json: { ...condition, to: `${base}/${name}-${key}` },
            })
          ).status,
        ).toBe(201)
      model.changedAt = Date.now()
      isFailing = fails
      for (const { server: k, do: what, temp, n: number } of steps) {
        if (what === 'append') {
          const row = { id: model.rows.length + 100, temp }
          model.rows.push(row)
          const { status } = await ask(k, 'POST', `/v2/grids/${fid}/row`, {
            json: { rows: [[row.id, row.temp]] },
          })
          expect(status).toBe(201)
          model.wrote(Date.now())
        } else if (what === 'replace' || what === 'lose') {
          const rows = Array.from({ length: number }, (_, id) => ({ id, temp: temp + id }))
          const before = toCsv()
          model.rows = rows
          model.isLost = what === 'lose'
          await upload(k, toCsv(), 'replace')
          if (toCsv() !== before) model.wrote(Date.now())
        } else if (what === 'upsert') {
          if (model.isLost || new Set(model.rows.map(({ id }) => id)).size < model.rows.length) continue
          const id = model.rows[number % Math.max(1, model.rows.length)]?.id ?? 1
          const found = model.rows.find((row) => row.id === id)
          const isChange = !found || found.temp !== temp
          if (found) found.temp = temp
          else model.rows.push({ id, temp })
          await upload(k, `id,temp\n${id},${temp}\n`, 'append', { 'gridline-key': 'id' })
          if (isChange) model.wrote(Date.now())
          // Later rows need no key.
          await upload(k, toCsv(), 'replace', { 'gridline-key': '' })
        } else if (what === 'revert') {
          const before = await ask(k, 'GET', `/v2/grids/${fid}/content?format=csv`)
          const { json } = await ask(k, 'POST', `/v2/grids/${fid}/revert`, { json: {} })
          if (json?.action !== 'reverted') continue
          const { text } = await ask(k, 'GET', `/v2/grids/${fid}/content?format=csv`)
          const [header, ...lines] = text.trim().split('\n')
          model.isLost = header !== 'id,temp'
          model.rows = lines.map((line) => {
            const [id, value] = line.split(',').map(Number)
            return { id, temp: value }
          })
          if (text !== before.text) model.wrote(Date.now())
        } else if (what === 'jump' && !fails) {
          const hours = number % 2 === 0 ? number * 2 : -5 - number
          vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * HOUR_MS })
          await settle()
          model.look(Date.now())
        } else if (what === 'trash') {
          await ask(k, 'POST', `/v2/files/${fid}/trash`)
          await settle()
          model.isTrashed = true
          model.look(Date.now())
          await ask(k, 'POST', `/v2/files/${fid}/restore`)
          await settle()
          model.isTrashed = false
          model.look(Date.now())
        } else if (what === 'die') {
          // A server takes jobs, and is gone for longer than its lease.
          const { store } = servers[k].service
          const now = Date.now()
          const due = await store.read(({ jobs }) => jobs.listDue(now, 3, ['feed', 'judge', 'deliver']))
          for (const job of due)
            await store.write([job.owner], ({ jobs }) => jobs.claim(job, 'dead', now, now - 1))
        } else if (what === 'jobs') await servers[k].service.runJobs()
        else if (what === 'refuse') {
          // A write that is not applied changes no state.
          const { status } = await ask(k, 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1]] } })
          expect(status).toBe(400)
        }
      }
      isFailing = false
      // Failed messages are due again within four hours.
      if (fails) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * HOUR_MS })
      await settle()
      model.look(Date.now())
      const told = Object.keys(model.told).map((key) => [key, received[`${name}-${key}`] ?? []])
      expect(Object.fromEntries(told), JSON.stringify(steps)).toEqual(model.told)
      // A user has a limited number of alerts; those of a deleted grid are gone.
      await ask(0, 'POST', `/v2/files/${fid}/trash`)
      expect((await ask(0, 'DELETE', `/v2/files/${fid}/permanent_delete`)).status).toBe(204)
    }
    for (const { service } of servers) await service.close()
    receiver.closeAllConnections()
    receiver.close()
  })
})
