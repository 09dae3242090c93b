// Two servers on one PostgreSQL and one bucket, while 5 % of statements and bucket requests fail.
// Successful writes are applied once; all other responses are 503.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { verifyStore } from '../../src/service/admin.ts'
import { createService } from '../../src/service/index.ts'
import { newDatabase } from '../support/postgres.ts'
import { runs } from '../support/property-runs.ts'
import { S3Server } from '../support/s3.ts'
import { type Answer, type Ask, TestService, URL_OF_TESTS } from '../support/service.ts'

const PROBABILITY = 0.05

type Fault = 'serialization' | 'deadlock' | 'lost' | 'unknown'
type Query = (this: pg.Client, ...args: unknown[]) => Promise<unknown>

/** Makes statements of all connections of this process fail, until it is stopped. */
class DatabaseFaults {
  readonly injected = new Map<Fault, number>()
  private readonly query = pg.Client.prototype.query

  constructor() {
    const query = this.query as unknown as Query
    const { injected } = this
    const next = (isCommit: boolean): Fault | undefined => {
      if (Math.random() >= PROBABILITY) return undefined
      const kinds: Fault[] = isCommit ? ['lost', 'unknown'] : ['serialization', 'deadlock', 'lost']
      const fault = kinds[Math.floor(Math.random() * kinds.length)]
      injected.set(fault, (injected.get(fault) ?? 0) + 1)
      return fault
    }
    pg.Client.prototype.query = async function (this: pg.Client, ...args: unknown[]) {
      const { text } = args[0] as { text?: string }
      if (text === undefined || text === 'rollback') return query.apply(this, args)
      const { stream } = (this as unknown as { connection: { stream: { destroy: () => void } } }).connection
      const lost = Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
      switch (next(text === 'commit')) {
        case 'serialization':
          throw Object.assign(new Error('could not serialize access'), { code: '40001' })
        case 'deadlock':
          throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
        case 'lost':
          stream.destroy()
          throw lost
        case 'unknown':
          // Committed, but the response is lost.
          await query.apply(this, args)
          stream.destroy()
          throw lost
        default:
          return query.apply(this, args)
      }
    } as unknown as typeof pg.Client.prototype.query
  }

  stop(): void {
    pg.Client.prototype.query = this.query
  }
}

let bucket: S3Server
/** Unexpected server errors, with stacks. */
const errors: string[] = []
const servers: TestService[] = []
beforeAll(async () => {
  bucket = await new S3Server().start()
  const database = await newDatabase(inject('postgres'))
  for (let k = 0; k < 2; k++) {
    const service = await createService({
      database,
      url: URL_OF_TESTS,
      environment: bucket.environment,
      blobs: bucket.address,
      log: ({ error }) => {
        if (error) errors.push(error)
      },
      // Almost all values go to the bucket.
      maxInlineBytes: 64,
    })
    servers.push(new TestService(service, database))
  }
})
afterAll(async () => {
  for (const { service } of servers) await service.close()
  await bucket.stop()
})

it('under faults, no write is lost or doubled, and failures are 503', async () => {
  const owners = Array.from({ length: 4 }, (_, k) => `owner${k}`)
  for (const owner of owners) {
    await servers[0].user(owner)
    servers[1].keys.set(owner, servers[0].keys.get(owner)!)
  }
  const rounds = runs(2, 400)
  const refused: string[] = []
  /** Retries on alternating servers, with one idempotency key, until success. */
  const until = async (owner: string, method: string, path: string, more: Ask): Promise<Answer> => {
    const headers = { ...more.headers, 'idempotency-key': randomUUID() }
    for (let k = Math.floor(Math.random() * 2); ; k++) {
      const answer = await servers[k % 2].ask(owner, method, path, { ...more, headers })
      if (answer.status < 300) return answer
      if (answer.status !== 503 || !answer.headers.has('retry-after'))
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text} ${errors.join()}`)
      refused.push(`${method} ${path}`)
    }
  }
  const faults = new DatabaseFaults()
  bucket.failing = PROBABILITY
  /** Expected rows of grids, and all files, by owner and fid. */
  const expected = new Map<string, { grids: Map<string, string[]>; files: string[] }>()
  try {
    await Promise.all(
      owners.map(async (owner) => {
        const grids = new Map<string, string[]>()
        const files: string[] = []
        expected.set(owner, { grids, files })
        for (let round = 0; round < rounds; round++) {
          const name = `grid ${round}`
          // Long enough to be stored in the bucket.
          const rows = Array.from({ length: 20 }, (_, k) => `${owner}-${round}-${k}`)
          const made = await until(owner, 'POST', '/v2/grids/upload', {
            body: `v\n${rows.join('\n')}\n`,
            headers: {
              'content-type': 'text/csv',
              'x-file-name': `${name}.csv`,
              'gridline-on-conflict': 'fail',
            },
          })
          const { fid } = made.json.file
          files.push(fid)
          for (let k = 0; k < 3; k++) {
            await until(owner, 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[`more ${k}`]] } })
            rows.push(`more ${k}`)
          }
          grids.set(fid, rows)
          const copy = await until(owner, 'POST', `/v2/files/${fid}/copy`, {
            json: {},
          })
          grids.set(copy.json.files[0].fid, rows)
          files.push(copy.json.files[0].fid)
          if (round % 3 === 0) {
            const plot = await until(owner, 'POST', '/v2/plots', {
              json: {
                figure: { data: [{ type: 'bar', y: rows }], layout: {} },
                filename: `plot ${round}`,
                raw_data: 'grid',
              },
            })
            files.push(plot.json.file.fid, plot.json.grid_fid)
            await until(owner, 'POST', `/v2/files/${plot.json.file.fid}/trash`, {})
            await until(owner, 'POST', `/v2/files/${plot.json.file.fid}/restore`, {})
          }
        }
      }),
    )
  } finally {
    faults.stop()
    bucket.failing = 0
  }
  expect(faults.injected.size).toBe(4)
  for (const [owner, { grids, files }] of expected) {
    for (const [fid, rows] of grids) {
      const { text } = await servers[1].ask(owner, 'GET', `/v2/grids/${fid}/content?format=csv`)
      expect([fid, text.trimEnd().split(/\r?\n/)]).toEqual([fid, ['v', ...rows]])
    }
    const listed: string[] = []
    for (let page = 1; ; page++) {
      const { json } = await servers[0].ask(owner, 'GET', `/v2/folders/all?page=${page}&page_size=100`)
      listed.push(...json.children.results.map((file: { fid: string }) => file.fid))
      if (json.children.next === null) break
    }
    expect(listed.sort()).toEqual(files.sort())
  }
  for (const { service } of servers) await service.idle()
  expect((await verifyStore(servers[0].service.store)).damage).toEqual([])
})
