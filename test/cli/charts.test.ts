// Charts from the command line: of grids, of figures, as images.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Ended, gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const file = (name: string, content: string): void => writeFileSync(join(folder.path, name), content)

function home(name: string) {
  const path = join(folder.path, name)
  mkdirSync(path)
  const run = (...args: string[]): Promise<Ended> => gridline(args, { home: path, cwd: folder.path })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  const json = async (...args: string[]): Promise<any> => JSON.parse((await run(...args, '--json')).stdout)
  return { run, json }
}

file('sales.csv', 'date,city,price,cost\n2024-01-01,Oslo,10,4\n2024-01-02,Rome,14,5\n')
file('more.csv', 'date,city,price,cost\n2024-01-03,Oslo,12,6\n')
file('decimal.csv', 'day;price\n1;"1,5"\n2;"2,5"\n')
const figure = (y: number[]) =>
  JSON.stringify({ data: [{ type: 'bar', y }], layout: { title: { text: 't' } } })
file('one.json', figure([1, 2]))
file('two.json', figure([3, 4]))
file('list.json', '[1, 2]')

describe('upload --plot', () => {
  const { run, json } = home('upload')
  const chart = ['--plot', 'line', '--x', 'date', '--y', 'price,cost', '--title', 'Sales']

  it('makes a grid and a chart of its columns, and prints the link of the chart', async () => {
    const made = await json('upload', 'sales.csv', ...chart)
    expect([made.length, made[0].filetype, made[0].filename]).toEqual([1, 'plot', 'sales line'])
    const { cols } = await json('show', 'sales')
    const uids = Object.fromEntries(cols.map(({ name, uid }: { name: string; uid: string }) => [name, uid]))
    const grid = made[0].grid_fid
    expect(made[0].figure).toEqual({
      data: ['price', 'cost'].map((name) => ({
        name,
        xsrc: `${grid}:${uids.date}`,
        ysrc: `${grid}:${uids[name]}`,
        type: 'scatter',
        mode: 'lines',
      })),
      layout: { title: { text: 'Sales' }, xaxis: { title: { text: 'date' } }, showlegend: true },
    })
  })

  it('run again, it updates the same chart at the same link', async () => {
    const [before] = await json('plot', 'show', 'sales line')
    const [replaced] = await json('upload', 'sales.csv', ...chart, '--on-conflict', 'replace')
    const [appended] = await json(
      'upload',
      'more.csv',
      '--name',
      'sales',
      ...chart,
      '--on-conflict',
      'append',
    )
    expect([replaced.fid, appended.fid, appended.action]).toEqual([before.fid, before.fid, 'appended'])
    expect([replaced.web_url, appended.figure]).toEqual([before.web_url, before.figure])
    const { data } = await json('plot', 'data', 'sales line', '--inline')
    expect(data[0].y).toEqual([10, 14, 12])
    expect((await run('upload', 'sales.csv', ...chart)).code).toBe(6)
  })

  it('a column of text is refused with the reason, before and after an upload', async () => {
    const { code, stderr } = await run('upload', 'decimal.csv', '--plot', 'bar', '--x', 'day', '--y', 'price')
    expect(code).toBe(2)
    expect(stderr).toContain('the column holds text values, not numbers (decimal commas, for example "1,5")')
    expect((await run('plot', 'create', '--grid', 'sales', '--type', 'bar', '--y', 'city')).stderr).toContain(
      'Columns of numbers: price, cost.',
    )
  })

  it('options of charts need --plot', async () => {
    const { code, stderr } = await run('upload', 'more.csv', '--y', 'price')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--y can only be used with --plot')])
  })
})

