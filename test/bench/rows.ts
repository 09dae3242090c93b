// Benchmarks of commands, uploads, appends and reads, each against a peer.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { archives, dialect, figures, piped, survey } from './bounds.ts'
import { charts, grouped } from './charts.ts'
import { failover, names, overload, type Row } from './faults.ts'
import { writeCsv } from './generate.ts'
import { sendLoad } from './load.ts'
import { cpuMs, median, peakReport, residentMegabytes } from './measure.ts'
import { modules } from './modules.ts'
import { peers } from './peers.ts'
import { type Server, startServer } from './server.ts'
import { versions } from './versions.ts'

interface Place {
  root: string
  folder: string
  home: string
  executable: string
}

/** A benchmarked command. `clean` is not timed. */
export interface Timed {
  command: string
  args: string[]
  clean?: () => void
  env?: Record<string, string>
}

const ROUNDS = 5

export async function bench(root: string, folder: string, wanted: string[]): Promise<void> {
  const place: Place = {
    root,
    folder,
    home: join(folder, 'home'),
    executable: join(root, 'bin', 'gridline.js'),
  }
  const million = join(folder, '1m.csv')
  if (!existsSync(million)) writeCsv(million, 1_000_000)
  const groups: Record<string, () => Promise<Row[]>> = {
    start: async () => start(place),
    modules: async () =>
      modules(folder, place.executable, { GRIDLINE_HOME: place.home, GRIDLINE_PROFILE: 'local' }),
    upload: async () => upload(place, million),
    queries: async () => queries(place, million),
    peers: async () => comparePeers(place, million),
    commands: () => commandsOnServer(place),
    files: () => manyFiles(place),
    memory: async () => memory(place),
    served: () => served(place, million),
    append: () => appendAndRead(place),
    overload: () => overload(() => serve(place), place.folder),
    failover: () => failover(place.executable, place.home),
    names: () => names(() => serve(place)),
    survey,
    dialect,
    figures: () => figures(() => serve(place)),
    archives: () => archives(() => serve(place)),
    charts: () => charts(() => serve(place)),
    grouped: () => grouped(() => serve(place), place.executable, million),
    piped: () => piped(() => serve(place), place),
    large: () => largeFile(place),
    versions: async () => versionsOf(place),
  }
  const rows: Row[] = []
  for (const [name, run] of Object.entries(groups)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    process.stderr.write(`${name} …\n`)
    rows.push(...(await run()))
  }
  print(rows)
}

function comparePeers(place: Place, csv: string): Row[] {
  fresh(place)()
  return peers({
    csv,
    folder: place.folder,
    load: (args) => seconds(gridline(place, args)),
    inTurn: (args, isUpload, theirs) =>
      inTurn(gridline(place, args, isUpload ? fresh(place) : undefined), theirs),
  })
}

function versionsOf(place: Place): Row[] {
  return versions({
    folder: place.folder,
    home: place.home,
    run(args) {
      const report = peakReport(place.folder)
      const command = gridline(place, args)
      const took = seconds({ ...command, args: [...report.nodeArguments, ...command.args] })
      return { seconds: took, megabytes: Number(report.read()) }
    },
    inTurn: (ours, theirs) =>
      inTurn(gridline(place, ours, fresh(place)), gridline(place, theirs, fresh(place))),
  })
}

function print(rows: Row[]): void {
  const titles: Row = { what: 'what', ours: 'gridline', theirs: 'other side', ratio: 'ratio', atLeast: 'aim' }
  const names = Object.keys(titles) as (keyof Row)[]
  const widths = names.map((name) => Math.max(...[titles, ...rows].map((row) => row[name].length)))
  for (const row of [titles, ...rows])
    console.log(
      names
        .map((name, k) => row[name].padEnd(widths[k]))
        .join('  ')
        .trimEnd(),
    )
}

function seconds({ command, args, clean, env }: Timed): number {
  clean?.()
  const started = performance.now()
  const { status, stderr } = spawnSync(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return (performance.now() - started) / 1000
}

/** Returns medians of both, run alternately after a warm-up. */
function inTurn(ours: Timed, theirs: Timed, rounds = ROUNDS): [number, number] {
  seconds(ours)
  seconds(theirs)
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    times[0].push(seconds(ours))
    times[1].push(seconds(theirs))
  }
  return [median(times[0]), median(times[1])]
}

