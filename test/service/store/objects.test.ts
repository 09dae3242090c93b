// Objects in folders and buckets: storing, moving, faults.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { FileObjects } from '../../../src/service/store/objects/file-objects.ts'
import { createObjectRow } from '../../../src/service/store/objects/object-rows.ts'
import { S3Objects } from '../../../src/service/store/objects/s3-objects.ts'
import { openStore } from '../../../src/service/store/store.ts'
import { moveBlobs } from '../../../src/service/store/upkeep/move.ts'
import { verifyStore } from '../../../src/service/store/upkeep/verify.ts'
import { newDatabase } from '../../support/postgres.ts'
import { itLong } from '../../support/property-runs.ts'
import { S3Server } from '../../support/s3.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const HOURS = 3600 * 1000

/** Incompressible values, whose slices are too large for rows. */
const values = (seed: number): number[] =>
  Array.from({ length: 20_000 }, (_, k) => Math.sin(k * 7919 + seed * 104_729))

/** Returns whether an object is the marker of a location. */
const isMarker = (key: string): boolean => /(^|\/)place-\w+$/.test(key)

function filesIn(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((path) => statSync(path).isFile() && !isMarker(path))
    : []
}

const folder = temporaryFolder()
const bucket = new S3Server()
beforeAll(async () => {
  await bucket.start()
})
afterAll(async () => {
  await bucket.stop()
  folder.remove()
})

const options = { url: URL_OF_TESTS }

async function open(database: string, blobs?: string): Promise<TestService> {
  return new TestService(
    await createService({ ...options, database, blobs, environment: bucket.environment }),
    database,
  )
}

/** Simulates a day, after which the sweep deletes unreferenced objects. */
async function aDayPasses({ service }: TestService): Promise<void> {
  await service.store.engine.write([], (db) =>
    db
      .updateTable('objects')
      .set({ changed_at: Date.now() - 25 * HOURS })
      .execute(),
  )
  await service.store.sweep()
}

