// cat --follow.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { gridline, start } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const home = join(folder.path, 'home')
mkdirSync(home)
const run = (...args: string[]) => gridline(args, { home, cwd: folder.path })
afterAll(folder.remove)

it('cat --follow prints appended rows, and starts over when the grid is replaced', async () => {
  const file = join(folder.path, 'f.csv')
  writeFileSync(file, 'n\n1\n2\n')
  await run('upload', 'f.csv')
  const child = start(['cat', 'f', '--follow'], { home, cwd: folder.path })
  let [out, notes] = ['', '']
  child.stderr!.on('data', (chunk) => {
    notes += chunk
  })
  const until = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = (): void => {
        if (out === wanted) resolve()
      }
      child.stdout!.on('data', look)
      look()
    })
  child.stdout!.on('data', (chunk) => {
    out += chunk
  })
  try {
    await until('n\n1\n2\n')
    await run('append', 'f', '--row', '3')
    await until('n\n1\n2\n3\n')
    expect(notes).toBe('')
    writeFileSync(file, 'n\n7\n8\n9\n10\n')
    await run('upload', 'f.csv', '--on-conflict', 'replace')
    await until('n\n1\n2\n3\n7\n8\n9\n10\n')
    expect(notes).toMatch(/was replaced/)
  } finally {
    child.kill()
  }
})