/** Returns the CPU time of a command and its children, in seconds, as measured by the shell. */
function cpuSeconds({ command, args, clean, env }: Timed): number {
  clean?.()
  const { stdout } = spawnSync('bash', ['-c', '"$@" > /dev/null; times', 'bash', command, ...args], {
    env: { ...process.env, LC_ALL: 'C', ...env },
    encoding: 'utf8',
  })
  const children = stdout.trim().split('\n').at(-1)!
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
    0,
  )
}

function gridline({ executable, home }: Place, args: string[], clean?: () => void): Timed {
  return {
    command: process.execPath,
    args: [executable, ...args],
    env: { GRIDLINE_HOME: home, GRIDLINE_PROFILE: 'local' },
    clean,
  }
}

function fresh({ home }: Place): () => void {
  return () => rmSync(home, { recursive: true, force: true })
}

const ms = (s: number): string => `${(s * 1000).toFixed(0)} ms`
const rate = (bytes: number, s: number): string => `${(bytes / 1e6 / s).toFixed(0)} MB/s`

function start(place: Place): Row[] {
  const bare: Timed = { command: process.execPath, args: ['-e', '0'] }
  const small = join(place.folder, 'small.csv')
  writeFileSync(small, 'city,price\nOslo,1.5\nLima,2\n')
  const [version, nothing] = inTurn(gridline(place, ['--version']), bare, 15)
  const [upload, nothingAgain] = inTurn(gridline(place, ['upload', small, '-q'], fresh(place)), bare, 15)
  return [
    {
      what: '--version, against node -e 0',
      ours: ms(version),
      theirs: ms(nothing),
      ratio: (version / nothing).toFixed(2),
      atLeast: '≤ 1.15',
    },
    {
      what: 'upload small.csv, against node -e 0',
      ours: ms(upload),
      theirs: ms(nothingAgain),
      ratio: (upload / nothingAgain).toFixed(2),
      atLeast: '≤ 2.0',
    },
  ]
}

/** Short commands against a server on this machine. */
async function commandsOnServer(place: Place): Promise<Row[]> {
  const server = await serve(place)
  const bare: Timed = { command: process.execPath, args: ['-e', '0'] }
  const small = join(place.folder, 'small.csv')
  writeFileSync(small, 'city,price\nOslo,1.5\nLima,2\n')
  const remote = (args: string[]): Timed => ({
    command: process.execPath,
    args: [place.executable, ...args],
    env: server.env,
  })
  seconds(remote(['upload', small, '-q']))
  const [help, nothing] = inTurn(gridline(place, ['--help']), bare, 15)
  const rows: Row[] = [
    {
      what: '--help, against node -e 0',
      ours: ms(help),
      theirs: ms(nothing),
      ratio: (help / nothing).toFixed(2),
      atLeast: '≤ 1.3',
    },
  ]
  for (const args of [['ls'], ['show', 'small'], ['cat', 'small'], ['append', 'small', '--row', 'Rom,3']]) {
    const [ours, theirs] = inTurn(remote(args), bare, 15)
    rows.push({
      what: `${args[0]} on a loopback server, against node -e 0`,
      ours: ms(ours),
      theirs: ms(theirs),
      ratio: (ours / theirs).toFixed(2),
      atLeast: '≤ 1.8',
    })
  }
  await server.stop()
  return rows
}

/** Bare HTTP uploads of a directory over as many connections. */
const BARE_UPLOADS = `
const { Agent, request } = require('node:http')
const { readdirSync, readFileSync } = require('node:fs')
const [url, authorization, folder, jobs, rule] = process.argv.slice(1)
const agent = new Agent({ keepAlive: true, maxSockets: Number(jobs) })
const files = readdirSync(folder)
const send = (name) => new Promise((resolve, reject) => {
  const body = readFileSync(folder + '/' + name)
  const headers = { authorization, 'x-file-name': name, 'content-type': 'application/octet-stream', 'content-length': body.length, 'gridline-on-conflict': rule }
  const asked = request(url + '/v2/grids/upload', { method: 'POST', agent, headers }, (answer) => answer.resume().on('end', () => answer.statusCode === 201 ? resolve() : reject(new Error(answer.statusCode))))
  asked.on('error', reject).end(body)
})
const work = async () => { for (let name = files.pop(); name; name = files.pop()) await send(name) }
Promise.all(Array.from({ length: Number(jobs) }, work)).then(() => agent.destroy())
`

