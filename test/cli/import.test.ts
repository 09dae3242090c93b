// Notebooks, pages, figures and grids of a former chart host become files; lost charts are listed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { zip } from '../support/archives.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
let homes = 0
const newHome = (): string => {
  const path = join(folder.path, `home${homes++}`)
  mkdirSync(path)
  return path
}
/** Writes files below a new folder. Returns the folder. */
function write(files: Record<string, unknown>): string {
  const root = join(folder.path, `files${homes++}`)
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(
      path,
      Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content),
    )
  }
  return root
}
interface Row {
  path: string
  kind: string
  action: string
  was: string | null
  fid: string | null
  note: string | null
}
async function run(
  home: string,
  ...args: string[]
): Promise<{ rows: Row[]; code: number | null; stderr: string }> {
  const { stdout, stderr, code } = await gridline(['import', ...args, '--json'], { home })
  return { rows: stdout === '' ? [] : JSON.parse(stdout), code, stderr }
}
/** Name, action and reason or former number of each row, sorted. */
const summary = (rows: Row[]): string[] =>
  rows
    .map(({ path, kind, action, was, note }) => [path, kind, action, was, note].filter(Boolean).join(' | '))
    .sort()

const figure = (title: string): object => ({
  data: [{ type: 'bar', x: ['a', 'b'], y: [1, 2] }],
  layout: { title: { text: title } },
})
const display = (data: object): object => ({ output_type: 'display_data', metadata: {}, data })
const code = (...outputs: object[]): object => ({ cell_type: 'code', source: 'fig', outputs })
const markdown = (source: string | string[]): object => ({ cell_type: 'markdown', source })
const MIME = 'application/vnd.plotly.v1+json'
const FRAME = '<iframe id="igraph" src="https://plot.ly/~ada/17.embed" height="525px" width="100%"></iframe>'
const LOST_FRAME = 'only a frame of the former server: its figure is not in the file'

it('every figure of a notebook becomes a plot, named by its heading or order', async () => {
  const root = write({
    'analysis.ipynb': {
      nbformat: 4,
      metadata: { widgets: { x: { state: { a: { state: { _data: [{ y: [1, 2] }], _layout: {} } } } } } },
      cells: [
        code(display({ [MIME]: figure('first') })),
        markdown(['# Analysis\n', 'text\n', '## Sales **by** [region](x)']),
        code(display({ [MIME]: figure('second'), 'text/html': FRAME })),
        // As a string, which some exports write.
        code(display({ [MIME]: JSON.stringify(figure('third')) })),
        markdown('## Earlier\n<iframe src="https://plot.ly/~ada/18/640/480"></iframe>'),
        code(display({ 'text/html': [FRAME] })),
        code(
          display({ 'text/html': `<div id="x"></div><script>Plotly.newPlot("x", [{"y":[1]}], {})</script>` }),
        ),
        code(display({ 'text/plain': '42' }), display({ [MIME]: { unexpected: 1 } })),
      ],
    },
    'three.ipynb': {
      nbformat: 3,
      worksheets: [
        {
          cells: [
            { cell_type: 'heading', source: ['Three'] },
            code({
              output_type: 'display_data',
              html: [`<script>Plotly.plot('x', [{"y": [1, 2]}], {})</script>`],
            }),
          ],
        },
      ],
    },
    'cut.ipynb': '{"nbformat": 4, "cells": [{"cell_type": "code", "outp',
    'empty.ipynb': '{"nbformat": 4}',
    'none.ipynb': { nbformat: 4, cells: [markdown('text')] },
  })
  const { rows, code: exit, stderr } = await run(newHome(), root)
  expect(summary(rows)).toEqual([
    'analysis 1 | plot | created',
    'analysis 8 | plot | created',
    `analysis, Earlier | chart | lost | ada:17 | ${LOST_FRAME}`,
    `analysis, Earlier | chart | lost | ada:18 | ${LOST_FRAME}`,
    `analysis, Earlier | chart | lost | an output that is not a figure`,
    'analysis, Earlier | plot | created',
    'analysis, Sales by region (2) | plot | created',
    'analysis, Sales by region | plot | created | ada:17',
    'none.ipynb | file | skipped | no chart found in this notebook',
    'three, Three | plot | created',
  ])
  // The damaged ones are errors, and do not stop the others.
  expect(exit).toBe(8)
  expect(stderr).toMatch(/cut\.ipynb: not JSON, or incomplete/)
  expect(stderr).toMatch(/empty.*not a notebook/)
})

