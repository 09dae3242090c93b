// `gridline query`: grids and local files in SQL.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { gridline, start } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

/** Creates a folder with files; commands in it work without a server. */
function place(name: string, files: Record<string, string>) {
  const cwd = join(folder.path, name)
  const home = join(cwd, '.home')
  mkdirSync(cwd)
  for (const [path, content] of Object.entries(files)) writeFileSync(join(cwd, path), content)
  return { home, run: (args: string[], stdin?: string) => gridline(args, { home, cwd, stdin }) }
}

it('grids and local files are queried together, in all formats', async () => {
  const { run } = place('query', {
    'sales.csv': 'city,day,price\nOslo,2024-01-05,1.5\nRome,2024-01-09,2\nOslo,2024-02-01,30\n',
    "it's.csv": 'city,land\nOslo,NO\nBern,CH\n',
    'q.sql': "select count(*) as n from sales where day >= $day -- don't count others\n",
  })
  await run(['upload', 'sales.csv'])
  const sql = (text: string, ...more: string[]) => run(['query', text, ...more])
  expect((await sql('select city, sum(price) as p from sales group by city order by p')).stdout).toBe(
    'city,p\nRome,2\nOslo,31.5\n',
  )
  expect((await run(['query', '--file', 'q.sql', '--param', 'day=2024-01-09'])).stdout).toBe('n\n2\n')
  expect((await sql('select 1e400 as d, 1 as n')).stdout).toBe('d,n\n,1\n')
  expect((await sql("select '-infinity'::date as d")).stdout).toBe('d\n-infinity\n')
  const joined = `select land, price from "sales" join 'it''s.csv' using (city) order by 2`
  expect((await sql(joined)).stdout).toBe('land,price\nNO,1.5\nNO,30\n')
  expect((await sql(joined, '--format', 'table')).stdout).toBe('land  price\nNO      1.5\nNO       30\n')
  expect(JSON.parse((await sql(joined, '--json')).stdout).cols.price.data).toEqual([1.5, 30])
  expect((await sql(joined, '--jq', '.price')).stdout).toBe('1.5\n30\n')
  // A text that is no table does not make a query local.
  expect((await sql("select replace(city, 'o', '-') as r from sales limit 1")).stdout).toBe('r\nOsl-\n')
  const piped = await run(['query', "select count(*) as n from '-'"], 'a\n1\n2\n')
  expect(piped.stdout).toBe('n\n2\n')
  expect((await sql('select $a as a', '--param', 'a=9007199254740993')).stdout).toBe('a\n9007199254740993\n')
  expect(
    (
      await sql(
        joined.replace('price', 'sum(price) as p').replace('order by 2', 'group by land'),
        '--plot',
        'bar',
      )
    ).stdout,
  ).toContain('NO')
  await sql(joined, '-o', 'joined.csv')
  expect((await run(['cat', 'joined.csv'])).stdout).toBe('land,price\nNO,1.5\nNO,30\n')
  for (const [args, code, said] of [
    [['select * from nope'], 3, 'no grid is named nope. A table is the path'],
    [['select * from nope'], 3, 'Your grids: sales.'],
    [["from 'salse.csv'"], 3, 'no grid and no file is named salse.csv. Did you mean sales.csv?'],
    [['select count(*) from sales.csv'], 3, "sales.csv is a file. Name it in single quotes: 'sales.csv'"],
    [['select $a'], 2, 'parameter $a has no value. Give it with: --param a=VALUE'],
    [['select :a'], 2, 'a parameter is written $name'],
    [['--file', 'nope.sql'], 3, 'no file nope.sql'],
    [['q.sql'], 2, 'For the query in a file: --file q.sql'],
    [['--file', 'q.sql', '--param', 'day=March'], 2, 'q.sql: parameter $day: "March" is not a date, such as'],
    [['selec'], 2, 'syntax error at or near "selec". Did you mean SELECT?'],
    [['select * from In/sales'], 2, 'write a path as "In/sales", in double quotes'],
    [['select s.prize from sales s'], 7, '"s" has no column "prize". Did you mean price?'],
    [['select date_trunc($$day$$, city) from sales'], 2, 'date_trunc does not take (text, text)'],
    [['select sumn(price) from sales'], 2, 'no function is named sumn. Did you mean sum?'],
    [[], 2, 'the query is missing'],
    [['select 1', '--file', 'q.sql'], 2, 'not both'],
    [['select 1', '--param', 'x'], 2, 'expected NAME=VALUE'],
    [['select 1', '--output', 'x.png'], 2, 'the extension must be one of'],
    [['select 1', '--x', 'a'], 2, '--x can only be used with --plot'],
    [['select * from sale'], 3, 'Did you mean sales?'],
    [['select 1', '--delimiter', ';'], 2, 'local data file'],
  ] as const) {
    const { code: exit, stderr } = await run(['query', ...args])
    expect([args, exit, stderr]).toEqual([args, code, expect.stringContaining(said)])
  }
}, 200_000)

it.runIf(process.platform === 'linux')(
  'a query ends with the command that began it',
  async () => {
    const { home } = place('query-killed', {})
    const sql =
      'with recursive r(n) as (select 1::bigint union all select n + 1 from r where n < 1e15) select max(n) from r'
    const command = start(['query', sql], { home })
    const started = await vi.waitFor(
      () => {
        const pid = findQueryProcess(command.pid!)
        if (pid === undefined) throw new Error('there is no query process yet')
        return pid
      },
      { timeout: 60_000 },
    )
    command.kill('SIGKILL')
    await vi.waitFor(
      () => {
        if (readdirSync('/proc').includes(String(started))) throw new Error('it still runs')
      },
      { timeout: 60_000 },
    )
  },
  40_000,
)

/** Returns the id of the query process of a command. */
function findQueryProcess(parent: number): number | undefined {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(join('/proc', pid, 'stat'), 'utf8')
      const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      if (isChild && readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes('query-process'))
        return Number(pid)
    } catch {
      // It has ended.
    }
  }
  return undefined
}
