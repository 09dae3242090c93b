// Failures of PostgreSQL.
import { randomUUID } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createService, type RunningService } from '../../src/service/index.ts'
import { emptyDatabase, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { TestService, URL_OF_TESTS } from '../support/service.ts'

/** A separate PostgreSQL, which these tests stop and start. */
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

async function serviceOn(
  database: string,
  environment: Record<string, string> = {},
): Promise<RunningService> {
  return createService({ database, url: URL_OF_TESTS, environment })
}

describe('PostgreSQL failures', () => {
  it('lost connections and restarts under load lose and duplicate no writes, and crash nothing', async () => {
    const test = new TestService(await serviceOn(await emptyDatabase(server.url)))
    await test.user('alice')
    const { fid } = await test.grid('alice', 'rows', { n: [] })
    const acked: number[] = []
    const statuses = new Set<number>()
    let next = 0
    let running = true
    const writer = async (): Promise<void> => {
      while (running) {
        const row = next++
        const headers = { 'idempotency-key': randomUUID() }
        for (let done = false; !done; ) {
          const answer = await test.ask('alice', 'POST', `/v2/grids/${fid}/row`, {
            json: { rows: [[row]] },
            headers,
          })
          statuses.add(answer.status)
          if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1')
          done = answer.status === 201
        }
        acked.push(row)
      }
    }
    const writers = Array.from({ length: 8 }, writer)
    const more = async (count: number): Promise<void> => {
      const wanted = acked.length + count
      while (acked.length < wanted) await new Promise(setImmediate)
    }
    for (const disturbance of ['terminate', 'SIGINT', 'terminate', 'SIGQUIT'] as const) {
      await more(20)
      if (disturbance === 'terminate') {
        const client = new pg.Client(server.url)
        await client.connect()
        await client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname <> current_database()',
        )
        await client.end()
      } else await server.restart(disturbance)
      const back = performance.now()
      await more(1)
      expect(performance.now() - back).toBeLessThan(5000)
    }
    running = false
    await Promise.all(writers)
    const { json } = await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect([...json.cols.n.data].sort((a, b) => a - b)).toEqual([...acked].sort((a, b) => a - b))
    expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
    await test.service.close()
  })

  it('requests to a database that does not respond end soon, and writes later are those that were acknowledged', async () => {
    const url = await emptyDatabase(server.url)
    // A network that is cut, or a frozen machine: nothing is closed, nothing is answered.
    const sockets: Socket[] = []
    let isFrozen = false
    const proxy = createServer((socket) => {
      const onward = connect(Number(new URL(url).port), '127.0.0.1')
      sockets.push(socket, onward)
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ]) {
        if (isFrozen) from.pause()
        else from.pipe(to)
        from.on('error', () => to.destroy())
      }
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const address = new URL(url)
    address.port = String((proxy.address() as AddressInfo).port)
    const limits = { GRIDLINE_LIMIT_LOCK_SECONDS: '1' }
    const test = new TestService(await serviceOn(address.href, limits))
    await test.user('alice')
    const { fid } = await test.grid('alice', 'frozen', { n: [1] })
    isFrozen = true
    for (const socket of sockets) socket.unpipe().pause()
    const timed = async (user: string | undefined, method: string, path: string, more = {}) => {
      const start = performance.now()
      const { status } = await test.ask(user, method, path, more)
      return [status, performance.now() - start]
    }
    const [ready, docs, read, write] = await Promise.all([
      timed(undefined, 'GET', '/readyz'),
      timed(undefined, 'GET', '/v2/docs'),
      timed('alice', 'GET', `/v2/files/${fid}`),
      timed('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[2]] } }),
    ])
    expect([ready[0], docs[0], read[0], write[0]]).toEqual([503, 200, 503, 503])
    // Without limits, they took over 100 s.
    for (const [, ms] of [ready, docs, read, write]) expect(ms).toBeLessThan(60_000)
    for (const socket of sockets) socket.destroy()
    isFrozen = false
    expect(await test.status(undefined, 'GET', '/readyz')).toBe(200)
    const { json } = await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect(json.cols.n.data).toEqual([1])
    await test.service.close()
    proxy.close()
  })

  it('a locked row blocks only part of the connections, for one owner', async () => {
    const url = await emptyDatabase(server.url)
    const test = new TestService(
      await serviceOn(url, { GRIDLINE_LIMIT_DATABASE_CONNECTIONS: '4', GRIDLINE_LIMIT_LOCK_SECONDS: '1' }),
    )
    await test.user('alice')
    await test.user('bob')
    const { fid } = await test.grid('alice', 'stuck', { n: [1] })
    const own = await test.grid('bob', 'free', { n: [1] })
    const blocker = new pg.Client(url)
    await blocker.connect()
    await blocker.query("begin; select * from files where owner = 'alice' for update")
    let given = 0
    const stuck = Array.from({ length: 12 }, async (_, k) => {
      const answer = await test.ask('alice', 'PATCH', `/v2/files/${fid}`, {
        json: { filename: `renamed ${k}` },
      })
      given++
      return answer
    })
    expect(
      (await test.ask('bob', 'PATCH', `/v2/files/${own.fid}`, { json: { filename: 'moved' } })).status,
    ).toBe(200)
    // Otherwise it would wait for the end of the first ones.
    expect(given).toBeLessThan(3)
    for (const answer of await Promise.all(stuck)) expect(answer.status).toBe(503)
    await blocker.query('rollback')
    await blocker.end()
    expect(
      (await test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { filename: 'free' } })).status,
    ).toBe(200)
    await test.service.close()
  })
})

describe('several nodes at once on an empty database', () => {
  it('several servers start at once on an empty database, and each table is created once', async () => {
    for (let round = 0; round < 3; round++) {
      const url = await emptyDatabase(server.url)
      const nodes = await Promise.all(Array.from({ length: 6 }, () => serviceOn(url)))
      for (const node of nodes) {
        const ready = await node.handle({
          method: 'GET',
          url: `${URL_OF_TESTS}/readyz`,
          headers: { get: () => null },
          body: null,
        })
        expect(ready.status).toBe(200)
      }
      for (const node of nodes) await node.close()
    }
  })
})