itLong('pages of plotly.py and R become plots; frames and blocks of old pages are named', async () => {
  const widget = { x: { data: [{ type: 'scatter', y: [1, 2] }], layout: {} }, evals: [] }
  const root = write({
    'two.html': `<html><body><script>Plotly.newPlot("a", [{"y": [1]}], {"title": "x"})</script><script>Plotly.newPlot( 'b', [{"y": {"dtype": "i1", "bdata": "AQI="}}], {})</script></body></html>`,
    'r.html': `<!doctype html><div id="w"></div><script type="application/json" data-for="w">${JSON.stringify(widget)}</script>`,
    'post.html': `<p><a href="https://plot.ly/~ada/9/"><img src="https://plot.ly/~ada/9.png"></a><script data-plotly="ada:9" src="https://plot.ly/embed.js" async></script>${FRAME}${FRAME}`,
    'scripts.html': `<script>Plotly.newPlot('x', data, layout)</script>${Array.from({ length: 300 }, (_, k) => `<script>Plotly.newPlot("c${k}", [{"y": [${k}]}])</script>`).join('')}`,
    'plain.html': `<html>${'<b>'.repeat(200_000)}`,
    'half.html': `<html><script>Plotly.newPlot("a", [{"y": [1, 2`,
    'page_files/style.css': 'a{}',
    'notes.RData': 'x',
  })
  const { rows, stderr } = await run(newHome(), root)
  expect(rows.filter(({ path }) => path.startsWith('scripts ')).length).toBe(300)
  expect(summary(rows.filter(({ path }) => !path.startsWith('scripts ')))).toEqual([
    'notes.RData | file | skipped | a workspace of R: save its charts with htmlwidgets::saveWidget',
    'plain.html | file | skipped | no chart found in this page',
    `post | chart | lost | ada:17 | ${LOST_FRAME}`,
    `post | chart | lost | ada:9 | ${LOST_FRAME}`,
    'r | plot | created',
    'scripts | chart | lost | its figure is not JSON: a script makes it when the page is opened',
    'two 1 | plot | created',
    'two 2 | plot | created',
  ])
  expect(stderr).toContain('half.html: the page ends in the middle of a chart')
  expect((await gridline(['import', root, '--dry-run'], { home: newHome() })).stderr).toContain(
    '1 file skipped: style.css',
  )
})

const column = (uid: string, order: number, data: unknown[]): object => ({ uid, order, data })
const grid = { cols: { a: column('aa11bb', 0, [1, 2, 3]), b: column('cc22dd', 1, ['x', 'y', 'z']) } }
const refers = (fid: string, more: object = {}): object => ({
  data: [{ type: 'bar', xsrc: `${fid}:cc22dd`, ysrc: `${fid}:aa11bb`, ...more }],
  layout: {},
})
const exported = {
  'Sales/ada_7.json': grid,
  'Sales/ada_9.json': refers('ada:7'),
  'ada_12.json': refers('ada:77', { x: ['x'], y: [1] }),
  // A grid without a number is known by the uids of its columns.
  'named.json': { cols: { e: column('ee11ff', 0, [4, 5]) } },
  'ada_13.json': { data: [{ type: 'bar', ysrc: 'ada:78:ee11ff' }], layout: {} },
}
const RECOGNIZED = 'grid ada:78 was recognized by its columns: named'

