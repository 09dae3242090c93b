// Primary keys: upload --key, append, --delete-missing.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const cwd = folder.path
const run = (args: string[], stdin?: string) => gridline(args, { home: join(cwd, '.home'), cwd, stdin })
const file = (name: string, text: string): void => writeFileSync(join(cwd, name), text)

it('upload --key updates rows with the same key, appends others, and reports both', async () => {
  file('people.csv', 'id,name,n\n1,Ann,1\n2,Bob,2\n3,Cem,3\n')
  const first = await run(['upload', 'people.csv', '--key', 'id', '--json', 'primary_key,version,action'])
  expect(JSON.parse(first.stdout)).toEqual([{ primary_key: ['id'], version: 1, action: 'created' }])
  file('changes.csv', 'n,id\n20,2\n3,3\n40,4\n')
  const second = await run(['upload', 'changes.csv', '--name', 'people', '--key', 'id'])
  expect([second.code, second.stderr]).toEqual([0, 'changes.csv: 1 updated, 1 appended, 1 unchanged\n'])
  expect(second.stdout).toMatch(/\tupdated\t2\n$/)
  expect((await run(['cat', 'people'])).stdout).toBe('id,name,n\n1,Ann,1\n2,Bob,20\n3,Cem,3\n4,,40\n')
})

it('append uses the key of the grid for files, rows and standard input', async () => {
  expect((await run(['append', 'people', '--row', '4,Dan,40'])).stderr).toContain('1 updated, 0 appended')
  expect((await run(['append', 'people', '-'], '{"id":5,"name":"Eva"}\n')).stderr).toContain(
    '0 updated, 1 appended',
  )
  const same = await run(['append', 'people', 'changes.csv', '--json', 'rows_unchanged,version'])
  expect(JSON.parse(same.stdout)).toEqual({ rows_unchanged: 3, version: 3 })
})

it('records without a member make its value null in updated rows, with a warning', async () => {
  file('k.csv', 'id,name,n\n1,a,1.5\n2,b,2\n')
  await run(['upload', 'k.csv', '--name', 'records', '--key', 'id'])
  const partial = await run(['append', 'records', '-'], '{"id":1,"name":"A"}\n')
  expect(partial.stderr).not.toContain('warning')
  const mixed = await run(['append', 'records', '-'], '{"id":1,"name":"B"}\n{"id":2,"n":9}\n')
  expect(mixed.stderr).toContain('column name: missing in 1 record; in rows that they update, it is null now')
  expect((await run(['cat', 'records'])).stdout).toBe('id,name,n\n1,B,\n2,,9\n')
  file('rows.parquet', 'PAR1\u0015')
  const other = await run(['append', 'records', 'rows.parquet'])
  expect([other.code, other.stderr]).toEqual([
    7,
    expect.stringContaining('upload FILE --name GRID --on-conflict append'),
  ])
})

it('--delete-missing removes rows that the file lacks; more than 10% only with --yes', async () => {
  file('few.csv', 'id\n1\n2\n')
  const dry = ['append', 'people', 'few.csv', '--delete-missing', '--dry-run', '--jq', '.change']
  expect((await run(dry)).code).toBe(6)
  expect(JSON.parse((await run([...dry, '--yes'])).stdout)).toMatchObject({
    updated: 0,
    appended: 0,
    removed: 3,
  })
  const refused = await run(['append', 'people', 'few.csv', '--delete-missing'])
  expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('would remove 3 of 5 rows')])
  const done = await run(['append', 'people', 'few.csv', '--delete-missing', '--yes'])
  expect(done.stderr).toContain('0 updated, 0 appended, 2 unchanged, 3 removed')
  expect((await run(['cat', 'people'])).stdout).toBe('id,name,n\n1,Ann,1\n2,Bob,20\n')
})

it.each([
  ['id,n\n7,1\n\n8,1\n7,2\n', 'lines 2 and 5 have the same key: id 7'],
  ['id,n\n7,1\n,2\n', 'line 3 has no key: id null'],
  ['n\n1\n', 'has no column "id", which is the key'],
])('a file with duplicate or missing keys is refused with both lines: %j', async (text, said) => {
  file('odd.csv', text)
  const { code, stderr } = await run(['append', 'people', 'odd.csv'])
  expect([code, stderr]).toEqual([7, expect.stringContaining(said)])
})

it('append --key sets the key of an existing grid, unless its rows forbid it, and removes it', async () => {
  file('twice.csv', 'id,n\n1,1\n1,2\n')
  await run(['upload', 'twice.csv'])
  expect(await run(['append', 'twice', '--row', '2,2', '--key', 'id'])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('rows 1 and 2 have the same key'),
  })
  expect((await run(['append', 'people', '--row', '1,Ann,1', '--key', ''])).code).toBe(0)
  expect((await run(['show', 'people', '--jq', '.primary_key'])).stdout).toBe('null\n')
  expect((await run(['append', 'people', '--row', '1,Ann,1', '--jq', '.rows_added'])).stdout).toBe('1\n')
})
