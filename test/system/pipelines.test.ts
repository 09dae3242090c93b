// Templates for pipelines, run as they run them: installing in the action, GitLab CI, and cron.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { version } from '../../src/contract/version.ts'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
const home = join(folder.path, 'home')
const bin = join(folder.path, 'bin')
let server: Awaited<ReturnType<typeof serve>>
let key: string
beforeAll(async () => {
  mkdirSync(bin)
  const program = `#!/bin/sh\nexec '${process.execPath}' '${root}bin/gridline.js' "$@"\n`
  writeFileSync(join(bin, 'gridline'), program, { mode: 0o755 })
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$@"\n`, { mode: 0o755 })
  server = await serve([], { home })
  const made = await gridline(['admin', 'create-user', 'ci', '--json'], { home })
  key = JSON.parse(made.stdout).api_key
})
afterAll(async () => {
  await server.stop()
  folder.remove()
})

/** Runs a script without blocking other processes. */
function run(
  program: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<{ status: number | null; output: string }> {
  mkdirSync(cwd, { recursive: true })
  const child = spawn(program, args, {
    cwd,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, output })))
}

it.each([
  ['', 'false', `gridline@${version}`],
  ['1.2.3', 'false', 'gridline@1.2.3'],
  ['./gridline.tgz', 'false', './gridline.tgz'],
  ['', 'true', `gridline@${version} @sparticuz/chromium`],
])('the action installs version %j, with images: %s', (wanted, draws, packages) => {
  const { runs } = parse(readFileSync(join(root, 'action.yml'), 'utf8'))
  const script: string = runs.steps[0].run
  // A PATH without Chromium.
  const path = join(folder.path, `path-${draws}`)
  mkdirSync(path, { recursive: true })
  spawnSync('ln', ['-sf', '/usr/bin/sed', '/bin/sh', join(bin, 'npm'), path])
  const { stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', script], {
    encoding: 'utf8',
    env: { PATH: path, VERSION: wanted, DRAWS: draws, GITHUB_ACTION_PATH: root },
  })
  const args = 'install --global --omit=optional --no-fund --no-audit --loglevel=error --'
  expect([stdout, stderr]).toEqual([`${args} ${packages}\n`, ''])
})

it('the template for GitLab CI uploads its files, and installs the version of this release', async () => {
  const template = parse(readFileSync(join(root, 'deploy/gitlab-ci.yml'), 'utf8'))
  const { variables, before_script, script } = template['.gridline']
  expect(variables.GRIDLINE_VERSION).toBe(version)
  const cwd = join(folder.path, 'gitlab')
  mkdirSync(join(cwd, 'data'), { recursive: true })
  writeFileSync(join(cwd, 'data/a.csv'), 'n\n1\n')
  const env = {
    ...variables,
    ...{
      CI: 'true',
      GITLAB_CI: 'true',
      GRIDLINE_URL: server.url,
      GRIDLINE_USER: 'ci',
      GRIDLINE_API_KEY: key,
    },
    ...{ CI_COMMIT_SHA: 'abc123', CI_COMMIT_REF_NAME: 'main', CI_JOB_URL: 'https://gitlab.example.com/1' },
  }
  const lines = ['set -euo pipefail', ...before_script, ...script].join('\n')
  const { status, output } = await run('bash', ['--norc', '-c', lines], cwd, env)
  expect([status, output]).toEqual([0, expect.stringContaining('created')])
  const [result] = readFileSync(join(cwd, 'gridline.ndjson'), 'utf8').trim().split('\n')
  expect(JSON.parse(result)).toMatchObject({ filename: 'a', action: 'created' })
})

itLong('the template for cron uploads in silence, says what is wrong, and does not run twice', async () => {
  const cwd = join(folder.path, 'cron')
  const bins = join(cwd, '.local/bin')
  mkdirSync(bins, { recursive: true })
  spawnSync('cp', [join(bin, 'gridline'), bins])
  writeFileSync(join(cwd, 'b.csv'), 'n\n1\n')
  const settings = (url: string): string => {
    const file = join(cwd, 'env')
    writeFileSync(file, `GRIDLINE_URL=${url}\nGRIDLINE_USER=ci\nGRIDLINE_API_KEY=${key}\n`)
    return file
  }
  const env = { GRIDLINE_FILES: join(cwd, 'b.csv'), GRIDLINE_TRIES: '0' }
  const cron = (url: string) =>
    run(join(root, 'deploy/cron.sh'), [], cwd, { ...env, GRIDLINE_ENV: settings(url) })
  expect(await cron(server.url)).toEqual({ status: 0, output: '' })
  const listed = await gridline(['cat', 'b'], {
    home: join(folder.path, 'other'),
    env: { GRIDLINE_URL: server.url, GRIDLINE_USER: 'ci', GRIDLINE_API_KEY: key },
  })
  expect(listed.stdout).toBe('n\n1\n')
  writeFileSync(join(cwd, 'b.csv'), 'a,b\n1,2\n1,2,3\n')
  expect(await cron(server.url)).toEqual({ status: 1, output: expect.stringContaining('line 3') })
  expect(await cron('http://127.0.0.1:9')).toEqual({ status: 1, output: expect.stringContaining('error:') })
  // Another run holds the lock.
  const script = join(root, 'deploy/cron.sh')
  const held = await run('flock', [script, script], cwd, { ...env, GRIDLINE_ENV: settings(server.url) })
  expect(held).toEqual({ status: 0, output: '' })
  writeFileSync(join(bins, 'gridline'), '#!/bin/sh\nexec sleep 60\n')
  const hanging = await run(script, [], cwd, {
    ...env,
    GRIDLINE_ENV: settings(server.url),
    GRIDLINE_CRON_SECONDS: '0.2',
  })
  expect(hanging).toEqual({ status: 1, output: expect.stringContaining('took too long') })
})