/** A directory of 1,000 small files, against HTTP requests over as many connections. */
async function manyFiles(place: Place): Promise<Row[]> {
  const JOBS = '8'
  const server = await serve(place)
  const folder = join(place.folder, 'many')
  mkdirSync(folder, { recursive: true })
  for (let k = 0; k < 1000; k++)
    writeFileSync(join(folder, `file${k}.csv`), `city,price\nOslo,${k}\nLima,2\n`)
  const ours: Timed = {
    command: process.execPath,
    args: [place.executable, 'upload', folder, '--jobs', JOBS, '-q', '--on-conflict', 'rename'],
    env: server.env,
  }
  const theirs: Timed = {
    command: process.execPath,
    args: ['-e', BARE_UPLOADS, server.url, server.authorization, folder, JOBS, 'rename'],
  }
  const [a, b] = inTurn(ours, theirs, 3)
  await server.stop()
  return [
    {
      what: '1,000 small files over 8 connections, against bare HTTP requests',
      ours: `${(1000 / a).toFixed(0)} files/s`,
      theirs: `${(1000 / b).toFixed(0)} files/s`,
      ratio: (b / a).toFixed(2),
      atLeast: '≥ 0.5',
    },
  ]
}

/** A file of 1 GB to a server, against curl. */
async function largeFile(place: Place): Promise<Row[]> {
  const server = await serve(place)
  const csv = join(place.folder, 'large.csv')
  writeCsv(csv, 17_000_000)
  const ours: Timed = {
    command: process.execPath,
    args: [place.executable, 'upload', csv, '-q', '--on-conflict', 'rename'],
    env: server.env,
  }
  const theirs: Timed = {
    command: 'curl',
    args: [
      ...['-sf', '-X', 'POST', '-T', csv, '-H', `authorization: ${server.authorization}`],
      ...['-H', 'x-file-name: large.csv', '-H', 'expect:', `${server.url}/v2/grids/upload`],
    ],
  }
  const [a, b] = inTurn(ours, theirs, 3)
  const bytes = statSync(csv).size
  rmSync(csv)
  await server.stop()
  return [
    {
      what: '1 GB to a server, against curl -T',
      ours: rate(bytes, a),
      theirs: rate(bytes, b),
      ratio: (b / a).toFixed(2),
      atLeast: '≥ 0.9',
    },
  ]
}

function upload(place: Place, csv: string): Row[] {
  const ours = gridline(place, ['upload', csv, '-q'], fresh(place))
  const bytes = statSync(csv).size
  const rows: Row[] = []
  const table = join(place.folder, 'peer.db')
  const gone = (): void => {
    for (const end of ['', '.wal', '-journal']) rmSync(table + end, { force: true })
  }
  const duck: Timed = {
    command: process.execPath,
    args: [join(place.folder, 'duckdb.mjs'), table, `create table t as select * from read_csv('${csv}')`],
    clean: gone,
  }
  const [a, b] = inTurn(ours, duck)
  rows.push({
    what: '1 M rows × 6 into a grid, against DuckDB',
    ours: rate(bytes, a),
    theirs: rate(bytes, b),
    ratio: (b / a).toFixed(2),
    atLeast: '≥ 1.5',
  })
  const [ourCpu, theirCpu] = [cpuSeconds(ours), cpuSeconds(duck)]
  rows.push({
    what: 'its processor time',
    ours: `${ourCpu.toFixed(2)} s`,
    theirs: `${theirCpu.toFixed(2)} s`,
    ratio: (ourCpu / theirCpu).toFixed(2),
    atLeast: '≤ 0.5',
  })
  if (spawnSync('sqlite3', ['--version']).status === 0) {
    const sqlite: Timed = { command: 'sqlite3', args: [table, '.mode csv', `.import ${csv} t`], clean: gone }
    const [c, d] = inTurn(ours, sqlite)
    rows.push({
      what: 'the same, against sqlite3 .import',
      ours: rate(bytes, c),
      theirs: rate(bytes, d),
      ratio: (d / c).toFixed(2),
      atLeast: '≥ 2.2',
    })
  }
  gone()
  return rows
}