it('figures are joined with the grids that came along, by number or by their uids', async () => {
  const home = newHome()
  const root = write(exported)
  const { rows } = await run(home, root)
  expect(summary(rows)).toEqual([
    'Sales/ada_7 | grid | created | ada:7',
    'Sales/ada_9 | plot | created | ada:9',
    'ada_12 | plot | created | ada:12',
    `ada_13 | plot | created | ada:13 | ${RECOGNIZED}`,
    'named | grid | created',
  ])
  const { stdout } = await gridline(['plot', 'data', 'Sales/ada_9', '--inline'], { home })
  const fid = rows.find(({ kind }) => kind === 'grid')!.fid
  expect(JSON.parse(stdout).data).toEqual([
    { type: 'bar', xsrc: `${fid}:cc22dd`, x: ['x', 'y', 'z'], ysrc: `${fid}:aa11bb`, y: [1, 2, 3] },
  ])
  expect((await gridline(['cat', 'Sales/ada_7'], { home })).stdout).toBe('a,b\n1,x\n2,y\n3,z\n')
})

it('a figure whose grid is missing or ambiguous keeps its own data, or is lost', async () => {
  const home = newHome()
  const other = { cols: { a: column('aa11bb', 0, [9]), b: column('cc22dd', 1, ['w']) } }
  const clash = write({
    ...exported,
    'ada_8.json': other,
    'ada_7.json': other,
    'twice.json': exported['named.json'],
  })
  const { rows } = await run(home, clash)
  const missing = (fid: string): string => `grid ${fid}, which is not among the files`
  expect(summary(rows)).toEqual([
    'Sales/ada_7 | grid | created | ada:7',
    'Sales/ada_9 | plot | created | ada:9',
    'ada_12 | plot | created | ada:12',
    `ada_13 | plot | lost | ada:13 | its data is in ${missing('ada:78')}`,
    'ada_7 | grid | created | ada:7',
    'ada_8 | grid | created | ada:8',
    'named | grid | created',
    'twice | grid | created',
  ])
  const { stdout } = await gridline(['plot', 'data', 'ada_12', '--inline'], { home })
  expect(JSON.parse(stdout).data[0]).toMatchObject({ x: ['x'], y: [1] })
})

it('--dry-run shows the same and makes nothing; a second run changes nothing, and goes on after an end', async () => {
  const home = newHome()
  const root = write(exported)
  const planned = await run(home, root, '--dry-run')
  expect(planned.code).toBe(0)
  expect(JSON.parse((await gridline(['ls', '--json'], { home })).stdout)).toEqual([])
  // The first run ended early.
  await run(home, join(root, 'Sales'), '--folder', 'Sales')
  const first = await run(home, root)
  const actions = (rows: Row[]): string[] => rows.map(({ path, action }) => `${path} ${action}`).sort()
  expect(actions(planned.rows)).toEqual(
    actions(first.rows).map((text) => text.replace(/ \w+$/, ' would create')),
  )
  expect(actions(first.rows)).toEqual([
    'Sales/ada_7 unchanged',
    'Sales/ada_9 unchanged',
    'ada_12 created',
    'ada_13 created',
    'named created',
  ])
  const list = async (): Promise<string> => (await gridline(['ls', '--all', '--json'], { home })).stdout
  const before = await list()
  const second = await run(home, root)
  expect(second.rows.every(({ action }) => action === 'unchanged')).toBe(true)
  expect(await list()).toBe(before)
  // Another file of this name is never replaced.
  writeFileSync(join(root, 'ada_12.json'), JSON.stringify(figure('changed')))
  const third = await run(home, root)
  expect([third.code, third.stderr]).toEqual([
    8,
    expect.stringContaining('a file named ada_12 already exists'),
  ])
})

