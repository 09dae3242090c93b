// Runs every command of the README and the guide in a color terminal, and compares the output with screens/readme.txt.
// `UPDATE_TRANSCRIPTS=1 npx vitest run test/cli/readme.test.ts` writes that file.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { isLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'
import { hasTerminal, terminal } from '../support/terminal.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const screens = join(root, 'test/cli/screens/readme.txt')
const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
afterAll(folder.remove)

/** Commands that cannot run here, and the reason. They are tested elsewhere. */
const ELSEWHERE: [pattern: RegExp, why: string][] = [
  [/^(npm|curl|echo \$\?|echo "\$KEY")/, 'not gridline, or needs a server'],
  [/^gridline (open|watch|serve)|--follow/, 'runs until Ctrl-C'],
  [/^gridline (push|refresh) /, 'needs another server'],
]

/** Names of the files whose ids the documents show: there, the user has no other files. */
const NAMES: Record<string, string> = { 'alice:0': 'weather', 'alice:3': "'weather scatter'" }

/** Short runs do without the guide, whose commands are tested elsewhere too. */
const isWhole = isLong || Boolean(process.env.UPDATE_TRANSCRIPTS)

const commands = [
  ...new Set(
    ['README.md', ...(isWhole ? ['docs/guide.md'] : [])]
      .flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(/^\$ (.+)$/gm)])
      .map(([, line]) => line.replace(/\s{3,}#.*$/, '').replace(/alice:\d+/g, (fid) => NAMES[fid] ?? fid)),
  ),
].filter((line) => !ELSEWHERE.some(([pattern]) => pattern.test(line)))

