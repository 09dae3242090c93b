// Pairs of requests of which at most one may win, at two servers on one PostgreSQL, and what must hold after any of them.
// The control takes the locks of owners away: then some pair must be seen to win twice, or the test could not fail.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { deleteUser } from '../../src/service/admin.ts'
import { createService } from '../../src/service/index.ts'
import type { Engine } from '../../src/service/store/engines/engine.ts'
import { verifyStore } from '../../src/service/store/upkeep/verify.ts'
import { newDatabase } from '../support/postgres.ts'
import { runs } from '../support/property-runs.ts'
import { type Answer, idlocal, TestService, URL_OF_TESTS } from '../support/service.ts'

/** Two servers on one database, with users alice and bob. */
async function twoServers(): Promise<[TestService, TestService]> {
  const database = await newDatabase(inject('postgres'))
  const open = async (): Promise<TestService> =>
    new TestService(await createService({ database, url: URL_OF_TESTS, environment: {} }), database)
  const one = await open()
  for (const user of ['alice', 'bob']) await one.user(user)
  const other = await open()
  for (const [user, key] of one.keys) other.keys.set(user, key)
  return [one, other]
}

/** Disables the owner locks of a server. */
function withoutLocks({ service }: TestService): void {
  const { engine } = service.store
  const mutable = engine as { -readonly [K in keyof Engine]: Engine[K] }
  const write = engine.write.bind(engine)
  mutable.write = (_, work, options) => write([], work, options)
  mutable.forOwner = () => engine
}

const won = ({ status }: Answer): boolean => status >= 200 && status < 300

/** Runs one round of a pair. Returns errors. */
type Pair = (one: TestService, other: TestService, round: number) => Promise<string[]>

const both = (one: Promise<Answer>, other: Promise<Answer>): Promise<[Answer, Answer]> =>
  Promise.all([one, other])

async function folder(server: TestService, path: string): Promise<string> {
  const { json } = await server.ask('alice', 'POST', '/v2/folders', { json: { path } })
  return json.file.fid
}

const grid = (server: TestService, name: string, more: object = {}): Promise<{ fid: string }> =>
  server.grid('alice', name, { n: [1] }, more)

/** Returns the current state of a file for its owner. */
async function now(server: TestService, fid: string) {
  return (await server.ask('alice', 'GET', `/v2/files/${fid}`)).json
}

/** Returns errors of a file in a trashed folder. */
async function isHidden(server: TestService, fid: string): Promise<string[]> {
  const file = await now(server, fid)
  const row = await server.service.store.read(({ files }) => files.get('alice', idlocal(fid)))
  return file.deleted && (row!.hidden === 1 || row!.trashed_at !== null)
    ? []
    : ['an active file is in a trashed folder, or lists show one that is not']
}

