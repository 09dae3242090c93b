// Opens the files of SQLite databases.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, resolve } from 'node:path'
import { buildPath } from '../../../contract/build-path.ts'
import { errorCodeOf, errorMessageOf, Problem } from '../../../contract/errors.ts'

export interface Statement {
  all<R>(...parameters: readonly unknown[]): R[]
  run(...parameters: readonly unknown[]): { changes: number | bigint }
  /** Whether `all` returns arrays of values instead of objects. Missing in Node before 22.16. */
  setReturnArrays?(isEnabled: boolean): void
  columns(): { name: string }[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

/** Loads node:sqlite, or for older Node a binary in the build with the same interface. Throws `failed`. */
function loadSqliteModule(): { DatabaseSync: new (file: string, options?: object) => Database } {
  const require = createRequire(import.meta.url)
  if (!isBuiltin('node:sqlite')) {
    const system = `${process.platform}-${process.arch}`
    const file = buildPath(`sqlite/${system}.node`)
    try {
      if (existsSync(file)) return require(file)
    } catch {
      // Built for another C library, as on Alpine.
    }
    throw new Problem('failed', `there is no SQLite for Node ${process.versions.node} on ${system}`, {
      hint: 'Use Node 22.13 or later, which has SQLite itself.',
    })
  }
  // Suppress the ExperimentalWarning of Node 22 and 24. The interface used here has been stable.
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return require('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** How long a connection waits for one of another process, in ms. */
export const BUSY_TIMEOUT_MS = 10_000

/** Opens a connection to a database file. */
export function openDatabase(file: string): Database {
  const { DatabaseSync } = loadSqliteModule()
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return database
}

/**
 * Makes the database and its side files readable only by their owner. SQLite gives new side files the mode of
 * the database.
 */
export function makeDatabasePrivate(file: string): void {
  if (file === ':memory:') return
  try {
    makeFolder(dirname(file))
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    throw notCreatedError(file, error)
  }
  assertSqliteFile(file)
  for (const path of [file, ...sideFilesOf(file)]) {
    try {
      if (existsSync(path)) chmodSync(path, 0o600)
    } catch {
      // Not our file: leave its mode unchanged.
    }
  }
}

/** Returns the size of the log of a database, in bytes. */
export function logBytesOf(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Maximum number of links to a database that does not exist yet. */
const MAX_LINKS = 20

/** Returns the file that a database is, not a link to it: SQLite and others keep files next to that one. */
export function resolveDatabaseFile(file: string, links = 0): string {
  if (file === ':memory:') return file
  try {
    return realpathSync.native(file)
  } catch {
    // It does not exist yet, or opening it says what is wrong.
  }
  try {
    const target = resolve(dirname(file), readlinkSync(file))
    return links < MAX_LINKS ? resolveDatabaseFile(target, links + 1) : file
  } catch {
    return file
  }
}

/** Returns the files that SQLite keeps next to a database. */
export function sideFilesOf(file: string): string[] {
  return [`${file}-wal`, `${file}-shm`, `${file}-journal`]
}

/** Database with all tables and no rows, which the build makes: copying it is faster than making the tables. */
const TEMPLATE = new URL('./empty.db', import.meta.url)

/**
 * Creates a database as a copy of the template. Returns false if the file exists, if there is no template, or
 * if the file system has no links, which create a file only if it is missing.
 */
export function copyTemplate(file: string): boolean {
  // SQLite would apply the log of a deleted database to its successor, unless that is empty.
  if (file === ':memory:' || [file, ...sideFilesOf(file)].some((path) => existsSync(path))) return false
  const copy = `${file}-${randomBytes(6).toString('hex')}`
  try {
    makeFolder(dirname(file))
    copyFileSync(TEMPLATE, copy)
    chmodSync(copy, 0o600)
    // The first transaction is durable once its log is: the file must be, too.
    syncPath(copy)
    linkSync(copy, file)
    syncPath(dirname(file))
    return true
  } catch {
    return false
  } finally {
    try {
      rmSync(copy, { force: true })
    } catch {
      // The folder cannot be used: opening the database says why.
    }
  }
}

/** Waits until a file or folder is on disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const SQLITE_HEADER = 'SQLite format 3\0'

/** Throws `usage` unless a file is a SQLite database or empty, so that other files stay untouched. */
function assertSqliteFile(file: string): void {
  const refuse = (reason: string): Problem =>
    new Problem('usage', `--database sqlite:${file}: ${reason}`, {
      hint: 'Give a Gridline database, or a file that does not exist yet.',
    })
  if (!statSync(file).isFile()) throw refuse('this is not a file')
  let first: Buffer
  try {
    const descriptor = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(SQLITE_HEADER.length)
      first = bytes.subarray(0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw refuse(`it cannot be read: ${REASON_TEXTS[errorCodeOf(error)] ?? error}`)
  }
  if (first.length > 0 && first.toString('latin1') !== SQLITE_HEADER)
    throw refuse('this is not a SQLite database')
}

/**
 * Creates a folder and its ancestors. The recursive `mkdir` of Node.js may never end if the system refuses.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process created it first.
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
}

const REASON_TEXTS: Record<string, string> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

function notCreatedError(file: string, error: unknown): Problem {
  const code = errorCodeOf(error)
  return new Problem(
    code === 'ENOSPC' ? 'disk_full' : 'failed',
    `${file} cannot be created: ${REASON_TEXTS[code] ?? errorMessageOf(error)}`,
    {
      hint: 'Set GRIDLINE_HOME to a folder that you can write to, or give another --database.',
    },
  )
}
