// Charts from the command line: from grids and figures, and as images.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { replaceGeneratedParts } from '../../src/charts/change/apply-options.ts'
import { compileChart } from '../../src/charts/compile/compile.ts'
import type { Figure } from '../../src/charts/figure/figure.ts'
import { completed } from '../../src/charts/normalize/complete-options.ts'
import { parseColumnNames } from '../../src/charts/spec/parse-names.ts'
import { CHART_TYPES, type ChartType, hasTrait } from '../../src/charts/spec/types.ts'
import { type Ended, gridline } from '../support/cli.ts'
import { itLong, runs } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

/** Every fifth case, since each starts a process; all in long runs. */
const some = <T>(cases: readonly T[]): T[] => cases.filter((_, k) => k % runs(5, 1) === 0)

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

describe('charts of a file that is uploaded', () => {
  const { run } = home('uploaded')
  let drawn = 0
  const draw = async (csv: string, ...options: string[]): Promise<string> => {
    const name = `drawn${++drawn}`
    file(`${name}.csv`, csv)
    const { code, stderr } = await run('upload', `${name}.csv`, ...options)
    return `${code} ${stderr}`
  }
  const map = ['--plot', 'choropleth', '--x', 's', '--y', 'v']
  const places = (...names: string[]): string => `s,v\n${names.map((name, k) => `${name},${k}\n`).join('')}`
  it.each<[string, string, string[], RegExp]>([
    ['a second axis', 'm,a,b\n1,5,7\n2,6,8\n', ['--plot', 'bar', '--x', 'm', '--y', 'a', '--y2', 'b'], /^0 /],
    ['a number of rows', 'a,b\n1,\n2,x\n', ['--plot', 'indicator', '--aggregate', 'count'], /^0 /],
    ['codes of states', places('CA', 'DE', 'IN', 'CO', 'GA'), map, /^0 $/],
    ['codes of countries', places('DE', 'FR', 'NO'), map, /^0 $/],
    ['one place twice', places('Norway', 'NOR'), map, /^0 .*Norway and NOR are the same place/],
    ['one state twice', places('CA', 'California', 'TX'), map, /^0 .*CA and California are the same place/],
    [
      'names of one place in rows of several years',
      'c,y,v\nCzech Republic,2016,1\nCzechia,2023,2\nNorway,2023,5\n',
      ['--plot', 'choropleth', '--x', 'c', '--y', 'v', '--where', 'y = 2023'],
      /^0 $/,
    ],
    [
      'equal numbers',
      'x,g,v\n1,a,1\n1.0,a,5\n2,b,1\n',
      ['--plot', 'bar', '--x', 'x', '--y', 'v', '--by', 'g'],
      /3 rows have 2 different pairs of x and g/,
    ],
    [
      'times of one day',
      't,v\n2024-03-02T00:30:00,2\n2024-03-02T05:30:00,5\n',
      ['--plot', 'calendar', '--x', 't', '--y', 'v'],
      /several rows are of 2024-03-02/,
    ],
  ])('%s', async (_, csv, options, expected) => {
    expect(await draw(csv, ...options)).toMatch(expected)
  })

  it('a number without a column is the number of rows', async () => {
    await draw('a,b\n1,\n2,x\n', '--plot', 'indicator', '--aggregate', 'count')
    expect((await run('plot', 'data', `drawn${drawn} indicator`, '--inline')).stdout).toContain('"value":2')
  })
})

