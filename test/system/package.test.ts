// The packed npm package, and its stack traces.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/service/store/engines/sqlite-database.ts'
import { gridline, serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
afterAll(folder.remove)

/** Packs the product, and unpacks it without sources and other packages. */
function unpacked(): string {
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder.path], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(packed.status, packed.stderr).toBe(0)
  const [{ filename }] = JSON.parse(packed.stdout) as { filename: string }[]
  spawnSync('tar', ['xzf', filename], { cwd: folder.path })
  const place = join(folder.path, 'package')
  // It has no dependencies, and this system's packages are not above it.
  const { dependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
  expect(dependencies).toBeUndefined()
  return place
}

describe('npm pack', () => {
  it('npm pack gives a package that uploads, appends and prints on its own', () => {
    const place = unpacked()
    expect(existsSync(join(place, 'src'))).toBe(false)
    // The code cache of this machine is useless to others, and larger than everything else.
    expect(existsSync(join(place, 'dist/code-cache'))).toBe(false)
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
    const bytes = files.reduce((sum, file) => sum + statSync(join(place, file)).size, 0)
    expect(bytes).toBeLessThan(41_000_000)
    writeFileSync(join(folder.path, 'a.csv'), 'n,city\n1,Oslo\n')
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [join(place, 'bin/gridline.js'), ...args], {
        cwd: folder.path,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, GRIDLINE_HOME: join(folder.path, 'home') },
      })
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(run('--version').stdout).toBe(`${version}\n`)
    expect(run('upload', 'a.csv', '-q').stderr).toBe('')
    expect(run('append', 'a', '--row', '2,Rome', '-q').status).toBe(0)
    expect(run('cat', 'a').stdout).toBe('n,city\n1,Oslo\n2,Rome\n')
  })
})

describe('stack traces', () => {
  it('stack traces name source and line when GRIDLINE_DEBUG is set', async () => {
    const home = join(folder.path, 'traces')
    const { stderr } = await gridline(['cat', 'nothing', '--local'], { home, env: { GRIDLINE_DEBUG: '1' } })
    expect(stderr).toMatch(/at .*src\/client\/resolve\.ts:\d+:\d+/)
    expect(stderr).toMatch(/at .*src\/cli\/commands\/cat\.ts:\d+:\d+/)
  })

  it('stack traces of unexpected errors name the source in the server log', async () => {
    const home = join(folder.path, 'server')
    const server = await serve([], { home })
    const { stdout } = await gridline(['admin', 'create-user', 'ann', '--json'], { home })
    const { api_key } = JSON.parse(stdout)
    const logged = new Promise<string>((resolve) => {
      server.child.stderr!.on('data', (chunk) => {
        if (String(chunk).includes('"status":500')) resolve(String(chunk))
      })
    })
    // Drops a table, which no operation expects.
    const database = openDatabase(join(home, 'gridline.db'))
    database.exec('DROP TABLE stars')
    database.close()
    const authorization = `Basic ${Buffer.from(`ann:${api_key}`).toString('base64')}`
    const answer = await fetch(`${server.url}/v2/folders/starred`, { headers: { authorization } })
    expect(answer.status).toBe(500)
    expect(await logged).toMatch(/at [^"]*src\/service\/\S+\.ts:\d+:\d+/)
    await server.stop()
  })

  it('stack traces need no source files', () => {
    const map = JSON.parse(readFileSync(join(root, 'dist/columnar-worker.js.map'), 'utf8'))
    expect(map.sources.every((source: string) => source.startsWith('../'))).toBe(true)
    expect(map.sourcesContent).toBeUndefined()
  })
})
