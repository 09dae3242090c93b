/** Rows of `npm run bench -- --against REF`: commands, and requests under load. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { xlsx } from '../support/archives.ts'
import { writeCsv } from './generate.ts'

/** A command on the local database. */
export interface CommandRow {
  /** Commands that prepare the home. */
  setup?: string[][]
  args: string[]
  /** Home of each run: the prepared one, a copy of it, or an empty folder. */
  home: 'kept' | 'copied' | 'empty'
}

/** Requests on 64 connections to a server. */
export interface ServerRow {
  method: 'GET' | 'POST'
  /** Path for the grid or the folder with the id `fid`. */
  path: (fid: string) => string
  /** Body of the nth request. */
  body?: (n: number) => string
  /** Rows of the grid at the start. */
  rows: number
}

const MILLION = ['upload', 'million.csv', '--name', 'million', '-q']
const KEYED = ['upload', 'million.csv', '--name', 'million', '--key', 'id', '-q']
const SMALL = ['upload', 'small.csv', '-q']

export const commandRows = {
  version: { args: ['--version'], home: 'kept' },
  ls: { setup: [SMALL], args: ['ls'], home: 'kept' },
  'upload-small': { setup: [[...SMALL, '--name', 'other']], args: SMALL, home: 'copied' },
  'upload-small-fresh': { args: SMALL, home: 'empty' },
  'append-row': { setup: [SMALL], args: ['append', 'small', '--row', 'Rome,3', '-q'], home: 'copied' },
  upload: { args: MILLION, home: 'empty' },
  'upload-checks': { args: [...MILLION, '--checks', 'rules.yml'], home: 'empty' },
  'upload-gzip': { args: ['upload', 'million.csv.gz', '-q'], home: 'empty' },
  'upload-ndjson': { args: ['upload', 'rows.ndjson', '-q'], home: 'empty' },
  'upload-json': { args: ['upload', 'rows.json', '-q'], home: 'empty' },
  'upload-parquet': { args: ['upload', 'million.parquet', '-q'], home: 'empty' },
  'upload-xlsx': { args: ['upload', 'sheet.xlsx', '-q'], home: 'empty' },
  'upload-wide': { args: ['upload', 'wide.csv', '-q'], home: 'empty' },
  cat: { setup: [MILLION], args: ['cat', 'million'], home: 'kept' },
  'cat-wide': { setup: [['upload', 'wide.csv', '-q']], args: ['cat', 'wide'], home: 'kept' },
  'cat-ndjson': { setup: [MILLION], args: ['cat', 'million', '--format', 'ndjson'], home: 'kept' },
  'cat-where': { setup: [MILLION], args: ['cat', 'million', '--where', 'price > 500'], home: 'kept' },
  'cat-find': { setup: [MILLION], args: ['cat', 'million', '--where', 'id = 500000'], home: 'kept' },
  'cat-sort': { setup: [MILLION], args: ['cat', 'million', '--sort', 'city,-price'], home: 'kept' },
  'cat-group': {
    setup: [MILLION],
    args: ['cat', 'million', '--group', 'city', '--sum', 'price', '--max', 'taken_at'],
    home: 'kept',
  },
  'cat-sum': {
    setup: [MILLION],
    args: ['cat', 'million', '--group', 'city', '--per', 'month', '--sum', 'price'],
    home: 'kept',
  },
  describe: { setup: [MILLION], args: ['describe', 'million'], home: 'kept' },
  check: { setup: [MILLION], args: ['check', 'million', '--checks', 'rules.yml'], home: 'kept' },
  diff: {
    setup: [MILLION, ['upload', 'changed.csv', '--name', 'million', '--on-conflict', 'replace', '-q']],
    args: ['diff', 'million', '--stat'],
    home: 'kept',
  },
  upsert: { setup: [KEYED], args: ['append', 'million', 'some.csv', '-q'], home: 'copied' },
  'upsert-near': { setup: [KEYED], args: ['append', 'million', 'near.csv', '-q'], home: 'copied' },
} satisfies Record<string, CommandRow>

