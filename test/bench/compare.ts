/** Compares two builds on the same rows: in turn, by processor time, wall time, peak memory and counts. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { type CommandRow, commandRows, type ServerRow, serverRows, writeInputs } from './compared-rows.ts'
import { sendLoad } from './load.ts'
import { cpuMs, median, residentMegabytes } from './measure.ts'
import { type Server, startServer } from './server.ts'

/** A build of one commit, or of the work tree. */
interface Build {
  name: string
  /** Folder with `bin` and `dist`. */
  root: string
}

/** One timed run. `cpu` and `wall` are in ms per run or request. */
interface Sample {
  cpu: number
  wall: number
}

/** Result of a row: the new build against the old one. */
export interface Comparison {
  row: string
  cpuMs: [old: number, current: number]
  /** Median of the ratios of pairs, and the lowest and highest of them. */
  cpuRatio: [median: number, low: number, high: number]
  wallRatio: number
  megabytes: [old: number, current: number]
  verdict: 'slower' | 'faster' | 'same' | 'unsure'
  /** Counts that load does not change, of both builds. */
  counts: Record<string, [old: number, current: number]>
}

/** Pairs of runs per row. */
const PAIRS = 9
/** A build is slower if the median ratio is above this, and all pairs but one agree. */
const SLOWER_RATIO = 1.05
/** Connections of a load. */
const CONNECTIONS = 64
/** Duration of one run of load, in seconds. */
const LOAD_SECONDS = 2
/** Wall times are printed only up to this load of the machine. */
const MAX_LOAD = 2

/** Builds a commit in a work tree of its own, once. */
export function buildCommit(root: string, place: string, ref: string): Build {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const hash = git('rev-parse', '--short=12', `${ref}^{commit}`)
  const tree = join(place, 'builds', hash)
  if (!existsSync(join(tree, 'dist', 'gridline.cjs'))) {
    git('worktree', 'prune')
    git('worktree', 'add', '--force', '--detach', tree, hash)
    const hasSamePackages = git('diff', '--name-only', hash, '--', 'package-lock.json') === ''
    if (hasSamePackages) symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
    else execFileSync('npm', ['ci', '--silent'], { cwd: tree, stdio: 'inherit' })
    execFileSync(process.execPath, ['esbuild.config.js'], { cwd: tree, stdio: 'inherit' })
  }
  return { name: hash, root: tree }
}

/** Builds the work tree. */
export function buildWorkTree(root: string): Build {
  execFileSync(process.execPath, ['esbuild.config.js'], { cwd: root, stdio: 'inherit' })
  return { name: 'work tree', root }
}

/** Compares two builds, the older one first, on the rows of these names, or on all. */
export async function compareBuilds(
  builds: readonly [Build, Build],
  place: string,
  names: readonly string[],
): Promise<Comparison[]> {
  const known = [...Object.keys(commandRows), ...Object.keys(serverRows)]
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`no row ${unknown.join(', ')}. Rows: ${known.join(', ')}`)
  const inputs = join(place, 'inputs')
  mkdirSync(inputs, { recursive: true })
  await writeInputs(inputs)
  const isWanted = (name: string): boolean => names.length === 0 || names.includes(name)
  const results: Comparison[] = []
  for (const [name, row] of Object.entries(commandRows)) {
    if (!isWanted(name)) continue
    const result = { row: name, ...(await compareCommand(row, builds, place, inputs)) }
    printComparison(result)
    results.push(result)
  }
  const wantedServerRows = Object.entries(serverRows).filter(([name]) => isWanted(name))
  if (wantedServerRows.length > 0) results.push(...(await compareServers(wantedServerRows, builds, place)))
  return results
}

/**
 * Returns the first commit after `good` at which a row is slower than at `good`, by binary search; undefined
 * if the row is not slower at HEAD. Assumes that it stays slower once it is.
 */