describe('upload --plot', () => {
  const { run, json } = home('upload')
  const chart = ['--plot', 'line', '--x', 'date', '--y', 'price,cost', '--title', 'Sales']

  it('upload --plot creates a grid and its chart, and prints the link of the chart', async () => {
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
      layout: {
        title: { text: 'Sales' },
        meta: {
          theme: 'gridline',
          spec: {
            type: 'line',
            options: { x: 'date', y: 'price,cost', title: 'Sales' },
            columns: cols
              .filter(({ name }: { name: string }) => name !== 'city')
              .map(({ name, type, uid }: Record<string, string>) => ({ name, type, uid })),
            facts: {},
          },
        },
        xaxis: { type: 'date' },
        showlegend: true,
      },
    })
  })

  itLong('the axis follows the type of its column, and ambiguous dates are refused', async () => {
    file('kinds.csv', 'zip,ok,when,n\nA01,true,01/02/2024,1\n01234,false,03/04/2024,2\n')
    const axis = async (x: string) =>
      (await json('upload', 'kinds.csv', '--name', `by ${x}`, '--plot', 'bar', '--x', x, '--y', 'n'))[0]
        .figure.layout.xaxis
    expect(await axis('zip')).toEqual({ title: { text: 'zip' }, type: 'category', automargin: true })
    expect(await axis('ok')).toEqual({ title: { text: 'ok' }, type: 'category', automargin: true })
    const chart = ['--plot', 'line', '--x', 'when', '--y', 'n']
    const refused = await run('upload', 'kinds.csv', ...chart)
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('"when:date-mdy"')])
    expect((await run('show', 'kinds')).code).toBe(3)
    await run('upload', 'kinds.csv')
    expect((await json('show', 'kinds')).cols[2]).toMatchObject({ type: 'text', date_order: 'undecided' })
    const later = await run('plot', 'create', '--grid', 'kinds', '--type', 'line', '--x', 'when', '--y', 'n')
    expect([later.code, later.stderr]).toEqual([7, expect.stringContaining('"when:date-dmy"')])
    const replace = ['--on-conflict', 'replace', '--column', 'when:date-dmy']
    const [made] = await json('upload', 'kinds.csv', ...chart, ...replace)
    expect(made.figure.layout.xaxis.type).toBe('date')
    expect((await run('cat', 'kinds', '--columns', 'when', '--no-header')).stdout).toBe(
      '2024-02-01\n2024-04-03\n',
    )
  })

  itLong('rows of several categories become series with --by, or one point with --aggregate', async () => {
    file(
      'tidy.csv',
      'city,day,temp\nOslo,2024-01-01,1\nRome,2024-01-01,10\nOslo,2024-01-03,3\nOslo,2024-01-02,2\n',
    )
    const inline = async (name: string) => (await json('plot', 'data', name, '--inline')).data
    const chart = ['--plot', 'line', '--x', 'day', '--y', 'temp', '--by', 'city']
    const [made] = await json('upload', 'tidy.csv', ...chart)
    expect(made.figure.data).toHaveLength(1)
    expect(await inline('tidy line')).toMatchObject([
      { name: 'Oslo', x: ['2024-01-01', '2024-01-02', '2024-01-03'], y: [1, 2, 3] },
      { name: 'Rome', x: ['2024-01-01'], y: [10] },
    ])
    await run('append', 'tidy', '--row', 'Paris,2024-01-01,5')
    expect((await inline('tidy line')).map(({ name }: { name: string }) => name)).toEqual([
      'Oslo',
      'Rome',
      'Paris',
    ])
    const bars = ['plot', 'create', '--grid', 'tidy', '--type', 'bar', '--x', 'city', '--y', 'temp']
    const refused = await run(...bars)
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('--aggregate sum')])
    expect((await run(...bars, '--aggregate', 'mean')).code).toBe(0)
    expect(await inline('tidy bar')).toMatchObject([{ x: ['Oslo', 'Rome', 'Paris'], y: [2, 10, 5] }])
    // An existing chart keeps its groups.
    await run('upload', 'tidy.csv', '--on-conflict', 'replace', ...chart.slice(0, 6))
    expect((await inline('tidy line')).map(({ name }: { name: string }) => name)).toEqual(['Oslo', 'Rome'])
  })

  itLong('--where, --per, --top and --facet are stored in the figure', async () => {
    const rows = Array.from({ length: 60 }, (_, k) => `2024-0${1 + (k % 3)}-1${k % 10},shop ${k % 20},${k}`)
    file('shops.csv', `day,shop,revenue\n${rows.join('\n')}\n`)
    const of = async (...args: string[]) => {
      const { stdout } = await run(
        'upload',
        'shops.csv',
        '--on-conflict',
        'rename',
        '--json',
        '--plot',
        ...args,
      )
      const [{ fid }] = JSON.parse(stdout)
      const { data } = await json('plot', 'data', fid, '--inline')
      return { data }
    }
    const lines = [
      'line',
      '--x',
      'day',
      '--y',
      'revenue',
      '--by',
      'shop',
      '--per',
      'month',
      '--aggregate',
      'sum',
    ]
    const { data } = await of(...lines)
    const { stderr } = await run('upload', 'shops.csv', '--on-conflict', 'rename', '--plot', ...lines)
    expect(stderr).toContain('the column has 20 values; the 11 largest are shown as series')
    expect([data.length, data.at(-1).name]).toEqual([12, 'other (9)'])
    expect(data[0].x).toEqual(['2024-01-01', '2024-02-01', '2024-03-01'])
    expect((await of(...lines, '--top', '20')).data.length).toBe(20)
    const bars = [
      'bar',
      '--x',
      'shop',
      '--y',
      'revenue',
      '--aggregate',
      'sum',
      '--sort',
      '-revenue',
      '--top',
      '2',
    ]
    const chosen = (await of(...bars, '--where', "shop <> 'shop 19' and revenue >= 20")).data
    expect([chosen[0].x, chosen[0].y]).toEqual([
      ['shop 18', 'shop 17'],
      [96, 94],
    ])
    const counts = await of('pie', '--x', 'day', '--aggregate', 'count', '--where', 'revenue < 3')
    expect([counts.data[0].labels, counts.data[0].values]).toEqual([
      ['2024-01-10', '2024-02-11', '2024-03-12'],
      [1, 1, 1],
    ])
    const alphabetical = ['bar', '--x', 'shop', '--y', 'revenue', '--aggregate', 'sum', '--sort', 'shop']
    expect((await of(...alphabetical)).data[0].x.slice(0, 3)).toEqual(['shop 0', 'shop 1', 'shop 10'])
    const small = (
      await of('bar', '--x', 'shop', '--y', 'revenue', '--facet', 'day', '--where', 'revenue < 3')
    ).data
    expect(small.map(({ xaxis, x }: { xaxis: string; x: string[] }) => [xaxis, x])).toEqual([
      ['x', ['shop 0']],
      ['x2', ['shop 1']],
      ['x3', ['shop 2']],
    ])
  })

  it.each(
    some([
      [['line', '--x', 'shop', '--per', 'month', '--aggregate', 'sum'], '--per needs dates on the x axis'],
      [['line', '--x', 'day', '--per', 'month'], 'it needs --aggregate'],
      [['line', '--x', 'day', '--where', 'revenu > 1'], 'Did you mean revenue?'],
      [['line', '--x', 'day', '--where', "revenue > 'a'"], 'a number cannot be compared with text'],
      [['line', '--x', 'day', '--where', 'revenue >'], 'at the end'],
      [['line', '--x', 'day', '--sort', 'days'], 'Did you mean day?'],
      [['line', '--x', 'day', '--top', '3'], '--top without --by can only be used with --type bar or pie'],
      [['line', '--x', 'day', '--zone', 'Europe/Olso'], 'Did you mean Europe/Oslo?'],
      [['line', '--x', 'day', '--zone', 'Europe/Oslo'], '--zone needs --x with a column of times'],
      [['heatmap', '--x', 'shop', '--color', 'revenue'], 'Add --aggregate sum'],
      [['bar', '--x', 'shop'], 'Add --aggregate sum'],
    ]),
  )('chart options %j are refused with the reason', async (args, message) => {
    file('refused.csv', 'day,shop,revenue\n2024-01-01,a,1\n2024-01-02,a,2\n2024-01-02,a,2\n')
    const y = args[0] === 'heatmap' ? 'day' : 'revenue'
    const { stderr, code } = await run(
      'upload',
      'refused.csv',
      '--on-conflict',
      'replace',
      '--plot',
      ...args,
      '--y',
      y,
    )
    expect([stderr, [2, 7].includes(code ?? 0)]).toEqual([expect.stringContaining(message), true])
  })

  it('upload --plot with --on-conflict updates the same chart at the same link', async () => {
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
    expect([replaced.fid, appended.fid]).toEqual([before.fid, before.fid])
    expect([replaced.action, replaced.grid_action]).toEqual(['unchanged', 'unchanged'])
    expect([appended.action, appended.grid_action]).toEqual(['unchanged', 'appended'])
    expect([replaced.web_url, appended.figure]).toEqual([before.web_url, before.figure])
    const { data } = await json('plot', 'data', 'sales line', '--inline')
    expect(data[0].y).toEqual([10, 14, 12])
    expect((await run('upload', 'sales.csv', ...chart)).code).toBe(6)
  })

  it('a text column as y is refused with the reason, before and after an upload', async () => {
    const { code, stderr } = await run('upload', 'decimal.csv', '--plot', 'bar', '--x', 'day', '--y', 'price')
    expect(code).toBe(2)
    expect(stderr).toContain('the column holds text values, not numbers (decimal commas, for example "1,5")')
    expect((await run('plot', 'create', '--grid', 'sales', '--type', 'bar', '--y', 'city')).stderr).toContain(
      'Columns of numbers: price, cost.',
    )
  })

  it('chart options of upload require --plot', async () => {
    const { code, stderr } = await run('upload', 'more.csv', '--y', 'price')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--y can only be used with --plot')])
  })
})

