// Directories with data, queries, charts and boards: `upload`, `--plan`, `apply` and `review`.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseChartFile } from '../../src/cli/charts/chart-file.ts'
import { readDefinition } from '../../src/cli/files/definitions.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

const FILES: Readonly<Record<string, string>> = {
  'readings.csv':
    'day,city,temp\n2024-06-01,Oslo,18\n2024-06-01,Rome,27\n2024-06-02,Oslo,19\n2024-06-02,Rome,28\n',
  'cities.csv': 'city,country\nOslo,Norway\nRome,Italy\n',
  // Alphabetically before what it reads.
  'best.sql': 'select * from warm order by warmest desc limit 1\n',
  'warm.sql':
    'select country, max(temp) as warmest from readings join cities using (city) group by country order by country\n',
  'charts/temp.chart.yml': 'grid: readings\ntype: line\nx: day\ny: [temp]\nby: city\n',
  'board.yml': `title: Weather report
rows:
  - - plot: charts/temp
    - { number: readings, value: 'max:temp', change: true }
  - table: best.sql
`,
  'notes.md': '# Not data\n',
}

interface Place {
  cwd: string
  run: (...args: string[]) => ReturnType<typeof gridline>
  write: (name: string, text: string) => void
  rows: (...args: string[]) => Promise<string[]>
}

let round = 0
/** Creates a directory `weather` with the files, and a home. */
function place(): Place {
  const cwd = join(folder.path, `place${round++}`)
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(cwd, 'weather', name)), { recursive: true })
    writeFileSync(join(cwd, 'weather', name), text)
  }
  for (const [name, text] of Object.entries(FILES)) write(name, text)
  const run = (...args: string[]) => gridline(args, { home: join(cwd, 'home'), cwd })
  const rows = async (...args: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await run(...args, '--json')
    expect([args, code, code === 0 ? '' : stderr]).toEqual([args, 0, ''])
    return (JSON.parse(stdout) as Record<string, string>[]).map(
      ({ path, name, action, would }) => `${path ?? name} ${action ?? would}`,
    )
  }
  return { cwd, run, write, rows }
}

/** A place whose directory is uploaded; each test takes a copy. */
let uploaded: Place
function copyOfUploaded(): Place {
  const copy = place()
  rmSync(copy.cwd, { recursive: true })
  cpSync(uploaded.cwd, copy.cwd, { recursive: true })
  return copy
}
beforeAll(async () => {
  uploaded = place()
  expect(await uploaded.rows('upload', 'weather')).toEqual([
    'weather/cities created',
    'weather/readings created',
    'weather/warm created',
    'weather/best created',
    'weather/charts/temp created',
    'weather/Weather report created',
  ])
})

it('a directory with queries, charts and a board is made, and unchanged the second time', async () => {
  const { run, rows, write } = copyOfUploaded()
  expect((await run('cat', 'weather/best')).stdout).toBe('country,warmest\nItaly,28\n')
  expect((await rows('upload', 'weather')).every((row) => row.endsWith(' unchanged'))).toBe(true)
  // Without a rule for taken names, what differs is not replaced.
  write('charts/temp.chart.yml', `${FILES['charts/temp.chart.yml']}title: Warm\n`)
  const refused = await run('upload', 'weather')
  expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining('--on-conflict replace')])
  const replaced = await rows('upload', 'weather', '--on-conflict', 'replace')
  expect(replaced.filter((row) => !row.endsWith('unchanged'))).toEqual(['weather/charts/temp replaced'])
  // Derived grids follow their data, also before this upload comes to them.
  const [head, ...rest] = FILES['readings.csv'].split('\n')
  write('readings.csv', [head, rest[0].replace(/[^,]*$/, '99'), ...rest.slice(1)].join('\n'))
  const followed = await rows('upload', 'weather', '--on-conflict', 'replace')
  expect(followed.filter((row) => row.endsWith('replaced')).sort()).toEqual([
    'weather/best replaced',
    'weather/readings replaced',
    'weather/warm replaced',
  ])
})

itLong('a chart that was changed by hand is as its file says again, with its link', async () => {
  const { run, rows } = copyOfUploaded()
  const fid = (await run('show', 'weather/charts/temp', '--jq', '.fid')).stdout
  await run('plot', 'set', 'weather/charts/temp', '--type', 'bar')
  const replaced = await rows('upload', 'weather', '--on-conflict', 'replace')
  expect(replaced).toContain('weather/charts/temp replaced')
  expect((await run('show', 'weather/charts/temp', '--jq', '.fid')).stdout).toBe(fid)
})

