// Backups of SQLite databases that replace them.
import fs, { copyFileSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { backUpDatabase, restoreDatabase } from '../../../src/service/admin.ts'
import { createService } from '../../../src/service/index.ts'
import { openDatabase } from '../../../src/service/store/engines/sqlite-database.ts'
import { temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const folder = temporaryFolder()
const path = (name: string): string => join(folder.path, name)
beforeAll(async () => {
  const database = `sqlite:${path('new.db')}`
  await (await createService({ database, url: URL_OF_TESTS, environment: {} })).close()
  backUpDatabase(path('new.db'), path('empty.db'))
})
afterAll(folder.remove)

const { renameSync } = fs
function setRename(rename: typeof renameSync): void {
  fs.renameSync = rename
  syncBuiltinESMExports()
}
afterEach(() => setRename(renameSync))

/** Adds a table to a database, by which it is known. */
function mark(file: string, name: string): void {
  const database = openDatabase(file)
  database.exec(`create table mark_${name} (x)`)
  database.close()
}

/** Returns the marks of a database. Reads a copy: a statement keeps a database open until it is collected. */
function marksOf(file: string): string[] {
  copyFileSync(file, path('read.db'))
  const database = openDatabase(path('read.db'))
  const tables = database
    .prepare("select name from sqlite_master where name glob 'mark_[a-z]' order by name")
    .all<{ name: string }>()
  database.close()
  return tables.map(({ name }) => name.slice('mark_'.length))
}

it('a database that is killed while it is replaced is the former one', () => {
  const file = path('killed.db')
  copyFileSync(path('empty.db'), file)
  mark(file, 'a')
  copyFileSync(file, path('killed-copy.db'))
  mark(file, 'b')
  // The step that changes which database has the name.
  setRename(() => {
    throw new Error('killed')
  })
  expect(() => restoreDatabase(path('killed-copy.db'), file)).toThrow('killed')
  expect(marksOf(file)).toEqual(['a', 'b'])
  setRename(renameSync)
  expect(restoreDatabase(path('killed-copy.db'), file)).toBe(`${file}.before-restore-2`)
  expect(marksOf(file)).toEqual(['a'])
  expect(marksOf(`${file}.before-restore-2`)).toEqual(['a', 'b'])
})

it('a database behind a link is replaced itself', () => {
  const [real, link] = [path('disk/real.db'), path('link.db')]
  mkdirSync(path('disk'))
  symlinkSync('disk/real.db', link)
  // Not there yet, as on a new machine.
  expect(restoreDatabase(path('empty.db'), link)).toBe(undefined)
  expect(lstatSync(real).isFile()).toBe(true)
  copyFileSync(real, path('linked-copy.db'))
  mark(link, 'b')
  expect(restoreDatabase(path('linked-copy.db'), link)).toBe(`${real}.before-restore-1`)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  for (const file of [link, real]) expect(marksOf(file)).toEqual([])
  expect(marksOf(`${real}.before-restore-1`)).toEqual(['b'])
})