describe('upload --plot of a chart that exists', () => {
  const { run, json } = home('design')
  const chart = (type: string, y: string, ...more: string[]) =>
    [
      'upload',
      'sold.csv',
      '--plot',
      type,
      '--x',
      'date',
      '--y',
      y,
      '--on-conflict',
      'replace',
      ...more,
    ] as const
  const figureOf = (name: string) => json('plot', 'data', name)

  itLong('upload --plot of an existing chart changes the data and keeps the design', async () => {
    file('sold.csv', 'date,city,price,cost\n2024-01-01,Oslo,10,4\n2024-01-02,Rome,14,5\n')
    const [made] = await json(...chart('line', 'price'))
    const figure = await figureOf('sold line')
    figure.data[0].line = { color: 'crimson', dash: 'dot' }
    figure.data[0].mode = 'lines+markers'
    figure.data.push({ y: [12, 12], name: 'target' })
    figure.layout.title = { text: 'Ours', font: { size: 30 } }
    figure.layout.yaxis = { type: 'log', title: { text: 'Euros' } }
    file('design.json', JSON.stringify(figure))
    await run('plot', 'update', 'sold line', 'design.json')
    const designed = await figureOf('sold line')
    file('sold.csv', 'date,city,price,cost\n2024-01-01,Oslo,11,4\n2024-01-02,Rome,15,5\n')
    const [again] = await json(...chart('line', 'price'))
    expect([again.fid, again.action, again.grid_action]).toEqual([made.fid, 'unchanged', 'replaced'])
    expect(await figureOf('sold line')).toEqual(designed)
    const { data } = await json('plot', 'data', 'sold line', '--inline')
    expect(data.map(({ y }: { y: number[] }) => y)).toEqual([
      [11, 15],
      [12, 12],
    ])
  })

  itLong('an option of upload --plot changes only what it names', async () => {
    const before = await figureOf('sold line')
    const { spec } = before.layout.meta
    const [titled] = await json(...chart('line', 'price', '--title', 'Theirs'))
    expect([titled.action, titled.grid_action]).toEqual(['replaced', 'unchanged'])
    const renamed = await figureOf('sold line')
    const options = { ...spec.options, title: 'Theirs' }
    expect(renamed).toEqual({
      ...before,
      layout: {
        ...before.layout,
        title: { text: 'Theirs', font: { size: 30 } },
        meta: { theme: 'gridline', spec: { ...spec, options } },
      },
    })
    await run(...chart('line', 'cost'))
    const other = await figureOf('sold line')
    expect(other.data[0]).toEqual({ ...renamed.data[0], name: 'cost', ysrc: other.data[0].ysrc })
    expect(other.data[0].ysrc).not.toBe(renamed.data[0].ysrc)
    const { meta, ...layout } = other.layout
    expect([{ ...layout, meta: renamed.layout.meta }, other.data[1]]).toEqual([
      renamed.layout,
      renamed.data[1],
    ])
    expect(meta.spec.options).toEqual({ ...options, y: 'cost' })
  })

  itLong('another type changes the existing chart, at its link', async () => {
    const [line] = await json('plot', 'show', 'sold line')
    const [bar] = await json(...chart('bar', 'cost'))
    expect([bar.fid, bar.filename, bar.action]).toEqual([line.fid, 'sold bar', 'replaced'])
    const { data, layout } = await figureOf('sold bar')
    // Attributes that bars ignore are kept for the way back; the color is that of bars.
    const [{ type, mode, line: before, marker }] = data
    expect([type, mode, before, marker]).toEqual(['bar', undefined, { dash: 'dot' }, { color: 'crimson' }])
    expect([data.length, layout.yaxis.type]).toEqual([2, 'log'])
    const plots = (await json('ls')).filter(({ filetype }: { filetype: string }) => filetype === 'plot')
    expect(plots.map(({ filename }: { filename: string }) => filename)).toEqual(['sold bar'])
  })
})

