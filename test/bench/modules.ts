// Lists packages and slow Node modules that short commands load.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from './faults.ts'

/** Modules of Node that take long to load. */
const SLOW = ['crypto', 'http', 'http2', 'https', 'tls', 'dns', 'worker_threads', 'child_process', 'readline']

/** What short commands load: packages, and slow modules of Node. */
export function modules(folder: string, executable: string, env: Record<string, string>): Row[] {
  const probe = join(folder, 'probe.cjs')
  const report = join(folder, 'modules.json')
  writeFileSync(
    probe,
    `const { writeFileSync } = require('node:fs')
process.on('exit', () => {
  const packages = Object.keys(require.cache).flatMap((file) => /node_modules[\\\\/]((?:@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1] ?? [])
  const modules = process.moduleLoadList.flatMap((name) => /^NativeModule (\\w+)$/.exec(name)?.[1] ?? [])
  writeFileSync(${JSON.stringify(report)}, JSON.stringify({ packages, modules }))
})`,
  )
  const csv = join(folder, 'small.csv')
  writeFileSync(csv, 'city,price\nOslo,1.5\nLima,2\n')
  const commands: [args: string[], aim: string][] = [
    [['--help'], 'nothing'],
    [['config', 'list'], 'nothing'],
    [['upload', csv, '--on-conflict', 'replace', '-q'], 'the database'],
    [['cat', 'small', '--limit', '1'], 'the database'],
    [['cat', 'small', '--limit', '1', '--jq', '.'], 'the database, jq'],
  ]
  return commands.map(([args, aim]) => {
    const { status, stderr } = spawnSync(process.execPath, ['--require', probe, executable, ...args], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
    const found = JSON.parse(readFileSync(report, 'utf8')) as { packages: string[]; modules: string[] }
    const loaded = new Set([...found.packages, ...found.modules.filter((name) => SLOW.includes(name))])
    return {
      what: `${args[0]} ${args.at(-1) === '.' ? '--jq' : ''}: packages and slow modules that are loaded`,
      ours: [...loaded].sort().join(', ') || 'none',
      theirs: '',
      ratio: '',
      atLeast: aim,
    }
  })
}