describe('plot create --grid', () => {
  const { run, json } = home('grid')

  it('makes every type of chart', async () => {
    await run('upload', 'sales.csv')
    const types: [string, string[], object][] = [
      [
        'scatter',
        ['--color', 'cost', '--size', 'cost', '--text', 'city'],
        { type: 'scatter', mode: 'markers' },
      ],
      ['line', [], { type: 'scatter', mode: 'lines' }],
      ['bar', [], { type: 'bar' }],
      ['area', [], { type: 'scatter', fill: 'tozeroy' }],
      ['box', [], { type: 'box' }],
      ['violin', [], { type: 'violin' }],
      ['histogram', [], { type: 'histogram' }],
      ['heatmap', ['--color', 'cost'], { type: 'heatmap' }],
      ['pie', [], { type: 'pie' }],
    ]
    for (const [type, more, trace] of types) {
      const made = await json(
        'plot',
        'create',
        '--grid',
        'sales',
        '--type',
        type,
        '--x',
        'city',
        '--y',
        'price',
        ...more,
      )
      expect(made.figure.data[0]).toMatchObject(trace)
      expect(made.filename).toBe(`sales ${type}`)
      // Only references: the chart changes with the grid.
      expect(made.grid_fid).toBeNull()
    }
    const matrix = await json(
      'plot',
      'create',
      '--grid',
      'sales',
      '--type',
      'heatmap',
      '--x',
      'city',
      '--y',
      'price,cost',
      '--name',
      'm',
    )
    expect((await json('plot', 'data', 'm', '--inline')).data[0]).toMatchObject({
      y: ['Oslo', 'Rome'],
      z: [
        [10, 4],
        [14, 5],
      ],
    })
    expect(matrix.figure.layout.xaxis.ticktext).toEqual(['price', 'cost'])
  })

  it('a misspelled column is named with the one that was meant', async () => {
    const { code, stderr } = await run(
      'plot',
      'create',
      '--grid',
      'sales',
      '--type',
      'bar',
      '--x',
      'ctiy',
      '--y',
      'price',
    )
    expect([code, stderr]).toEqual([2, expect.stringContaining('Did you mean city?')])
  })
})

describe('plot create with figures', () => {
  const { run, json } = home('figures')

  it('several figures give a report; a replaced plot keeps its id, its data grid and the uids', async () => {
    const first = await json('plot', 'create', 'one.json', 'two.json')
    const grids = await Promise.all(first.map(({ grid_fid }: { grid_fid: string }) => json('show', grid_fid)))
    file('one.json', figure([7, 8, 9]))
    const { code, stdout, stderr } = await run(
      'plot',
      'create',
      'one.json',
      'list.json',
      'two.json',
      '--on-conflict',
      'replace',
      '--json',
    )
    expect([code, stderr]).toEqual([8, expect.stringContaining('list.json')])
    const second = JSON.parse(stdout)
    expect(second.map(({ fid, action }: { fid: string; action: string }) => [fid, action])).toEqual(
      first.map(({ fid }: { fid: string }) => [fid, 'replaced']),
    )
    expect((await json('show', first[0].grid_fid)).cols).toEqual(grids[0].cols)
    expect((await json('plot', 'data', 'one', '--inline')).data[0].y).toEqual([7, 8, 9])
    expect((await json('ls', '--all')).length).toBe(4)
  })

  it('rename makes another plot; a grid of that name is never replaced', async () => {
    expect((await json('plot', 'create', 'one.json', '--on-conflict', 'rename')).filename).toBe('one (1)')
    await run('upload', 'sales.csv')
    const { code, stderr } = await run(
      'plot',
      'create',
      'one.json',
      '--name',
      'sales',
      '--on-conflict',
      'replace',
    )
    expect([code, stderr]).toEqual([6, expect.stringContaining('it is not a plot')])
  })

  it('upload of a figure names plot create', async () => {
    const { code, stderr } = await run('upload', 'two.json', '--name', 'figure')
    expect([code, stderr]).toEqual([7, expect.stringContaining('gridline plot create')])
  })

  it('image draws a plot, and a local figure without uploading it', async () => {
    const count = (await json('ls', '--all')).length
    expect((await run('image', 'two.json', '-o', 'local.svg')).code).toBe(0)
    expect(readFileSync(join(folder.path, 'local.svg'), 'utf8')).toContain('<svg')
    expect((await json('ls', '--all')).length).toBe(count)
    const [drawn] = [await json('image', 'one', '--width', '300', '--height', '200')]
    expect(drawn).toMatchObject({ file: 'one.png', format: 'png' })
    expect(readFileSync(join(folder.path, 'one.png')).readUInt32BE(16)).toBe(300)
    const { code, stderr } = await run('image', 'one', '-o', 'chart.gif')
    expect([code, stderr]).toEqual([2, expect.stringContaining('Formats: png, svg')])
  })
})
