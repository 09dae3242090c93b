// npm run demo [-- FILE]: creates a grid and a chart from a data file, like a user in a terminal.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const own = process.argv[2]
// npm runs scripts in the package folder; FILE is relative to the user's folder.
const file = own
  ? resolve(process.env.INIT_CWD ?? process.cwd(), own)
  : join(root, 'test', 'data', 'weather.csv')
const home = mkdtempSync(join(tmpdir(), 'gridline-demo-'))

function gridline(args, { shown = true, input } = {}) {
  const words = args.map((arg) => (/^[\w./:=,-]+$/.test(arg) ? arg : `'${arg}'`))
  if (shown) console.log(`\n$ gridline ${words.join(' ')}`)
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'bin', 'gridline.js'), ...args], {
    // Uses the local database even in a CI job.
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

const shown = relative(process.env.INIT_CWD ?? process.cwd(), file) || basename(file)
const path = /^[\w./-]+$/.test(shown) ? shown : `'${shown}'`
console.log(`A grid and a chart of ${path}, on this machine alone: no server, no account.`)
console.log(`\n$ gridline upload ${path}`)
const [made] = JSON.parse(gridline(['upload', file, '--json'], { shown: false }))
if (made.cols === undefined) {
  console.log(`${made.fid}  ${made.filename}  a folder with a grid for each table  ${made.web_url}`)
  process.exit(0)
}
for (const warning of made.warnings) console.log(`warning: ${warning}`)
console.log(`${made.fid}  ${made.filename}  ${made.row_count} rows  ${made.web_url}`)

gridline(['cat', made.filename, '--format', 'table', '--limit', '5'])
gridline(['describe', made.filename, '--format', 'table'])

// Appends the first row again.
const [, row] = gridline(['cat', made.fid, '--limit', '1'], { shown: false }).split('\n')
if (row) gridline(['append', made.filename, '--row', row])

// Draws what the columns suggest.
if (made.cols.some(({ type }) => type === 'number')) {
  const grid = made.filename
  const words = own ? [] : ['--type', 'line', '--x', 'date', '--y', 'temp_max', '--by', 'location']
  const plot = JSON.parse(gridline(['plot', 'create', '--grid', grid, ...words, '--json'], { shown: false }))
  console.log(`\n$ gridline plot create --grid ${[grid, ...words].join(' ')}`)
  console.log(`${plot.fid}  ${plot.filename}  ${plot.web_url}`)
  gridline(['preview', plot.filename])
} else console.log('\nThere is no column of numbers to draw.')
const command = relative(process.cwd(), join(root, 'bin', 'gridline.js')) || 'gridline'
console.log(`\nTo see it in the browser: GRIDLINE_HOME=${home} node ${command} open`)