const pairs: Record<string, Pair> = {
  async 'two changes with the same If-Match'(one, other, round) {
    const { fid } = await grid(one, `match ${round}`)
    const etag = (await one.ask('alice', 'GET', `/v2/files/${fid}`)).headers.get('etag')!
    const patch = (server: TestService, filename: string): Promise<Answer> =>
      server.ask('alice', 'PATCH', `/v2/files/${fid}`, {
        json: { metadata: { filename } },
        headers: { 'if-match': etag },
      })
    const answers = await both(patch(one, 'a'), patch(other, 'b'))
    return answers.filter(won).length === 1 ? [] : ['both changes matched']
  },

  async 'two files of one name'(one, other, round) {
    const upload = (server: TestService): Promise<Answer> =>
      server.ask('alice', 'POST', '/v2/grids/upload', {
        body: 'n\n1\n',
        headers: {
          'content-type': 'text/csv',
          'x-file-name': `name ${round}.csv`,
          'gridline-on-conflict': 'fail',
        },
      })
    const answers = await both(upload(one), upload(other))
    return answers.filter(won).length === 1 ? [] : ['two files have one name, or none']
  },

  async 'two folders moved into each other'(one, other, round) {
    const [a, b] = [await folder(one, `a ${round}`), await folder(one, `b ${round}`)]
    const move = (server: TestService, fid: string, into: string): Promise<Answer> =>
      server.ask('alice', 'PATCH', `/v2/folders/${fid}`, { json: { parent: idlocal(into) } })
    const answers = await both(move(one, a, b), move(other, b, a))
    return answers.filter(won).length === 2 ? ['two folders are in each other'] : []
  },

  async 'a folder trashed and a file made in it'(one, other, round) {
    const into = await folder(one, `trashed ${round}`)
    const make = (server: TestService): Promise<Answer> =>
      server.ask('alice', 'POST', '/v2/grids', {
        json: { data: { cols: { n: { data: [1], order: 0 } } }, filename: 'new', parent: idlocal(into) },
      })
    const [, made] = await both(one.ask('alice', 'POST', `/v2/folders/${into}/trash`), make(other))
    return won(made) ? isHidden(one, made.json.file.fid) : []
  },

  async 'a folder trashed and a file moved into it'(one, other, round) {
    const into = await folder(one, `into ${round}`)
    const { fid } = await grid(one, `moved ${round}`)
    const [, moved] = await both(
      one.ask('alice', 'POST', `/v2/folders/${into}/trash`),
      other.ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { parent: idlocal(into) } }),
    )
    return won(moved) ? isHidden(one, fid) : []
  },

  async 'a file restored and deleted permanently'(one, other, round) {
    const { fid } = await grid(one, `gone ${round}`)
    await one.ask('alice', 'POST', `/v2/files/${fid}/trash`)
    const [restored, deleted] = await both(
      one.ask('alice', 'POST', `/v2/files/${fid}/restore`),
      other.ask('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`),
    )
    return won(restored) && won(deleted) ? ['a file was restored and deleted'] : []
  },

  async 'one append sent to both'(one, other, round) {
    const { fid } = await grid(one, `key ${round}`)
    const append = (server: TestService): Promise<Answer> =>
      server.ask('alice', 'POST', `/v2/grids/${fid}/row`, {
        json: { rows: [[2]] },
        headers: { 'idempotency-key': `append ${round}` },
      })
    const answers = await both(append(one), append(other))
    const { row_count } = await now(one, fid)
    if (!answers.some(won)) return ['no append was applied']
    return row_count === 2 ? [] : [`${row_count} rows, expected 2`]
  },

  async 'rows appended beside rows appended'(one, other, round) {
    const { fid } = await grid(one, `rows ${round}`)
    const append = (server: TestService, n: number): Promise<Answer> =>
      server.ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[n]] } })
    const answers = await both(append(one, 2), append(other, 3))
    const { row_count } = await now(one, fid)
    const expected = 1 + answers.filter(won).length
    const content = (await one.ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv`)).text.trim()
    const there = content.split('\n').length - 1
    return row_count === expected && there === expected
      ? []
      : [`${there} rows, counted ${row_count}, expected ${expected}`]
  },

  async 'a file shared with a user who is deleted'(one, other, round) {
    const name = `guest${round}`
    await one.user(name)
    const { fid } = await grid(one, `shared ${round}`)
    await Promise.all([
      other.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { json: { users: [name] } }),
      deleteUser(one.service.store, name),
    ])
    const { results } = (await now(one, fid)).collaborators
    return results.length === 0 ? [] : ['a file is shared with a deleted user']
  },
}

async function play(
  [one, other]: [TestService, TestService],
  pair: Pair,
  rounds: number,
  from = 0,
): Promise<string[]> {
  const wrong: string[] = []
  // Runs several at a time, so that timing differs between rounds.
  const AT_ONCE = 4
  for (let k = 0; k < rounds; k += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, rounds - k) }, (_, n) => from + k + n)
    for (const found of await Promise.all(some.map((round) => pair(one, other, round)))) wrong.push(...found)
  }
  return wrong
}

describe('two servers', () => {
  let servers: [TestService, TestService]
  beforeAll(async () => {
    servers = await twoServers()
  })
  afterAll(async () => {
    for (const { service } of servers) await service.close()
  })

  // 50,000 rounds of all pairs in the long run.
  const ROUNDS = runs(16, 5_600)
  for (const [name, pair] of Object.entries(pairs))
    it(`${name} never both succeed`, async () => {
      expect(await play(servers, pair, ROUNDS)).toEqual([])
    })

  it('races leave a database that passes verify', async () => {
    expect((await verifyStore(servers[0].service.store)).damage).toEqual([])
  })
})

describe('without the locks of owners', () => {
  let servers: [TestService, TestService]
  beforeAll(async () => {
    servers = await twoServers()
    for (const server of servers) withoutLocks(server)
  })
  afterAll(async () => {
    for (const { service } of servers) await service.close()
  })

  for (const name of [
    'two changes with the same If-Match',
    'two folders moved into each other',
    'a folder trashed and a file made in it',
  ])
    it(`without owner locks, ${name} sooner or later both succeed`, async () => {
      for (let round = 0; round < 2_000; round += 4)
        if ((await play(servers, pairs[name], 4, round)).length > 0) return
      expect.fail('no round failed, so this test cannot fail')
    })
})
