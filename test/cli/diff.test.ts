// gridline diff of files, grids and plots.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const cwd = folder.path
const run = (...args: string[]) => gridline(args, { home: join(cwd, '.home'), cwd })
const file = (name: string, text: string): void => writeFileSync(join(cwd, name), text)

const BEFORE = 'id,city,price\n1,Oslo,1.50\n2,Rome,2\n3,"a|b <b>",3\n'
const AFTER = 'id,city,price,region\n1,Oslo,1.5,N\n3,"a|b <c>",4,S\n4,Bern,9,S\n'

it('diff compares two data files in order, and says so; with --key, by key', async () => {
  file('before.csv', BEFORE)
  file('after.csv', AFTER)
  const plain = await run('diff', 'before.csv', 'after.csv')
  expect([plain.code, plain.stderr]).toEqual([0, ''])
  expect(plain.stdout).toContain('Rows are compared in order.')
  const keyed = await run('diff', 'before.csv', 'after.csv', '--key', 'id')
  expect(
    keyed.stdout,
  ).toBe(`before.csv → after.csv: 1 row added, 1 row removed, 1 row changed (2 cells), 1 column added

~ city: 1 cell
~ price: 1 cell
+ region (text)

   ROW  id  city               price  region
−    2   2  Rome               2
~    2   3  a|b <b> → a|b <c>  3 → 4
+    3   4  Bern               9      S
`)
})

itLong('diff escapes values in all formats', async () => {
  const as = async (format: string) =>
    (await run('diff', 'before.csv', 'after.csv', '--key', 'id', '--format', format)).stdout
  expect(await as('md')).toContain('| ~ | 2 | 3 | a\\|b &lt;b\\> → a\\|b &lt;c\\> | 3 → 4 |  |')
  expect(await as('html')).toContain('<del>a|b &lt;b&gt;</del> <ins>a|b &lt;c&gt;</ins>')
  expect((await as('csv')).split('\n').slice(0, 2)).toEqual([
    'change,row_before,row_after,column,before,after',
    'removed,2,,id,2,',
  ])
  expect(JSON.parse((await as('ndjson')).split('\n')[1]).after).toEqual({ id: 3, city: 'a|b <c>', price: 4 })
})

it('diff --exit-code exits with 10 if files differ', async () => {
  expect((await run('diff', 'before.csv', 'after.csv', '--exit-code', '--stat')).code).toBe(10)
  const same = await run('diff', 'before.csv', 'before.csv', '--exit-code')
  expect([same.code, same.stdout]).toEqual([0, 'before.csv → before.csv: no differences\n'])
})

it('diff compares a grid with its versions and with local files', async () => {
  file('sales.csv', BEFORE)
  await run('upload', 'sales.csv')
  expect((await run('diff', 'sales')).stderr).toContain('no version before version 1')
  file('sales.csv', AFTER)
  await run('upload', 'sales.csv', '--on-conflict', 'replace')
  const counts = '[.rows_added,.rows_removed,.rows_changed]'
  for (const args of [['sales'], ['sales@1', 'sales'], ['sales@1', 'after.csv'], ['before.csv', 'sales@2']])
    expect((await run('diff', ...args, '--key', 'id', '--jq', counts)).stdout).toBe('[1,1,1]\n')
  expect((await run('diff', 'sales', 'after.csv', '--key', 'id')).stdout).toContain('no differences')
  expect((await run('diff', 'sales@1', 'sales@7')).code).toBe(3)
  expect((await run('diff', 'sales', 'after.csv', '--key', 'no')).stderr).toContain(
    'neither table has a column',
  )
  file('twice.csv', 'id\n1\n1\n')
  expect((await run('diff', 'sales', 'twice.csv', '--key', 'id')).code).toBe(7)
  expect((await run('diff', 'sales', 'after.csv', '--tolerance', 'x')).code).toBe(2)
})

itLong(
  'diff compares a grid and a file by the key of the grid; columns without values have no type',
  async () => {
    file('keyed.csv', 'id,city,note\n1,Oslo,\n2,Rome,\n')
    await run('upload', 'keyed.csv', '--key', 'id')
    expect((await run('diff', 'keyed', 'keyed.csv', '--exit-code')).code).toBe(0)
    file('later.csv', 'id,city,note\n2,Rome,\n1,Bonn,\n')
    const said = await run('diff', 'keyed', 'later.csv', '--jq', '[.key,.rows_changed,.before.filename]')
    expect(said.stdout).toBe('[["id"],1,"keyed"]\n')
    file('other.csv', 'city\nOslo\n')
    expect((await run('diff', 'keyed', 'other.csv')).stdout).toContain('Rows are compared in order.')
  },
)

it('diff of plots lists the attributes that differ, and draws both', async () => {
  const figure = (color: string) => JSON.stringify({ data: [{ y: [1, 2], marker: { color } }], layout: {} })
  file('chart.json', figure('red'))
  await run('plot', 'create', 'chart.json')
  file('blue.json', figure('blue'))
  await run('plot', 'update', 'chart', 'blue.json')
  const listed = await run('diff', 'chart@1', 'chart', '--format', 'table', '--exit-code')
  expect([listed.code, listed.stderr]).toEqual([10, ''])
  expect(listed.stdout).toMatch(/data\[0\]\.marker\.color\tred\tblue/)
  expect((await run('diff', 'chart', 'sales')).code).toBe(2)
})

itLong('diff --image saves two charts side by side', async () => {
  const { code } = await run('diff', 'chart', '--image', 'both.png')
  expect([code, existsSync(join(cwd, 'both.png'))]).toEqual([0, true])
  const png = readFileSync(join(cwd, 'both.png'))
  expect(png.readUInt32BE(16)).toBeGreaterThan(2 * 600)
})
