/** Anonymous requests never delay other requests. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Operation, operations, routesOf } from '../../src/contract/operations/index.ts'
import { createUser } from '../../src/service/admin.ts'
import { createService } from '../../src/service/index.ts'
import { isLong, itLong } from '../support/property-runs.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

/**
 * CPU time of all threads per event-loop iteration, in ms; wall time means little on a busy machine. Short runs, on
 * machines of any speed, look only for requests without a bound, which take many seconds.
 */
const MAX_TURN_MS = isLong ? 400 : 1500
const folder = temporaryFolder()
let test: TestService
const grids: Record<string, string> = {}

/** Columns of a very long text, of small numbers, and of the same numbers in reverse. */
const tables: Record<string, () => string> = {
  book: () => `t,n\n${Array.from({ length: 20 }, (_, k) => `${'a'.repeat(400_000)},${k}`).join('\n')}\n`,
  numbers: () =>
    `x,y,g\n${Array.from({ length: 250_000 }, (_, k) => `${(k * 7919) % 250_000},${k % 97},${k % 9}`).join('\n')}\n`,
  reversed: () =>
    `x,y,g\n${Array.from({ length: 250_000 }, (_, n) => 249_999 - n)
      .map((k) => `${(k * 7919) % 250_000},${k % 97},${k % 9}`)
      .join('\n')}\n`,
  one: () => 't\nx\n',
}

beforeAll(async () => {
  const service = await createService({
    database: `sqlite:${folder.path}/test.db`,
    url: URL_OF_TESTS,
    environment: {},
  })
  test = new TestService(service)
  test.keys.set('alice', (await createUser(service.store, 'alice')).api_key)
  for (const [name, csv] of Object.entries(tables)) {
    const headers = {
      'content-type': 'text/csv',
      'x-file-name': `${name}.csv`,
      'gridline-world-readable': 'true',
    }
    grids[name] = (
      await test.ask('alice', 'POST', '/v2/grids/upload', { body: csv(), headers })
    ).json.file.fid
  }
})
afterAll(async () => {
  await test.service.close()
  folder.remove()
})

/** Sends an anonymous request. Returns its status, and the maximum CPU time of an iteration meanwhile, in ms. */
async function worstTurn(
  method: string,
  path: string,
  json?: unknown,
): Promise<{ status: number; ms: number }> {
  let isOver = false
  let worst = 0
  let before = process.cpuUsage()
  const look = (): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    worst = Math.max(worst, (user + system) / 1000)
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const { status } = await test.ask(undefined, method, path, json === undefined ? {} : { json })
  isOver = true
  await new Promise((next) => setImmediate(next))
  return { status, ms: worst }
}

const query = (values: Record<string, string>): string => `${new URLSearchParams(values)}`
const uidOf = async (grid: string, name: string): Promise<string> =>
  (await test.ask('alice', 'GET', `/v2/grids/${grids[grid]}`)).json.cols.find(
    (one: { name: string }) => one.name === name,
  ).uid

const pattern = fc
  .array(fc.constantFrom('a', '_', '%', 'b', 'aaaaaaa', '%_a'), { minLength: 1, maxLength: 60 })
  .map((parts) => `t ${parts.length % 2 === 0 ? 'like' : 'ilike'} '%${parts.join('').slice(0, 200)}%'`)

it('anonymous conditions on long texts do not delay other requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(pattern, { minLength: 1, maxLength: 30 }), async (patterns) => {
      const where = patterns.join(' or ').slice(0, 9_000)
      const content = `/v2/grids/${grids.book}/content?${query({ format: 'csv', columns: 'n', where })}`
      const described = `/v2/grids/${grids.book}/describe?${query({ where })}`
      for (const path of [content, described]) {
        const { ms } = await worstTurn('GET', path)
        expect(ms, path.slice(0, 300)).toBeLessThan(MAX_TURN_MS)
      }
    }),
    { numRuns: isLong ? 20 : 2 },
  )
})

