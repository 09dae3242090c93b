// `gridline board` and `gridline derive`: pages and grids that follow others.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const home = join(folder.path, 'home')
const run = (...args: string[]) => gridline(args, { home, cwd: folder.path })
const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text)

const REPORT = `title: Sales report
rows:
  - text: |
      # How much?
  - - plot: sold
      title: Per city
    - { number: sales, value: 'sum:amount', width: 2 }
  - height: 300 # with a comment
    items: [{ table: totals, columns: 'city, amount' }]
`

describe('tables and boards made of grids', () => {
  it('all derived grids follow before a command ends, also those of derived grids', async () => {
    const chain = join(folder.path, 'chain')
    mkdirSync(chain)
    const go = (...args: string[]) => gridline(args, { home: chain, cwd: folder.path })
    write('first.csv', 'k,v\na,1\n')
    write('second.csv', 'k,v\nb,2\n')
    await go('upload', 'first.csv', '--name', 'source')
    for (const name of ['d1', 'd2', 'd3'])
      await go('derive', name, '--sql', `select count(*) as n, '${name}' as d from source`)
    await go('derive', 'e1', '--sql', 'select n + 1 as m from d3')
    await go('derive', 'e2', '--sql', 'select m + 1 as l from e1')
    expect((await go('append', 'source', 'second.csv')).code).toBe(0)
    const last = async (name: string) => (await go('cat', name)).stdout.trim().split('\n').at(-1)
    expect(await Promise.all(['d1', 'd2', 'd3', 'e1', 'e2'].map(last))).toEqual([
      '2,d1',
      '2,d2',
      '2,d3',
      '3',
      '4',
    ])
  })

  it('a derived grid follows its input without a server, and says when it cannot', async () => {
    mkdirSync(home)
    write('sales.csv', 'city,amount\nOslo,1\nRome,2\nOslo,5\n')
    await run('upload', 'sales.csv')
    const sql = 'select city, sum(amount) as amount from sales group by city order by city'
    const made = await run('derive', 'Reports/totals', '--sql', sql, '--json')
    expect([made.code, JSON.parse(made.stdout)]).toEqual([
      0,
      expect.objectContaining({
        action: 'created',
        state: 'current',
        inputs: [{ table: 'sales', fid: expect.any(String), version: null }],
      }),
    ])
    await run('append', 'sales', '--row', 'Bern,7')
    expect((await run('cat', 'Reports/totals')).stdout).toBe('city,amount\nBern,7\nOslo,6\nRome,2\n')
    expect((await run('history', 'Reports/totals')).stdout).toContain('refresh')
    expect((await run('sources', 'sales')).stdout).toContain('derived grids')
    expect(await run('append', 'Reports/totals', '--row', 'X,1')).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/gridline derive \S+:\d+ --remove/),
    })
    await run('trash', 'sales')
    const stale = JSON.parse((await run('derive', 'Reports/totals', '--json')).stdout)
    expect([stale.state, stale.error.detail]).toEqual(['stale', expect.stringContaining('in the trash')])
    const warning = expect.stringMatching(
      /totals is stale since \d{4}-\d\d-\d\d \d\d:\d\d UTC: its refreshes fail\n$/,
    )
    for (const args of [
      ['cat', 'Reports/totals'],
      ['cat', 'Reports/totals', '--group', 'city', '--sum', 'amount'],
      ['query', 'select * from "Reports/totals"'],
    ])
      expect([args, await run(...args)]).toEqual([
        args,
        { code: 0, stdout: expect.anything(), stderr: warning },
      ])
    expect(await run('cat', 'Reports/totals@1')).toMatchObject({ code: 0, stderr: '' })
    expect((await run('show', 'Reports/totals')).stdout).toMatch(/\t\d{4}-\S+Z\n$/)
    await run('restore', 'sales')
    expect(await run('cat', 'Reports/totals')).toMatchObject({ code: 0, stderr: '' })
    expect((await run('derive', 'Reports/totals', '--json', 'state')).stdout).toBe('{"state":"current"}\n')
    for (const [args, said] of [
      [['derive', 'sales'], 'this grid is not derived'],
      [['derive', 'x', '--sql', 'select 1', '--remove'], '--remove cannot be used with'],
      [['derive', 'x', '--folder', 'y'], '--folder can only be used with --sql or --file'],
      [['derive', 'sales', '--sql', 'select 1 as a'], 'already exists'],
    ] as const)
      expect([args, (await run(...args)).stderr]).toEqual([args, expect.stringContaining(said)])
    expect((await run('derive')).stdout).toMatch(/\ttotals\tcurrent\t.*\tsales \(/)
    await run('mv', 'Reports/totals', '/')
  })

  it('a board is made from a file, and the same file is pulled', async () => {
    await run(
      'plot',
      'create',
      '--grid',
      'sales',
      '--type',
      'bar',
      '--x',
      'city',
      '--y',
      'amount',
      '--aggregate',
      'sum',
      '--name',
      'sold',
    )
    write('report.yml', REPORT)
    const made = await run('board', 'create', 'report.yml', '--public', '--json')
    expect(JSON.parse(made.stdout)).toMatchObject({
      filename: 'Sales report',
      action: 'created',
      filetype: 'dashboard',
    })
    const again = await run('board', 'create', 'report.yml', '--on-conflict', 'replace')
    expect(again.stderr).toMatch(
      /not all readers of the board can see sold .*sales .*totals .*To show them on the board: gridline share/,
    )
    expect((await run('board', 'pull', 'Sales report')).stdout).toBe(REPORT)
    write('report.yml', REPORT.replace('How much?', 'How little?'))
    expect(await run('board', 'create', 'report.yml')).toMatchObject({ code: 6 })
    const replaced = JSON.parse(
      (await run('board', 'create', 'report.yml', '--on-conflict', 'replace', '--json')).stdout,
    )
    expect([replaced.fid, replaced.action]).toEqual([JSON.parse(made.stdout).fid, 'replaced'])
    await run('board', 'pull', 'Sales report', '-o', 'pulled.yml')
    expect(readFileSync(join(folder.path, 'pulled.yml'), 'utf8')).toBe(REPORT.replace('much', 'little'))
    expect((await run('ls')).stdout).toMatch(/Sales report\tboard/)
    expect((await run('sources', 'sold')).stdout).toMatch(/^boards\t\S+\tSales report$/m)
    expect((await run('sources', 'Sales report')).stdout).toMatch(/^items\t\S+\tsold$/m)
    const shown = expect.stringContaining('these boards show it: Sales report')
    const rename = ['column', 'rename', 'sales', 'amount', 'total', '--dry-run']
    expect((await run(...rename)).stderr).toEqual(shown)
    for (const flags of [['--dry-run'], []])
      expect((await run('trash', 'sold', ...flags)).stderr).toEqual(shown)
    await run('restore', 'sold')
  })

  it('a wrong board file is refused with the place', async () => {
    for (const [text, said] of [
      ['rows: [', 'wrong.yml'],
      ['a: 1', 'expected rows, a list'],
      ['rows: []\nfilter: x', 'filter is none of title, filters, rows'],
      ['rows: [{ plot: nope }]', 'row 1, item 1: no plot at nope'],
      ['rows: [[{ text: a }, { table: sold }]]', 'row 1, item 2: sold is a plot, not a grid'],
      [
        'rows: [{ number: sales, value: amount }]',
        'wrong.yml: row 1, item 1: value: "amount" is not a function',
      ],
      ['title: Sales: overview\nrows: []', 'A text with a colon is in quotes'],
      ['rows: [text]', 'expected plot, table, number or text'],
      [`a: &a [x, x]\nb: &b [${'*a,'.repeat(200)}]\nrows: [${'*b,'.repeat(200)}]`, 'wrong.yml'],
    ] as const) {
      write('wrong.yml', text)
      const { code, stderr } = await run('board', 'create', 'wrong.yml', '--name', 'wrong')
      expect([text, code === 0, stderr]).toEqual([text, false, expect.stringContaining(said)])
    }
  })

  it('board auto proposes a board with reasons, and what it writes can be uploaded', async () => {
    const days = Array.from({ length: 40 }, (_, k) => `2024-01-${String((k % 20) + 1).padStart(2, '0')}`)
    const lines = days.map((day, k) => `${day},${['north', 'south'][k % 2]},${k},${20 + (k % 5)}`)
    write('shop.csv', `day,region,sold,price\n${lines.join('\n')}\n`)
    const { stdout } = await run('board', 'auto', 'shop.csv', '--json')
    const proposal = JSON.parse(stdout) as { shows: string; why: string }[]
    expect(proposal.map(({ shows }) => shows)).toEqual([
      'text',
      'number of rows, sum of sold, mean of price',
      'line of sold by day',
      'bars of sold by region',
      'points of sold and price',
      'table of 10 rows',
      'filter by region',
    ])
    expect(proposal[2].why).toBe(
      'day has dates or years; region has 2 values, which become series; the sum per day',
    )
    expect((await run('board', 'auto', 'shop.csv', '-o', 'shop')).stderr).toContain('gridline upload shop')
    expect(readFileSync(join(folder.path, 'shop/board.yml'), 'utf8')).toContain(
      'sold: amounts add up, so the sum',
    )
    const uploaded = await run('upload', 'shop', '--json')
    const made = (JSON.parse(uploaded.stdout) as { action: string }[]).map(({ action }) => action)
    expect([uploaded.code, made]).toEqual([0, Array.from({ length: 5 }, () => 'created')])
    // Nothing is replaced, and nothing is written beside what exists.
    write('shop/extra.txt', '')
    expect((await run('board', 'auto', 'shop.csv', '-o', 'shop')).stderr).toContain(
      'shop/board.yml: exists already',
    )
    const stored = await run('board', 'auto', 'shop/shop', '-o', 'again')
    expect([stored.code, (await run('upload', 'again')).code]).toEqual([0, 0])
    // Ambiguous dates cannot be an axis: that chart is not proposed.
    write('odd.csv', 'day,v\n01/02/2024,1\n02/02/2024,2\n01/02/2024,3\n')
    await run('board', 'auto', 'odd.csv', '-o', 'odd')
    expect((await run('upload', 'odd')).code).toBe(0)
    expect((await run('board', 'auto', 'odd.csv', '-o', 'x', '--column', 'day:date-dmy')).code).toBe(2)
    expect((await run('board', 'auto', 'odd.csv', '-o', 'x.yml')).stderr).toContain('board auto odd.csv -o x')
  })
})