it('--keep-ids keeps the numbers of the former server, so that its links work', async () => {
  const home = newHome()
  const { stdout } = await gridline(['whoami', '--json'], { home })
  const { username } = JSON.parse(stdout)
  const bundle = join(folder.path, 'export.zip')
  writeFileSync(
    bundle,
    await zip(Object.fromEntries(Object.entries(exported).map(([k, v]) => [k, JSON.stringify(v)]))),
  )
  const map = ['--keep-ids', '--map-user', `ada=${username}`]
  const { rows } = await run(home, bundle, ...map)
  const numbers = (list: Row[]): string[] => list.map(({ was, fid }) => `${was} ${fid?.split(':')[1]}`).sort()
  expect(numbers(rows)).toEqual(['ada:12 12', 'ada:13 13', 'ada:7 7', 'ada:9 9', 'null 14'])
  const taken = await run(home, bundle, ...map, '--folder', 'again', '--dry-run')
  expect(taken.rows.find(({ was }) => was === 'ada:9')?.note).toBe('the number 9 is taken by ada_9')
  const again = await run(home, bundle, ...map, '--folder', 'again')
  expect(again.rows.find(({ was }) => was === 'ada:9')?.note).toBe('the number 9 was taken')
  // Also if the numbers follow each other: the grid with the data of a figure takes none of them.
  const row = write(Object.fromEntries([3, 1, 0, 2].map((k) => [`${k}.json`, figure(String(k))])))
  const packed = await run(newHome(), row, '--keep-ids')
  expect(numbers(packed.rows)).toEqual(['0 0', '1 1', '2 2', '3 3'])
  expect(packed.rows.every(({ action }) => action === 'created')).toBe(true)
  expect(again.code).toBe(0)
  // Numbers of other users are not kept.
  const others = await run(newHome(), bundle, '--keep-ids')
  expect(others.rows.map(({ fid }) => Number(fid?.split(':')[1])).every((id) => id < 10)).toBe(true)
  const wrong = await run(newHome(), bundle, '--keep-ids', '--map-user', 'ada=somebody')
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('files can be imported only for yourself'),
  ])
})

itLong('a page is imported from its address, and hostile archives are refused', async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/post' ? 200 : 404, { 'content-type': 'text/html' })
    response.end('<html><script>Plotly.newPlot("a", [{"y": [1]}], {})</script></html>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const home = newHome()
  expect(summary((await run(home, `${url}/post`)).rows)).toEqual(['post | plot | created'])
  const missing = await run(home, `${url}/missing`)
  expect(missing.stderr).toContain('could not be fetched: the server answered 404')
  await new Promise((resolve) => server.close(resolve))

  const root = write({
    'bomb.zip': await zip({ 'a.json': Buffer.alloc(300 * 1024 * 1024, ' ') }),
    'no.zip': 'not an archive',
  })
  // The names in this archive lead out of it. They are as long as the ones that they replace.
  const outside = await zip({ 'xx/xx/a.json': JSON.stringify(figure('x')) })
  writeFileSync(
    join(root, 'out.zip'),
    Buffer.from(outside.toString('latin1').replaceAll('xx/xx', '../..'), 'latin1'),
  )
  const {
    rows,
    stderr,
    code: exit,
  } = await run(home, ...['bomb', 'no', 'out'].map((name) => join(root, `${name}.zip`)))
  expect([rows, exit]).toEqual([[], 7])
  expect(stderr).toMatch(/bomb\.zip/)
  expect(stderr).toMatch(/no\.zip: the archive is damaged/)
  expect(stderr).toMatch(/out\.zip: (the archive is damaged: invalid relative path|.*leads out)/)
})

