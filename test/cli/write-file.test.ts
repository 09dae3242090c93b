// Output files that are written again keep their mode and their links.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeNamedFile } from '../../src/cli/files/write-file.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const at = (name: string): string => join(folder.path, name)

it('files keep their mode, links and other names', async () => {
  writeFileSync(at('own.csv'), 'old')
  chmodSync(at('own.csv'), 0o666)
  symlinkSync('own.csv', at('link.csv'))
  symlinkSync('absent.csv', at('dangling.csv'))
  writeFileSync(at('one.csv'), 'old')
  linkSync(at('one.csv'), at('two.csv'))
  for (const name of ['link.csv', 'dangling.csv', 'one.csv', 'new.csv']) await writeNamedFile(at(name), name)
  expect(readFileSync(at('own.csv'), 'utf8')).toBe('link.csv')
  expect(statSync(at('own.csv')).mode & 0o777).toBe(0o666)
  expect(readFileSync(at('absent.csv'), 'utf8')).toBe('dangling.csv')
  expect(readFileSync(at('two.csv'), 'utf8')).toBe('one.csv')
  expect(readFileSync(at('new.csv'), 'utf8')).toBe('new.csv')
  expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
})

it('a file that cannot be replaced says why, and leaves nothing', async () => {
  mkdirSync(at('folder'))
  await expect(writeNamedFile(at('folder'), '')).rejects.toThrow(/cannot write .*folder: it is a directory/)
  await expect(writeNamedFile(at('absent/a.csv'), '')).rejects.toThrow(/no such directory/)
  await writeNamedFile('/dev/null', 'gone')
  // The name of a part would be too long.
  const long = at('n'.repeat(250))
  await writeNamedFile(long, 'long')
  expect(readFileSync(long, 'utf8')).toBe('long')
})
