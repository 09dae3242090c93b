// gridline check, and checks of uploads and appends.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const cwd = folder.path
const run = (args: string[], env: Record<string, string> = {}) =>
  gridline(args, { home: join(cwd, '.home'), cwd, env })
const file = (name: string, text: string): void => writeFileSync(join(cwd, name), text)

const RULES = `columns:
  id: { type: integer, unique: true }
  mail: { pattern: '[^@]+@.+' }
  price: { minimum: 0, severity: warn }
table: { rows: 1.. }
`
file('rules.yml', RULES)
file('good.csv', 'id,mail,price\n1,a@b,5\n2,c@d,6\n')
file('bad.csv', 'id,mail,price\n1,a@b,5\n\n1,nobody,-6\n')

it('check prints every failed rule with lines and values, and exits with 7', async () => {
  expect(await run(['check', 'good.csv', '--checks', 'rules.yml'])).toMatchObject({
    code: 0,
    stdout: '✓ good.csv: 2 rows, 8 rules: 8 passed\n',
  })
  expect(await run(['check', 'bad.csv', '--checks', 'rules.yml'])).toMatchObject({
    code: 7,
    stdout: `✗ bad.csv: 2 rows, 8 rules: 2 failed, 1 warning, 5 passed
  failed   id: unique: 1 row is a duplicate
    line 4  1, as in line 2
  failed   mail: matches [^@]+@.+: 1 of 2 values does not match
    line 4  "nobody"
  warning  price: at least 0: 1 of 2 values is too low
    line 4  -6
`,
  })
})

it('check continues with other files if one cannot be read', async () => {
  const { code, stdout } = await run([
    'check',
    'good.csv',
    'none.csv',
    '--checks',
    'rules.yml',
    '--jq',
    'map(.passed)',
  ])
  expect([code, stdout]).toEqual([7, '[true,false]\n'])
})

it('check writes JUnit XML with all values escaped', async () => {
  file('hostile.csv', 'id,mail,price\n1,"<a>&]]>\u0001",5\n')
  const { code } = await run([
    'check',
    'hostile.csv',
    '--checks',
    'rules.yml',
    '--format',
    'junit',
    '--output',
    'r.xml',
  ])
  const xml = readFileSync(join(cwd, 'r.xml'), 'utf8')
  expect(code).toBe(7)
  expect(xml).toContain('<testsuite name="hostile.csv" tests="8" failures="1" errors="0" skipped="0">')
  expect(xml).toContain('&lt;a&gt;&amp;]]&gt;')
  expect(xml).not.toContain('\u0001')
})

it('check annotates lines for GitHub Actions and GitLab CI', async () => {
  const summary = join(cwd, 'summary.md')
  const { stderr } = await run(['check', 'bad.csv', '--checks', 'rules.yml'], {
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: summary,
  })
  expect(stderr).toContain(
    '::error file=bad.csv,line=4,title=gridline::mail: matches [^@]+@.+: 1 of 2 values',
  )
  expect(stderr).toContain('::warning file=bad.csv,line=4,title=gridline::price')
  expect(readFileSync(summary, 'utf8')).toContain('❌ **bad.csv**: 2 rows')
  await run(['check', 'bad.csv', '--checks', 'rules.yml'], { GITLAB_CI: 'true' })
  expect(JSON.parse(readFileSync(join(cwd, 'gl-code-quality-report.json'), 'utf8'))).toHaveLength(3)
})

it('check --init writes rules that the data passes, and does not overwrite a file', async () => {
  file(
    'sales.csv',
    `id,city,price,day\n${Array.from({ length: 40 }, (_, k) => `${k},${k % 2 ? 'Oslo' : 'no'},${k}.5,2024-01-01\n`).join('')}`,
  )
  const output = await run(['check', 'sales.csv', '--init', '--output', 'rules.yml'])
  expect([output.code, output.stderr]).toEqual([2, expect.stringContaining('with --checks FILE')])
  expect((await run(['check', 'sales.csv', '--init'])).code).toBe(0)
  const rules = readFileSync(join(cwd, 'gridline.checks.yml'), 'utf8')
  expect(rules).toContain('enum: [Oslo, "no"]')
  expect(rules).toContain('key: id')
  expect((await run(['check', 'sales.csv'])).code).toBe(0)
  expect((await run(['check', 'sales.csv', '--init'])).code).toBe(6)
})

it('upload --checks refuses data before it is stored; the rules of a grid hold for later writes', async () => {
  const refused = await run(['upload', 'bad.csv', '--checks', 'rules.yml'])
  expect([refused.code, refused.stdout]).toEqual([7, ''])
  expect(refused.stderr).toContain('  mail: matches [^@]+@.+\n    line 4  "nobody"\n')
  expect((await run(['show', 'bad'])).code).toBe(3)
  expect((await run(['upload', 'good.csv', '--checks', 'rules.yml'])).code).toBe(0)
  expect((await run(['upload', 'bad.csv', '--name', 'other', '--checks', 'rules.yml'])).stderr).toMatch(
    /bad\.csv fails/,
  )
  expect((await run(['check', 'good', '--set', 'rules.yml'])).stderr).toContain('will be checked')
  expect((await run(['append', 'good', '--row', '3,x,1'])).code).toBe(7)
  expect((await run(['append', 'good', '--row', '3,x@y,1'])).code).toBe(0)
  expect((await run(['check', 'good'])).stdout).toContain('✓ good: 3 rows')
  expect((await run(['check', 'good@1', '--checks', 'rules.yml'])).stdout).toContain('✓ good@1: 2 rows')
  const twice = await run([
    'upload',
    'bad.csv',
    '--name',
    'good',
    '--on-conflict',
    'replace',
    '--checks',
    'rules.yml',
  ])
  expect(twice.stderr.match(/mail: matches/g)).toHaveLength(1)
  writeFileSync(join(cwd, 'key.yml'), 'table: { key: id }\n')
  const known = await run(['append', 'good', 'good.csv', '--checks', 'key.yml'])
  expect(known.stderr).toMatch(/ {4}line 2 {2}1, as in row 1 of the grid\n/)
  const set = ['check', 'good', '--set', 'never.yml']
  writeFileSync(join(cwd, 'never.yml'), 'columns: { price: { minimum: 1000 } }\n')
  expect((await run([...set, '--dry-run'])).code).toBe((await run(set)).code)
  await run(['check', 'good', '--set', ''])
  expect((await run(['append', 'good', '--row', '4,x,1'])).code).toBe(0)
})

it.each([
  [
    'columns:\n  n: {requierd: true}\n',
    7,
    /odd\.yml: checks, column n: unknown rule "requierd".*Did you mean required/,
  ],
  ['columns: [\n', 7, /odd\.yml: /],
  [
    'a: &a [x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n',
    7,
    /odd\.yml/,
  ],
  ['', 7, /odd\.yml/],
])('an invalid checks file is refused with the place: %j', async (text, code, said) => {
  file('odd.yml', text)
  const done = await run(['check', 'good.csv', '--checks', 'odd.yml'])
  expect([done.code, done.stderr]).toEqual([code, expect.stringMatching(said)])
})

it('without a checks file, the error says how to write one', async () => {
  const { code, stderr } = await gridline(['check', '../good.csv'], {
    home: join(cwd, '.home'),
    cwd: join(cwd, '.home'),
  })
  expect(existsSync(join(cwd, '.home'))).toBe(true)
  expect([code, stderr]).toEqual([3, expect.stringContaining('gridline check FILE --init')])
})