describe('plot create --grid', () => {
  const { run, json } = home('grid')

  it('plot create --grid creates every chart type', async () => {
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

  it('a misspelled column is reported with a suggestion', async () => {
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
    expect([code, stderr]).toEqual([7, expect.stringContaining('Did you mean city?')])
  })
})

describe('plot create with figures', () => {
  const { run, json } = home('figures')

  it('plot create reports several figures; a replaced plot keeps its id, data grid and uids', async () => {
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

  it('--on-conflict rename creates another plot; a grid of that name is never replaced', async () => {
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

  it('publishing a plot lists the private grids whose data it shows', async () => {
    const { code, stderr } = await run('publish', 'two')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/including data of private grids: two_grid \([\w.-]+:\d+\)/),
    ])
  })

  it('uploading a figure suggests plot create', async () => {
    const { code, stderr } = await run('upload', 'two.json', '--name', 'figure')
    expect([code, stderr]).toEqual([7, expect.stringContaining('gridline plot create')])
  })

  itLong('image draws plots, and local figures without uploading them', async () => {
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

describe('plot create with pages', () => {
  const { run, json } = home('pages')
  const id = '7c0e"'.slice(0, 4)
  const python = `<html><head><script>/* a library: Plotly.newPlot(gd, data) */</script></head><body><div>
    <script type="text/javascript">window.PLOTLYENV=window.PLOTLYENV || {};
    if (document.getElementById("${id}")) {                    Plotly.newPlot(                        "${id}",
      [{"x":[1,2],"y":[3.10,"a ) ] \\" b"],"type":"scatter","name":"\\u003cb\\u003e"}],
      {"title":{"text":"from python"}},                        {"responsive": true}                    ).then(function(){
        Plotly.addFrames('${id}', [{"name":"f1","data":[{"y":[1]}]}]);
      }) };</script></div></body></html>`
  const r = `<!DOCTYPE html><html><body><div id="htmlwidget-1"></div>
    <script type="application/json" data-for="htmlwidget-0">{"x":{"tree":1},"evals":[]}</script>
    <script type="application/json" data-for="htmlwidget-1">{"x":{"visdat":{"a":["function () "]},"cur_data":"a","attrs":{"a":{"x":[9]}},"layout":{"title":"from R"},"source":"A","config":{"showSendToCloud":false},"data":[{"x":[1,2],"y":[5,6],"type":"bar"}]},"evals":[],"jsHooks":[]}</script></body></html>`
  file('python.html', python)
  file('r.html', r)
  file('both.html', python + r)
  file('none.html', '<html><script>Plotly.newPlot(gd, data, layout); alert(1)</script></html>')
  file('open.html', `<html>${'Plotly.newPlot("a", [['.repeat(20_000)}`)

  it('plot create reads figure and frames of a page written by plotly.py', async () => {
    const made = await json('plot', 'create', 'python.html')
    expect(made.filename).toBe('python')
    const { data, layout, frames } = await json('plot', 'data', 'python', '--inline')
    expect([data[0].y, data[0].name, layout.title.text]).toEqual([[3.1, 'a ) ] " b'], '<b>', 'from python'])
    expect(frames[0]).toMatchObject({ name: 'f1', data: [{ y: [1] }] })
  })

  it('plot create reads the figure of an htmlwidgets page, without its build metadata', async () => {
    await run('plot', 'create', 'r.html')
    const figure = await json('plot', 'data', 'r', '--inline')
    expect(Object.keys(figure).sort()).toEqual(['config', 'data', 'layout'])
    expect(figure.data[0].y).toEqual([5, 6])
  })

  itLong('a page with several charts creates several plots; a page without a chart is refused', async () => {
    const made = await json('plot', 'create', 'both.html')
    expect(made.map(({ filename }: { filename: string }) => filename)).toEqual(['both 1', 'both 2'])
    file(
      'mixed.html',
      python.replace(
        '</body>',
        `<script>Plotly.newPlot("b", [{x: [1], name: '5" pipe'}], {})</script></body>`,
      ),
    )
    expect((await json('plot', 'create', 'mixed.html')).filename).toBe('mixed')
    file('cut.html', python.slice(0, python.indexOf('from python')))
    for (const [name, reason] of [
      ['none.html', 'no Plotly chart found in this page'],
      ['open.html', 'the page ends in the middle of a chart'],
      ['cut.html', 'the page ends in the middle of a chart'],
    ]) {
      const { code, stderr } = await run('plot', 'create', name)
      expect([code, stderr]).toEqual([7, expect.stringContaining(reason)])
    }
    expect((await run('image', 'python.html', '-o', '-')).code).toBe(0)
  })

  it('two figures of one name do not replace each other', async () => {
    file('same.json', '{"data":[{"y":[1]}]}')
    file('same.html', python)
    const { code, stderr } = await run('plot', 'create', 'same.json', 'same.html', '--on-conflict', 'replace')
    expect([code, stderr]).toEqual([2, expect.stringContaining('would both be named same')])
    expect((await run('plot', 'create', 'same.json', 'same.html', '--on-conflict', 'rename')).code).toBe(0)
    for (const year of ['2023', '2024']) file(`sales.${year}.csv`, 'a\n1\n')
    expect((await run('upload', 'sales.2023.csv', 'sales.2024.csv', '--on-conflict', 'replace')).code).toBe(0)
  })

  itLong('preview and image read a local data file without uploading it', async () => {
    file('here.csv', 'a,b\n1,2\n2,4\n')
    expect((await run('preview', 'here.csv')).stdout).toContain('here: 2 rows, 2 columns')
    expect((await run('show', 'here')).code).toBe(3)
    expect((await run('image', 'here.csv')).stderr).toContain(
      'chosen from the columns: --type scatter --x a --y b',
    )
    expect((await run('image', 'nowhere.json')).stderr).toContain('and no file of that name on this machine')
  })

  it('figures of Kaleido and of other servers are read; unknown references are replaced by data', async () => {
    file('kaleido.json', '{"data":{"data":[{"type":"bar","y":[1]}],"layout":{}},"format":"png"}')
    expect((await run('plot', 'create', 'kaleido.json')).code).toBe(0)
    file('old.json', '{"data":[{"type":"bar","y":[1,2],"ysrc":"someone:12:abc123"}]}')
    const { code, stderr } = await run('plot', 'create', 'old.json')
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('replaced by the data next to them: someone:12'),
    ])
    expect((await json('plot', 'data', 'old', '--inline')).data[0].y).toEqual([1, 2])
    file('lost.json', '{"data":[{"type":"bar","ysrc":"someone:12:abc123"}]}')
    const lost = await run('plot', 'create', 'lost.json')
    expect([lost.code, lost.stderr]).toEqual([2, expect.stringContaining('someone:12')])
  })
})

describe('a chart whose column is gone', () => {
  const { run } = home('lost')
  const replace = ['upload', 'stock.csv', '--on-conflict', 'replace', '--yes']

  it('a chart without its column is empty and says so; adding the column again restores it', async () => {
    file('stock.csv', 'name,qty\na,10\nb,20\n')
    await run('upload', 'stock.csv')
    await run('plot', 'create', '--grid', 'stock', '--type', 'bar', '--x', 'name', '--y', 'qty')
    file('stock.csv', 'name,price\na,1\nb,2\n')
    expect((await run(...replace)).stderr).toMatch(
      /plot stock bar \(.*\) shows a column that no longer exists: qty/,
    )
    expect((await run('preview', 'stock bar')).stdout).toMatch(/^No data: the trace refers to columns/)
    const image = await run('image', 'stock bar', '-o', 'gone.png')
    expect([image.code, image.stderr, existsSync(join(folder.path, 'gone.png'))]).toEqual([
      7,
      expect.stringMatching(/^error: stock bar: No data: the column qty no longer exists/),
      false,
    ])
    file('stock.csv', 'name,qty\na,5\nb,6\n')
    expect((await run(...replace)).stderr).toBe('')
    expect((await run('preview', 'stock bar')).stdout).not.toMatch(/No data/)
    const removed = await run('column', 'remove', 'stock', 'qty', '--yes')
    expect(removed.stderr).toMatch(/plot stock bar \(.*\) will lose its data: qty/)
  })
})

itLong('values that a chart type cannot show are refused or reported', async () => {
  const { run: go } = home('signs')
  file('signs.csv', 'k,v\na,5\nb,-3\nc,0\n')
  for (const [type, ...more] of [['pie'], ['treemap'], ['funnel']]) {
    const { code, stderr } = await go(
      ...['upload', 'signs.csv', '--on-conflict', 'replace', '--plot', type, '--x', 'k', '--y', 'v', ...more],
    )
    expect([code, stderr]).toEqual([7, expect.stringContaining('column v has values below zero (-3)')])
  }
  await go('upload', 'signs.csv')
  const { code, stderr } = await go('plot', 'create', '--grid', 'signs', '--type', 'dot', '--log-y')
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('--log-y: column v has values that are not positive (-3)'),
  ])
})

itLong('misleading charts are refused with an alternative', async () => {
  const { run: go } = home('misleading')
  file('both.csv', 'k,g,v,w\na,p,5,1\nb,p,-3,2\na,q,1,1\nb,q,2,1\n')
  await go('upload', 'both.csv')
  const base = ['plot', 'create', '--grid', 'both', '--x', 'k']
  for (const [args, message] of [
    [['--type', 'bar', '--y', 'v', '--log-y', '--aggregate', 'sum'], /begins at zero.*--type dot/],
    [['--type', 'area', '--y', 'v', '--by', 'g'], /above and below zero.*--type bar/],
    [['--type', 'bar', '--y', 'v,w', '--where', "g = 'p'", '--stack', 'percent'], /below zero/],
    [['--type', 'bar', '--y', 'w', '--aggregate', 'sum', '--stack', 'percent'], /needs several series/],
    [['--type', 'pie', '--y', 'w', '--aggregate', 'mean'], /do not add up.*--type bar/],
    [['--type', 'bar', '--y', 'w', '--by', 'g', '--aggregate', 'max', '--stack', 'normal'], /do not add up/],
  ] as const)
    expect([args, (await go(...base, ...args)).stderr]).toEqual([args, expect.stringMatching(message)])
  expect((await go(...base, '--type', 'bar', '--y', 'v', '--by', 'g', '--stack', 'normal')).code).toBe(0)
})

it('a pie keeps the largest labels and rows without one; a stacked area reports missing values', async () => {
  const { run: go } = home('many')
  const rows = Array.from({ length: 1500 }, (_, k) => `l${k},${k}`)
  file('many.csv', `k,v\n${rows.join('\n')}\n,9000\n`)
  expect((await go('upload', 'many.csv', '--plot', 'pie', '--x', 'k', '--y', 'v')).code).toBe(0)
  expect((await go('preview', 'many pie')).stdout).toMatch(
    /\(none\): 9000 [\s\S]*other \(1495\)|other \(1495\)[\s\S]*\(none\): 9000 /,
  )
  file('gap.csv', 'd,a,b\n2024-01-01,1,2\n2024-01-02,,2\n')
  expect((await go('upload', 'gap.csv', '--plot', 'area', '--x', 'd', '--y', 'a,b')).stderr).toContain(
    '--y a: 1 row without a value; stacked areas are at zero there',
  )
})

it('a map reports unknown places, also of a JSON file, and draws the others', async () => {
  const { run: go } = home('places')
  const made = async (name: string, places: string[]) => {
    file(name, JSON.stringify(places.map((place, k) => ({ place, n: k }))))
    return go('upload', name, '--plot', 'choropleth', '--x', 'place', '--y', 'n', '--on-conflict', 'replace')
  }
  expect(await made('states.json', ['TX', 'CA', 'NY', 'PR'])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/unknown state: PR; it is not drawn/),
  })
  expect(await made('countries.json', ['Norway', 'France', 'UK', 'Atlantis'])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/unknown country: Atlantis; it is not drawn/),
  })
  expect(await made('none.json', ['XX', 'YY'])).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/Use codes of three letters/),
  })
})