/** Filtered rows of a stored grid, against its CSV; and the cost of detecting dates. */
function queries(place: Place, csv: string): Row[] {
  fresh(place)()
  seconds(gridline(place, ['upload', csv, '-q', '--name', 'million']))
  const rows = ["city = 'Oslo' and price > 990", 'price > 500', "taken_at >= '2021-06-01'"].map(
    (where): Row => {
      const duck: Timed = {
        command: process.execPath,
        args: [
          join(place.folder, 'duckdb.mjs'),
          ':memory:',
          `copy (select * from read_csv('${csv}') where ${where}) to '${join(place.folder, 'chosen.csv')}'`,
        ],
      }
      const [a, b] = inTurn(gridline(place, ['cat', 'million', '--where', where]), duck)
      return {
        what: `cat --where "${where}", against DuckDB`,
        ours: ms(a),
        theirs: ms(b),
        ratio: (b / a).toFixed(2),
        atLeast: '≥ 1.0',
      }
    },
  )
  const report = peakReport(place.folder)
  seconds({
    command: process.execPath,
    args: [...report.nodeArguments, place.executable, 'cat', 'million', '--where', 'price > 500'],
    env: { GRIDLINE_HOME: place.home, GRIDLINE_PROFILE: 'local' },
  })
  rows.push({ what: 'its memory', ours: `${report.read()} MB`, theirs: '', ratio: '', atLeast: '≤ 150 MB' })
  const [found, kept] = inTurn(
    gridline(place, ['upload', csv, '-q'], fresh(place)),
    gridline(place, ['upload', csv, '-q', '--column', 'taken_at:text'], fresh(place)),
  )
  rows.push({
    what: 'upload with dates, against as text',
    ours: ms(found),
    theirs: ms(kept),
    ratio: (found / kept).toFixed(2),
    atLeast: '≤ 1.03',
  })
  return rows
}

/** Returns the peak memory of one process, in MB, as it reports itself. */
function peak(place: Place, args: string[]): number {
  const report = peakReport(place.folder)
  fresh(place)()
  seconds({
    command: process.execPath,
    args: [...report.nodeArguments, place.executable, ...args],
    env: { GRIDLINE_HOME: place.home, GRIDLINE_PROFILE: 'local' },
  })
  return report.read()
}

function memory(place: Place): Row[] {
  const sizes = { '10 MB': 172_000, '1 GB': 17_000_000 }
  const peaks: Record<string, number> = {}
  for (const [name, rows] of Object.entries(sizes)) {
    const csv = join(place.folder, 'sized.csv')
    writeCsv(csv, rows)
    peaks[name] = peak(place, ['upload', csv, '-q'])
    rmSync(csv)
  }
  return [
    {
      what: 'peak memory of an upload of 1 GB, against 10 MB',
      ours: `${peaks['1 GB'].toFixed(0)} MB`,
      theirs: `${peaks['10 MB'].toFixed(0)} MB`,
      ratio: (peaks['1 GB'] / peaks['10 MB']).toFixed(2),
      atLeast: '≤ 200 MB, 1',
    },
  ]
}

/** Starts a server of its own for a row. */
function serve(place: Place): Promise<Server> {
  return startServer(place.executable, join(place.folder, 'served'), place.home)
}

async function served(place: Place, csv: string): Promise<Row[]> {
  const server = await serve(place)
  const bytes = statSync(csv).size
  const remote: Timed = {
    command: process.execPath,
    args: [place.executable, 'upload', csv, '-q', '--on-conflict', 'rename'],
    env: server.env,
  }
  const [a, b] = inTurn(remote, gridline(place, ['upload', csv, '-q'], fresh(place)))
  await server.stop()
  return [
    {
      what: 'the same through serve, against embedded',
      ours: rate(bytes, a),
      theirs: rate(bytes, b),
      ratio: (b / a).toFixed(2),
      atLeast: '≥ 0.7',
    },
  ]
}

/** A minimal server that only parses and answers the JSON of an append. */
const BARE = `
import { createServer } from 'node:http'
const server = createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const { rows } = JSON.parse(Buffer.concat(parts).toString('utf8'))
    const body = JSON.stringify({ appended: rows.length, rows: 1 })
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

async function bareServer(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', BARE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${String(port).trim()}`, stop: () => child.kill('SIGTERM') }
}