it('a pattern that backtracks is matched in linear time', async () => {
  const where = `t like '%_${'a'.repeat(200)}b%'`
  const { status, ms } = await worstTurn(
    'GET',
    `/v2/grids/${grids.book}/content?${query({ format: 'csv', where })}`,
  )
  expect([status, ms < MAX_TURN_MS]).toEqual([200, true])
})

const transforms: Record<string, (values: { x: string; g: string }) => object[]> = {
  trend: () => [{ type: 'trend' }],
  mean: () => [{ type: 'trend', method: 'mean', window: 500 }],
  order: () => Array.from({ length: 5 }, () => ({ type: 'order', target: 'y' })),
  sort: () => [{ type: 'sort', target: 'y' }],
  filter: () => [{ type: 'filter', target: 'y', operation: '>', value: 3 }],
  median: () => [{ type: 'aggregate', groups: 'y', aggregations: [{ target: 'x', func: 'median' }] }],
  groupby: ({ g }) => [{ type: 'groupby', groupssrc: g }],
  top: () => [{ type: 'top', target: 'y', labels: 'x', count: 5, other: true }],
}

itLong.each(Object.keys(transforms))(
  'a chart with 250,000 points and the transform %s does not delay other requests',
  async (name) => {
    const [x, y, g] = await Promise.all(['x', 'y', 'g'].map((column) => uidOf('numbers', column)))
    const of = (uid: string): string => `${grids.numbers}:${uid}`
    const trace = {
      type: 'scatter',
      xsrc: of(x),
      ysrc: of(y),
      transforms: transforms[name]({ x: of(x), g: of(g) }),
    }
    const made = await test.ask('alice', 'POST', '/v2/plots', {
      json: { figure: { data: [trace], layout: {} }, filename: name, world_readable: true },
    })
    const [owner, id] = made.json.file.fid.split(':')
    const { status, ms } = await worstTurn('GET', `/~${owner}/${id}.json`)
    expect(status).toBe(200)
    expect(ms).toBeLessThan(MAX_TURN_MS)
  },
)

itLong('thousands of rules do not delay other requests', async () => {
  const columns = Array.from({ length: 5_000 }, (_, k) => ({ name: 't', pattern: `x${k}` }))
  const { ms } = await worstTurn('POST', `/v2/grids/${grids.one}/check`, { checks: { columns } })
  expect(ms).toBeLessThan(MAX_TURN_MS)
})

it.each([
  ['differences of two tables', () => `/v2/grids/${grids.numbers}/diff?${query({ base: grids.reversed })}`],
  [
    'differences by key',
    () => `/v2/grids/${grids.numbers}/diff?${query({ base: grids.reversed, key: 'x' })}`,
  ],
  [
    'sorted rows',
    () => `/v2/grids/${grids.numbers}/content?${query({ format: 'csv', sort: 'y,-x', head: '10' })}`,
  ],
  [
    'a sorted page',
    () => `/~alice/${grids.numbers.split(':')[1]}/?${query({ sort: '-y', where: 'g > 2 or y < 5' })}`,
  ],
  [
    'statistics',
    () => `/v2/grids/${grids.numbers}/describe?${query({ where: 'x % 7 = 1 and y between 3 and 90' })}`,
  ],
  [
    'a condition of many operators',
    () =>
      `/v2/grids/${grids.numbers}/content?${query({ format: 'csv', head: '1', where: Array.from({ length: 150 }, (_, k) => `x = ${-k - 1}`).join(' or ') })}`,
  ],
])('%s do not delay other requests', async (_, path) => {
  const { status, ms } = await worstTurn('GET', path())
  expect(status).toBe(200)
  expect(ms).toBeLessThan(MAX_TURN_MS)
})

/** Costly conditions on a table. */
const conditions = (grid: string): fc.Arbitrary<string> =>
  grid === 'book' || grid === 'one'
    ? fc.array(pattern, { minLength: 1, maxLength: 30 }).map((parts) => parts.join(' or ').slice(0, 9_000))
    : fc.oneof(
        fc.constantFrom('x % 7 = 1 or y > 3', 'x > y and not (g in (1, 2, 3))', 'x is not null'),
        fc.nat(400).map((count) => Array.from({ length: count + 1 }, (_, k) => `x = ${-k}`).join(' or ')),
      )

