// upload --delete, --plan and apply.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const data = join(folder.path, 'data')
let home: string
const run = (...args: string[]) => gridline(args, { home, cwd: folder.path })
const write = (name: string, text: string): void => writeFileSync(join(data, name), text)
const remove = (name: string): void => rmSync(join(data, name))
const names = async (...more: string[]): Promise<string[]> =>
  JSON.parse((await run('ls', 'data', ...more, '--jq', '[.[].filename]')).stdout)
const trashed = async (): Promise<string[]> =>
  JSON.parse((await run('ls', '--trashed', '--jq', '[.[].filename]')).stdout)

let round = 0
beforeEach(async () => {
  home = join(folder.path, `home${round++}`)
  rmSync(data, { recursive: true, force: true })
  mkdirSync(join(data, 'sub'), { recursive: true })
  for (const name of ['a', 'b', 'c', 'd', 'x.tmp']) write(`${name}.csv`, `n\n"${name}"\n`)
  write('sub/e.csv', 'n\n5\n')
  await run('upload', 'data')
})

itLong('upload --delete replaces changed grids, and trashes grids without a file', async () => {
  write('a.csv', 'n\nnew\n')
  remove('b.csv')
  await run('upload', 'data/c.csv', '--folder', 'elsewhere')
  const { code, stdout } = await run(
    'upload',
    'data',
    '--delete',
    '--jq',
    'map({path, action}) | map("\\(.path) \\(.action)")[]',
  )
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'data/a replaced',
      'data/c unchanged',
      'data/d unchanged',
      'data/sub/e unchanged',
      'data/x.tmp unchanged',
      'data/b trashed',
      '',
    ],
  ])
  expect([await names(), await trashed()]).toEqual([['a', 'c', 'd', 'sub', 'x.tmp'], ['b']])
})

itLong('--exclude protects grids, whether their files exist or not', async () => {
  remove('x.tmp.csv')
  remove('sub/e.csv')
  await run(
    'upload',
    'data',
    '--delete',
    '--exclude',
    '*.tmp.csv',
    '--exclude',
    'sub/**',
    '--exclude',
    'a.csv',
  )
  expect(await trashed()).toEqual([])
  expect(await names()).toHaveLength(6)
})

itLong(
  '--max-delete refuses larger deletions; without it, more than half requires confirmation',
  async () => {
    remove('a.csv')
    for (const [limit, code] of [
      ['10%', 6],
      ['17%', 0],
    ] as const)
      expect((await run('upload', 'data', '--delete', '--dry-run', '--max-delete', limit)).code).toBe(code)
    expect((await run('upload', 'data', '--delete', '--max-delete', '0')).code).toBe(6)
    expect((await run('upload', 'data', '--delete', '--max-delete', 'x')).code).toBe(2)
    expect((await run('upload', 'data', '--max-delete', '1')).code).toBe(2)
    for (const name of ['b', 'c', 'd']) remove(`${name}.csv`)
    const asked = await run('upload', 'data', '--delete')
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining('4 grids of 6 would be moved to the trash'),
    ])
    expect(await trashed()).toEqual([])
    expect((await run('upload', 'data', '--delete', '--yes')).code).toBe(0)
    expect(await trashed()).toHaveLength(4)
  },
)

it('an empty directory or an unreadable file never empties a folder', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'x.tmp', 'sub/e']) remove(`${name}.csv`)
  const empty = await run('upload', 'data', '--delete', '--yes')
  expect([empty.code, empty.stderr]).toEqual([
    2,
    expect.stringContaining('An empty directory does not empty the folder'),
  ])
  write('notes.md', '# nothing')
  expect((await run('upload', 'data', '--delete', '--yes')).code).toBe(2)
  mkdirSync(join(folder.path, 'other'), { recursive: true })
  writeFileSync(join(folder.path, 'other', 'f.csv'), 'n\n1\n')
  expect((await run('upload', 'other', 'data', '--delete', '--yes')).code).toBe(2)
  write('a.csv', 'n\n1\n')
  write('broken.parquet', 'PAR1')
  const failed = await run('upload', 'data', '--delete', '--yes')
  expect([failed.code, failed.stderr]).toEqual([8, expect.stringContaining('nothing was moved to the trash')])
  expect(await trashed()).toEqual([])
})