it('pull writes the same files back, from which the same is made', async () => {
  const { cwd, run, rows } = copyOfUploaded()
  const plain = await run('pull', 'weather', 'plain')
  expect([plain.code, plain.stderr]).toEqual([0, expect.stringContaining('left out: 1 board; --definitions')])
  const pulled = await rows('pull', 'weather', 'back', '--definitions')
  const files = ['best.sql', 'board.yml', 'charts/temp.chart.yml', 'cities.csv', 'readings.csv', 'warm.sql']
  expect(pulled.sort()).toEqual(files.map((name) => `back/weather/${name} downloaded`))
  const read = (name: string): string => readFileSync(join(cwd, 'back/weather', name), 'utf8')
  for (const name of ['best.sql', 'warm.sql', 'board.yml'])
    expect([name, read(name)]).toEqual([name, FILES[name]])
  expect(read('charts/temp.chart.yml')).toBe('grid: readings\ntype: line\nx: day\ny: temp\nby: city\n')
  // Files that are the same are ours, and others are not replaced.
  expect(await rows('pull', 'weather/warm', 'weather/Weather report', 'weather', '--definitions')).toEqual([
    'weather/warm.sql unchanged',
    'weather/board.yml unchanged',
  ])
  writeFileSync(join(cwd, 'weather/warm.sql'), 'select 1 as changed')
  const refused = await run('pull', 'weather/warm', 'weather', '--definitions')
  expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('was changed locally')])
  rmSync(join(cwd, 'weather'), { recursive: true })
  renameSync(join(cwd, 'back/weather'), join(cwd, 'weather'))
  expect((await rows('upload', 'weather')).every((row) => row.endsWith(' unchanged'))).toBe(true)
  expect(
    (await rows('upload', 'weather', '--folder', 'copies')).every((row) => row.endsWith(' created')),
  ).toBe(true)
  expect((await run('cat', 'copies/weather/best')).stdout).toBe('country,warmest\nItaly,28\n')
})

it('pull says which files have no definition, and what others lack', async () => {
  const { cwd, run, rows } = copyOfUploaded()
  await run(
    'derive',
    'weather/hot',
    '--sql',
    'select * from readings where temp > $least',
    '--param',
    'least=20',
  )
  await run('plot', 'set', 'weather/charts/temp', 'layout.xaxis.dtick=2')
  writeFileSync(join(cwd, 'old.json'), JSON.stringify({ data: [{ y: [1, 2] }], layout: {} }))
  await run('plot', 'create', 'old.json', '--name', 'old', '--folder', 'weather')
  await run('upload', 'weather/cities.csv', '--name', 'lost', '--folder', 'weather', '--plot', 'table')
  await run('delete', 'weather/lost', '--yes')
  const { code, stdout, stderr } = await run('pull', 'weather', 'back', '--definitions')
  const paths = stdout.split(/[\t\n]/)
  const names = ['hot.csv', 'old.json', 'old.chart.yml', 'lost table.json', 'warm.sql']
  expect([code, ...names.map((name) => paths.includes(`back/weather/${name}`))]).toEqual([
    ...[0, true, false, false, false, true],
  ])
  expect(stderr).toMatch(/hot: its query has parameters, which a file cannot have: its rows are written/)
  expect(stderr).toMatch(/temp: its file lacks attributes of the figure that no option sets/)
  expect(stderr).toMatch(/old: its figure has attributes .*: it is left out/)
  expect(stderr).toMatch(/lost table: .*: it is left out/)
  // A grid elsewhere is named by its id.
  expect(await rows('pull', 'weather/charts/temp', 'back', '--definitions')).toHaveLength(1)
  expect(readFileSync(join(cwd, 'back/temp.chart.yml'), 'utf8')).toMatch(/^grid: \w+:\d+\n/)
})

it('pull names files as they are called now, and each in a file of its own', async () => {
  const { cwd, run, rows, write } = copyOfUploaded()
  const read = (name: string): string => readFileSync(join(cwd, 'back/weather', name), 'utf8')
  // Another title makes another board from the same file.
  write('board.yml', FILES['board.yml'].replace('Weather report', 'Second'))
  await run('upload', 'weather')
  await run('rename', 'weather/Second', 'Third')
  // A nearer grid has the name of the one that the chart shows.
  await run('upload', 'weather/cities.csv', '--name', 'readings', '--folder', 'weather/charts')
  await run('rename', 'weather/cities', 'towns')
  const { code, stderr } = await run('pull', 'weather', 'back', '--definitions')
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('warm: its query reads cities, which is called towns now'),
  ])
  expect(stderr).toContain('Third: files that it names have other names now')
  expect(read('charts/temp.chart.yml')).toMatch(/^grid: \.\.\/readings\n/)
  expect(read('board.yml')).toBe(FILES['board.yml'])
  expect(read('Third.board.yml')).toMatch(
    /^title: Third\nrows:\n {2}- - plot: charts\/temp\n {4}- number: readings\n/,
  )
  await run('rename', 'weather/towns', 'cities')
  await run('pull', 'weather', 'again', '--definitions')
  const made = await rows('upload', 'again/weather', '--on-conflict', 'replace')
  expect(made.filter((row) => !row.endsWith(' unchanged'))).toEqual(['weather/Third replaced'])
})