itLong('a line turned into a histogram and back keeps its columns', async () => {
  const { run: go, json: of } = home('histogram')
  await go('upload', 'sales.csv', '--plot', 'line', '--x', 'date', '--y', 'price,cost')
  const optionsAs = async (type: string) => {
    await go('plot', 'set', 'sales line', '--type', type)
    return (await of('plot', 'options', 'sales line')).command
  }
  expect(await optionsAs('histogram')).toContain('--type histogram --y price,cost')
  expect(await optionsAs('line')).toContain('--type line --x date --y price,cost')
})

describe('plot set', () => {
  const { run, json } = home('set')
  const figureOf = (): Promise<{ data: Record<string, unknown>[]; layout: Record<string, unknown> }> =>
    json('plot', 'data', 'sales line')

  it('plot set changes only what is named', async () => {
    await run('upload', 'sales.csv', '--plot', 'line', '--x', 'date', '--y', 'price,cost', '--title', 'Sales')
    const before = await figureOf()
    const set = async (...args: string[]) => (await json('plot', 'set', 'sales line', ...args)).action
    expect(
      await set('layout.yaxis.title.text=EUR', 'data.0.line.width=3', '--color-of', 'cost=#d62728'),
    ).toBe('replaced')
    const [price, cost] = before.data
    const designed = {
      data: [
        { ...price, line: { width: 3 } },
        { ...cost, line: { color: '#d62728' } },
      ],
      layout: { ...before.layout, yaxis: { title: { text: 'EUR' } } },
    }
    expect(await figureOf()).toEqual(designed)
    expect(await set('--title', 'Sales 2024')).toBe('replaced')
    expect(await set('--title', 'Sales 2024')).toBe('unchanged')
    const { meta, ...layout } = (await figureOf()).layout
    expect(layout).toEqual({
      title: { text: 'Sales 2024' },
      xaxis: { type: 'date' },
      yaxis: { title: { text: 'EUR' } },
      showlegend: true,
    })
    expect(meta).toMatchObject({ spec: { options: { x: 'date', y: 'price,cost', title: 'Sales 2024' } } })
    expect((await figureOf()).data).toEqual(designed.data)
    expect(await set('--unset', 'data.0.line', '--type', 'bar')).toBe('replaced')
    const { data } = await figureOf()
    expect(data.map(({ type, line, marker }) => [type, line, marker])).toEqual([
      ['bar', undefined, undefined],
      ['bar', undefined, { color: '#d62728' }],
    ])
    expect(await set('--horizontal', '--labels')).toBe('replaced')
    expect(await set('--no-horizontal', '--no-labels')).toBe('replaced')
    expect((await figureOf()).data).toEqual(data)
    expect((await json('plot', 'options', 'sales line')).command).not.toMatch(/horizontal|labels/)
    expect(await set('--type', 'line')).toBe('replaced')
    expect((await figureOf()).data[1]).toMatchObject({ line: { color: '#d62728' } })
  })

  itLong('units are placed before or after numbers, on axes and color scales', async () => {
    const unitOf = async (unit: string) => {
      await run('plot', 'set', 'sales line', '--unit', unit)
      const { layout } = await figureOf()
      const { tickprefix, ticksuffix } = layout.yaxis as { tickprefix?: string; ticksuffix?: string }
      expect((await json('plot', 'options', 'sales line')).command).toContain(
        `--unit ${unit === 'kg' ? unit : `'${unit}'`}`,
      )
      return [tickprefix, ticksuffix]
    }
    expect(await unitOf('$')).toEqual(['$', undefined])
    expect(await unitOf('kg')).toEqual([undefined, ' kg'])
    await run('plot', 'set', 'sales line', '--unset', 'layout.yaxis.ticksuffix')
  })

  itLong('plot set sets axes, and axis titles name the computation', async () => {
    const { layout } = await figureOf()
    expect(layout.yaxis).toMatchObject({ title: { text: 'EUR' } })
    const axes = ['--log-y', '--range-y', '1,100', '--format-y', ',.1f', '--unit', '€']
    await run('plot', 'set', 'sales line', ...axes)
    expect((await figureOf()).layout.yaxis).toMatchObject({
      type: 'log',
      range: [0, 2],
      tickformat: ',.1f',
      ticksuffix: ' €',
      title: { text: 'EUR' },
    })
    expect((await json('plot', 'options', 'sales line')).command).toContain(
      "--log-y --range-y 1,100 --format-y ,.1f --unit '€'",
    )
    const wrong = await run('plot', 'set', 'sales line', '--format-y', 'zz')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('zz: not a number format')])
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
      'price',
      '--name',
      'sums',
    )
    const axisOf = async () => (await json('plot', 'data', 'sums')).layout.yaxis.title.text
    expect(await axisOf()).toBe('price')
    await run('plot', 'set', 'sums', '--aggregate', 'mean')
    expect(await axisOf()).toBe('mean price')
  })

  itLong('changes by plot set survive a replacement of the data', async () => {
    const rows = ['2024-01-01,a,1', '2024-01-01,b,2', '2024-01-02,a,3', '2024-01-02,b,4']
    file('night.csv', `day,shop,n\n${rows.join('\n')}\n`)
    const chart = ['--plot', 'line', '--x', 'day', '--y', 'n', '--by', 'shop', '--on-conflict', 'replace']
    await run('upload', 'night.csv', ...chart)
    const set = [
      '--where',
      'n > 0',
      '--aggregate',
      'mean',
      '--per',
      'month',
      '--top',
      '3',
      '--color-of',
      'b=#d62728',
    ]
    await run('plot', 'set', 'night line', ...set)
    const before = await json('plot', 'data', 'night line')
    expect(before.layout.title.text).toBe('Mean n per month by shop')
    expect(before.data[0].transforms.map(({ type }: { type: string }) => type)).toEqual([
      'rows',
      'per',
      'groupby',
      'aggregate',
      'sort',
    ])
    file('night.csv', `day,shop,n\n${[...rows, '2024-01-03,a,5'].join('\n')}\n`)
    await run('upload', 'night.csv', ...chart)
    expect(await json('plot', 'data', 'night line')).toEqual(before)
    await run('upload', 'night.csv', ...chart.filter((word) => word !== '--by' && word !== 'shop'))
    expect(await json('plot', 'data', 'night line')).toEqual(before)
    const options = await run('plot', 'options', 'night line')
    // plot create has no option for the color of a series.
    expect(options.stderr).toContain('attributes of the figure that no option sets')
    expect(options.stdout).toBe(
      "gridline plot create --grid night --type line --x day --y n --by shop --aggregate mean --per month --top 3 --where 'n > 0'\n",
    )
    await run('plot', 'set', 'night line', '--where', 'none', '--by', 'none', '--type', 'box')
    expect((await json('plot', 'data', 'night line')).data[0].transforms).toBeUndefined()
  })

  it('plot options prints a command that creates the same chart', async () => {
    const chart = [
      '--x',
      'city',
      '--y',
      'price',
      '--aggregate',
      'sum',
      '--sort=-price',
      '--where',
      'cost > 3',
      '--title',
      'Sum',
    ]
    await run('plot', 'create', '--grid', 'sales', '--type', 'bar', ...chart, '--name', 'made')
    const { command } = await json('plot', 'options', 'made')
    expect((await run('plot', 'options', 'made')).stderr).toBe('')
    expect(command).toBe(
      "gridline plot create --grid sales --type bar --x city --y price --aggregate sum --where 'cost > 3' --sort -price --title Sum",
    )
  })

  it.each(
    some([
      [['layout.titel=x'], 'layout has no attribute titel. Did you mean title?'],
      [['data.0.line.widht=3'], 'Did you mean width?'],
      [['data.0.line.width=thick'], '"thick" is not a number'],
      [['data.0.line.color=#12'], 'is not a color'],
      [['data.0.line.dash.x=1'], 'has no attributes'],
      [['data.9.name=x'], 'the figure has 2 traces'],
      [['__proto__.x=1'], 'expected a path that begins with data.0 or layout'],
      [['layout.__proto__.x=1'], 'layout has no attribute __proto__'],
      [['figure'], 'expected PATH=VALUE'],
      [['--color-of', 'nobody=red'], 'Its series are: price, cost'],
      [['--x', 'dat'], 'Did you mean date?'],
      [['--unset', 'layout.nope'], 'layout.nope is not set'],
      [['--unset', 'data'], 'expected the path of an attribute'],
      [['layout.yaxis.range=0,100'], 'is not a list'],
      [['--range-y', '1'], 'expected two numbers'],
      [['--log-y', '--range-y', '0,10'], 'expected two numbers above 0'],
      [['--log-x'], '--log-x needs a column of numbers'],
      [[], 'nothing to change'],
    ]),
  )('chart options %j are refused with the reason', async (args, message) => {
    const { code, stderr } = await run('plot', 'set', 'sales line', ...args)
    expect([code === 2 || code === 7, stderr]).toEqual([true, expect.stringContaining(message)])
  })
})