it('links in a directory are not followed, and their grids stay', async () => {
  // As tools leave them that keep data elsewhere.
  const kept = join(folder.path, 'kept')
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept)
  for (const name of ['a.csv', 'sub']) {
    renameSync(join(data, name), join(kept, name))
    symlinkSync(join(kept, name), join(data, name))
  }
  symlinkSync('loop.csv', join(data, 'loop.csv'))
  remove('b.csv')
  const { code, stderr } = await run('upload', 'data', '--delete')
  expect([code, stderr]).toEqual([0, expect.stringContaining('3 symbolic links were skipped: data/a.csv')])
  expect([await names(), await trashed()]).toEqual([['a', 'c', 'd', 'sub', 'x.tmp'], ['b']])
  // A comparison leaves them out, too.
  const diff = await run('diff', './data', 'data', '--jq', '.[].path')
  expect(diff.stdout).toBe('')
  expect((await run('upload', 'data/*.csv', '--dry-run')).code).toBe(0)
  // Named, they are.
  writeFileSync(join(kept, 'a.csv'), 'n\nnew\n')
  await run('upload', 'data/a.csv', '--folder', 'data', '--on-conflict', 'replace')
  expect((await run('cat', 'data/a')).stdout).toBe('n\nnew\n')
})

it('a plan changes nothing, and apply does exactly what it says', async () => {
  write('a.csv', 'n\nnew\n')
  write('f.csv', 'n\n6\n')
  remove('b.csv')
  const planned = await run(
    'upload',
    'data',
    '--delete',
    '--plan',
    'plan.json',
    '--jq',
    'map("\\(.name) \\(.would)")[]',
  )
  expect(planned.stdout).toContain('data/a replace\ndata/c nothing\n')
  expect(planned.stdout).toContain('data/b trash\n')
  expect([await names(), await trashed()]).toEqual([['a', 'b', 'c', 'd', 'sub', 'x.tmp'], []])
  expect(readFileSync(join(folder.path, 'plan.json'), 'utf8')).not.toContain('plan.json')
  expect((await run('apply', 'plan.json', '--dry-run', '--jq', 'length')).stdout).toBe('7\n')
  const applied = await run('apply', 'plan.json', '--jq', 'map("\\(.path) \\(.action)")[]')
  expect([applied.code, applied.stdout]).toEqual([0, 'data/a replaced\ndata/f created\ndata/b trashed\n'])
  expect((await run('cat', 'data/a')).stdout).toBe('n\nnew\n')
  expect((await run('apply', 'plan.json')).code).toBe(6)
})

it.each<[string, () => unknown, string]>([
  ['a file', () => write('a.csv', 'n\nother\n'), 'data/a.csv has changed'],
  ['a file that is gone', () => remove('a.csv'), 'data/a.csv can no longer be read'],
  [
    'a grid to be replaced',
    () => run('append', 'data/a', '--row', 'more'),
    'data/a has changed on the server',
  ],
  [
    'a grid to be trashed',
    () => run('append', 'data/b', '--row', 'more'),
    'data/b has changed on the server',
  ],
  ['a grid that was deleted', () => run('delete', 'data/b', '--yes'), 'data/b '],
  ['a name that is taken', () => run('mkdir', 'data/f'), 'data/f is now '],
])('apply refuses and names %s', async (_, change, said) => {
  write('a.csv', 'n\nnew\n')
  write('f.csv', 'n\n6\n')
  remove('b.csv')
  await run('upload', 'data', '--delete', '--plan', 'plan.json')
  await change()
  const { code, stdout, stderr } = await run('apply', 'plan.json')
  expect([code, stdout, stderr]).toEqual([6, '', expect.stringContaining(said)])
})

it('a file that is not a plan is refused', async () => {
  write('a.csv', '{}')
  expect((await run('apply', 'data/a.csv')).code).toBe(2)
  expect((await run('apply', 'none.json')).code).toBe(3)
})
