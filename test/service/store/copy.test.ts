// Copies of databases from SQLite to PostgreSQL, and back.
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { openStore } from '../../../src/service/store/store.ts'
import { copyDatabase } from '../../../src/service/store/upkeep/copy.ts'
import { verifyStore } from '../../../src/service/store/upkeep/verify.ts'
import { newDatabase } from '../../support/postgres.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

it('a copied database has the same content and continues its ids', async () => {
  const folder = temporaryFolder()
  const open = async (database: string): Promise<TestService> =>
    new TestService(await createService({ database, url: URL_OF_TESTS, environment: {} }), database)
  const first = await open(`sqlite:${join(folder.path, 'first.db')}`)
  for (const user of ['alice', 'bob']) await first.user(user)
  const numbers = Array.from({ length: 20_000 }, (_, k) => Math.sin(k * 7919))
  const { fid } = await first.grid('alice', 'large', { n: numbers })
  await first.ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1], [2]] } })
  const plot = await first.plot('bob', { data: [{ type: 'bar', y: [1, 2] }], layout: {} })
  await first.ask('alice', 'POST', '/v2/teams', { json: { name: 'crew', members: ['bob'] } })
  await first.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { json: { teams: ['crew'] } })
  await first.ask('bob', 'POST', `/v2/files/${fid}/star`)
  await first.ask('bob', 'POST', `/v2/files/${plot.file.fid}/trash`)
  await first.service.idle()

  const paths: [string, string][] = [
    ['alice', '/v2/folders/all'],
    ['alice', `/v2/grids/${fid}/content`],
    ['alice', `/v2/grids/${fid}/versions`],
    ['bob', '/v2/files/shared'],
    ['bob', '/v2/folders/trash'],
    ['bob', `/v2/plots/${plot.file.fid}/content?inline_data=true`],
    ['bob', `/v2/grids/${plot.grid_fid}`],
    ['bob', '/v2/users/current'],
  ]
  const answers = async (test: TestService): Promise<unknown[]> => {
    const all = []
    for (const [user, path] of paths) {
      const { status, text } = await test.ask(user, 'GET', path)
      all.push([path, status, text])
    }
    return all
  }
  const expected = await answers(first)
  const keys = first.keys
  const database = await newDatabase(inject('postgres'))
  const interrupted = await openStore({ database })
  // Leftovers of an interrupted copy.
  await interrupted.write([], ({ credentials }) => credentials.addSecret('cursors', 'half of a copy'))
  await copyDatabase(first.service.store.engine, interrupted.engine)
  await expect(copyDatabase(first.service.store.engine, interrupted.engine)).rejects.toThrow(
    /already has users/,
  )
  await interrupted.close()
  await first.service.close()

  const second = await open(database)
  for (const [user, key] of keys) second.keys.set(user, key)
  expect(await answers(second)).toEqual(expected)
  expect((await verifyStore(second.service.store)).damage).toEqual([])
  const next = Number((await second.grid('alice', 'next', { a: [1] })).fid.split(':')[1])
  expect(next).toBe(Number(fid.split(':')[1]) + 1)

  const back = `sqlite:${join(folder.path, 'back.db')}`
  const third = await openStore({ database: back })
  await copyDatabase(second.service.store.engine, third.engine)
  await third.close()
  const last = await open(back)
  for (const [user, key] of keys) last.keys.set(user, key)
  expect((await verifyStore(last.service.store)).damage).toEqual([])
  expect(await answers(last)).toEqual(await answers(second))
  await second.service.close()
  await last.service.close()
  folder.remove()
})