describe('plot edit', () => {
  const folder = temporaryFolder()
  afterAll(folder.remove)
  const script = join(folder.path, 'editor.cjs')
  /** Runs plot edit with an editor that evaluates JavaScript on the figure, or on its text. */
  const edit = (code: string, ...args: string[]) => {
    writeFileSync(
      script,
      `const fs = require('node:fs'); const [file] = process.argv.slice(2); let text = fs.readFileSync(file, 'utf8')
let figure = JSON.parse(text); ${code}; fs.writeFileSync(file, text === '' ? JSON.stringify(figure) : text)`,
    )
    return gridline(['plot', 'edit', 'shown', ...args], {
      home: join(folder.path, 'home'),
      cwd: folder.path,
      env: { EDITOR: `"${process.execPath}" "${script}"`, TMPDIR: temporary },
    })
  }
  const temporary = join(folder.path, 'temporary')
  mkdirSync(temporary)
  const left = () => readdirSync(temporary).length
  const shown = async () =>
    JSON.parse((await gridline(['plot', 'data', 'shown'], { home: join(folder.path, 'home') })).stdout)

  it('plot edit saves changes and shows the difference; an unchanged figure is not saved', async () => {
    writeFileSync(
      join(folder.path, 'shown.json'),
      '{"data": [{"y": [1, 2]}], "layout": {"title": {"text": "a"}}}',
    )
    await gridline(['plot', 'create', 'shown.json'], { home: join(folder.path, 'home'), cwd: folder.path })
    const { code, stderr, stdout } = await edit(
      "text = ''; figure.layout.title.text = 'b'",
      '--json',
      'action,changes',
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual({
      action: 'replaced',
      changes: [{ path: 'layout.title.text', before: 'a', after: 'b' }],
    })
    expect((await shown()).layout.title.text).toBe('b')
    expect((await edit("text = ''; figure.layout.title.text = 'c'")).stderr).toContain(
      'layout.title.text: "b" → "c"',
    )
    expect(JSON.parse((await edit('', '--json', 'action')).stdout).action).toBe('unchanged')
    await edit("text = ''; figure.layout.title.text = 'd'", '--dry-run')
    expect(left()).toBe(0)
  })

  it.each([
    ["text = text.replace('{', '{,')", 7, 'not a figure'],
    ["text = '[]'", 7, 'expected a list "data"'],
    ["text = ''; figure.layout.titel = 'x'", 2, 'Did you mean title?'],
    ["text = ''; figure.data[0].opacity = 'much'", 2, 'is not a number'],
    ["fs.writeFileSync(file, '{}'); process.exit(1)", 1, 'the editor failed with exit code 1'],
  ])('plot edit with %s saves nothing and keeps the text', async (code, exit, message) => {
    const [before, files] = [await shown(), left()]
    const done = await edit(code)
    expect([done.code, done.stderr]).toEqual([exit, expect.stringContaining(message)])
    expect(done.stderr).toContain('Your text was saved as')
    expect([await shown(), left()]).toEqual([before, files + 1])
  })

  it('plot edit leaves no file whose text was not changed', async () => {
    const files = left()
    expect((await edit('process.exit(1)')).stderr).not.toContain('Your text was saved')
    const home = join(folder.path, 'home')
    await gridline(['plot', 'edit', 'shown'], { home, env: { TMPDIR: temporary, EDITOR: '', VISUAL: '' } })
    expect(left()).toBe(files)
  })
})

describe('a chart without --type, --x or --y', () => {
  const cols = (types: Record<string, string>) =>
    Object.entries(types).map(([name, type]) => ({ name, type, uid: name })) as never
  const [date, text, number] = ['date', 'text', 'number']

  it.each([
    [{ day: date, price: number, cost: number }, {}, '--type line --x day --y price,cost'],
    [{ id: number, year: number, sum: number }, {}, '--type line --x year --y sum'],
    [
      { city: text, day: date, price: number },
      { day: 9, city: 3 },
      '--type line --x day --y price --by city',
    ],
    [{ city: text, people: number }, {}, '--type bar --x city --y people'],
    [{ city: text, people: number }, { city: 4 }, '--type bar --x city --y people --aggregate sum'],
    [{ city: text, a: number, b: number }, { city: 3 }, '--type scatter --x a --y b --by city'],
    [{ place: text, lat: number, lon: number }, {}, '--type map'],
    [{ a: number, b: number }, {}, '--type scatter --x a --y b'],
    [{ a: number }, {}, '--type histogram --x a'],
    [{ answer: text }, { answer: 2 }, '--type bar --x answer --aggregate count'],
  ])('columns %j with %j distinct values become %s', async (types, distinct, said) => {
    const grid = { fid: 'me:1', filename: 'g', cols: cols(types) }
    const of = async (name: string) => ({
      rows: 27,
      distinct: (distinct as Record<string, number>)[name] ?? 27,
    })
    expect((await completed(grid, 'auto', {}, of)).chosenFlags).toBe(said)
  })

  it('numbers on x and labels on y create horizontal bars', async () => {
    const grid = { fid: 'me:1', filename: 'g', cols: cols({ city: text, people: number, day: date }) }
    const chosen = async (type: ChartType | 'auto', options: object) =>
      (
        await completed(
          grid,
          type,
          options,
          async () => undefined,
          async () => ['Oslo'],
        )
      ).options
    const turned = { x: 'city', y: 'people', horizontal: true }
    for (const type of ['bar', 'auto'] as const)
      expect(await chosen(type, { x: 'people', y: 'city' })).toEqual(turned)
    expect(await chosen('line', { x: 'people', y: 'day' })).toEqual({ x: 'day', y: 'people' })
    expect(await chosen('scatter', { x: 'people', y: 'city' })).toEqual({ x: 'people', y: 'city' })
  })

  it('--y accepts ranges and patterns of columns', () => {
    const known = ['city', '2019', '2020', '2021', 'temp_min', 'temp_max', 'a-b']
    expect(parseColumnNames('2019-2021', known)).toEqual(['2019', '2020', '2021'])
    expect(parseColumnNames('temp_*,a-b', known)).toEqual(['temp_min', 'temp_max', 'a-b'])
    expect(parseColumnNames('*_m*,*i*y', known)).toEqual(['temp_min', 'temp_max', 'city'])
    expect(parseColumnNames(`${'*'.repeat(30)}!`, ['a'.repeat(100)])).toEqual([`${'*'.repeat(30)}!`])
    expect(parseColumnNames('2021-2019,x*', known)).toEqual(['2021-2019', 'x*'])
  })

  it('columns that would look flat beside the first one are not drawn', async () => {
    const largest: Record<string, number> = { revenue: 33_000, orders: 6, cost: 21_000 }
    const cols = ['day', ...Object.keys(largest)].map((name) => ({
      name,
      type: name === 'day' ? 'date' : 'number',
      uid: name,
    }))
    const of = async (name: string) => ({ rows: 2, distinct: 2, largest: largest[name] })
    const grid = { fid: 'alice:1', filename: 'g', cols } as never
    expect((await completed(grid, 'auto', {}, of)).chosenFlags).toBe('--type line --x day --y revenue,cost')
  })

  it.each([
    ['pie', {}, '--x city --y people'],
    ['candlestick', {}, '--x day --y Open,High,Low,Close'],
    ['line', { y: 'people' }, '--x day'],
    ['box', {}, '--y people'],
  ] as const)('with %s %j given, the other options are chosen', async (type, options, said) => {
    const types = {
      city: text,
      people: number,
      day: date,
      Open: number,
      High: number,
      Low: number,
      Close: number,
    }
    const grid = { fid: 'me:1', filename: 'g', cols: cols(types) }
    expect((await completed(grid, type, options, async () => undefined)).chosenFlags).toBe(said)
  })
})

describe('what a command changes in a chart that exists', () => {
  const cols = [
    { uid: 'd1', name: 'day', type: 'text' },
    { uid: 'p1', name: 'price', type: 'number' },
    { uid: 'c1', name: 'cost', type: 'number' },
    { uid: 'l1', name: 'lat', type: 'number' },
    { uid: 'm1', name: 'lon', type: 'number' },
    { uid: 's1', name: 'start', type: 'date' },
    { uid: 'e1', name: 'end', type: 'date' },
  ]
  const grid = { fid: 'me:1', filename: 'g', cols: cols as never }
  const made = async (type: ChartType, y = 'price', title?: string): Promise<Figure> =>
    JSON.parse(
      JSON.stringify(
        await compileChart(undefined, grid, type, {
          x: 'day',
          y: NO_Y.has(type) ? undefined : y,
          title,
          ...more[type],
        }),
      ),
    )
  const merged = async (current: Figure, next: Figure): Promise<Figure> =>
    JSON.parse(JSON.stringify(await replaceGeneratedParts(current, grid, next, {})))
  /** Options that some types require. */
  const more: Partial<Record<ChartType, object>> = {
    contour: { color: 'cost' },
    scatter3d: { z: 'cost' },
    surface: { z: 'cost' },
    candlestick: { y: 'price,cost,price,cost' },
    ohlc: { y: 'cost,price,cost,price' },
    parallel: { y: 'price,cost' },
    splom: { y: 'price,cost' },
    range: { y: 'price,cost' },
    dumbbell: { y: 'price,cost' },
    timeline: { y: 'start,end' },
    ecdf: { x: 'price', y: undefined },
    density: { x: 'price', y: undefined },
    calendar: { x: 'start' },
    bump: { by: 'day', x: 'start' },
    sankey: { to: 'day' },
    pyramid: { y: 'price,cost' },
    indicator: { x: undefined },
  }
  const NO_Y = new Set<ChartType>(['map'])
  const single = new Set<ChartType>([
    ...CHART_TYPES.filter((type) => hasTrait(type, 'one y')),
    ...(['surface', 'contour', 'map', 'bump'] as const),
  ])
  const types = CHART_TYPES.filter((type) => type !== 'heatmap')

  it.each(types)('creating a %s again changes nothing', async (type) => {
    for (const y of single.has(type) ? ['price'] : ['price', 'price,cost']) {
      const figure = await made(type, y)
      expect(await merged(figure, figure)).toEqual(figure)
      const designed = { ...figure, layout: { ...figure.layout, paper_bgcolor: 'black' } }
      designed.data = designed.data.map((trace) => ({ ...trace, name: 'mine', opacity: 0.5 }))
      expect(await merged(designed, figure)).toEqual(designed)
    }
  })

  itLong('every chart type can become every other one with the same columns', async () => {
    // Every fourth pair; all in long runs.
    let pair = 0
    for (const from of types)
      for (const to of types) {
        if (pair++ % runs(4, 1) !== 0) continue
        for (const [before, after] of [
          ['price', 'cost'],
          ['price,cost', 'price'],
          ['price', 'price,cost'],
        ]) {
          if ((single.has(from) && before.includes(',')) || (single.has(to) && after.includes(','))) continue
          const wanted = await made(to, after)
          const next = await merged(await made(from, before), wanted)
          const said = `${from} ${before} → ${to} ${after}`
          expect(next.data.length, said).toBe(wanted.data.length)
          for (const [k, trace] of wanted.data.entries()) expect(next.data[k], said).toMatchObject(trace)
          const sources = (trace: object) => Object.keys(trace).filter((key) => key.endsWith('src'))
          expect(next.data.flatMap(sources).sort(), said).toEqual(wanted.data.flatMap(sources).sort())
          expect(await merged(next, wanted), said).toEqual(next)
        }
      }
  })

  it('traces added by hand are kept, also those of the same grid', async () => {
    const wanted = await made('line')
    const trend = { name: 'trend', xsrc: 'me:1:d1', ysrc: 'me:1:c1', line: { dash: 'dot' } }
    const points = { name: 'seen', type: 'scatter', mode: 'markers', xsrc: 'me:1:d1', ysrc: 'me:1:p1' }
    for (const data of [
      [wanted.data[0], trend],
      [points, wanted.data[0]],
    ])
      expect(await merged({ data, layout: wanted.layout }, wanted)).toEqual({ data, layout: wanted.layout })
  })

  it('horizontal bars of earlier charts stay horizontal', async () => {
    const wanted = await made('bar')
    const { xsrc, ysrc, ...rest } = wanted.data[0]
    const layout = { xaxis: wanted.layout.yaxis, yaxis: wanted.layout.xaxis, title: wanted.layout.title }
    const figure = { data: [{ ...rest, orientation: 'h', xsrc: ysrc, ysrc: xsrc }], layout }
    const next = await merged(
      figure,
      JSON.parse(
        JSON.stringify(await compileChart(undefined, grid, 'bar', { x: 'day', y: 'cost', horizontal: true })),
      ),
    )
    expect(next.data[0]).toMatchObject({ type: 'bar', xsrc: 'me:1:d1', ysrc: 'me:1:c1' })
    expect(next.data[0].orientation).toBeUndefined()
    expect(next.layout).toMatchObject({ meta: { horizontal: true }, yaxis: { title: { text: 'cost' } } })
  })

  it('a heatmap of columns shows their names, and removes its axes when the type changes', async () => {
    const heatmap = await made('heatmap', 'price,cost')
    const other = await made('heatmap', 'cost,price')
    expect(await merged(heatmap, other)).toEqual(other)
    const line = await made('line')
    const { xaxis, yaxis } = (await merged(heatmap, line)).layout
    expect(line.layout).toMatchObject({ xaxis, yaxis })
  })

  it('grouped bars follow from the chart type', async () => {
    const { layout } = await merged(await made('histogram'), await made('bar', 'price,cost'))
    expect(layout.barmode).toBe('group')
  })

  it('a new marker column replaces color and color bar title', async () => {
    const of = async (options: object) =>
      JSON.parse(
        JSON.stringify(await compileChart(undefined, grid, 'scatter', { x: 'day', y: 'price', ...options })),
      )
    const figure = await made('scatter')
    figure.data[0].marker = { color: 'red', symbol: 'star', colorbar: { len: 0.5 } }
    const { data } = await merged(figure, await of({ color: 'cost' }))
    expect(data[0].marker).toEqual({
      symbol: 'star',
      colorsrc: 'me:1:c1',
      showscale: true,
      colorbar: { len: 0.5, title: { text: 'cost' } },
    })
  })

  it('values in the figure are replaced by the column, and other traces are kept', async () => {
    const wanted = await made('line')
    const figure = {
      data: [
        { y: [1], name: 'target' },
        { type: 'scatter', mode: 'lines', x: [1], y: [2], textsrc: 'me:1:d1' },
      ],
      layout: {},
    }
    const { data } = await merged(figure, wanted)
    expect(data).toEqual([
      { y: [1], name: 'target' },
      { type: 'scatter', mode: 'lines', name: 'price', xsrc: 'me:1:d1', ysrc: 'me:1:p1', textsrc: 'me:1:d1' },
    ])
  })
})
