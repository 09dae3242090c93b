// Starts PostgreSQL with Citus: a coordinator and two workers.
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { defaultLimits } from '../../src/contract/limits.ts'
import { distribute } from '../../src/service/store/engines/distribution.ts'
import { openStore } from '../../src/service/store/store.ts'
import { freePort } from './pgbouncer.ts'

/** `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 }

export interface Citus {
  /** URLs of the maintenance databases: coordinator, then workers. */
  addresses: string[]
  /** Creates an empty database with the extension on all nodes; returns its URL on the coordinator. */
  database: (name: string) => Promise<string>
  /** Creates a template database with all tables, distributed. */
  makeTemplate: (name: string) => Promise<void>
  /** Kills a node, and restarts it. */
  crash: (node: number) => Promise<void>
  stop: () => Promise<void>
}

/** Folder of PostgreSQL programs with Citus: GRIDLINE_TEST_CITUS, or that of Debian's packages. */
export function citusPrograms(): string | undefined {
  const given = process.env.GRIDLINE_TEST_CITUS
  if (given !== undefined) return given
  const packages = '/usr/lib/postgresql'
  if (!existsSync(packages)) return undefined
  const version = readdirSync(packages).find((name) => existsSync(join(packages, name, 'lib', 'citus.so')))
  return version === undefined ? undefined : join(packages, version, 'bin')
}

/** Starts a coordinator and two workers. */
export async function startCitus(): Promise<Citus> {
  const programs = citusPrograms()
  if (programs === undefined)
    throw new Error('no PostgreSQL with Citus: set GRIDLINE_TEST_CITUS to the folder of its programs')
  const folder = mkdtempSync(join(tmpdir(), 'gridline-citus-'))
  const root = process.getuid?.() === 0
  const as = root ? NOBODY : {}
  if (root) chownSync(folder, NOBODY.uid, NOBODY.gid)
  chmodSync(folder, 0o755)
  const run = (program: string, ...args: string[]): void => {
    // The server keeps its stdout open, and this process would wait for it.
    const done = spawnSync(join(programs, program), args, { ...as, cwd: folder, stdio: 'ignore' })
    if (done.status !== 0) throw new Error(`${program} failed: ${done.status ?? done.error}`)
  }
  const ports = [await freePort(), await freePort(), await freePort()]
  const data = (node: number): string => join(folder, `node-${node}`)
  const start = (node: number): void =>
    run('pg_ctl', '-D', data(node), '-w', '-l', `${data(node)}.log`, 'start')
  for (const [node, port] of ports.entries()) {
    run('initdb', '-D', data(node), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync')
    const settings = [
      `port=${port}`,
      "listen_addresses='127.0.0.1'",
      `unix_socket_directories='${folder}'`,
      "shared_preload_libraries='citus,pg_stat_statements'",
      'fsync=off',
      'max_connections=400',
      'max_prepared_transactions=400',
      'max_worker_processes=400',
      'wal_level=logical',
      'citus.shard_count=8',
      "citus.node_conninfo='sslmode=disable'",
    ]
    appendFileSync(join(data(node), 'postgresql.conf'), `${settings.join('\n')}\n`)
    start(node)
  }
  // Lets tests see which statements reach more than one shard.
  await on(
    `postgres://postgres@127.0.0.1:${ports[0]}/postgres`,
    'alter role postgres set citus.multi_task_query_log_level = notice',
  )
  const address = (node: number, name: string): string =>
    `postgres://postgres@127.0.0.1:${ports[node]}/${name}`
  const database = async (name: string): Promise<string> => {
    for (const node of ports.keys()) {
      await on(address(node, 'postgres'), `create database ${name}`)
      await on(address(node, name), 'create extension citus')
    }
    await on(
      address(0, name),
      `select citus_set_coordinator_host('127.0.0.1', ${ports[0]})`,
      ...ports.slice(1).map((port) => `select citus_add_node('127.0.0.1', ${port})`),
    )
    return address(0, name)
  }
  return {
    addresses: [...ports.keys()].map((node) => address(node, 'postgres')),
    database,
    makeTemplate: async (name) => {
      const store = await openStore({ database: await database(name) })
      await distribute(store.engine, defaultLimits)
      await store.close()
      // Citus stays connected, which prevents copies.
      for (const node of ports.keys())
        await on(
          address(node, 'postgres'),
          `alter database ${name} with allow_connections false`,
          `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
        )
    },
    crash: async (node) => {
      run('pg_ctl', '-D', data(node), '-m', 'immediate', 'stop')
      start(node)
    },
    stop: async () => {
      for (const node of ports.keys())
        spawnSync(join(programs, 'pg_ctl'), ['-D', data(node), '-m', 'immediate', 'stop'], {
          ...as,
          cwd: folder,
          stdio: 'ignore',
        })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function on(address: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(address)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