export async function findSlowerCommit(
  root: string,
  place: string,
  row: string,
  good: string,
): Promise<string | undefined> {
  const log = ['log', '--first-parent', '--reverse', '--format=%h %s', `${good}..HEAD`]
  const commits = execFileSync('git', log, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  const goodBuild = buildCommit(root, place, good)
  const isSlower = async (commit: string): Promise<boolean> => {
    const build = buildCommit(root, place, commit.split(' ')[0])
    const results = await compareBuilds([goodBuild, build], place, [row])
    process.stderr.write(`${commit}: ${results[0].cpuRatio[0].toFixed(2)}, ${results[0].verdict}\n`)
    return results[0].verdict === 'slower'
  }
  let [low, high] = [0, commits.length - 1]
  if (!(await isSlower(commits[high]))) return undefined
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await isSlower(commits[middle])) high = middle
    else low = middle + 1
  }
  return commits[high]
}

/** Prints the header of `printComparison`. */
export function printHeader(): void {
  const titles = ['CPU ms, old → new'.padStart(22), 'ratio (range)'.padStart(22), 'wall'.padStart(7)]
  console.log(`${'row'.padEnd(20)}${titles.join('')}${'MB, old → new'.padStart(16)}  verdict`)
}

/** Prints a comparison as a row of a table. The ratio of wall times is left out on a busy machine. */
function printComparison({ row, cpuMs, cpuRatio, wallRatio, megabytes, verdict, counts }: Comparison): void {
  const digits = cpuMs[0] < 10 ? 3 : 0
  const [ratio, low, high] = cpuRatio.map((value) => value.toFixed(2))
  const [load] = loadavg()
  console.log(
    row.padEnd(20) +
      cpuMs
        .map((value) => value.toFixed(digits))
        .join(' → ')
        .padStart(22) +
      `${ratio} (${low}–${high})`.padStart(22) +
      (load <= MAX_LOAD ? wallRatio.toFixed(2) : '–').padStart(7) +
      megabytes
        .map((value) => value.toFixed(0))
        .join(' → ')
        .padStart(16) +
      `  ${verdict}`,
  )
  for (const [name, [old, current]] of Object.entries(counts))
    if (old !== current)
      console.log(`  ${name}: ${old.toLocaleString('en')} → ${current.toLocaleString('en')}`)
}

/** Returns what 9 pairs say: sure only if all but one agree. */
function compareSamples(
  pairs: readonly [Sample, Sample][],
): Omit<Comparison, 'row' | 'megabytes' | 'counts'> {
  const ratios = pairs.map(([old, current]) => current.cpu / old.cpu)
  const ratio = median(ratios)
  const agreeing = (test: (value: number) => boolean): boolean =>
    ratios.filter(test).length >= pairs.length - 1
  const verdict =
    ratio > SLOWER_RATIO
      ? agreeing((value) => value > 1)
        ? 'slower'
        : 'unsure'
      : ratio < 1 / SLOWER_RATIO
        ? agreeing((value) => value < 1)
          ? 'faster'
          : 'unsure'
        : 'same'
  return {
    cpuMs: [median(pairs.map(([old]) => old.cpu)), median(pairs.map(([, current]) => current.cpu))],
    cpuRatio: [ratio, Math.min(...ratios), Math.max(...ratios)],
    wallRatio: median(pairs.map(([old, current]) => current.wall / old.wall)),
    verdict,
  }
}

/** Yields which build runs first and second: A B, B A, A B, … */
function* pairOrders(): Generator<readonly (0 | 1)[]> {
  for (let k = 0; k < PAIRS; k++) yield k % 2 === 0 ? [0, 1] : [1, 0]
}

/** A command of one build, with its home. */
class Run {
  private readonly home: string
  private readonly prepared: string

  constructor(
    private readonly row: CommandRow,
    private readonly build: Build,
    place: string,
    private readonly inputs: string,
  ) {
    this.home = join(place, 'homes', build.name.replace(' ', '-'))
    this.prepared = `${this.home}-prepared`
    rmSync(this.home, { recursive: true, force: true })
    rmSync(this.prepared, { recursive: true, force: true })
    mkdirSync(this.home, { recursive: true })
    for (const args of row.setup ?? []) this.spawn(process.execPath, this.argumentsOf(args))
    if (row.home === 'copied') cpSync(this.home, this.prepared, { recursive: true })
    // Writes the code cache of the build.
    this.reset()
    this.spawn(process.execPath, this.argumentsOf(row.args))
  }

