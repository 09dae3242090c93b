// Several servers on one PostgreSQL: what one of them does, the others see, wait for, or take over.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { Client, uploadInParts } from '../../src/client/index.ts'
import { createService } from '../../src/service/index.ts'
import { verifyStore } from '../../src/service/store/upkeep/verify.ts'
import { newDatabase } from '../support/postgres.ts'
import { idlocal, TestService, URL_OF_TESTS } from '../support/service.ts'

describe('three servers', () => {
  const servers: TestService[] = []
  beforeAll(async () => {
    const database = await newDatabase(inject('postgres'))
    for (let k = 0; k < 3; k++) {
      const service = await createService({ database, url: URL_OF_TESTS, environment: {} })
      servers.push(new TestService(service, database))
      if (k === 0) await servers[0].user('alice')
      else for (const [user, key] of servers[0].keys) servers[k].keys.set(user, key)
    }
  })
  afterAll(async () => {
    for (const { service } of servers) await service.close()
  })

  it('adding columns during appends of two other servers loses no row', async () => {
    const [one, two, three] = servers
    const { fid } = await one.grid('alice', 'busy', { n: [0] })
    let columns = 1
    let isDone = false
    let appended = 0
    const append = async (server: TestService): Promise<void> => {
      while (!isDone) {
        const width = columns
        const { status, json } = await server.ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          json: { rows: [Array.from({ length: width }, () => 1)] },
        })
        // The grid may have got a column meanwhile.
        if (status === 201) appended++
        else expect([status, json.errors[0].code]).toEqual([400, 'bad_data'])
      }
    }
    const appends = [append(two), append(two), append(three), append(three)]
    for (let k = 0; k < 20; k++) {
      const { status, text } = await one.ask('alice', 'POST', `/v2/grids/${fid}/col`, {
        json: { cols: JSON.stringify([{ name: `c${k}`, data: [k] }]) },
      })
      expect([k, status, status === 201 || text]).toEqual([k, 201, true])
      columns++
    }
    isDone = true
    await Promise.all(appends)
    const { row_count, cols } = (await one.ask('alice', 'GET', `/v2/grids/${fid}`)).json
    expect([cols.length, row_count]).toEqual([21, 1 + appended])
    expect((await verifyStore(one.service.store)).damage).toEqual([])
  })

  it('an upload in parts names its server, and another one answers 421 with that name', async () => {
    const [one, two] = servers
    const headers = { 'x-file-name': 'parts.csv' }
    const { json: begun } = await one.ask('alice', 'POST', '/v2/uploads', { headers })
    const part = (server: TestService) =>
      server.ask('alice', 'PUT', `/v2/uploads/${begun.id}?offset=0&last=true`, {
        body: 'n\n1\n',
        headers: { 'content-type': 'application/octet-stream' },
      })
    const { status, json } = await part(two)
    expect([status, json.errors[0].code, json.errors[0].server]).toEqual([
      421,
      'wrong_server',
      begun.id.split('.')[0],
    ])
    expect((await part(one)).json.file.filename).toBe('parts')
    // A client whose requests go to one server after the other ends up at the right one.
    let k = 0
    const client = new Client({
      url: URL_OF_TESTS,
      user: 'alice',
      apiKey: two.keys.get('alice'),
      fetch: (request) => servers[k++ % servers.length].service.handle(request),
    })
    const source = {
      size: 4,
      async *open(from: number) {
        yield Buffer.from('n\n2\n').subarray(from)
      },
    }
    const { file } = await uploadInParts(client, source, {
      headers: {},
      plainHeaders: { 'X-File-Name': 'turns.csv' },
    })
    expect(file.filename).toBe('turns')
  })

  it('trashing, restoring and deleting a large folder takes effect at once on all servers; a job updates its files', async () => {
    const [one, two] = servers
    const folder = (await one.ask('alice', 'POST', '/v2/folders', { json: { path: 'large/inner' } })).json
      .file
    const large = (await one.ask('alice', 'GET', '/v2/folders/lookup?path=large')).json.fid
    const { store } = one.service
    // More than one transaction tells.
    const FILES = 1_100
    await store.write(['alice'], async ({ files }) => {
      for (let k = 0; k < FILES; k++)
        await files.add({
          owner: 'alice',
          // Each folder is told on its own.
          filetype: k < 10 ? 'fold' : 'plot',
          filename: `f${k}`,
          parent: idlocal(folder.fid),
        })
    })
    const count = async (server: TestService): Promise<number> =>
      (await server.ask('alice', 'GET', '/v2/folders/all?page_size=1')).json.children.count
    const page = async (server: TestService): Promise<string[]> =>
      (await server.ask('alice', 'GET', '/v2/folders/all?page_size=100')).json.children.results.map(
        (file: { filename: string }) => file.filename,
      )
    const before = await count(two)
    // A server that still runs jobs of earlier tests would take the next one too.
    for (const { service } of servers) await service.idle()
    // This server does no jobs: it dies after its answer.
    store.onJob(() => {})
    for (const [method, path, left] of [
      ['POST', 'trash', before - FILES - 2],
      ['POST', 'restore', before],
      ['POST', 'trash', before - FILES - 2],
      ['DELETE', 'permanent_delete', before - FILES - 2],
    ] as const) {
      const { status } = await one.ask('alice', method, `/v2/files/${large}/${path}`)
      expect(status).toBeLessThan(300)
      for (const server of servers) {
        expect([path, await count(server)]).toEqual([path, left])
        expect((await page(server)).filter((name) => /^f\d/.test(name)).length > 0).toBe(left === before)
      }
    }
    const jobs = () => store.read((readers) => readers.jobs.listAll())
    const [left] = (await jobs()).filter(({ kind }) => kind === 'tree')
    // A server takes the job and is gone for longer than its lease.
    const now = Date.now()
    const lost = await store.write(['alice'], (writers) => writers.jobs.claim(left, 'dead', now, now - 1))
    two.service.startJobs()
    while ((await jobs()).some(({ kind }) => kind === 'tree'))
      await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await store.write(['alice'], (writers) => writers.jobs.renewLease(lost!, now + 60_000))).toBe(
      false,
    )
    const rows = await store.engine.read((db) =>
      db.selectFrom('files').select('idlocal').where('parent', '=', idlocal(folder.fid)).execute(),
    )
    expect(rows).toEqual([])
    expect((await verifyStore(store)).damage).toEqual([])
  })
})
