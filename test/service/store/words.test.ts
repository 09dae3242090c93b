// Searches find old files of an owner with many by the beginnings of words, whatever has happened to them since.
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { listKeys, listWords } from '../../../src/service/store/aggregates/words.ts'
import { newDatabase } from '../../support/postgres.ts'
import { fill } from '../../support/scale.ts'
import { scatter, TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

it('words are letters and digits in lower case; their first 32 characters are indexed', () => {
  expect(listWords('Umsätze_2026-Q1 (neu).csv')).toEqual(['umsätze', '2026', 'q1', 'neu', 'csv'])
  expect(listWords('ΚΩΣΤΑΣ ΚΩΣ')).toEqual(['κωστασ', 'κωσ'])
  expect(listWords('%-_ 🎉')).toEqual([])
  expect(listKeys('𝐱'.repeat(40))).toEqual(['𝐱'.repeat(32)])
  expect(listKeys('売上データ')).toEqual(['売上データ', '上データ', 'データ', 'ータ', 'タ'])
  expect(listKeys(`${'あ'.repeat(40)}終`).at(-1)).toBe('終')
})

describe.each(['sqlite', 'postgres'] as const)('searches in many files [%s]', (engine) => {
  const folder = temporaryFolder()
  let test: TestService
  beforeAll(async () => {
    const database =
      engine === 'sqlite' ? `sqlite:${folder.path}/words.db` : await newDatabase(inject('postgres'))
    test = new TestService(await createService({ database, url: URL_OF_TESTS, environment: {} }), database)
    for (const user of ['alice', 'bob', 'carol']) await test.user(user)
    await test.grid('alice', 'Umsätze 2026', { region: [1], 売上データ: [1] })
    await test.grid('alice', 'renamed', { region: [1] })
    await test.plot('alice', scatter([1]), { filename: 'a chart' })
    await fill(test, 1000)
  })
  afterAll(async () => {
    await test.service.close()
    folder.remove()
  })

  /** Makes all files older than those that a search reads in any case. */
  async function age(): Promise<void> {
    await test.service.runJobs()
    await test.service.store.engine.write(['alice'], (db) =>
      sql`update files set date_modified = idlocal where owner = 'alice' and idlocal < 1000`.execute(db),
    )
  }
  async function find(q: string): Promise<string[]> {
    await age()
    const { status, json } = await test.ask('alice', 'GET', `/v2/folders/search?q=${encodeURIComponent(q)}`)
    expect(status).toBe(200)
    return json.children.results.map(({ filename }: { filename: string }) => filename)
  }
  const fidOf = async (path: string): Promise<string> =>
    (await test.ask('alice', 'GET', `/v2/files/lookup?path=${encodeURIComponent(path)}`)).json.fid
  const change = async (method: string, path: string, json: unknown = {}): Promise<void> => {
    const { status, text } = await test.ask('alice', method, path, { json })
    expect(status, text).toBeLessThan(300)
  }

  it('finds words of names, also in scripts without spaces', async () => {
    expect(await find('umsätze')).toEqual(['Umsätze 2026'])
    expect(await find('Umsätze 20')).toEqual(['Umsätze 2026'])
    expect(await find('データ')).toEqual(['Umsätze 2026'])
    expect((await find('REGION')).sort()).toEqual(['Umsätze 2026', 'renamed'])
    expect(await find('f0000007')).toEqual(['f0000007'])
    expect(await find('no such word')).toEqual([])
    expect((await find('f000')).length).toBe(50)
  })

  it('finds a file by its rarest word, and whole words before longer ones', async () => {
    await test.service.store.engine.write(['alice'], async (db) => {
      const numbers = sql`with recursive numbers(k) as (select 0 union all select k + 1 from numbers where k < 2999)`
      await sql`insert into file_words (owner, idlocal, word) ${numbers}
        select 'alice', 100000 + k, 'umsätzegross' from numbers union all
        select 'alice', 200000 + k, 'umsätze' from numbers`.execute(db)
    })
    expect(await find('umsätze 2026')).toEqual(['Umsätze 2026'])
    await test.service.store.engine.write(['alice'], (db) =>
      db.deleteFrom('file_words').where('idlocal', '>=', 200_000).execute(),
    )
    expect(await find('umsätze')).toEqual(['Umsätze 2026'])
    await test.service.store.engine.write(['alice'], (db) =>
      db.deleteFrom('file_words').where('idlocal', '>=', 100_000).execute(),
    )
  })

  it('finds new names, and no former ones', async () => {
    const fid = await fidOf('renamed')
    await change('PATCH', `/v2/files/${fid}`, { filename: 'another name' })
    expect(await find('renamed')).toEqual([])
    expect(await find('another')).toEqual(['another name'])
    const { cols } = (await test.ask('alice', 'GET', `/v2/grids/${fid}`)).json
    await change('PUT', `/v2/grids/${fid}/col?uid=${cols[0].uid}`, { cols: [{ name: 'zone' }] })
    expect(await find('zone')).toEqual(['another name'])
    await change('POST', `/v2/grids/${fid}/col`, {
      cols: JSON.stringify([{ name: 'late', data: [3] }]),
    })
    expect(await find('late')).toEqual(['another name'])
    expect(await find('region')).toEqual(['Umsätze 2026'])
    const plot = await fidOf('a chart')
    await change('PATCH', `/v2/plots/${plot}`, {
      figure: { ...scatter([1]), layout: { title: { text: 'Snow in Tromsø' } } },
      raw_data: 'grid',
    })
    expect(await find('tromsø')).toEqual(['a chart'])
  })

  it('finds files again after they come back, and nothing of deleted ones', async () => {
    const fid = await fidOf('Umsätze 2026')
    await change('POST', `/v2/files/${fid}/trash`)
    expect(await find('umsätze')).toEqual([])
    await change('POST', `/v2/files/${fid}/restore`)
    expect(await find('umsätze')).toEqual(['Umsätze 2026'])
    await change('POST', `/v2/files/${fid}/trash`)
    await change('DELETE', `/v2/files/${fid}/permanent_delete`)
    const rows = await test.service.store.engine.read((db) =>
      db
        .selectFrom('file_words')
        .selectAll()
        .where('owner', '=', 'alice')
        .where('word', '=', 'umsätze')
        .execute(),
    )
    expect(rows).toEqual([])
  })

  it('indexes new files by itself', async () => {
    await test.service.store.engine.write(['alice'], (db) =>
      db.updateTable('counters').set({ next_idlocal: 3998 }).where('owner', '=', 'alice').execute(),
    )
    const indexed = (): Promise<number> =>
      test.service.store.engine.read(async (db) => {
        const rows = await db.selectFrom('file_words').selectAll().where('word', '=', 'new').execute()
        return rows.length
      })
    await change('POST', '/v2/folders', { path: 'new 3998' })
    await test.service.store.engine.write(['alice'], (db) =>
      db.updateTable('counters').set({ next_idlocal: 4498 }).where('owner', '=', 'alice').execute(),
    )
    await test.service.runJobs()
    expect(await indexed()).toBe(0)
    await change('POST', '/v2/folders', { path: 'new 4498' })
    await change('POST', '/v2/folders', { path: 'new 4499' })
    await test.service.runJobs()
    expect(await indexed()).toBe(1)
    expect((await find('new')).sort()).toEqual(['new 3998', 'new 4498', 'new 4499'])
  })
})
