// Backs up and restores SQLite database files.
import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import {
  type Database,
  makeDatabasePrivate,
  openDatabase,
  resolveDatabaseFile,
  sideFilesOf,
  syncPath,
} from './engines/sqlite-database.ts'
import { MIGRATION_NAMES } from './migrations/names.ts'

/**
 * Writes a consistent, compact copy of a database to the new file `to`. Other processes may use the database.
 * Throws `conflict` if `to` exists.
 */
export function backUpDatabase(file: string, to: string): void {
  if (!existsSync(file)) throw new Problem('no_such_file', `no such database: ${file}`)
  if (existsSync(to))
    throw new Problem('conflict', `${to} already exists`, { hint: 'Give another file, or delete it first.' })
  const part = `${to}.part`
  try {
    vacuumInto(file, part)
    assertIntactBackup(part)
    syncPath(part)
    renameSync(part, to)
    syncPath(dirname(to))
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

/** Copies a consistent snapshot of a database into one private file. */
function vacuumInto(from: string, to: string): void {
  rmSync(to, { force: true })
  makeDatabasePrivate(to)
  const database = openDatabase(from)
  try {
    database.prepare('VACUUM INTO ?').run(to)
  } finally {
    database.close()
  }
}

/** Throws if `backupFile` is not an intact backup, or if a process uses the database `file`. */
export function assertRestorable(backupFile: string, file: string): void {
  if (!existsSync(backupFile)) throw new Problem('no_such_file', `no such file: ${backupFile}`)
  assertIntactBackup(backupFile)
  if (existsSync(file) && isDatabaseInUse(file)) throw inUseError(file)
}

/**
 * Replaces a database by a backup. Throws if a process uses the database. Returns the path that the previous
 * database was moved to; undefined if there was none.
 */
export function restoreDatabase(backupFile: string, target: string): string | undefined {
  const file = resolveDatabaseFile(target)
  assertRestorable(backupFile, file)
  const part = `${file}.part`
  vacuumInto(backupFile, part)
  syncPath(part)
  let previousFile: string | undefined
  if (existsSync(file)) {
    for (let n = 1; previousFile === undefined || existsSync(previousFile); n++)
      previousFile = `${file}.before-restore-${n}`
    try {
      keepUnder(previousFile, file)
    } catch (error) {
      for (const path of [part, previousFile]) rmSync(path, { force: true })
      throw new Problem('failed', `cannot keep the previous database: ${errorMessageOf(error)}`)
    }
  }
  for (const path of sideFilesOf(file)) rmSync(path, { force: true })
  renameSync(part, file)
  syncPath(dirname(file))
  return previousFile
}

/** Gives a file a second name, so that it is never without its first one; without links, copies it. */
function keepUnder(name: string, file: string): void {
  try {
    linkSync(file, name)
  } catch {
    copyFileSync(file, name, constants.COPYFILE_EXCL)
    syncPath(name)
  }
}

/** Returns whether another process has the database open. If not, checkpoints the write-ahead log. */
export function isDatabaseInUse(file: string): boolean {
  if (!existsSync(file)) return false
  const database = openDatabase(file)
  try {
    database.exec('PRAGMA busy_timeout = 0')
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN IMMEDIATE')
    database.exec('COMMIT')
    // Use exec: a prepared statement keeps the lock until it is garbage-collected.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return false
  } catch (error) {
    if (/locked|busy/i.test(errorMessageOf(error))) return true
    // The lock was free. The disk is full, so the log cannot be checkpointed.
    if (/full/i.test(errorMessageOf(error))) return false
    throw error
  } finally {
    database.close()
  }
}

function inUseError(file: string): Problem {
  return new Problem('conflict', `another process is using ${file}`, {
    hint: 'Stop gridline serve first.',
  })
}

/** Throws `bad_data` unless the file is an intact Gridline database of a supported version. */
function assertIntactBackup(file: string): void {
  const refuse = (why: string): Problem => new Problem('bad_data', `${file}: ${why}`)
  let database: Database | undefined
  try {
    database = openDatabase(file)
    const rows = database.prepare('PRAGMA integrity_check(1)').all<{ integrity_check: string }>()
    if (rows[0]?.integrity_check !== 'ok') throw refuse('the database is damaged')
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' and name = 'schema_migrations'")
      .all()
    if (tables.length === 0) throw refuse('not a Gridline database')
    const applied = database.prepare('select name from schema_migrations').all<{ name: string }>()
    const newer = applied.filter(({ name }) => !MIGRATION_NAMES.some((known) => known === name))
    if (newer.length > 0) throw refuse('written by a newer version of gridline')
  } catch (error) {
    if (error instanceof Problem) throw error
    throw refuse(`not a database: ${errorMessageOf(error)}`)
  } finally {
    database?.close()
  }
}
