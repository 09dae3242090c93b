// Damage, counts, concurrent plots, clocks, files on disk.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { readLimits } from '../../src/contract/limits.ts'
import { openStore, verifyStore } from '../../src/service/admin.ts'
import { RateLimiter } from '../../src/service/http/rate-limiter.ts'
import { createService, listen } from '../../src/service/index.ts'
import { onBothStores, TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

onBothStores('integrity', (test) => {
  const ask = (user: string | undefined, method: string, path: string, json?: unknown) =>
    test().ask(user, method, path, { json })
  const damage = async () => (await verifyStore(test().service.store)).damage

  it('a flipped bit in appended rows is 500 damaged, is never flushed, and is found by verify', async () => {
    const { engine } = test().service.store
    const { fid } = await test().grid('alice', 'tail', { n: [1], s: ['x'] })
    for (let k = 0; k < 5; k++)
      await ask('alice', 'POST', `/v2/grids/${fid}/row`, { rows: [[k, `row ${k}`]] })
    expect(await damage()).toEqual([])
    const idlocal = Number(fid.split(':')[1])
    const rows = await engine.read((db) =>
      db.selectFrom('tail').selectAll().where('owner', '=', 'alice').where('idlocal', '=', idlocal).execute(),
    )
    const [row] = rows
    for (let bit = 0; bit < row.body.length * 8; bit += 7) {
      const body = Buffer.from(row.body)
      body[bit >> 3] ^= 1 << (bit & 7)
      await engine.write([], (db) =>
        db
          .updateTable('tail')
          .set({ body })
          .where('owner', '=', 'alice')
          .where('idlocal', '=', idlocal)
          .where('seq', '=', row.seq)
          .execute(),
      )
      const { status, json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect([status, json.errors[0].code], `bit ${bit}`).toEqual([500, 'damaged'])
    }
    // Columns are changed only after a flush of the tail.
    const added = await ask('alice', 'POST', `/v2/grids/${fid}/col`, {
      cols: JSON.stringify([{ name: 'more', data: [1] }]),
    })
    expect(added.status).toBe(500)
    expect(await damage()).toEqual([{ fid, what: expect.stringContaining('do not match their checksum') }])
    await engine.write([], (db) =>
      db
        .updateTable('tail')
        .set({ body: row.body })
        .where('owner', '=', 'alice')
        .where('idlocal', '=', idlocal)
        .where('seq', '=', row.seq)
        .execute(),
    )
    expect((await ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.n.data).toEqual([
      1, 0, 1, 2, 3, 4,
    ])
  })

  it('types and counts stay correct through appends, column changes, copies and restores', async () => {
    const { fid, cols } = await test().grid('alice', 'types', { a: [1], b: ['x'], c: [null] })
    const types = async (of: string) =>
      (await ask('alice', 'GET', `/v2/grids/${of}`)).json.cols.map(({ type }: { type: string }) => type)
    expect(await types(fid)).toEqual(['number', 'text', 'empty'])
    await ask('alice', 'POST', `/v2/grids/${fid}/row`, { rows: [[2, 'y', true]] })
    expect(await types(fid)).toEqual(['number', 'text', 'boolean'])
    await ask('alice', 'POST', `/v2/grids/${fid}/row`, { rows: [['two', 'y', false]] })
    expect(await types(fid)).toEqual(['json', 'text', 'boolean'])
    const { new_fid } = (await ask('alice', 'POST', `/v2/files/${fid}/copy`)).json
    expect(await types(new_fid)).toEqual(['json', 'text', 'boolean'])
    await ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, {
      cols: JSON.stringify([{ data: [1, 2, 3], order: 2 }]),
    })
    expect(await types(fid)).toEqual(['text', 'boolean', 'number'])
    await ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${cols[1].uid}`)
    await ask('alice', 'POST', `/v2/grids/${fid}/row`, { rows: [[null, 4]] })
    expect(await types(fid)).toEqual(['boolean', 'number'])
    await ask('alice', 'POST', `/v2/files/${fid}/trash`)
    await ask('alice', 'POST', `/v2/files/${fid}/restore`)
    expect((await damage()).filter((one) => one.fid === fid || one.fid === new_fid)).toEqual([])
  })

  it('updating a plot reuses its data grid if nothing else uses it', async () => {
    const figure = (y: number[], name = 'y') => ({ data: [{ type: 'bar', x: ['a', 'b'], [name]: y }] })
    const made = (
      await ask('alice', 'POST', '/v2/plots', { figure: figure([1, 2]), raw_data: 'grid', filename: 'own' })
    ).json
    const grids = async () =>
      (await ask('alice', 'GET', '/v2/folders/home?page_size=500&filetype=grid')).json.children.results
        .map((file: { filename: string; fid: string }) => file)
        .filter((file: { filename: string }) => file.filename.startsWith('own_grid'))
    const uids = async () =>
      Object.fromEntries(
        (await ask('alice', 'GET', `/v2/grids/${made.grid_fid}`)).json.cols.map(
          (column: { name: string; uid: string }) => [column.name, column.uid],
        ),
      )
    const before = await uids()
    for (const y of [[3], [4, 5, 6]])
      expect(
        (await ask('alice', 'PATCH', `/v2/plots/${made.file.fid}`, { figure: figure(y), raw_data: 'grid' }))
          .status,
      ).toBe(200)
    expect(await grids()).toHaveLength(1)
    expect(await uids()).toEqual(before)
    const shown = (await ask('alice', 'GET', `/v2/plots/${made.file.fid}/content?inline_data=true`)).json
    expect(shown.data[0].y).toEqual([4, 5, 6])
    // A reference to one of its columns, beside new data, keeps the column.
    await ask('alice', 'PATCH', `/v2/plots/${made.file.fid}`, {
      figure: { data: [{ type: 'bar', xsrc: `${made.grid_fid}:${before['data.0.x']}`, y: [7, 8] }] },
      raw_data: 'grid',
    })
    const mixed = (await ask('alice', 'GET', `/v2/plots/${made.file.fid}/content?inline_data=true`)).json
    expect([mixed.data[0].x, mixed.data[0].y]).toEqual([
      ['a', 'b'],
      [7, 8],
    ])
    // A linked copy uses the grid too, so new data goes elsewhere.
    const copy = (await ask('alice', 'POST', `/v2/files/${made.file.fid}/copy`)).json.new_fid
    await ask('alice', 'PATCH', `/v2/plots/${made.file.fid}`, { figure: figure([9, 9]), raw_data: 'grid' })
    const other = (await ask('alice', 'GET', `/v2/plots/${copy}/content?inline_data=true`)).json
    expect(other.data[0].y).toEqual([7, 8])
    expect((await damage()).filter(({ fid }) => fid?.startsWith('alice:') && fid === made.grid_fid)).toEqual(
      [],
    )
  })

  it('new data goes into a new grid if the data grid must not be replaced', async () => {
    const figure = (y: number[]) => ({ data: [{ type: 'bar', x: ['a', 'b'], y }] })
    const plot = async (filename: string, more = {}) =>
      (
        await ask('alice', 'POST', '/v2/plots', {
          figure: figure([1, 2]),
          raw_data: 'grid',
          filename,
          ...more,
        })
      ).json
    const update = async (user: string, fid: string, y: number[]) =>
      expect(
        (await ask(user, 'PATCH', `/v2/plots/${fid}`, { figure: figure(y), raw_data: 'grid' })).status,
      ).toBe(200)
    const shown = async (fid: string) =>
      (await ask('alice', 'GET', `/v2/plots/${fid}/content?inline_data=true`)).json.data[0].y
    const held = async (fid: string) => {
      const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
      return (json.cols as Record<string, { data: unknown[] }>)['data.0.y']?.data
    }
    // The grid stays public when the plot becomes private, so private data goes elsewhere.
    const once = await plot('once public', { world_readable: true })
    await ask('alice', 'PATCH', `/v2/files/${once.file.fid}`, { world_readable: false })
    await update('alice', once.file.fid, [3, 4])
    expect([await shown(once.file.fid), await held(once.grid_fid)]).toEqual([
      [3, 4],
      [1, 2],
    ])
    // Share keys and collaborators of the grid do not apply to the plot.
    const keyed = await plot('keyed')
    await ask('alice', 'PATCH', `/v2/files/${keyed.grid_fid}`, { share_key_enabled: true })
    await update('alice', keyed.file.fid, [3, 4])
    expect(await held(keyed.grid_fid)).toEqual([1, 2])
    const shared = await plot('shared grid')
    await ask('alice', 'POST', `/v2/files/${shared.grid_fid}/collaborators`, { users: ['bob'] })
    await update('alice', shared.file.fid, [3, 4])
    expect(await held(shared.grid_fid)).toEqual([1, 2])
    // A user with write access to the plot only does not change the grid.
    const mine = await plot('mine')
    await ask('alice', 'POST', `/v2/files/${mine.file.fid}/collaborators`, {
      users: ['bob'],
      permission: 'write',
    })
    await update('bob', mine.file.fid, [3, 4])
    expect([await shown(mine.file.fid), await held(mine.grid_fid)]).toEqual([
      [3, 4],
      [1, 2],
    ])
    // A column that the figure does not use belongs to the user.
    const extended = await plot('extended')
    await ask('alice', 'POST', `/v2/grids/${extended.grid_fid}/col`, {
      cols: JSON.stringify([{ name: 'notes', data: ['by hand'] }]),
    })
    await update('alice', extended.file.fid, [3, 4])
    expect(await held(extended.grid_fid)).toEqual([1, 2])
  })

  it('concurrent updates of one plot all succeed', async () => {
    const figure = (y: number[]) => ({ data: [{ type: 'bar', y }] })
    const made = (await ask('alice', 'POST', '/v2/plots', { figure: figure([0]), raw_data: 'grid' })).json
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, k) =>
        ask('alice', 'PATCH', `/v2/plots/${made.file.fid}`, { figure: figure([k]), raw_data: 'grid' }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const { json } = await ask('alice', 'GET', `/v2/plots/${made.file.fid}/content?inline_data=true`)
    expect([0, 1, 2, 3, 4, 5, 6, 7]).toContain(json.data[0].y[0])
    expect((await damage()).filter(({ fid }) => fid === made.grid_fid)).toEqual([])
  })

  it('an upload reports its action: created, appended, replaced, unchanged', async () => {
    const upload = async (body: string, rule?: string) =>
      (
        await test().ask('alice', 'POST', '/v2/grids/upload', {
          body,
          headers: { 'x-file-name': 'did.csv', ...(rule ? { 'gridline-on-conflict': rule } : {}) },
        })
      ).json
    const first = await upload('a,b\n1,x\n')
    expect(first.action).toBe('created')
    expect((await upload('a,b\n1,x\n', 'replace')).action).toBe('unchanged')
    const version = async () => (await ask('alice', 'GET', `/v2/files/${first.file.fid}`)).headers.get('etag')
    const before = await version()
    await upload('a,b\n1,x\n', 'replace')
    expect(await version()).toBe(before)
    expect((await upload('a,b\n2,y\n', 'append')).action).toBe('appended')
    expect((await upload('a,b\n1,x\n', 'replace')).action).toBe('replaced')
    const lossy = await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: 'a\n1\n',
      headers: {
        'x-file-name': 'did.csv',
        'gridline-on-conflict': 'replace',
        'gridline-allow-column-loss': 'false',
      },
    })
    expect([lossy.status, lossy.json.errors[0].code, lossy.json.detail]).toEqual([
      409,
      'column_loss',
      expect.stringContaining('would be lost: b'),
    ])
  })

  it('if the clock is set back, timestamps do not decrease and nobody is locked out', async () => {
    const { fid } = await test().grid('alice', 'stamped', { a: [1] })
    const stamp = async () => (await ask('alice', 'GET', `/v2/files/${fid}`)).json.date_modified
    const before = await stamp()
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now - 3600_000)
    try {
      await ask('alice', 'PATCH', `/v2/files/${fid}`, { filename: 'stamped later' })
      expect((await stamp()) >= before).toBe(true)
      const rates = new RateLimiter(1)
      rates.countRequest('ann')
      expect(() => rates.countRequest('ann')).toThrow(/requests per minute/)
    } finally {
      clock.mockRestore()
    }
  })
})

describe('damage found while streaming a response', () => {
  const folder = temporaryFolder()
  afterAll(folder.remove)

  it('damage found during a response resets the connection, so that it never looks complete', async () => {
    const test = new TestService(
      await createService({
        database: `sqlite:${join(folder.path, 'broken.db')}`,
        url: URL_OF_TESTS,
        environment: {},
      }),
    )
    await test.user('alice')
    // More than one query reads, so the response has begun when the damage is found.
    const n = Array.from({ length: 200_000 }, (_, k) => `${'value '.repeat(8)}${k}`)
    const { fid } = await test.grid('alice', 'long', { n })
    const slices = await test.service.store.read(({ grids }) => grids.listSlices('alice', 0))
    const last = [...slices.values()][0].at(-1)!.blob.hash
    await test.service.store.engine.write([], (db) =>
      db
        .updateTable('blob_pieces')
        .set({ body: Buffer.from('1nonsense') })
        .where('key', 'in', db.selectFrom('objects').select('key').where('hash', '=', last))
        .execute(),
    )
    const at = await listen(() => test.service, { host: '127.0.0.1', port: 0, limits: readLimits() })
    const headers = {
      authorization: `Basic ${Buffer.from(`alice:${test.keys.get('alice')}`).toString('base64')}`,
    }
    const answer = await fetch(`http://127.0.0.1:${at.port}/v2/grids/${fid}/content`, { headers })
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow()
    await at.stop(0)
    await test.service.close()
  })
})

describe('the database on disk', () => {
  const folder = temporaryFolder()
  afterAll(folder.remove)

  it.skipIf(process.platform === 'win32')(
    'the database file is readable by its owner only, even if it was not before',
    async () => {
      const { chmodSync, writeFileSync } = await import('node:fs')
      const file = join(folder.path, 'private', 'gridline.db')
      const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
      const before = process.umask(0o022)
      try {
        const store = await openStore({ database: `sqlite:${file}` })
        await store.write([], ({ credentials }) => credentials.addSecret('x', 'y'))
        for (const suffix of ['', '-wal', '-shm']) expect(mode(file + suffix), suffix).toBe('600')
        expect(mode(join(folder.path, 'private'))).toBe('700')
        await store.close()
        chmodSync(file, 0o644)
        writeFileSync(`${file}-journal`, '')
        chmodSync(`${file}-journal`, 0o644)
        const again = await openStore({ database: `sqlite:${file}` })
        expect(mode(file)).toBe('600')
        await again.close()
      } finally {
        process.umask(before)
      }
    },
  )

  it('compact frees the space of deleted files', async () => {
    const file = join(folder.path, 'compact.db')
    const store = await openStore({ database: `sqlite:${file}` })
    for (let k = 0; k < 40; k++) await store.blobs.put('alice', Buffer.alloc(100_000, `${k} `))
    await store.write([], ({ credentials }) => credentials.addSecret('x', 'y'))
    await store.sweep()
    await store.engine.compact()
    const full = statSync(file).size
    expect(full).toBeGreaterThan(4_000_000)
    await store.sweep(0)
    await store.engine.compact()
    expect(statSync(file).size).toBeLessThan(full / 4)
    await store.close()
  })
})