/** Generates a value of a query parameter, mostly a valid one. */
const parameterOf = (grid: string, name: string, type: unknown): fc.Arbitrary<string> => {
  const columns = { book: ['t', 'n'], one: ['t'] }[grid] ?? ['x', 'y', 'g']
  const some = fc.subarray(columns, { minLength: 1 })
  const right: Record<string, fc.Arbitrary<string>> = {
    where: conditions(grid),
    sort: some.map((names) => names.map((one, k) => (k % 2 ? one : `-${one}`)).join()),
    base: fc.constantFrom(...Object.values(grids)),
    format: fc.constantFrom('csv', 'ndjson', 'json'),
    version: fc.constant('1'),
    integer: fc.constantFrom('1', '1000', '200000'),
    number: fc.constantFrom('0', '0.5', '1e9'),
    boolean: fc.constantFrom('true', 'false'),
    array: some.map((names) => names.join()),
  }
  const wrong = fc.oneof(
    fc.constantFrom('0', '-1', '[]', '{}', '%'),
    fc.constantFrom(100, 5_000).map((length) => 'a'.repeat(length)),
  )
  const known = right[name] ?? right[String(type)]
  return known ? fc.oneof({ arbitrary: known, weight: 9 }, { arbitrary: wrong, weight: 1 }) : wrong
}

/** Generates a request of a public operation, with up to three parameters. */
const asked = (path: string, { query: known, takesVersion }: Operation): fc.Arbitrary<string> => {
  const names = [...Object.keys(known?.properties ?? {}), ...(takesVersion ? ['version'] : [])]
  return fc
    .tuple(
      fc.constantFrom(...Object.keys(tables)),
      fc.subarray(names, { maxLength: Math.min(3, names.length) }),
    )
    .chain(([grid, some]) =>
      fc
        .record(
          Object.fromEntries(
            [...some, ...names.filter((name) => name === 'base')].map((name) => [
              name,
              parameterOf(grid, name, known?.properties[name]?.type),
            ]),
          ),
        )
        .map(
          (given) => `${path.replace(/:(?!fid)\w+/, 'alice').replace(':fid', grids[grid])}?${query(given)}`,
        ),
    )
}

// Another process draws images, so its iterations do not matter.
const open = Object.entries<Operation>(operations).filter(
  ([name, { access, requiresAccount }]) =>
    ['anyone', 'read'].includes(access) && !requiresAccount && name !== 'files.image',
)
it.each(open)('anonymous requests to %s do not delay other requests', async (_, operation) => {
  for (const { path } of routesOf(operation))
    await fc.assert(
      fc.asyncProperty(asked(path, operation), async (target) => {
        const body = operation.body.kind === 'none' ? undefined : { checks: { table: { rows: '0..' } } }
        const { status, ms } = await worstTurn(operation.method, target, body)
        expect(status, target.slice(0, 300)).toBeLessThan(500)
        expect(ms, target.slice(0, 300)).toBeLessThan(MAX_TURN_MS)
      }),
      // Short runs try the same requests each time; long runs look for others.
      isLong ? { numRuns: 50 } : { numRuns: operation.query?.properties.where ? 5 : 1, seed: 46 },
    )
})

it('an anonymous request has a smaller work limit, and the error names it', async () => {
  const service = await createService({
    database: `sqlite:${folder.path}/test.db`,
    url: URL_OF_TESTS,
    environment: { GRIDLINE_LIMIT_ANONYMOUS_WORK: '100000' },
  })
  const strict = new TestService(service)
  strict.keys.set('alice', test.keys.get('alice')!)
  const path = `/v2/grids/${grids.numbers}/describe`
  const { status, json } = await strict.ask(undefined, 'GET', path)
  expect([status, json.errors[0].message]).toEqual([413, expect.stringContaining('limit anonymous_work')])
  expect((await strict.ask('alice', 'GET', path)).status).toBe(200)
  await service.close()
})