/** Returns the text of a screen, without parts that differ between runs and machines. */
function textOf(shown: string): string {
  const lines = shown
    .replace(/\r\n/g, '\n')
    .replace(/\u001b\[[\d;?]*[A-Za-z]/g, '')
    .split('\n')
    // Some charts need Chromium. Bars of progress depend on the speed of the machine.
    .filter((line) => !/[\u2800-\u28ff█░]/.test(line) && !/^(x|y|traces): /.test(line))
  return (
    lines
      .map((line) => line.trimEnd().split('\r').at(-1)!)
      .join('\n')
      .replaceAll(cwd, '/folder')
      .replaceAll(userInfo().username, 'alice')
      .replace(/share_key=\S+/g, 'share_key=KEY')
      .replace(/"api_key": "[^"]+"/g, '"api_key": "KEY"')
      .replace(/^(bytes +)\d+$/gm, '$1N')
      .replace(/^((?:uid +)?)[0-9a-f]{6}\b/gm, '$1UID')
      // Widths depend on the username.
      .replace(/ {2,}/g, '  ')
      .replace(/\n{2,}/g, '\n')
      .trim()
  )
}

describe.skipIf(!hasTerminal)('the README and the guide in a color terminal', () => {
  beforeAll(async () => {
    for (const name of ['data', 'logs/2024', 'figures']) mkdirSync(join(cwd, name), { recursive: true })
    mkdirSync(home, { recursive: true })
    const weather = join(root, 'test/data/weather.csv')
    copyFileSync(weather, join(cwd, 'weather.csv'))
    const [head, ...rows] = readFileSync(weather, 'utf8').split('\n')
    const seattle = rows.filter((row) => row.includes('Seattle'))
    writeFileSync(join(cwd, 'seattle.csv'), `${[head, ...seattle].join('\n')}\n`)
    const file = (name: string, text: string | Buffer) => writeFileSync(join(cwd, name), text)
    file('export.txt', 'zip;amount;note\n01234;1,5;a\n01235;2,5;b\n01236;3,5;c\n')
    file('report.csv', 'day,n\n1,2\n2,3\n')
    file('broken.csv', 'a,b\n1,2\n3,4,5\n')
    file('data/a.csv', 'n\n1\n2\n')
    file('data/b.tmp.csv', 'n\n1\n')
    file('logs/2024/l.csv.gz', gzipSync('n\n1\n2\n'))
    file('results.csv', 'n\n1\n')
    file('overview.yml', 'rows:\n  - text: How warm was it?\n  - number: weather\n    value: max:temp_max\n')
    const figure = '{"data":[{"type":"bar","y":[1,3,2]}],"layout":{}}'
    const output = `{"output_type":"display_data","data":{"application/vnd.plotly.v1+json":${figure}}}`
    const frame =
      '{"output_type":"display_data","data":{"text/html":"<iframe src=https://plot.ly/~ada/17.embed>"}}'
    const cells = `{"cell_type":"markdown","source":"# Sales"},{"cell_type":"code","outputs":[${output},${frame}]}`
    file('analysis.ipynb', `{"nbformat":4,"cells":[${cells}]}`)
    for (const name of ['figure.json', 'figure-2.json', 'figures/bar.json']) file(name, figure)
    file('figures/chart.html', `<script>Plotly.newPlot("x", [{"type":"bar","y":[1,2]}], {})</script>`)
    file('sales.csv', 'city,price,notes\nOslo,1,x\nRome,2,y\n')
    file('customers.csv', 'id,name,notes\n1,Ann,a\n2,Bob,b\n')
    file('changes.csv', 'id,name\n2,Bobby\n3,Cleo\n')
    file('unemployment.csv', 'county,rate\nA,4.1\nB,5.2\n')
    const region = (id: string, x: number) =>
      `{"type":"Feature","id":"${id}","properties":{},"geometry":{"type":"Polygon","coordinates":[[[${x},0],[${x},1],[${x + 1},1],[${x},0]]]}}`
    file('counties.json', `{"type":"FeatureCollection","features":[${region('A', 0)},${region('B', 1)}]}`)
    const run = (...args: string[]) => gridline(args, { home, cwd })
    await run('upload', 'sales.csv', '--plot', 'line', '--x', 'city', '--y', 'price')
    await run('upload', 'customers.csv')
    for (const name of ['2023-1', 'draft-1', 'draft-2'])
      await run('upload', 'report.csv', '--name', name, '--folder', 'Reports')
    await run('mkdir', 'Archive')
    await run('admin', 'create-user', 'bob')
    await run('team', 'create', 'finance')
  })

  it('each command prints the screen in screens/readme.txt, without visible escape codes', async () => {
    const shown: string[] = []
    for (const line of commands) {
      const quoted = `PATH='${join(root, 'node_modules/.bin')}':$PATH; gridline() { '${process.execPath}' '${join(root, 'bin/gridline.js')}' "$@"; }; ${line}`
      const { shown: screen, code } = await terminal(`sh -c '${quoted.replaceAll("'", "'\\''")}'`, {
        home,
        cwd,
        columns: 100,
        env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
      })
      expect([line, code]).toEqual([line, line.includes('broken.csv') ? 7 : 0])
      // Escape codes are interpreted, never visible.
      expect([line, screen.includes('\ufffd'), /\[\d+(;\d+)*m/.test(textOf(screen))]).toEqual([
        line,
        false,
        false,
      ])
      for (const row of textOf(screen).split('\n')) {
        const isLink = /https?:\/\/|^[{[]/.test(row)
        if (!isLink) expect([line, row, row.length > 100]).toEqual([line, row, false])
      }
      shown.push(`$ ${line}\n${textOf(screen)}${code === 0 ? '' : `\n[exit ${code}]`}\n`)
    }
    const all = shown.join('\n')
    if (process.env.UPDATE_TRANSCRIPTS) {
      mkdirSync(join(screens, '..'), { recursive: true })
      writeFileSync(screens, all)
    }
    const kept = readFileSync(screens, 'utf8')
    expect(all).toBe(isWhole ? kept : kept.slice(0, all.length))
  })
})