it('colors of series are in chart files, and written back', async () => {
  const { run, rows, write } = copyOfUploaded()
  await run('plot', 'set', 'weather/charts/temp', '--color-of', 'Rome=#aa3377')
  const { stdout } = await run('plot', 'options', 'weather/charts/temp', '-o', '-')
  expect(stdout).toMatch(/color-of:\n {2}Rome: "#aa3377"\n$/)
  write('charts/temp.chart.yml', stdout)
  expect(await rows('upload', 'weather')).toContain('weather/charts/temp unchanged')
  write('charts/temp.chart.yml', stdout.replace('aa3377', '227733'))
  expect(await rows('upload', 'weather', '--on-conflict', 'replace')).toContain(
    'weather/charts/temp replaced',
  )
  const written = await run('plot', 'options', 'weather/charts/temp', '-o', '-')
  expect(written.stdout).toBe(stdout.replace('aa3377', '227733'))
})

it('a plan names each change of queries, charts and boards, and apply makes exactly these', async () => {
  const { cwd, run, rows, write } = copyOfUploaded()
  await run('plot', 'create', '--grid', 'weather/warm', '--name', 'by hand', '--folder', 'weather')
  write('readings.csv', `${FILES['readings.csv']}2024-06-03,Oslo,30\n`)
  write(
    'warm.sql',
    FILES['warm.sql'].replace('max(temp) as warmest', 'max(temp) as warmest, count(*) as days'),
  )
  write('board.yml', 'title: Weather report\nrows:\n  - text: Only words\n')
  write('charts/days.chart.yml', 'grid: warm\ntype: bar\nx: country\ny: warmest\n')
  renameSync(join(cwd, 'weather/charts/temp.chart.yml'), join(cwd, 'temp.chart.yml'))
  const planned = [
    'weather/cities nothing',
    'weather/readings replace',
    'weather/warm replace',
    'weather/best follow',
    'weather/charts/days create',
    'weather/Weather report replace',
    'weather/charts/temp trash',
  ]
  expect(await rows('upload', 'weather', '--delete', '--plan', 'plan.json')).toEqual(planned)
  expect((await run('cat', 'weather/warm')).stdout).toBe('country,warmest\nItaly,28\nNorway,19\n')
  expect(await rows('apply', 'plan.json')).toEqual([
    'weather/readings replaced',
    'weather/warm replaced',
    'weather/best replaced',
    'weather/charts/days created',
    'weather/Weather report replaced',
    'weather/charts/temp trashed',
  ])
  expect((await run('cat', 'weather/best')).stdout).toBe('country,warmest,days\nNorway,30,3\n')
  // What was made by hand stays.
  expect((await run('ls', 'weather', '--jq', '[.[].filename]')).stdout).toContain('by hand')
  expect((await run('apply', 'plan.json')).code).toBe(6)
  const after = await rows('upload', 'weather', '--delete')
  expect(after.filter((row) => !row.endsWith('unchanged'))).toEqual([])
})

itLong('a plan is refused when a chart or its file has changed since', async () => {
  const { run, rows, write } = copyOfUploaded()
  write('charts/temp.chart.yml', `${FILES['charts/temp.chart.yml']}title: Warm\n`)
  await rows('upload', 'weather', '--delete', '--plan', 'plan.json')
  await run('plot', 'set', 'weather/charts/temp', '--type', 'bar')
  expect((await run('apply', 'plan.json')).stderr).toContain('weather/charts/temp has changed on the server')
  await rows('upload', 'weather', '--delete', '--plan', 'plan.json')
  write('charts/temp.chart.yml', `${FILES['charts/temp.chart.yml']}title: Cold\n`)
  expect((await run('apply', 'plan.json')).stderr).toContain('temp.chart.yml has changed')
})