export const serverRows = {
  append: {
    method: 'POST',
    path: (fid) => `/v2/grids/${fid}/row`,
    body: (n) => `{"rows":[["Oslo",${n}]]}`,
    rows: 1,
  },
  content: { method: 'GET', path: (fid) => `/v2/grids/${fid}/content`, rows: 1000 },
  metadata: { method: 'GET', path: (fid) => `/v2/grids/${fid}`, rows: 1000 },
  folder: { method: 'GET', path: () => '/v2/folders/home', rows: 1000 },
} satisfies Record<string, ServerRow>

const RULES = `columns:
  id: { type: integer, unique: true }
  taken_at: { required: true }
  city: { enum: [Oslo, Lima, Kyoto, Nairobi, Toronto, Porto, Chennai, Tromsø] }
  price: { minimum: 0, maximum: 1000 }
  note: { pattern: '[a-z"/, ]+' }
table: { rows: 1.. }
`

/** Writes the input files of the rows, unless they exist. */
export async function writeInputs(folder: string): Promise<void> {
  const write = (name: string, create: () => string | Buffer): void => {
    if (!existsSync(join(folder, name))) writeFileSync(join(folder, name), create())
  }
  const million = join(folder, 'million.csv')
  if (!existsSync(million)) writeCsv(million, 1_000_000)
  const parquet = join(folder, 'million.parquet')
  if (!existsSync(parquet)) {
    const connection = await (await DuckDBInstance.create()).connect()
    await connection.run(`copy (from read_csv('${million}')) to '${parquet}' (format parquet)`)
  }
  write('small.csv', () => 'city,price\nOslo,1.5\nLima,2\n')
  write('rules.yml', () => RULES)
  write('million.csv.gz', () => gzipSync(readFileSync(million), { level: 6 }))
  const changes = (idOf: (k: number) => number) => (): string => {
    const rows = Array.from({ length: 1000 }, (_, k) => `${idOf(k)},2020-01-01T00:00:00,Oslo,1,2,new`)
    return `id,taken_at,city,price,amount,note\n${rows.join('\n')}\n`
  }
  write(
    'some.csv',
    changes((k) => (k * 997) % 1_000_500),
  )
  write(
    'near.csv',
    changes((k) => 990_000 + k),
  )
  write('changed.csv', () => {
    const lines = readFileSync(million, 'utf8').split('\n')
    return lines
      .map((line, k) => (k % 1000 === 1 ? line.replace(/^(\d+,[^,]+,[^,]+),[^,]+/, '$1,0') : line))
      .join('\n')
  })
  const records = Array.from({ length: 200_000 }, (_, k) => ({
    id: k,
    city: 'Oslo',
    price: k / 8,
    tags: [k % 7],
  }))
  write('rows.ndjson', () => `${records.map((record) => JSON.stringify(record)).join('\n')}\n`)
  write('rows.json', () => JSON.stringify(records, undefined, 2))
  if (!existsSync(join(folder, 'sheet.xlsx'))) {
    const rows = Array.from({ length: 100_000 }, (_, k) => [
      k,
      { date: 40_000 + (k % 999) },
      'Oslo',
      k / 8,
      `n${k % 99}`,
    ])
    writeFileSync(
      join(folder, 'sheet.xlsx'),
      await xlsx({ One: [['id', 'day', 'city', 'price', 'note'], ...rows] }),
    )
  }
  write('wide.csv', () => {
    const cells = (row: number): string => Array.from({ length: 10_000 }, (_, k) => (row * k) % 997).join(',')
    const header = Array.from({ length: 10_000 }, (_, k) => `c${k}`).join(',')
    return `${header}\n${Array.from({ length: 1000 }, (_, row) => cells(row)).join('\n')}\n`
  })
}
