// npm run demo [-- FILE]: a CSV into a grid, rows appended, printed as a table and as JSON, its link, and a chart.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const own = process.argv[2]
// npm runs scripts in the folder of the package; a file is meant from where the person stands.
const file = own
  ? resolve(process.env.INIT_CWD ?? process.cwd(), own)
  : join(root, 'test', 'data', 'weather.csv')
const home = mkdtempSync(join(tmpdir(), 'gridline-demo-'))

function gridline(args, { shown = true, input } = {}) {
  const words = args.map((arg) => (/^[\w./:=,-]+$/.test(arg) ? arg : `'${arg}'`))
  if (shown) console.log(`\n$ gridline ${words.join(' ')}`)
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'bin', 'gridline.js'), ...args], {
    // In a CI job, too, the database of this machine is meant.
    env: { ...process.env, GRIDLINE_HOME: home, GRIDLINE_PROFILE: 'local' },
    encoding: 'utf8',
    input,
    stdio: ['pipe', 'pipe', 'inherit'],
    maxBuffer: 1 << 30,
  })
  if (status !== 0) {
    rmSync(home, { recursive: true, force: true })
    process.exit(status ?? 1)
  }
  if (shown) process.stdout.write(stdout)
  return stdout
}

const path = relative(process.env.INIT_CWD ?? process.cwd(), file) || basename(file)
console.log(`A grid out of ${path}, on this machine alone: no server, no account.`)
const [made] = JSON.parse(gridline(['upload', file, '--json'], { shown: false }))
console.log(`\n$ gridline upload ${path}`)
console.log(`${made.fid}  ${made.filename}  ${made.row_count} rows  ${made.web_url}`)

const columns = made.cols.slice(0, 6).map(({ name }) => name)
gridline(['cat', made.fid, '--format', 'table', '--head', '5'])

// Two rows of the file itself, appended to it.
const rows = gridline(['cat', made.fid, '--head', '2'], { shown: false }).split('\n').slice(1).join('\n')
console.log(`\n$ head -2 rows.csv | gridline append ${made.fid} - --no-header`)
process.stdout.write(
  gridline(['append', made.fid, '-', '--no-header', '--format', 'csv'], { shown: false, input: rows }),
)

gridline(['cat', made.fid, '--columns', columns.slice(0, 3).join(','), '--head', '3', '--format', 'json'])
gridline(['show', made.fid, '--json', 'fid,filename,row_count,web_url'])

// A chart of its first column of numbers, over the first column that is not one.
const isNumber = ({ type }) => type === 'number'
const [y] = made.cols.filter(isNumber)
const x = made.cols.find(({ name }) => name === 'date') ?? made.cols.find((column) => !isNumber(column))
if (y) {
  const words = ['--type', 'scatter', ...(x ? ['--x', x.name] : []), '--y', y.name]
  const args = ['plot', 'create', '--grid', made.fid, ...words]
  const plot = JSON.parse(gridline([...args, '--json'], { shown: false }))
  console.log(`\n$ gridline ${args.join(' ')}`)
  console.log(`${plot.fid}  ${plot.filename}  ${plot.web_url}`)
  gridline(['preview', plot.fid])
  console.log(`\nIts chart, which changes with the grid: ${plot.web_url}`)
} else console.log(`\nIts link: ${made.web_url}`)
console.log(
  `It is served there by: GRIDLINE_HOME=${home} ${relative(process.cwd(), join(root, 'bin', 'gridline.js')) || 'gridline'} serve`,
)
