import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { migrations } from './migrations/index.ts'
import { type Database, makePrivate, openDatabase } from './sqlite.ts'

/** What of a database SQLite keeps in files of their own. */
const BESIDE = ['-wal', '-shm', '-journal']

/**
 * Writes a copy of a database that other processes may be using: one file, complete and compact, as the
 * database is at one moment. `to` must not exist.
 */
export function backup(file: string, to: string): void {
  if (!existsSync(file)) throw new Problem('no_such_file', `no such database: ${file}`)
  if (existsSync(to))
    throw new Problem('conflict', `${to} already exists`, { hint: 'Give another file, or delete it first.' })
  const part = `${to}.part`
  try {
    copyWhole(file, part)
    check(part)
    sync(part)
    renameSync(part, to)
    sync(dirname(to))
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

/** Copies a database as it is at one moment into one private file. */
function copyWhole(from: string, to: string): void {
  rmSync(to, { force: true })
  makePrivate(to)
  const database = openDatabase(from)
  try {
    database.prepare('VACUUM INTO ?').run(to)
  } finally {
    database.close()
  }
}

/**
 * Puts the database of a backup in the place of another, which no process may be using. What was there is
 * kept beside it; returns its name, if there was anything.
 */
export function restore(from: string, file: string): string | undefined {
  if (!existsSync(from)) throw new Problem('no_such_file', `no such file: ${from}`)
  check(from)
  if (existsSync(file) && isInUse(file)) throw inUse(file)
  const part = `${file}.part`
  copyWhole(from, part)
  sync(part)
  let before: string | undefined
  if (existsSync(file)) {
    for (let n = 1; before === undefined || existsSync(before); n++) before = `${file}.before-restore-${n}`
    renameSync(file, before)
  }
  for (const suffix of BESIDE) rmSync(file + suffix, { force: true })
  renameSync(part, file)
  sync(dirname(file))
  return before
}

/** Whether another process has the database open. Everything in its log is in the file afterwards. */
export function isInUse(file: string): boolean {
  if (!existsSync(file)) return false
  const database = openDatabase(file)
  try {
    database.exec('PRAGMA busy_timeout = 0')
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN IMMEDIATE')
    database.exec('COMMIT')
    // No prepared statement: one that is not yet collected keeps the lock.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return false
  } catch (error) {
    if (/locked|busy/i.test((error as Error).message)) return true
    throw error
  } finally {
    database.close()
  }
}

function inUse(file: string): Problem {
  return new Problem('conflict', `another process is using ${file}`, {
    hint: 'Stop gridline serve first.',
  })
}

/** Refuses what is no whole database of this product, or one of a newer version. */
function check(file: string): void {
  const refuse = (why: string): Problem => new Problem('bad_data', `${file}: ${why}`)
  let database: Database | undefined
  try {
    database = openDatabase(file)
    const rows = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[]
    if (rows[0]?.integrity_check !== 'ok') throw refuse('the database is damaged')
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' and name = 'schema_migrations'")
      .all()
    if (tables.length === 0) throw refuse('not a database of gridline')
    const applied = database.prepare('select name from schema_migrations').all() as { name: string }[]
    const newer = applied.filter(({ name }) => !migrations.some((known) => known.name === name))
    if (newer.length > 0) throw refuse('written by a newer version of gridline')
  } catch (error) {
    if (error instanceof Problem) throw error
    throw refuse(`not a database: ${(error as Error).message}`)
  } finally {
    database?.close()
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