describe.each([
  ['files', () => `file:${join(folder.path, 'blobs')}`, () => filesIn(join(folder.path, 'blobs')).length],
  ['S3', () => bucket.address, () => [...bucket.objects.keys()].filter((key) => !isMarker(key)).length],
] as const)('bytes in %s', (_, address, count) => {
  let test: TestService
  beforeAll(async () => {
    test = await open(await newDatabase(inject('postgres')), address())
    await test.user('alice')
    await test.user('bob')
  })
  afterAll(() => test.service.close())

  it('objects are stored, read, shared by copies, and removed with the last row', async () => {
    const { fid } = await test.grid('alice', 'kept', { n: values(1) }, { world_readable: true })
    expect(count()).toBe(1)
    const copied = await test.ask('bob', 'POST', `/v2/files/${fid}/copy`)
    const copy = copied.json.new_fid
    expect(count()).toBe(1)
    const remove = async (user: string, one: string): Promise<void> => {
      await test.ask(user, 'POST', `/v2/files/${one}/trash`)
      await test.ask(user, 'DELETE', `/v2/files/${one}/permanent_delete`)
      await aDayPasses(test)
    }
    await remove('alice', fid)
    expect(count()).toBe(1)
    expect((await test.ask('bob', 'GET', `/v2/grids/${copy}/content`)).json.cols.n.data).toEqual(values(1))
    await remove('bob', copy)
    expect(count()).toBe(0)
    expect((await verifyStore(test.service.store)).damage).toEqual([])
  })

  it('objects of a failed upload are removed at once; small values are in the database', async () => {
    const text = values(2).map((n, k) => `${k},${n}`)
    const { status } = await test.ask('alice', 'POST', '/v2/grids/upload', {
      body: `a,b\n${[...text, ...text, ...text].join('\n')}\n1,2,3,4\n`,
      headers: { 'content-type': 'text/csv', 'x-file-name': 'broken.csv' },
    })
    expect(status).toBe(400)
    expect(count()).toBe(0)
    await test.grid('alice', 'small', { n: [1, 2, 3] })
    expect(count()).toBe(0)
  })

  it('objects move to another location while they are read and written, also in two runs', async () => {
    const made = []
    for (let k = 0; k < 6; k++) made.push((await test.grid('alice', `moved ${k}`, { n: values(10 + k) })).fid)
    expect(count()).toBe(6)
    const { store } = test.service
    const target = `file:${join(folder.path, `target ${count.length}${Math.random()}`)}`
    let moved = 0
    const stopping = new AbortController()
    await moveBlobs(store, target, {
      onMoved: () => {
        if (++moved === 2) stopping.abort()
      },
      signal: stopping.signal,
      settleMs: 0,
    })
    for (const [k, fid] of made.entries())
      expect((await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.n.data).toEqual(
        values(10 + k),
      )
    const { fid: late } = await test.grid('alice', 'late', { n: values(20) })
    await moveBlobs(store, target, { settleMs: 0 })
    for (const [k, fid] of [...made.entries(), [10, late] as const])
      expect((await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.n.data).toEqual(
        values(10 + k),
      )
    await aDayPasses(test)
    expect([count(), filesIn(target.slice(5)).length]).toEqual([0, 7])
    expect((await verifyStore(store)).damage).toEqual([])
    await moveBlobs(store, 'sql', { settleMs: 0 })
    await aDayPasses(test)
    expect(filesIn(target.slice(5)).length).toBe(0)
    expect((await test.ask('alice', 'GET', `/v2/grids/${late}/content`)).status).toBe(200)
  })
})

describe('a bucket', () => {
  const refusal = async (address: string, environment = bucket.environment): Promise<string> => {
    const database = await newDatabase(inject('postgres'))
    return openStore({ database, blobs: address, environment }).then(
      () => 'opened',
      (error) => error.message,
    )
  }

  itLong('an unusable bucket is refused with the wrong setting', async () => {
    expect(await refusal(bucket.address.replace('gridline', 'other'))).toContain('no such bucket (--blobs)')
    expect(await refusal(bucket.address, { ...bucket.environment, AWS_SECRET_ACCESS_KEY: 'x' })).toContain(
      'AWS_SECRET_ACCESS_KEY is wrong',
    )
    expect(await refusal(bucket.address, { ...bucket.environment, AWS_ACCESS_KEY_ID: 'x' })).toContain(
      'AWS_ACCESS_KEY_ID',
    )
    expect(await refusal(bucket.address, {} as never)).toContain('AWS_ACCESS_KEY_ID is not set')
    bucket.ahead = 60 * 60_000
    expect(await refusal(bucket.address)).toContain('clock')
    bucket.ahead = 0
    bucket.mayDelete = false
    expect(await refusal(bucket.address)).toContain('AccessDenied')
    bucket.mayDelete = true
    expect(await refusal('s3://xyz?endpoint=ftp://y')).toContain('http')
    expect(await refusal('s3://xyz?endpoint=foo')).toContain('http')
    for (const address of ['s3://', 's3:///x', 's3://b b/x'])
      expect(await refusal(address)).toContain('name of a bucket after s3:')
    expect(await refusal('s3://xyz/%zz?endpoint=http://127.0.0.1:1')).toContain('hexadecimal')
    for (const address of ['file:', 'file://', 'file:/', 'file:///%2f', 'file://host/x'])
      expect(await refusal(address)).toContain(`--blobs ${address}: `)
    expect(await refusal('ftp://x')).toContain('not the address of an object store')
    expect(await refusal('file:/proc/nothing')).toContain('cannot be written to')
    expect(await refusal(bucket.address.replace(/127.0.0.1:\d+/, '127.0.0.1:1'))).toContain('does not answer')
  })

  it('concurrent writers create the folders of objects together', async () => {
    for (let round = 0; round < 20; round++) {
      const root = join(folder.path, 'concurrent', String(round))
      const keys = Array.from({ length: 40 }, (_, k) => `ab${(k % 20).toString(16).padStart(2, '0')}${k}`)
      // As many processes: each knows only the folders that it created.
      await Promise.all(keys.map((key) => new FileObjects(`file:${root}`).put(key, Buffer.from(key))))
      expect(filesIn(root).length).toBe(keys.length)
    }
  })

  itLong('a bucket that fails now and then is retried, and damaged objects are never served', async () => {
    const test = await open(await newDatabase(inject('postgres')), bucket.address)
    await test.user('alice')
    bucket.objects.clear()
    bucket.faults.push('error', 'slow down', 'silent')
    const { fid } = await test.grid('alice', 'faults', { n: values(3) })
    const read = () => test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
    bucket.faults.push('cut', 'cut', 'error')
    expect((await read()).json.cols.n.data).toEqual(values(3))
    bucket.failing = 0.05
    for (let k = 0; k < 40; k++) expect((await read()).status).toBe(200)
    bucket.failing = 0
    const [key, bytes] = [...bucket.objects].find(([name]) => !isMarker(name))!
    bucket.objects.set(key, Buffer.concat([bytes.subarray(0, -1), Buffer.from('x')]))
    expect((await read()).json.errors[0].code).toBe('damaged')
    bucket.objects.delete(key)
    expect((await read()).json.errors[0].code).toBe('damaged')
    expect((await verifyStore(test.service.store)).damage.length).toBeGreaterThan(0)
    bucket.faults.push('error', 'error', 'error', 'error')
    bucket.objects.set(key, bytes)
    const failed = await read()
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, expect.any(String)])
    bucket.objects.clear()
    await test.service.close()
  })

  it('one wrong answer of a bucket is no damage', async () => {
    const test = await open(await newDatabase(inject('postgres')), bucket.address)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'wrong once', { n: values(3) })
    for (const fault of ['wrong', 'missing'] as const) {
      bucket.faults.push(fault)
      const { status, json } = await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([fault, status, json.cols?.n.data, bucket.faults]).toEqual([fault, 200, values(3), []])
    }
    bucket.objects.clear()
    await test.service.close()
  })

  itLong('downloads that are cut off go on where they were, and end without ranges', async () => {
    const test = await open(await newDatabase(inject('postgres')), bucket.address)
    await test.user('alice')
    const numbers = Array.from({ length: 40_000 }, () => Math.random())
    const { fid } = await test.grid('alice', 'cut off', { n: numbers })
    const read = () => test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect(Math.max(...[...bucket.objects.values()].map(({ length }) => length))).toBeGreaterThan(100_000)
    bucket.faults.push('cut', 'cut', 'cut', 'cut')
    expect((await read()).status).toBe(200)
    bucket.hasRanges = false
    bucket.faults.push(...Array(100).fill('cut'))
    expect((await read()).status).toBe(503)
    expect(bucket.faults.length).toBeGreaterThan(50)
    bucket.faults.length = 0
    bucket.hasRanges = true
    bucket.objects.clear()
    await test.service.close()
  })

  it.each([
    ['does not answer', 'hang'],
    ['begins answers, and does not go on', 'stall'],
  ] as const)('a bucket that %s is asked rarely, until it answers again', async (_, fault) => {
    const test = await open(await newDatabase(inject('postgres')), bucket.address)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'hangs', { n: values(3) })
    const columns = Object.fromEntries(Array.from({ length: 8 }, (_, k) => [`c${k}`, values(30 + k)]))
    const { fid: several } = await test.grid('alice', 'several objects', columns)
    const read = (grid = fid) => test.ask('alice', 'GET', `/v2/grids/${grid}/content`)
    // Requests time out once this many have arrived.
    let arriving = 3
    const waiting = new Set<AbortController>()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const controller = new AbortController()
      waiting.add(controller)
      return controller.signal
    })
    bucket.onHang = () => {
      if (--arriving > 0) return
      arriving = 1
      for (const controller of waiting) controller.abort()
      waiting.clear()
    }
    // Requests at the same time are one failure: they are sent once more.
    bucket.faults.push(fault, fault, fault)
    for (const { status } of await Promise.all([read(), read(), read()])) expect(status).toBe(200)
    bucket.faults.push(...Array(50).fill(fault))
    for (let k = 0; k < 5; k++) expect((await read()).status).toBe(503)
    // Two requests without an answer; those after them were not sent.
    expect(bucket.faults.length).toBe(48)
    bucket.faults.length = 0
    bucket.onHang = () => {}
    timeout.mockRestore()
    expect((await read()).json.errors[0].message).toContain('has not answered for a while')
    const now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 6000)
    // Its objects are requested together: all but one wait for the first answer.
    S3Objects.probeWaitMs = 60_000
    const { json } = await read(several)
    for (const [name, data] of Object.entries(columns)) expect(json.cols[name].data).toEqual(data)
    clock.mockRestore()
    expect((await read()).status).toBe(200)
    bucket.objects.clear()
    await test.service.close()
  })

  it('a server that expects another location than the database does not start', async () => {
    const database = await newDatabase(inject('postgres'))
    const test = await open(database, bucket.address)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'there', { n: values(4) })
    await expect(open(database, 'sql')).rejects.toThrow(/keeps its bytes in s3:.*not in sql \(--blobs\)/)
    const other = await open(database)
    other.keys.set('alice', test.keys.get('alice')!)
    expect((await other.ask('alice', 'GET', `/v2/grids/${fid}/content`)).status).toBe(200)
    await other.service.close()
    await test.service.close()
  })

  it('of two servers with different locations on a new database, one does not start', async () => {
    const database = await newDatabase(inject('postgres'))
    const places = ['one', 'two'].map((name) => `file:${join(folder.path, name)}`)
    const started = await Promise.allSettled(places.map((place) => open(database, place)))
    const refused = started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    expect(refused).toHaveLength(1)
    expect(refused[0]).toMatch(/this database keeps its bytes in file:.*, not in file:.* \(--blobs\)/)
    for (const one of started) if (one.status === 'fulfilled') await one.value.service.close()
  })

  it('an empty folder without its marker is refused, and nothing is written into it', async () => {
    const database = await newDatabase(inject('postgres'))
    const place = join(folder.path, 'vanishing')
    const test = await open(database, `file:${place}`)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'there', { n: values(6) })
    renameSync(place, `${place}-elsewhere`)
    for (const isMounted of [false, true]) {
      if (isMounted) mkdirSync(place)
      await expect(open(database, `file:${place}`)).rejects.toThrow(/has none of the bytes of this database/)
      // A running server answers 503, and does not write to another disk.
      const read = await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([read.status, read.text]).toEqual([503, expect.stringContaining('(--blobs)')])
      const write = await test.ask('alice', 'POST', '/v2/grids', {
        json: { filename: 'lost', data: { cols: { n: { data: values(66) } } } },
      })
      expect(write.status).toBe(503)
      expect((await verifyStore(test.service.store)).damage).toHaveLength(1)
      expect(existsSync(place) ? readdirSync(place) : []).toEqual([])
    }
    rmSync(place, { recursive: true })
    renameSync(`${place}-elsewhere`, place)
    await (await open(database, `file:${place}`)).service.close()
    await test.service.close()
  })

  it('a folder can be relocated to another address or a copy; the original is not touched', async () => {
    const database = await newDatabase(inject('postgres'))
    const place = join(folder.path, 'moving')
    const test = await open(database, `file:${place}`)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'there', { n: values(12) })
    await test.service.close()
    const store = await openStore({ database })
    await expect(store.locations.changeAddress(`file:${place}-copy`)).rejects.toThrow(/has no copy of/)
    cpSync(place, `${place}-copy`, { recursive: true })
    const before = filesIn(place)
    await store.locations.changeAddress(`file:${place}-copy`)
    await store.close()
    const again = await open(database, `file:${place}-copy`)
    again.keys.set('alice', test.keys.get('alice')!)
    expect((await again.ask('alice', 'GET', `/v2/grids/${fid}/content`)).status).toBe(200)
    await again.ask('alice', 'POST', `/v2/files/${fid}/trash`)
    await again.ask('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)
    await again.service.idle()
    await aDayPasses(again)
    expect([filesIn(place), filesIn(`${place}-copy`)]).toEqual([before, []])
    await again.service.close()
  })

  it('a move continues after lost objects, and reports them', async () => {
    const test = await open(await newDatabase(inject('postgres')), `file:${join(folder.path, 'lossy')}`)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'kept', { n: values(7) })
    await test.grid('alice', 'lost', { n: values(8) })
    const sizes = filesIn(join(folder.path, 'lossy'))
    rmSync(sizes[0])
    const lost: string[] = []
    const moved = await moveBlobs(test.service.store, 'sql', {
      onLost: (owner) => lost.push(owner),
      settleMs: 0,
    })
    expect([moved.objects, lost]).toEqual([sizes.length - 1, ['alice']])
    const statuses = [await test.status('alice', 'GET', `/v2/grids/${fid}/content`)]
    statuses.push(await test.status('alice', 'GET', `/v2/grids/${fid.replace(/\d+$/, '1')}/content`))
    expect(statuses.sort()).toEqual([200, 500])
    await test.service.close()
  })

  it('a move tells of uploads that still run, and ends when another one begins', async () => {
    const place = join(folder.path, 'busy')
    const test = await open(await newDatabase(inject('postgres')), `file:${place}`)
    const { store } = test.service
    await test.user('alice')
    for (let k = 0; k < 3; k++) await test.grid('alice', `g ${k}`, { n: values(20 + k) })
    const { id } = await store.locations.getCurrent()
    const running = createObjectRow('alice', 'f'.repeat(64), Buffer.from('[]'), id)
    await store.engine.write([], (db) => db.insertInto('objects').values(running).execute())
    const moved = moveBlobs(store, `file:${place}-2`, { settleMs: 0 })
    expect(await moved).toEqual({ objects: 3, unfinished: 1 })
    let hasBegun = false
    const first = moveBlobs(store, 'sql', {
      settleMs: 60_000,
      onMoved: async () => {
        if (hasBegun) return
        hasBegun = true
        await moveBlobs(store, `file:${place}-3`, { settleMs: 0 })
      },
    })
    await expect(first).rejects.toMatchObject({ code: 'conflict', message: expect.stringMatching(/busy-3$/) })
    await test.service.close()
  })

  it('a move includes a copy whose original is deleted during the move', async () => {
    const test = await open(await newDatabase(inject('postgres')), `file:${join(folder.path, 'shared')}`)
    for (const user of ['alice', 'bob']) await test.user(user)
    const { fid } = await test.grid('alice', 'original', { n: values(13) }, { world_readable: true })
    const { json } = await test.ask('bob', 'POST', `/v2/files/${fid}/copy`, { json: {} })
    let moved = 0
    await moveBlobs(test.service.store, 'sql', {
      settleMs: 0,
      onMoved: async () => {
        if (++moved > 1) return
        await test.ask('alice', 'POST', `/v2/files/${fid}/trash`)
        await test.ask('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)
        await test.service.idle()
        await aDayPasses(test)
      },
    })
    await aDayPasses(test)
    const copy = await test.ask('bob', 'GET', `/v2/grids/${json.files[0].fid}/content`)
    expect(copy.json.cols.n.data).toEqual(values(13))
    expect((await verifyStore(test.service.store)).damage).toEqual([])
    await test.service.close()
  })

  it('missing credentials of a bucket are 503 with their name', async () => {
    const database = await newDatabase(inject('postgres'))
    const test = await open(database, bucket.address)
    await test.user('alice')
    const { fid } = await test.grid('alice', 'there', { n: values(9) })
    const service = await createService({ ...options, database, environment: {} })
    const other = new TestService(service, database)
    other.keys.set('alice', test.keys.get('alice')!)
    const { status, text } = await other.ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect([status, text]).toEqual([503, expect.stringContaining('AWS_ACCESS_KEY_ID is not set')])
    await service.close()
    await test.service.close()
  })
})

it('a removed object takes along the part that a killed process has left', async () => {
  const folder = temporaryFolder()
  const objects = new FileObjects(`file:${folder.path}`)
  await objects.put('abcdef', Buffer.from('1'))
  const path = join(folder.path, 'ab', 'cd')
  writeFileSync(join(path, 'abcdef.part'), 'cut')
  await objects.remove('abcdef')
  expect(readdirSync(path)).toEqual([])
  folder.remove()
})

it('verify reports an object file that was changed', async () => {
  const place = join(folder.path, 'damaged')
  const test = await open(await newDatabase(inject('postgres')), `file:${place}`)
  await test.user('alice')
  const { fid } = await test.grid('alice', 'file', { n: values(5) })
  const [path] = filesIn(place)
  writeFileSync(path, readFileSync(path).subarray(1))
  const { status, json } = await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)
  expect([status, json.errors[0].code]).toEqual([500, 'damaged'])
  await test.service.close()
})
