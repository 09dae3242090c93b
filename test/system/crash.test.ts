// kill -9 and full disks.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createUser, openStore, verifyStore } from '../../src/service/admin.ts'
import { createService } from '../../src/service/index.ts'
import { gridline, serve } from '../support/cli.ts'
import { runs } from '../support/property-runs.ts'
import { S3Server } from '../support/s3.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const bucket = new S3Server()
beforeAll(async () => {
  await bucket.start()
})
afterAll(() => bucket.stop())

describe.each([
  ['in the database', runs(3, 50), (): string => 'sql'],
  ['in files', runs(2, 50), (): string => `file:${join(folder.path, 'bytes')}`],
  ['in S3', runs(2, 50), (): string => bucket.address],
] as const)('kill -9 loses no acknowledged write, with large values %s', (where, rounds, place) => {
  it(`kill -9 during appends and uploads (${rounds} rounds) loses or doubles no row and leaves no partial upload`, async () => {
    const home = join(folder.path, where)
    const { stdout } = await gridline(['admin', 'create-user', 'alice', '--json'], { home })
    const authorization = `Basic ${Buffer.from(`alice:${JSON.parse(stdout).api_key}`).toString('base64')}`
    const acked = new Set<number>()
    /** Unacknowledged rows with their idempotency keys. They are sent again after the restart. */
    let unanswered: { row: number; key: string }[] = []
    let next = 0
    let uploads = 0
    const uploaded: string[] = []
    const csv = `n,t\n${Array.from({ length: 20_000 }, (_, k) => `${k},text ${k}\n`).join('')}`

    for (let round = 0; round < rounds; round++) {
      const { url, child } = await serve(['-q', '--database', `sqlite:${join(home, 'gridline.db')}`], {
        home,
        env: { ...bucket.environment, GRIDLINE_BLOBS: place() },
      })
      const ask = (method: string, path: string, body?: string, more: Record<string, string> = {}) =>
        fetch(url + path, {
          method,
          body,
          headers: { authorization, 'content-type': 'application/json', ...more },
        })
      if (round === 0)
        await ask(
          'POST',
          '/v2/grids',
          JSON.stringify({ filename: 'rows', data: { cols: { n: { data: [] } } } }),
        )
      const append = async (row: number, key: string): Promise<boolean> => {
        try {
          const answer = await ask('POST', '/v2/grids/alice:0/row', `{"rows":[[${row}]]}`, {
            'idempotency-key': key,
          })
          await answer.text()
          if (answer.status !== 201) return false
          acked.add(row)
          return true
        } catch {
          return false
        }
      }
      for (const { row, key } of unanswered) expect(await append(row, key)).toBe(true)
      unanswered = []
      let running = true
      const writer = async (): Promise<void> => {
        while (running) {
          const one = { row: next++, key: randomUUID() }
          if (!(await append(one.row, one.key))) unanswered.push(one)
        }
      }
      const name = `u${uploads++}`
      const upload = ask('POST', '/v2/grids/upload', csv, {
        'content-type': 'text/csv',
        'x-file-name': `${name}.csv`,
      })
        .then(async (answer) => {
          await answer.text()
          if (answer.status === 201) uploaded.push(name)
        })
        .catch(() => {})
      const writers = Array.from({ length: 6 }, writer)
      await new Promise((resolve) => setTimeout(resolve, 15 + ((round * 37) % 110)))
      child.kill('SIGKILL')
      running = false
      await Promise.all([...writers, upload])
    }

    const service = new TestService(
      await createService({
        database: `sqlite:${join(home, 'gridline.db')}`,
        url: URL_OF_TESTS,
        environment: bucket.environment,
      }),
    )
    service.keys.set('alice', (await createKey(service.service.store, 'alice')).api_key)
    const rows: number[] = (await service.ask('alice', 'GET', '/v2/grids/alice:0/content')).json.cols.n.data
    expect(new Set(rows).size).toBe(rows.length)
    expect([...acked].filter((row) => !rows.includes(row))).toEqual([])
    expect(acked.size).toBeGreaterThan(rounds)
    const listed = (await service.ask('alice', 'GET', '/v2/folders/home?page_size=1000')).json.children
      .results
    const names: string[] = listed
      .map(({ filename }: { filename: string }) => filename)
      .filter((name: string) => name !== 'rows')
    expect(uploaded.filter((name) => !names.includes(name))).toEqual([])
    for (const { fid, filename } of listed) {
      if (filename === 'rows') continue
      const { cols } = (await service.ask('alice', 'GET', `/v2/grids/${fid}/content`)).json
      expect([cols.n.data.length, cols.t.data[19_999]]).toEqual([20_000, 'text 19999'])
    }
    expect((await verifyStore(service.service.store)).damage).toEqual([])
    await service.service.close()
  }, 240_000)
})

describe('a full disk', () => {
  it('a full disk answers writes with 507, changes nothing, and still answers reads', async () => {
    const database = `sqlite:${join(folder.path, 'full.db')}`
    const store = await openStore({ database })
    const { api_key } = await createUser(store, 'alice')
    await store.close()
    const service = new TestService(await createService({ database, url: URL_OF_TESTS, maxPages: 200 }))
    service.keys.set('alice', api_key)
    const grid = await service.grid('alice', 'small', { a: [1, 2, 3] })
    const noise = Array.from({ length: 100_000 }, (_, k) => Math.sin(k))
    const answer = await service.ask('alice', 'POST', '/v2/grids', {
      json: { filename: 'large', data: { cols: { a: { data: noise } } } },
    })
    expect([answer.status, answer.json.errors[0].code]).toEqual([507, 'disk_full'])
    const csv = `a,b\n${noise.map((x) => `${x},x\n`).join('')}`
    const upload = await service.ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: { 'x-file-name': 'large.csv' },
    })
    expect(upload.status).toBe(507)
    expect((await service.ask('alice', 'GET', `/v2/grids/${grid.fid}/content`)).json.cols.a.data).toEqual([
      1, 2, 3,
    ])
    expect((await service.ask('alice', 'GET', '/v2/folders/home')).json.children.results).toHaveLength(1)
    // Data of failed uploads was deleted, so what fits can be stored again.
    const small = { body: `a\n${noise.slice(0, 500).join('\n')}\n`, headers: { 'x-file-name': 'fits.csv' } }
    expect((await service.ask('alice', 'POST', '/v2/grids/upload', small)).status).toBe(201)
    await service.service.close()
  })
})
