// What a command loads: packages and slow modules of Node only where they are used.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const home = join(folder.path, 'home')
const probe = join(folder.path, 'probe.cjs')
const report = join(folder.path, 'report.json')
/** Modules of Node that take long to load. */
const SLOW = ['crypto', 'http', 'http2', 'https', 'tls', 'dns', 'worker_threads', 'child_process', 'readline']
let server: Awaited<ReturnType<typeof serve>>
let env: Record<string, string>

beforeAll(async () => {
  writeFileSync(
    probe,
    `const { writeFileSync } = require('node:fs')
process.on('exit', () => {
  const packages = Object.keys(require.cache).flatMap((file) => /node_modules[\\\\/]((?:@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1] ?? [])
  const modules = process.moduleLoadList.flatMap((name) => /^NativeModule (\\w+)$/.exec(name)?.[1] ?? [])
  writeFileSync(${JSON.stringify(report)}, JSON.stringify({ packages, modules }))
})`,
  )
  writeFileSync(join(folder.path, 'a.csv'), 'a,b\n1,x\n')
  const serverHome = join(folder.path, 'server')
  server = await serve([], { home: serverHome })
  const made = await gridline(['admin', 'create-user', 'alice', '--json'], { home: serverHome })
  const { api_key } = JSON.parse(made.stdout)
  env = { GRIDLINE_URL: server.url, GRIDLINE_USER: 'alice', GRIDLINE_API_KEY: api_key }
  await gridline(['upload', 'a.csv'], { home, cwd: folder.path })
})
afterAll(async () => {
  await server.stop()
  folder.remove()
})

async function loaded(args: string[], isRemote = false): Promise<{ packages: string[]; slow: string[] }> {
  const { code, stderr } = await gridline(args, {
    home,
    cwd: folder.path,
    env: isRemote ? env : {},
    nodeArguments: ['--require', probe],
  })
  expect(code, stderr).toBe(0)
  const { packages, modules } = JSON.parse(readFileSync(report, 'utf8'))
  const slow = modules.filter((name: string) => SLOW.includes(name))
  return { packages: [...new Set(packages as string[])].sort(), slow: [...new Set(slow as string[])].sort() }
}

it.each([[['--help']], [['help', 'json']], [['upload', '--help']], [['config', 'list']]])(
  '%j loads no package and no slow module',
  async (args) => {
    expect(await loaded(args)).toEqual({ packages: [], slow: [] })
  },
)

it('a command on a server loads neither the database nor cryptography', async () => {
  await gridline(['upload', 'a.csv', '--on-conflict', 'replace'], { home, cwd: folder.path, env })
  for (const args of [['ls'], ['show', 'a'], ['cat', 'a']]) {
    const { packages, slow } = await loaded(args, true)
    expect([args, packages, slow.filter((name) => /crypto|http2|worker|child/.test(name))]).toEqual([
      args,
      [],
      [],
    ])
  }
})

it('jq is loaded with --jq alone', async () => {
  expect((await loaded(['ls', '--jq', '.'])).packages).toContain('jq-wasm')
})

it('an upload on this machine loads the database and nothing else', async () => {
  const { packages } = await loaded(['upload', 'a.csv', '--on-conflict', 'replace'])
  expect(packages).toEqual(['@photostructure/sqlite'])
})
