// What each kernel gives: requests with and without it, in one process. Figures are in docs/adr/0013.
import { afterAll, it } from 'vitest'
import { ColumnKernel } from '../../src/ingest/kernel/columns.ts'
import { Kernel } from '../../src/ingest/kernel/index.ts'
import { KernelPool } from '../../src/service/grids/column/kernel/pool.ts'
import { createService } from '../../src/service/index.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

const ROWS = Number(process.env.GRIDLINE_ROWS ?? 500_000)
const ROUNDS = 5
const { minBytes } = ColumnKernel
const folder = temporaryFolder()
afterAll(folder.remove)

/** A CSV file of six columns. `shift`: every hundredth row differs. */
function csvOf(rows: number, shift = 0): string {
  const cities = ['Oslo', 'Rome', 'Lima', 'Accra', 'Quito', 'Hanoi']
  const lines = ['id,day,city,temp,price,note']
  for (let k = 0; k < rows; k++) {
    const day = new Date(1.6e12 + (k % 1000) * 86_400_000).toISOString().slice(0, 10)
    const price = ((k * 7919) % 100_000) / 100 + (k % 100 === 0 ? shift : 0)
    lines.push(`${k},${day},${cities[k % 6]},${(k % 400) / 10 - 5},${price},order ${k % 5000}`)
  }
  return `${lines.join('\n')}\n`
}

it('requests with and without kernels', async () => {
  const database = `sqlite:${folder.path}/k.db`
  const service = new TestService(await createService({ database, url: URL_OF_TESTS, environment: {} }))
  await service.user('ada')
  const csv = csvOf(ROWS)
  const upload = async (name: string, body: string): Promise<string> => {
    const headers = { 'x-file-name': name, 'gridline-on-conflict': 'replace' }
    return (await service.ask('ada', 'POST', '/v2/grids/upload', { body, headers })).json.file.fid
  }
  const fid = await upload('a.csv', csv)
  const other = await upload('b.csv', csvOf(ROWS, 1))
  const get = (path: string) => async () => {
    const { status, text } = await service.ask('ada', 'GET', `/v2/grids/${fid}/${path}`)
    if (status !== 200) throw new Error(text)
  }
  const check = (rules: object) => async () => {
    const { status, text } = await service.ask('ada', 'POST', `/v2/grids/${fid}/check`, {
      json: { checks: { columns: rules } },
    })
    if (status !== 200) throw new Error(text)
  }
  const [header, ...cells] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','))
  const toJson = (cell: string): string => (/^-?[\d.]+$/.test(cell) ? cell : JSON.stringify(cell))
  const lines = cells
    .map((row) => `{${row.map((cell, k) => `"${header[k]}": ${toJson(cell)}`).join(', ')}}\n`)
    .join('')
  const cols = header.map(
    (name, k) => `"${name}":{"order":${k},"data":[${cells.map((row) => toJson(row[k])).join()}]}`,
  )
  let made = 0
  const create = async (columns: readonly string[]): Promise<void> => {
    const body = `{"filename":"json ${made++}","data":{"cols":{${columns.join()}}}}`
    const { status, text } = await service.ask('ada', 'POST', '/v2/grids', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    if (status !== 201) throw new Error(text)
  }
  const where = (text: string): string => encodeURIComponent(text)
  const requests: [string, () => Promise<unknown>][] = [
    ['upload of CSV (rows)', () => upload('c.csv', csv)],
    ['upload of NDJSON (records, columns)', () => upload('c.ndjson', lines)],
    [
      'upload of JSON records (records, columns)',
      () => upload('c.json', `[${lines.trim().split('\n').join()}]`),
    ],
    ['JSON of a new grid (columns)', () => create(cols)],
    ['CSV of all rows (values: rows)', get('content?format=csv')],
    ['CSV of sorted rows (values: rows, gather)', get('content?format=csv&sort=city,-price')],
    ['describe (values: doubles, codes)', get('describe')],
    ['where on a number (values: doubles)', get(`content?format=csv&where=${where('temp > 34')}`)],
    [
      'where on a text (values: codes)',
      get(`content?format=csv&where=${where("city = 'Oslo' and temp > 34")}`),
    ],
    [
      'where on two numbers, first 10 (values: doubles)',
      get(`content?format=csv&limit=10&where=${where('temp > 34 and price > 999')}`),
    ],
    [
      'where on dates, all (values: doubles)',
      get(`content?format=csv&where=${where("day >= '2021-01-01'")}`),
    ],
    ['diff in order (cells: hashes)', get(`diff?base=${other}`)],
    ['diff by key (cells: hashes, find)', get(`diff?base=${other}&key=id`)],
    ['check unique (cells: ascends)', check({ id: { unique: true } })],
    ['check pattern, automaton (cells: match)', check({ note: { pattern: 'order [0-9]+' } })],
    ['check pattern, RE2', check({ note: { pattern: '(?i)order [0-9]+' } })],
    [
      'check enum (cells: match)',
      check({ city: { enum: ['Oslo', 'Rome', 'Lima', 'Accra', 'Quito', 'Hanoi'] } }),
    ],
    ['check length (cells: match)', check({ note: { length: '2..12' } })],
  ]
  const table: Record<string, object> = {}
  const median = (all: number[]): number => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]
  for (const [name, request] of requests) {
    const times: { with: number[]; without: number[] } = { with: [], without: [] }
    for (let round = 0; round <= ROUNDS; round++)
      for (const how of ['with', 'without'] as const) {
        Kernel.usage = KernelPool.use = how === 'with' ? 'large' : 'never'
        ColumnKernel.minBytes = how === 'with' ? minBytes : Number.POSITIVE_INFINITY
        const start = process.cpuUsage()
        try {
          await request()
        } catch (error) {
          table[name] = { error: String(error).slice(0, 120) }
          break
        }
        const { user, system } = process.cpuUsage(start)
        if (round > 0) times[how].push((user + system) / 1000)
      }
    if (table[name]) continue
    const [fast, slow] = [median(times.with), median(times.without)]
    table[name] = {
      'with, ms': Math.round(fast),
      'without, ms': Math.round(slow),
      gain: Number((slow / fast).toFixed(2)),
    }
  }
  Kernel.usage = KernelPool.use = 'large'
  console.table(table)
})
