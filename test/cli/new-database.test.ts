// Databases of the command line: new ones, which are copies of the empty one that the build makes, and their logs.

import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, expect, it } from 'vitest'
import { ended, gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
const cwd = folder.path
afterAll(folder.remove)
writeFileSync(join(cwd, 'sales.csv'), 'city,price\nOslo,1\n')

const homeOf = (name: string): string => {
  mkdirSync(join(cwd, name), { recursive: true })
  return join(cwd, name)
}
const query = (home: string, sql: string): unknown[] => {
  const database = new DatabaseSync(join(home, 'gridline.db'))
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

/** Runs an installation whose build has no template. */
async function withoutTemplate(args: string[], home: string) {
  const place = join(cwd, 'installation')
  for (const name of ['bin', 'package.json', 'dist'])
    cpSync(join(root, name), join(place, name), { recursive: true })
  rmSync(join(place, 'dist', 'empty.db'))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  const env = { ...process.env, GRIDLINE_HOME: home, GRIDLINE_PROFILE: 'local' }
  return ended(spawn(process.execPath, [join(place, 'bin/gridline.js'), ...args], { cwd, env }))
}

it('a copied database has the tables, indexes and jobs of one that the migrations make', async () => {
  const [copied, migrated] = [homeOf('copied'), homeOf('migrated')]
  const upload = ['upload', 'sales.csv', '-q']
  expect((await gridline(upload, { home: copied, cwd })).code).toBe(0)
  expect((await withoutTemplate(upload, migrated)).code).toBe(0)
  for (const sql of [
    'select type, name, sql from sqlite_master order by type, name',
    'select name, oldest from schema_migrations order by name',
    `select owner, kind, key, due > ${Date.now()} as is_later from jobs order by kind, key`,
  ])
    expect(query(copied, sql)).toEqual(query(migrated, sql))
  expect(query(copied, 'pragma journal_mode')).toEqual([{ journal_mode: 'wal' }])
})

it('the template has no rows but migrations and the first sweep, above all no secret', () => {
  const database = new DatabaseSync(join(root, 'dist', 'empty.db'))
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as {
    name: string
  }[]
  const filled = tables.filter(
    ({ name }) => database.prepare(`select 1 from "${name}" limit 1`).all().length > 0,
  )
  database.close()
  expect(filled.map(({ name }) => name).sort()).toEqual(['jobs', 'schema_migrations'])
  // Deleted rows must not be left in free pages either.
  expect(readFileSync(join(root, 'dist', 'empty.db'), 'latin1')).not.toMatch(/[0-9a-f]{64}/)
})

it('commands that start at once in a new home all work', async () => {
  const home = homeOf('crowd')
  const names = Array.from({ length: 6 }, (_, k) => `g${k}`)
  const codes = await Promise.all(
    names.map(async (name) => (await gridline(['upload', 'sales.csv', '--name', name], { home, cwd })).code),
  )
  expect(codes).toEqual(names.map(() => 0))
  const { stdout } = await gridline(['ls', '--json', 'filename'], { home, cwd })
  expect(JSON.parse(stdout)).toHaveLength(names.length)
  // No partial copy is left.
  expect(readdirSync(home).filter((name) => /^gridline\.db-[0-9a-f]{12}$/.test(name))).toEqual([])
})

it('the log of a deleted database is not applied to a new one', async () => {
  const [old, home] = [homeOf('old'), homeOf('again')]
  // A reader keeps the log of the old database when the command ends.
  await gridline(['upload', 'sales.csv', '--name', 'before', '-q'], { home: old, cwd })
  const reader = new DatabaseSync(join(old, 'gridline.db'))
  reader.prepare('select count(*) from users').all()
  await gridline(['upload', 'sales.csv', '--name', 'later', '-q'], { home: old, cwd })
  writeFileSync(join(home, 'gridline.db-wal'), readFileSync(join(old, 'gridline.db-wal')))
  reader.close()
  expect(readFileSync(join(home, 'gridline.db-wal')).length).toBeGreaterThan(0)
  expect((await gridline(['upload', 'sales.csv', '-q'], { home, cwd })).code).toBe(0)
  expect(query(home, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  const { stdout } = await gridline(['ls', '--json', 'filename'], { home, cwd })
  expect(JSON.parse(stdout)).toEqual([{ filename: 'sales' }])
})

it('a command moves a large log into the database, unless another process reads it', async () => {
  const home = homeOf('logged')
  const lines = Array.from({ length: 300_000 }, (_, k) => `${k},${(k * 7919) % 100_003}.${(k * 31) % 997}`)
  writeFileSync(join(cwd, 'large.csv'), `id,value\n${lines.join('\n')}\n`)
  expect((await gridline(['upload', 'large.csv', '-q'], { home, cwd })).code).toBe(0)
  const logBytes = (): number => statSync(join(home, 'gridline.db-wal')).size
  expect(logBytes()).toBeGreaterThan(1024 * 1024)
  const reader = new DatabaseSync(join(home, 'gridline.db'))
  try {
    reader.exec('begin')
    reader.prepare('select count(*) from files').all()
    // A later commit, which the reader does not see, is in the log only.
    expect((await gridline(['upload', 'sales.csv', '-q'], { home, cwd })).code).toBe(0)
    expect((await gridline(['ls'], { home, cwd })).stdout).toMatch(/large[\s\S]*sales/)
    expect(logBytes()).toBeGreaterThan(1024 * 1024)
    reader.exec('rollback')
    expect((await gridline(['ls'], { home, cwd })).stdout).toMatch(/large[\s\S]*sales/)
    expect(logBytes()).toBe(0)
  } finally {
    reader.close()
  }
  const { stdout } = await gridline(['cat', 'large', '--where', 'id >= 299999', '--no-header'], { home, cwd })
  expect(stdout.trim()).toBe(lines[299_999])
  expect(query(home, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
})