it('names are those of the directory first, wherever it is uploaded', async () => {
  const { run, write } = place()
  // A grid of the same name in the home folder, without the columns.
  write('../other/readings.csv', 'a\n1\n')
  await run('upload', 'other/readings.csv')
  write('deep/down/again.sql', 'select count(*) as n from "warm"\n')
  write(
    'deep/down/again.chart.yml',
    'name: again chart\ngrid: ../../warm\ntype: bar\nx: country\ny: warmest\n',
  )
  const { code, stderr } = await run('upload', 'weather', '--folder', 'Reports/2024')
  expect([code, stderr]).toEqual([0, expect.any(String)])
  expect((await run('cat', 'Reports/2024/weather/deep/down/again')).stdout).toBe('n\n2\n')
  expect((await run('cat', 'Reports/2024/weather/best')).stdout).toBe('country,warmest\nItaly,28\n')
  // One file alone finds what is beside it on the server.
  write('charts/one.chart.yml', 'grid: warm\ntype: bar\nx: country\ny: warmest\n')
  const one = ['upload', 'weather/charts/one.chart.yml', '--folder', 'Reports/2024/weather/charts']
  expect(await run(...one)).toMatchObject({ code: 0 })
})

itLong('mistakes in definitions are named with their file, and the others are made', async () => {
  const { run, write } = copyOfUploaded()
  const cases: Record<string, [text: string, said: RegExp]> = {
    'a.chart.yml': ['grid: readings\nx: dya\n', /a\.chart\.yml: .*dya.*Did you mean day\?/],
    'b.chart.yml': ['grid: nowhere\n', /b\.chart\.yml: no grid at nowhere/],
    'c.board.yml': ['rows: [{ plot: nowhere }]\n', /c\.board\.yml: row 1, item 1: no plot at nowhere/],
    'm.board.yml': [
      'rows: [{ plot: charts/tmp }]\n',
      /m\.board\.yml: .*charts\/tmp\. Did you mean charts\/temp\?/,
    ],
    'd.board.yml': ['title: T\n', /d\.board\.yml: expected rows, a list/],
    'e.sql': ['select 1; select 2\n', /e\.sql: .*one statement/],
    'f.sql': ["select * from read_text('/etc/passwd')\n", /f\.sql: .*passwd/],
    'g.sql': ['select * from h\n', /its own grid: weather\/g\.sql → weather\/h\.sql → weather\/g\.sql/],
    'h.sql': ['select * from g\n', /its own grid: weather\/h\.sql → weather\/g\.sql → weather\/h\.sql/],
    'i.sql': ['select 1 as n\n', /^/],
  }
  for (const [name, [text]] of Object.entries(cases)) write(name, text)
  const { code, stdout, stderr } = await run('upload', 'weather')
  expect([code, stdout]).toEqual([8, expect.stringMatching(/weather\/i\t.*created/)])
  for (const [, said] of Object.values(cases)) expect(stderr).toMatch(said)
  const plan = await run('upload', 'weather', '--plan', 'plan.json')
  expect([plan.code, plan.stderr.match(/error: /g)?.length]).toEqual([8, 9])
  write('readings.chart.yml', 'grid: readings\n')
  const taken = await run('upload', 'weather')
  expect(taken).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('would both be named weather/readings'),
  })
  const rename = await run('upload', 'weather', '--on-conflict', 'rename', '--exclude', 'readings.chart.yml')
  expect(rename).toMatchObject({ code: 2, stderr: expect.stringContaining('--on-conflict rename cannot') })
})