async function appendAndRead(place: Place): Promise<Row[]> {
  const server = await serve(place)
  const bare = await bareServer()
  const headers = { authorization: server.authorization, 'content-type': 'application/json' }
  const ask = (method: string, path: string, body?: string): Promise<Response> =>
    fetch(server.url + path, { method, headers, body })
  const empty = (await (
    await ask(
      'POST',
      '/v2/grids',
      '{"filename":"empty","data":{"cols":{"n":{"data":[],"order":0},"city":{"data":[],"order":1},"price":{"data":[],"order":2}}}}',
    )
  ).json()) as { file: { fid: string } }
  const large = join(place.folder, '10m.csv')
  if (!existsSync(large)) writeNarrow(large, 10_000_000)
  const { stdout } = spawnSync(process.execPath, [place.executable, 'upload', large, '-q'], {
    env: { ...process.env, ...server.env },
    encoding: 'utf8',
  })
  const grids = { empty: empty.file.fid, large: stdout.trim() }
  const acks: Record<keyof typeof grids, number[]> = { empty: [], large: [] }
  let n = 0
  const bareRates: number[] = []
  const run = async (name: keyof typeof grids, url = server.url): Promise<number> => {
    const path = `/v2/grids/${grids[name]}/row`
    const { authorization } = server
    const body = (): string => `{"rows":[[${n++},"Oslo",12.5]]}`
    const load = await sendLoad({ url, authorization, method: 'POST', path, body }, 64, 4)
    if (load.failures > 0) throw new Error(`${load.failures} appends failed`)
    return load.acks / load.seconds
  }
  await run('empty')
  for (let round = 0; round < ROUNDS; round++) {
    acks.empty.push(await run('empty'))
    acks.large.push(await run('large'))
    bareRates.push(await run('empty', bare.url))
  }
  bare.stop()
  const [onEmpty, onLarge] = [median(acks.empty), median(acks.large)]
  const reads: number[] = []
  const firsts: number[] = []
  let contentBytes = 0
  const before = residentMegabytes(server.child)
  let most = before
  for (let round = 0; round < 3; round++) {
    const started = performance.now()
    const answer = await ask('GET', `/v2/grids/${grids.large}/content`)
    let bytes = 0
    let first = 0
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      if (bytes === 0) first = performance.now() - started
      bytes += chunk.length
      if (bytes % (64 << 20) < chunk.length) most = Math.max(most, residentMegabytes(server.child))
    }
    contentBytes = bytes
    reads.push(bytes / 1e6 / ((performance.now() - started) / 1000))
    firsts.push(first)
  }
  // MB of JSON per second of CPU time, uncompressed and in Brotli.
  const perCpu = async (encoding: string): Promise<number> => {
    const used = cpuMs(server.child)
    const { statusCode, body } = await request(`${server.url}/v2/grids/${grids.large}/content`, {
      headers: { ...headers, 'accept-encoding': encoding },
    })
    if (statusCode !== 200) throw new Error(`content: ${statusCode}`)
    for await (const _ of body);
    return contentBytes / 1e6 / ((cpuMs(server.child) - used) / 1000)
  }
  const unpacked: number[] = []
  const packed: number[] = []
  for (let round = 0; round < 3; round++) {
    unpacked.push(await perCpu('identity'))
    packed.push(await perCpu('br'))
  }
  await server.stop()
  return [
    {
      what: 'one-row durable appends, 64 connections, against a bare HTTP server',
      ours: `${onEmpty.toFixed(0)} acks/s`,
      theirs: `${median(bareRates).toFixed(0)} acks/s`,
      ratio: (onEmpty / median(bareRates)).toFixed(2),
      atLeast: '≥ 0.5',
    },
    {
      what: 'content of 10 M rows for a second of processor time, in Brotli against unpacked',
      ours: `${median(packed).toFixed(0)} MB`,
      theirs: `${median(unpacked).toFixed(0)} MB`,
      ratio: (median(packed) / median(unpacked)).toFixed(1),
      atLeast: '≥ 3',
    },
    {
      what: 'one-row appends, 64 connections, 10 M rows against empty',
      ours: `${onLarge.toFixed(0)} acks/s`,
      theirs: `${onEmpty.toFixed(0)} acks/s`,
      ratio: (onLarge / onEmpty).toFixed(2),
      atLeast: '≥ 5,000, 0.8',
    },
    {
      what: 'GET content of 10 M rows as JSON',
      ours: `${median(reads).toFixed(0)} MB/s`,
      theirs: `first byte ${median(firsts).toFixed(0)} ms`,
      ratio: `memory ${before.toFixed(0)} → ${most.toFixed(0)} MB`,
      atLeast: '≥ 150, ≤ 50 ms',
    },
  ]
}

function writeNarrow(file: string, rows: number): void {
  let part = 'n,city,price\n'
  writeFileSync(file, '')
  for (let k = 0; k < rows; k++) {
    part += `${k},${['Oslo', 'Lima', 'Kyoto'][k % 3]},${(k % 1000) / 8}\n`
    if (part.length > 1 << 22) {
      writeFileSync(file, part, { flag: 'a' })
      part = ''
    }
  }
  writeFileSync(file, part, { flag: 'a' })
}
