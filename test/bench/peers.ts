/** Commands beside DuckDB and sqlite3: whole processes, in turn, each from its own file. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from './faults.ts'
import type { Timed } from './rows.ts'

/** A command, and the statements that do the same on the table `t` of a peer. */
interface Peer {
  args: string[]
  duckdb?: string[]
  sqlite?: string
  /** Maximum ratio of our time to the time of the peer. */
  most: number
}

interface PeerBench {
  /** A file of 1 M × 6. */
  csv: string
  folder: string
  /** Runs a command of ours. */
  load: (args: string[]) => void
  /** Returns seconds of both. An upload starts with an empty home. */
  inTurn: (args: string[], isUpload: boolean, theirs: Timed) => [number, number]
}

const CITIES = ['Oslo', 'Lima', 'Kyoto', 'Nairobi', 'Toronto', 'Porto', 'Chennai', 'Tromsø']
const RULES = `columns:
  id: { type: integer, unique: true }
  taken_at: { required: true }
  city: { enum: [${CITIES.join(', ')}] }
  price: { minimum: 0, maximum: 1000 }
  note: { pattern: '[a-z"/, ]+' }
table: { rows: 1.. }
`

export function peers({ csv, folder, load, inTurn }: PeerBench): Row[] {
  const path = (name: string): string => join(folder, name)
  const script = path('duckdb.mjs')
  const duckdb = (database: string, statements: readonly string[], clean?: () => void): Timed => ({
    command: process.execPath,
    args: [script, database, ...statements],
    clean,
  })
  const run = ({ command, args }: Timed): void => {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }
  const [table, loaded, sqliteTable] = [path('peer.duckdb'), path('load.duckdb'), path('peer.sqlite')]
  for (const file of [table, sqliteTable]) rmSync(file, { force: true })
  writeFileSync(path('peer-rules.yml'), RULES)
  run(
    duckdb(table, [
      `create table t as select * from read_csv('${csv}')`,
      `copy t to '${path('peer.ndjson')}' (format json)`,
      `copy t to '${path('peer.json')}' (format json, array true)`,
      `copy t to '${path('peer.parquet')}' (format parquet)`,
    ]),
  )
  const hasSqlite = spawnSync('sqlite3', ['--version']).status === 0
  if (hasSqlite) run({ command: 'sqlite3', args: [sqliteTable, `.import --csv ${csv} t`] })
  load(['upload', csv, '-q', '--name', 'million'])
  const copy = (query: string): string[] => [`copy (${query}) to '${path('peer-out.csv')}'`]
  const commands: Record<string, Peer> = {
    cat: { args: ['cat', 'million'], duckdb: copy('from t'), sqlite: 'select * from t', most: 0.6 },
    'cat --where': {
      args: ['cat', 'million', '--where', 'price > 800'],
      duckdb: copy('from t where price > 800'),
      sqlite: 'select * from t where price > 800',
      most: 1,
    },
    'cat --sort': {
      args: ['cat', 'million', '--sort', 'city,-price'],
      duckdb: copy('from t order by city, price desc'),
      sqlite: 'select * from t order by city, price desc',
      most: 1.5,
    },
    describe: { args: ['describe', 'million'], duckdb: ['summarize t'], most: 1 },
    check: {
      args: ['check', 'million', '--checks', path('peer-rules.yml')],
      duckdb: [
        'select count(*) from t where id is null',
        'select id from t group by id having count(*) > 1 limit 20',
        'select count(*) from t where taken_at is null',
        `select count(*) from t where city not in (${CITIES.map((city) => `'${city}'`).join(', ')})`,
        'select count(*) from t where price < 0',
        'select count(*) from t where price > 1000',
        `select count(*) from t where not regexp_full_match(note, '[a-z"/, ]+')`,
        'select count(*) from t',
      ],
      most: 1,
    },
  }
  const uploads: [file: string, reader: string][] = [
    [path('peer.ndjson'), 'read_json'],
    [path('peer.json'), 'read_json'],
    [path('peer.parquet'), 'read_parquet'],
  ]
  const rows: Row[] = []
  for (const [what, { args, duckdb: statements, sqlite, most }] of Object.entries(commands)) {
    const timed: [string, Timed][] = []
    if (statements) timed.push(['DuckDB', duckdb(table, statements)])
    if (sqlite && hasSqlite)
      timed.push(['sqlite3', { command: 'sqlite3', args: ['-csv', sqliteTable, sqlite] }])
    for (const [peer, theirs] of timed)
      rows.push(toRow(`${what}, against ${peer}`, inTurn(args, false, theirs), most))
  }
  for (const [file, reader] of uploads) {
    const clean = (): void => rmSync(loaded, { force: true })
    const theirs = duckdb(loaded, [`create table t as select * from ${reader}('${file}')`], clean)
    const what = `upload of ${file.slice(file.lastIndexOf('.') + 1)}, against DuckDB`
    rows.push(toRow(what, inTurn(['upload', file, '-q'], true, theirs), 1))
  }
  return rows
}

function toRow(what: string, [ours, theirs]: readonly [number, number], most: number): Row {
  const text = (seconds: number): string => `${(seconds * 1000).toFixed(0)} ms`
  return {
    what,
    ours: text(ours),
    theirs: text(theirs),
    ratio: (ours / theirs).toFixed(2),
    atLeast: `≤ ${most.toFixed(1)}`,
  }
}