it('chart files have the options of the command line', async () => {
  const parse = async (text: string) => {
    const file = join(folder.path, 'x.chart.yml')
    writeFileSync(file, text)
    return parseChartFile(file, (await readDefinition(file, 'chart')).document!)
  }
  expect(
    await parse(
      'grid: g\ntype: bar\ny: ["a,b", c]\nlog-y: true\ntop: 3\nmark: y=1:Goal\nstack: true\nrange-y: [0, 10]\n',
    ),
  ).toEqual({
    grid: 'g',
    type: 'bar',
    options: { y: '"a,b",c', logY: true, top: 3, mark: ['y=1:Goal'], stack: 'normal', rangeY: '0,10' },
  })
  expect((await parse('grid: g\ntheme: print\n')).options.theme).toBe('print')
  expect((await parse('grid: g\ntheme: house.json\n')).options.theme).toBe(join(folder.path, 'house.json'))
  const bomb = `a: &a [${'x,'.repeat(50)}]\n${'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n'}c: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n`
  for (const [text, said] of [
    ['grid: readings\ntitel: T\n', /titel is no option of a chart/],
    ['grid: readings\ntype: lines\n', /type: lines is no type of chart/],
    ['type: line\n', /the grid is missing/],
    ['grid: readings\nlog-y: maybe\n', /log-y: "maybe" is no value of it/],
    ['grid: readings\ntop: -1\n', /top: -1 is no value of it/],
    ['grid: readings\ncolor-of: { Oslo: blu }\n', /color-of: Oslo: "blu" is not a color/],
    ['grid: readings\ncolor-of: [red]\n', /color-of: expected colors by the names of series/],
    ['grid: readings\nx: { a: 1 }\n', /x: \{"a":1\} is no value of it/],
    ['name: a/b\ngrid: readings\n', /name: must be a text without \//],
    ['- a\n', /expected names with values/],
    ['grid: [\n', /x\.chart\.yml: /],
    [bomb, /repeats its parts too often/],
  ] as const)
    await expect(parse(text).then((parsed) => [text, parsed])).rejects.toThrow(said)
})

it('a dry run of a new directory finds the mistakes of its definitions', async () => {
  const { run, write } = place()
  const dryRun = async () => {
    const { code, stderr } = await run('upload', 'weather', '--dry-run')
    return { code, stderr: stderr.split('\n').filter((line) => line.startsWith('error')) }
  }
  write('years.sql', 'select make_date(y, 1, 1) as day, warmest from yrs cross join warm')
  write('yrs.csv', 'y\n2024\n')
  // Names mean others in other directories, and a grid can be named as anything.
  for (const [name, text] of Object.entries({
    'a/sales.csv': 'x,t\n1,2024-01-01T10:00:00Z\n',
    'a/q.sql': 'select x, t from sales',
    'b/sales.csv': 'u,v\n1,2\n',
    'b/r.sql': 'select u from sales',
    'c/x/sales.csv': 'x\n1\n',
    'c/s.sql': 'select x from "x/sales"',
    'd/x.csv': 'u\n1\n',
    'd/t.sql': 'select u from x',
    'e/result.csv': 'x\n1\n',
    'e/u.sql': 'select x from result',
    'e/e.board.yml': 'title: e\nrows:\n  - table: result\n  - table: ../a/sales\n',
  }))
    write(name, text)
  expect(await dryRun()).toEqual({ code: 0, stderr: [] })
  write('best.sql', FILES['best.sql'].replace('warmest', 'tmp'))
  write('charts/years.chart.yml', 'grid: years\ntype: line\nx: day\ny: warm\n')
  write('charts/derived.chart.yml', 'grid: ../warm\ntype: bar\nx: country\ny: warm\n')
  write('other.board.yml', 'rows:\n  - { number: readings, value: max:tmp }\n')
  write('typo.board.yml', 'rows:\n  - { table: warm, limti: 3 }\n')
  write('filter.board.yml', 'filters: [contry]\nrows:\n  - { plot: charts/temp }\n  - { table: warm }\n')
  const { code, stderr } = await dryRun()
  expect(code).toBe(8)
  for (const said of [
    /best\.sql: .*no column is named "tmp"/,
    /years\.chart\.yml: --y warm/,
    /derived\.chart\.yml: --y warm: the grid .*Columns: country, warmest/,
    /other\.board\.yml: row 1, item 1: readings has no column "tmp"\. Did you mean temp\?/,
    /typo\.board\.yml: row 1, item 1: "limti" is not known\. Did you mean limit\?/,
    /filter\.board\.yml: filters: no grid of the board has a column "contry"\. Did you mean country\?/,
  ])
    expect(stderr).toContainEqual(expect.stringMatching(said))
})

it('what failed is not replaced by another file of its name, and a dry run finds what new data breaks', async () => {
  const { run, write, rows } = place()
  write('../warm.csv', 'country,warmest\nFrance,40\n')
  await run('upload', 'warm.csv')
  write('warm.sql', FILES['warm.sql'].replace('temp', 'tmp'))
  write('charts/warm.chart.yml', 'grid: warm\ntype: bar\nx: country\ny: warmest\n')
  for (const args of [['--dry-run'], []]) {
    const { code, stderr } = await run('upload', 'weather', ...args)
    expect([code, stderr]).toEqual([
      8,
      expect.stringMatching(/warm\.sql: .*tmp[\s\S]*warm\.chart\.yml: the file of warm failed/),
    ])
    expect(stderr).toContain('best.sql: the file of warm failed')
  }
  write('warm.sql', FILES['warm.sql'].replace('max(temp)', 'max(temp + 1)'))
  await rows('upload', 'weather', '--on-conflict', 'replace')
  write('readings.csv', FILES['readings.csv'].replace('18', 'warm'))
  const { code, stderr } = await run('upload', 'weather', '--on-conflict', 'replace', '--dry-run')
  expect([code, stderr]).toEqual([8, expect.stringMatching(/warm\.sql: .*does not take/)])
})

it('a query that drops columns needs --yes, in dry runs and plans, too, and if its grids change as well', async () => {
  const { run, write } = copyOfUploaded()
  write('warm.sql', FILES['warm.sql'].replace('warmest', 'top').replace('warmest', 'top'))
  write('best.sql', 'select country, top from warm where top > 5\n')
  for (const isDataNew of [false, true]) {
    if (isDataNew) write('readings.csv', FILES['readings.csv'].replace('18', '19'))
    for (const more of [['--dry-run'], ['--plan', 'plan.json'], []]) {
      const { code, stderr } = await run('upload', 'weather', '--on-conflict', 'replace', ...more)
      expect([more, code, stderr]).toEqual([
        more,
        8,
        expect.stringMatching(/warm\.sql: .*lacks a column of 'warm', which would be lost: warmest/),
      ])
    }
  }
  const planned = await run('upload', 'weather', '--on-conflict', 'replace', '--yes', '--plan', 'plan.json')
  const applied = await run('apply', 'plan.json')
  expect([planned.code, applied.code, applied.stderr]).toEqual([0, 0, ''])
  const derive = ['derive', 'weather/warm', '--sql', 'select 1 as one', '--on-conflict', 'replace']
  const codes: (number | null)[] = []
  for (const more of [['--dry-run'], [], ['--dry-run', '--yes'], ['--yes']])
    codes.push((await run(...derive, ...more)).code)
  expect(codes).toEqual([6, 6, 0, 0])
})

itLong('plot options writes a chart file that makes the same chart', async () => {
  const { cwd, run, rows } = copyOfUploaded()
  await run(
    'plot',
    'create',
    '--grid',
    'weather/readings',
    '--type',
    'line',
    '--x',
    'day',
    '--y',
    'temp',
    '--by',
    'city',
  )
  const written = await run('plot', 'options', 'weather/readings line', '-o', 'weather/again.chart.yml')
  expect([written.code, written.stdout]).toEqual([0, ''])
  expect(readFileSync(join(cwd, 'weather/again.chart.yml'), 'utf8')).toBe(
    FILES['charts/temp.chart.yml'].replace('[temp]', 'temp').replace('type:', 'name: readings line\ntype:'),
  )
  expect(await rows('upload', 'weather')).toContain('weather/readings line unchanged')
})

itLong('--exclude keeps what a definition made', async () => {
  const { cwd, rows } = copyOfUploaded()
  rmSync(join(cwd, 'weather/charts/temp.chart.yml'))
  rmSync(join(cwd, 'weather/board.yml'))
  const kept = await rows('upload', 'weather', '--delete', '--exclude', '*.yml')
  expect(kept.filter((row) => !row.endsWith('unchanged'))).toEqual([])
})

/** Rows that are not unchanged. */
const changes = (rows: readonly string[]): string[] =>
  rows.filter((row) => !/(?:unchanged|nothing|follow)$/.test(row))

it('--delete trashes only what a file of this directory has made, and no grid that is still named', async () => {
  const { cwd, run, rows, write } = copyOfUploaded()
  await run('cp', 'weather/charts/temp', 'weather/charts')
  await run('rename', 'weather/charts/temp', 'Renamed by hand')
  expect(changes(await rows('upload', 'weather', '--delete', '--include', '*.csv', '--dry-run'))).toEqual([])
  expect(
    changes(
      await rows('upload', 'weather', '--delete', '--exclude', '*.yml', '--exclude', '*.sql', '--dry-run'),
    ),
  ).toEqual([])
  expect(changes(await rows('upload', 'weather', '--delete', '--dry-run'))).toEqual([
    'weather/charts/temp create',
    'weather/Weather report replace',
  ])
  await rows('upload', 'weather', '--delete')
  // A chart that the board names has no file any more: nothing goes.
  rmSync(join(cwd, 'weather/charts/temp.chart.yml'))
  for (const args of [['--dry-run'], []]) {
    const refused = await run('upload', 'weather', '--delete', ...args)
    expect([refused.code, refused.stderr]).toEqual([
      8,
      expect.stringContaining('board.yml: row 1, item 1: charts/temp has no file'),
    ])
  }
  write('charts/temp.chart.yml', FILES['charts/temp.chart.yml'])
  // So has a grid that a query reads.
  rmSync(join(cwd, 'weather/cities.csv'))
  expect((await run('upload', 'weather', '--delete', '--yes')).stderr).toContain(
    'warm.sql: cities has no file',
  )
  expect((await run('ls', 'weather', '--jq', '[.[].filename]')).stdout).toContain('cities')
  // Without its data, a directory empties no folder.
  rmSync(join(cwd, 'weather/readings.csv'))
  expect(await run('upload', 'weather', '--delete', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no data files'),
  })
  // Another directory with copies is another mirror.
  write('../other/a.csv', 'n\n1\n')
  await run('upload', 'other')
  await run('cp', 'weather/charts/temp', 'other')
  expect(changes(await rows('upload', 'other', '--delete'))).toEqual([])
})

it('queries read the grids of the directory, in whatever order, also if these are new', async () => {
  const { run, rows, write } = place()
  write('../src.csv', 'x\n1\n')
  write('../aa.csv', 'x\n-5\n')
  await run('upload', 'src.csv')
  await run('upload', 'aa.csv')
  write('../late/tot.sql', 'select sum(x) as s from src\n')
  await rows('upload', 'late')
  expect((await run('cat', 'late/tot')).stdout).toBe('s\n1\n')
  write('../late/src.csv', 'x\n1000\n')
  expect(await rows('upload', 'late', '--on-conflict', 'replace')).toEqual([
    'late/src created',
    'late/tot replaced',
  ])
  expect((await run('cat', 'late/tot')).stdout).toBe('s\n1000\n')
  // The names of the other are in both: one is made again.
  write('../ord/data.csv', 'x\n1\n2\n')
  write('../ord/aa.sql', 'select x + 100 as x, 1 as bb from data -- compare with bb\n')
  write('../ord/bb.sql', 'select sum(x) as s from aa\n')
  expect((await run('upload', 'ord')).code).toBe(0)
  expect((await run('cat', 'ord/bb')).stdout).toBe('s\n203\n')
  // A plan applies a query to the data of the plan.
  write('../ord/data.csv', 'x\n5\n')
  write('../ord/bb.sql', 'select max(x) as s from aa\n')
  await rows('upload', 'ord', '--delete', '--plan', 'plan.json')
  await rows('apply', 'plan.json')
  expect((await run('cat', 'ord/bb')).stdout).toBe('s\n105\n')
})

itLong('files that are no definitions, and wrong ones, do not hold up the others', async () => {
  const { run, rows, write } = place()
  write('../mix/data.csv', 'x,old\n1,2\n')
  write('../mix/dump.sql', '-- a dump\ncreate table t (a int);\n')
  write('../mix/broken.chart.yml', 'grid: [\n')
  write('../mix/one.sql', 'select x from two\n')
  write('../mix/two.sql', 'select x from one\n')
  write('../mix/circle.board.yml', 'rows: &a\n  - items: *a\n')
  write('../mix/deep.board.yml', `rows: ${'['.repeat(100_000)}`)
  write('../mix/version.chart.yml', 'grid: data@1\n')
  write('../mix/wrong.board.yml', 'rows: [{ plot: data }]\n')
  write('../mix/far.chart.yml', 'grid: data\ntheme: ../../secret.json\n')
  const { code, stdout, stderr } = await run('upload', 'mix')
  expect([code, stdout]).toEqual([8, expect.stringContaining('mix/data')])
  expect(stderr).toContain('not data or queries: mix/dump.sql')
  for (const said of [
    'broken.chart.yml: ',
    'the query reads its own grid: mix/one.sql → mix/two.sql → mix/one.sql',
    'circle.board.yml: a value contains itself',
    'deep.board.yml: ',
    'version.chart.yml: data@1: a version cannot be used here',
    'wrong.board.yml: row 1, item 1: ',
    'theme: ../../secret.json is outside of the directory',
  ])
    expect(stderr).toContain(said)
  expect(await rows('upload', 'mix/dump.sql').catch(() => ['refused'])).toEqual(['refused'])
  write('../one/q.sql', 'select 1 as n\n')
  expect(await rows('upload', 'one/q.sql', '--name', 'other')).toEqual(['other created'])
  write('../nf/a.csv', 'x\n1\n')
  write('../nf/c.chart.yml', `name: ${'Café'.normalize('NFD')}\ngrid: a\ntype: bar\n`)
  await rows('upload', 'nf')
  write('../nf/c.chart.yml', `name: ${'Café'.normalize('NFC')}\ngrid: a\ntype: bar\n`)
  expect(changes(await rows('upload', 'nf', '--delete'))).toEqual([])
})

it('a review draws charts and boards of columns that only its drafts have, and names files that are gone', async () => {
  const { cwd, run, write } = copyOfUploaded()
  write('readings.csv', FILES['readings.csv'].replaceAll(/,(\d+)$/gm, ',$1,7').replace('temp', 'temp,rain'))
  write('rain.chart.yml', 'grid: readings\ntype: line\nx: day\ny: rain\nby: city\n')
  write('board.yml', FILES['board.yml'].replace('max:temp', 'sum:rain').replace('charts/temp', 'rain'))
  rmSync(join(cwd, 'weather/charts/temp.chart.yml'))
  const { code, stdout, stderr } = await run('review', 'weather', '--draft', 'pr-2', '--format', 'md')
  expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^### Gridline: 1 data file, 1 chart, 1 board changed, 1 file removed/)
  expect(stdout).toContain('has no file any more')
  write('rain.chart.yml', 'grid: readings\ny: rian\n')
  const failed = await run('review', 'weather', '--draft', 'pr-2', '--format', 'md')
  expect([failed.code, failed.stdout]).toEqual([7, expect.stringContaining('2 files have errors')])
})

it('a review says which options of a chart differ, and how many items of a board', async () => {
  const { run, write } = copyOfUploaded()
  write('charts/temp.chart.yml', 'grid: readings\ntype: bar\nx: day\ny: [temp]\nby: city\ntitle: "*Warm*"\n')
  write(
    'board.yml',
    FILES['board.yml'].replace("value: 'max:temp'", "value: 'min:temp'").replace('  - table: best.sql\n', ''),
  )
  const { stdout } = await run('review', 'weather', '--draft', 'pr-3', '--json')
  const reasons = (JSON.parse(stdout) as { reason?: string }[]).flatMap(({ reason }) => reason ?? [])
  expect(reasons).toEqual(['type: line → bar, title: *Warm* (new)', '1 item changed, 1 item removed'])
  const markdown = (await run('review', 'weather', '--draft', 'pr-3', '--format', 'md')).stdout
  // Markdown of a title is text.
  expect(markdown).toMatch(/title: \\\*Warm\\\*/)
})

it('a review makes drafts of what differs, with all that follows from it', async () => {
  const { cwd, run, write, rows } = copyOfUploaded()
  write('readings.csv', FILES['readings.csv'].replace('27', '35'))
  write('new.csv', 'city,n\nOslo,1\n')
  write('newer.sql', 'select city, n * 2 as twice from new\n')
  write('charts/newer.chart.yml', 'grid: newer\ntype: bar\nx: city\ny: twice\n')
  const review = async (): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await run('review', 'weather', '--draft', 'pr-1', '--json')
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    const list = JSON.parse(stdout) as { file: string; state: string }[]
    return Object.fromEntries(list.map(({ file, state }) => [file.replace('weather/', ''), state]))
  }
  expect(await review()).toEqual({
    'cities.csv': 'unchanged',
    'readings.csv': 'changed',
    'new.csv': 'new',
    'newer.sql': 'new',
    'warm.sql': 'changed',
    'best.sql': 'changed',
    'charts/temp.chart.yml': 'unchanged',
    'charts/newer.chart.yml': 'new',
    'board.yml': 'changed',
  })
  // What is published has not changed.
  expect((await run('cat', 'weather/best')).stdout).toBe('country,warmest\nItaly,28\n')
  expect((await run('cat', 'weather/best@pr-1')).stdout).toBe('country,warmest\nItaly,35\n')
  expect((await run('cat', 'Drafts/pr-1/weather/newer')).stdout).toBe('city,twice\nOslo,2\n')
  expect((await run('ls', 'weather/charts', '--jq', '[.[].filename]')).stdout).toBe('["temp"]\n')
  const { stdout: markdown } = await run('review', 'weather', '--draft', 'pr-1', '--format', 'md')
  expect(markdown).toMatch(/^### Gridline: 2 data files, 3 derived grids, 1 chart, 1 board changed/)
  expect(markdown).toMatch(
    /\| \[Weather report\]\(\S+version=pr-1\) \(board\) \| !\[before\]\(\S+\) \| !\[after\]\(\S+\) \|/,
  )
  expect(markdown).toMatch(/\| \[newer\]\(\S+\) \| new \| !\[after\]/)
  expect(markdown).toMatch(/\| \[temp\]\(\S+\) \| !\[before\]\(\S+\) \| !\[after\]/)
  // The next run has only what differs then.
  for (const name of ['new.csv', 'newer.sql', 'charts/newer.chart.yml']) rmSync(join(cwd, 'weather', name))
  write('readings.csv', FILES['readings.csv'])
  expect(new Set(Object.values(await review()))).toEqual(new Set(['unchanged']))
  const again = await run('review', 'weather', '--draft', 'pr-1', '--json')
  expect(again.stdout).not.toContain('version=')
  expect((await run('draft', 'list', '--json')).stdout).toBe('[]\n')
  expect((await run('lookup', 'Drafts')).code).not.toBe(0)
  expect((await rows('upload', 'weather')).every((row) => row.endsWith('unchanged'))).toBe(true)
})