  private argumentsOf(args: readonly string[]): string[] {
    return [join(this.build.root, 'bin', 'gridline.js'), ...args]
  }

  private get environment(): NodeJS.ProcessEnv {
    return { ...process.env, GRIDLINE_HOME: this.home, GRIDLINE_PROFILE: 'local', LC_ALL: 'C' }
  }

  private reset(): void {
    if (this.row.home === 'kept') return
    rmSync(this.home, { recursive: true, force: true })
    if (this.row.home === 'copied') cpSync(this.prepared, this.home, { recursive: true })
    else mkdirSync(this.home, { recursive: true })
  }

  private spawn(command: string, args: readonly string[]): string {
    const { status, stderr } = spawnSync(command, args, {
      cwd: this.inputs,
      env: this.environment,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(`${this.build.name}: ${args.join(' ')}: ${stderr}`)
    return stderr
  }

  /** Runs once; returns the times of the command and its children, as measured by the shell. */
  time(): Sample {
    this.reset()
    const script = 'TIMEFORMAT="times %R %U %S"; time "$@" > /dev/null'
    const log = this.spawn('bash', [
      '-c',
      script,
      'bash',
      process.execPath,
      ...this.argumentsOf(this.row.args),
    ])
    const [, wall, user, system] = /times ([\d.]+) ([\d.]+) ([\d.]+)/.exec(log)!.map(Number)
    return { cpu: (user + system) * 1000, wall: wall * 1000 }
  }

  /** Runs once; returns the peak memory in MB. */
  async measurePeak(): Promise<number> {
    this.reset()
    const child = spawn(process.execPath, this.argumentsOf(this.row.args), {
      cwd: this.inputs,
      env: this.environment,
      stdio: 'ignore',
    })
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, residentMegabytes(child, 'VmHWM') || 0)
    }, 2)
    await new Promise((resolve) => child.once('exit', resolve))
    clearInterval(timer)
    return peak
  }

  /** Runs once under strace, where it is installed; returns counts that load does not change. */
  count(): Record<string, number> {
    this.reset()
    if (spawnSync('strace', ['-V']).status !== 0) return {}
    const trace = join(this.inputs, 'trace.txt')
    const calls = 'trace=openat,fsync,fdatasync,write,writev,pwrite64,pwritev'
    this.spawn('strace', [
      '-f',
      '-o',
      trace,
      '-e',
      calls,
      process.execPath,
      ...this.argumentsOf(this.row.args),
    ])
    const lines = readFileSync(trace, 'utf8').split('\n')
    const written = lines.map((line) => /^\d+\s+p?writev?(?:64)?\(.* = (\d+)$/.exec(line)?.[1])
    const opened = lines.flatMap((line) => /openat\([^"]*"([^"]+)"[^=]* = \d+$/.exec(line)?.[1] ?? [])
    const sizes = [...new Set(opened)]
      .filter(
        (file) =>
          file.startsWith(join(this.build.root, 'dist')) && !file.endsWith('.node') && existsSync(file),
      )
      .map((file) => ({ isCode: file.endsWith('.bin'), bytes: statSync(file).size }))
    const sum = (isCode: boolean): number =>
      sizes.filter((file) => file.isCode === isCode).reduce((total, { bytes }) => total + bytes, 0)
    return {
      statements: this.countStatements(),
      'bytes of scripts read': sum(false),
      'bytes of compiled code read': sum(true),
      fsyncs: lines.filter((line) => /\bf(?:data)?sync\(/.test(line)).length,
      'bytes written': written.reduce((total, bytes) => total + Number(bytes ?? 0), 0),
    }
  }
  /** Runs once; returns the number of SQL statements. */
  private countStatements(): number {
    this.reset()
    const probe = join(this.inputs, 'statements.cjs')
    const report = join(this.inputs, 'statements.txt')
    writeFileSync(
      probe,
      STATEMENT_PROBE.replace('REPORT', () => JSON.stringify(report)),
    )
    this.spawn(process.execPath, ['--require', probe, ...this.argumentsOf(this.row.args)])
    return Number(readFileSync(report, 'utf8'))
  }
}

/** Counts the statements of a process, and writes their number to a file at its end. */
const STATEMENT_PROBE = `
const Module = require('node:module')
const load = Module._load
let count = 0
const seen = new Set()
Module._load = function (name, ...rest) {
  const loaded = load.call(this, name, ...rest)
  if (/sqlite$/.test(name) && loaded.DatabaseSync && !seen.has(loaded)) {
    seen.add(loaded)
    const wrap = (prototype, names) => {
      for (const name of names) {
        const call = prototype[name]
        if (call) prototype[name] = function (...args) { count++; return call.apply(this, args) }
      }
    }
    wrap(loaded.DatabaseSync.prototype, ['exec'])
    wrap(loaded.StatementSync.prototype, ['run', 'get', 'all', 'iterate'])
  }
  return loaded
}
process.on('exit', () => require('node:fs').writeFileSync(REPORT, String(count)))
`

async function compareCommand(
  row: CommandRow,
  builds: readonly [Build, Build],
  place: string,
  inputs: string,
): Promise<Omit<Comparison, 'row'>> {
  const runs = builds.map((build) => new Run(row, build, place, inputs))
  const pairs: [Sample, Sample][] = []
  for (const order of pairOrders()) {
    const samples: Sample[] = []
    for (const side of order) samples[side] = runs[side].time()
    pairs.push([samples[0], samples[1]])
  }
  const megabytes: [number, number] = [await runs[0].measurePeak(), await runs[1].measurePeak()]
  const [old, current] = runs.map((run) => run.count())
  const counts = Object.fromEntries(
    Object.entries(current).map(([name, count]) => [name, [old[name], count] as [number, number]]),
  )
  return { ...compareSamples(pairs), megabytes, counts }
}

async function compareServers(
  rows: readonly [string, ServerRow][],
  builds: readonly [Build, Build],
  place: string,
): Promise<Comparison[]> {
  const servers: Server[] = []
  for (const { name, root } of builds) {
    const home = join(place, 'homes', `served-${name.replace(' ', '-')}`)
    servers.push(await startServer(join(root, 'bin', 'gridline.js'), home, place))
  }
  const results: Comparison[] = []
  try {
    for (const [name, row] of rows) {
      const fids = await Promise.all(servers.map((server) => createGrid(server, row.rows)))
      let n = 0
      const measure = async (side: 0 | 1): Promise<Sample> => {
        const { url, authorization, child } = servers[side]
        const before = cpuMs(child)
        const { method, path } = row
        const load = await sendLoad(
          { url, authorization, method, path: path(fids[side]), body: row.body && (() => row.body!(n++)) },
          CONNECTIONS,
          LOAD_SECONDS,
        )
        if (load.failures > 0) throw new Error(`${name}: ${load.failures} requests failed`)
        return { cpu: (cpuMs(child) - before) / load.acks, wall: (load.seconds * 1000) / load.acks }
      }
      // Code that V8 has not optimized yet is not measured.
      for (const side of [0, 1] as const) await measure(side)
      const pairs: [Sample, Sample][] = []
      for (const order of pairOrders()) {
        const samples: Sample[] = []
        for (const side of order) samples[side] = await measure(side)
        pairs.push([samples[0], samples[1]])
      }
      const megabytes: [number, number] = [
        residentMegabytes(servers[0].child),
        residentMegabytes(servers[1].child),
      ]
      const result = { row: name, ...compareSamples(pairs), megabytes, counts: {} }
      printComparison(result)
      results.push(result)
    }
  } finally {
    for (const server of servers) await server.stop()
  }
  return results
}

/** Creates a grid of two columns. Returns its id. */
async function createGrid({ url, authorization }: Server, rows: number): Promise<string> {
  const cities = Array.from({ length: rows }, (_, k) => ['Oslo', 'Lima', 'Kyoto'][k % 3])
  const cols = { city: { data: cities, order: 0 }, n: { data: cities.map((_, k) => k / 8), order: 1 } }
  const response = await fetch(`${url}/v2/grids`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ filename: `grid ${rows} ${performance.now()}`, data: { cols } }),
  })
  const { file } = (await response.json()) as { file: { fid: string } }
  return file.fid
}
