// The cache of responses: fewer statements, and never the response of another caller or of an earlier commit.
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { onBothStores } from '../../support/service.ts'

onBothStores('the cache of responses', (test) => {
  let made = 0
  const makeGrid = (columns: Record<string, unknown[]>) => test().grid('alice', `grid ${made++}`, columns)
  const isCached = (): boolean => test().service.store.engine.readState !== undefined
  /** Returns the number of statements that `work` runs. */
  const statementsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const { stats } = test().service.store.engine
    const before = stats.statements
    await work()
    return stats.statements - before
  }
  /** Headers that a repeated response has in common with the first. */
  const shared = (headers: Headers): [string, string][] =>
    [...headers].filter(([name]) => !['x-request-id', 'content-length'].includes(name))

  it.each(['', '/content', '/content?format=csv', '/content?where=n%20%3E%201'])(
    'a repeated read of a grid%s runs no statement, and gives the same response',
    async (path) => {
      const { fid } = await makeGrid({ n: [1, 2, 3] })
      const read = () => test().ask('alice', 'GET', `/v2/grids/${fid}${path}`)
      const first = await read()
      expect(first.status).toBe(200)
      const statements = await statementsOf(read)
      if (isCached()) expect(statements).toBe(0)
      const again = await read()
      expect([again.status, again.text]).toEqual([first.status, first.text])
      expect(shared(again.headers)).toEqual(shared(first.headers))
    },
  )

  it('a write of any process is seen by the next read', async () => {
    const { fid } = await makeGrid({ n: [1] })
    const count = async (): Promise<number> =>
      (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).json.row_count
    for (let rows = 1; rows < 5; rows++) {
      expect([await count(), await count()]).toEqual([rows, rows])
      await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[rows]] } })
    }
    if (!isCached()) return
    const name = async () => (await test().ask('alice', 'GET', `/v2/files/${fid}`)).json.filename
    const before = await name()
    expect(await name()).toBe(before)
    // Another process, which this server knows nothing of.
    const other = new DatabaseSync(test().database.slice('sqlite:'.length))
    other.prepare('UPDATE files SET filename = ? WHERE filename = ?').run('renamed', before)
    other.close()
    expect(await name()).toBe('renamed')
  })

  it('callers, scopes and headers have responses of their own', async () => {
    const { fid } = await makeGrid({ n: [1] })
    const read = (user: string | undefined, path = '', headers = {}) =>
      test().ask(user, 'GET', `/v2/grids/${fid}${path}`, { headers })
    const share = { users: ['bob'], readonly: true }
    expect((await read('alice')).status).toBe(200)
    expect((await read('bob')).status).toBe(404)
    expect((await read(undefined)).status).toBe(404)
    await test().ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { json: share })
    expect((await read('bob')).json.current_user_permission).toBe('read')
    expect((await read('alice')).json.current_user_permission).toBe('admin')
    await test().ask('alice', 'DELETE', `/v2/files/${fid}/collaborators`, { json: { users: ['bob'] } })
    expect((await read('bob')).status).toBe(404)
    const [plain, packed] = [
      await read('alice', '/content'),
      await read('alice', '/content', { 'accept-encoding': 'br' }),
    ]
    expect([plain, packed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'br'])
    const etag = (await read('alice')).headers.get('etag')!
    for (let time = 0; time < 2; time++)
      expect((await read('alice', '', { 'if-none-match': etag })).status).toBe(304)
    expect((await read('alice')).status).toBe(200)
    const head = await test().ask('alice', 'HEAD', `/v2/grids/${fid}/content`)
    expect([head.status, head.text]).toEqual([200, ''])
  })

  it('each request of a sample draws another one', async () => {
    const { fid } = await makeGrid({ n: Array.from({ length: 1000 }, (_, k) => k) })
    const draw = async () =>
      (await test().ask('alice', 'GET', `/v2/grids/${fid}/content?format=csv&sample=5`)).text
    const samples = new Set<string>()
    for (let time = 0; time < 4; time++) samples.add(await draw())
    expect(samples.size).toBeGreaterThan(1)
  })

  it('a body that is too large to keep arrives whole, each time', async () => {
    const n = Array.from({ length: 30_000 }, (_, k) => `row ${k}`)
    const { fid } = await makeGrid({ n })
    for (let time = 0; time < 2; time++) {
      const { json } = await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect(json.cols.n.data).toEqual(n)
    }
  })
})