it('a figure with several columns, a wrong or late grid, and figures that are nested too deep', async () => {
  const home = newHome()
  const several = { data: [{ type: 'table', cells: { valuessrc: 'ada:7:aa11bb,cc22dd' } }], layout: {} }
  const elsewhere = { file: { fid: 'ada:9' }, ...grid }
  const root = write({ 'several.json': several, 'wrong.json': refers('ada:8'), 'far.json': elsewhere })
  const first = await run(home, root)
  // A grid of another number is not the one that is meant, though its columns have the same uids.
  const missing = (fid: string): string => `its data is in grid ada:${fid}, which is not among the files`
  expect(summary(first.rows)).toEqual([
    'far | grid | created | ada:9',
    `several | plot | lost | ${missing('7')}`,
    `wrong | plot | lost | ${missing('8')}`,
  ])
  // Its grid comes later.
  writeFileSync(join(root, 'ada_7.json'), JSON.stringify(grid))
  const second = await run(home, root)
  expect(summary(second.rows)).toEqual([
    'ada_7 | grid | created | ada:7',
    'far | grid | unchanged | ada:9',
    'several | plot | created',
    `wrong | plot | lost | ${missing('8')}`,
  ])
  const partial = write({ 'p.json': { data: [{ y: [1] }, { ysrc: 'ada:5:dd11ee' }], layout: {} } })
  const incomplete = await run(home, partial)
  expect(incomplete.rows[0].note).toBe('incomplete: its data is in grid ada:5, which is not among the files')
  writeFileSync(join(partial, '5.json'), JSON.stringify({ cols: { e: column('dd11ee', 0, [2]) } }))
  const completed = await run(home, partial)
  expect(summary(completed.rows)).toEqual(['5 | grid | created | 5', 'p | plot | updated'])
  expect(JSON.parse((await gridline(['plot', 'data', 'p', '--inline'], { home })).stdout).data[1].y).toEqual([
    2,
  ])
  const deep = write({
    'deep.json': `{"data":[{"y":[1]}],"layout":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
  })
  expect((await run(home, deep)).stderr).toMatch(/nested too deep/)
})

it('whole numbers of any length keep their digits, and texts of digits stay texts', async () => {
  const long = '12345678901234567891'
  const values = `[1,${long},-${long},"${long}","a \\" ${long}"]`
  const root = write({
    'figure.json': `{"data":[{"y":${values}}],"layout":{}}`,
    'grid.json': `{"cols":{"id":{"order":0,"uid":"aa11bb","data":${values}}}}`,
    'page.html': `<script>Plotly.newPlot("c", [{"y":${values}}], {})</script>`,
    'nb.ipynb': `{"cells":[{"cell_type":"code","outputs":[{"data":{"application/vnd.plotly.v1+json":{"data":[{"y":${values}}],"layout":{}}}}]}],"nbformat":4}`,
  })
  const home = newHome()
  expect((await run(home, root)).rows.map(({ action }) => action)).toEqual(Array(4).fill('created'))
  for (const name of ['figure', 'page', 'nb'])
    expect(
      (await gridline(['plot', 'data', name, '--inline'], { home })).stdout.replace(/\s/g, ''),
    ).toContain(`"y":${values.replace(/\s/g, '')}`)
  expect((await gridline(['cat', 'grid', '--format', 'ndjson'], { home })).stdout).toContain(`{"id":${long}}`)
})

it('a text of any length, also one that does not end, is read in linear time', async () => {
  const escaped = 'a\\n'.repeat(3_000_000)
  const root = write({
    'cut.json': '{"data":[{"x":[1234567890123456789],"text":"a text of a file that was cut off in the middle',
    'long.json': `{"data":[{"y":[12345678901234567],"text":"${escaped}"}]}`,
  })
  const { rows, stderr } = await run(newHome(), root)
  expect(rows.map(({ path, action }) => [path, action])).toEqual([['long', 'created']])
  expect(stderr).toMatch(/cut\.json: not JSON, or incomplete/)
})

it('a message of plotly.js in a page is no chart, and a heading keeps its underscores', async () => {
  const library = `<script>/** plotly.js v3 */ e.log("  Plotly.newPlot(gd, data, layout, { mapboxAccessToken: 'x' });")</script>`
  const root = write({
    'page.html': `${library}<script>Plotly.newPlot("c", [{"y":[1]}], {})</script>`,
    'nb.ipynb': JSON.stringify({
      cells: [
        {
          cell_type: 'markdown',
          source: '# _Sales_ of `net_value`',
        },
        {
          cell_type: 'code',
          outputs: [{ data: { 'application/vnd.plotly.v1+json': { data: [{ y: [1] }], layout: {} } } }],
        },
      ],
      nbformat: 4,
    }),
  })
  expect(summary((await run(newHome(), root)).rows)).toEqual([
    'nb, Sales of net_value | plot | created',
    'page | plot | created',
  ])
})
