// The steps of action.yml, run by bash as GitHub does: with a key, and with the identity token of the job.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ended, gridline, serve } from '../support/cli.ts'
import { startIssuer } from '../support/issuer.ts'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
const serverHome = join(folder.path, 'server')
let server: Awaited<ReturnType<typeof serve>>
let issuer: Awaited<ReturnType<typeof startIssuer>>
let key: string
beforeAll(async () => {
  issuer = await startIssuer()
  server = await serve([], { home: serverHome })
  key = JSON.parse(
    (await gridline(['admin', 'create-user', 'ci', '--json'], { home: serverHome })).stdout,
  ).api_key
  const trust = ['admin', 'trust', 'add', issuer.url, 'repo:o/r:*', '--user', 'ci']
  expect((await gridline(trust, { home: serverHome })).code).toBe(0)
  // The program that the first step installs.
  mkdirSync(join(folder.path, 'bin'))
  writeFileSync(
    join(folder.path, 'bin/gridline'),
    `#!/bin/sh\nexec '${process.execPath}' '${root}bin/gridline.js' "$@"\n`,
  )
  chmodSync(join(folder.path, 'bin/gridline'), 0o755)
})
afterAll(async () => {
  await server.stop()
  await issuer.stop()
  folder.remove()
})

/** The script of the step that uploads. */
function script(): string {
  const [, text = ''] =
    /id: upload[\s\S]*?run: \|\n([\s\S]*)$/.exec(readFileSync(join(root, 'action.yml'), 'utf8')) ?? []
  return text.replace(/^ {8}/gm, '')
}

/** Runs the step in a folder with files, with the inputs of the action. */
async function step(name: string, inputs: Record<string, string>, env: Record<string, string>) {
  const cwd = join(folder.path, name)
  mkdirSync(join(cwd, 'data/more'), { recursive: true })
  writeFileSync(join(cwd, 'data/sales 1.csv'), 'city,price\nOslo,1\n')
  writeFileSync(join(cwd, 'data/more/b.csv'), 'n\n1\n')
  writeFileSync(join(cwd, 'bad.csv'), 'a,b\n1,2\n1,2,3,4\n')
  const given = {
    user: '',
    'api-key': '',
    files: 'data',
    folder: name,
    'on-conflict': 'replace',
    arguments: '',
    ...inputs,
  }
  const output = join(cwd, 'output')
  const child = spawn('bash', ['-c', script()], {
    cwd,
    env: {
      PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
      HOME: cwd,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: join(cwd, 'summary'),
      GITHUB_RUN_ID: '7',
      RUNNER_TEMP: cwd,
      GRIDLINE_URL: server.url,
      ...Object.fromEntries(
        Object.entries(given).map(([input, value]) => [
          `INPUT_${input.toUpperCase().replace('-', '_')}`,
          value,
        ]),
      ),
      ...env,
    },
  })
  return { ...(await ended(child)), output: () => readFileSync(output, 'utf8'), cwd }
}

it('uploads with a key, and sets the outputs of the step', async () => {
  const done = await step('with-key', { user: 'ci', 'api-key': key }, {})
  expect([done.code, done.stderr]).toEqual([0, ''])
  expect(done.output()).toMatch(
    /^fid=ci:\d+\nurl=http\S+\naction=created\ngrid_action=\nwarnings=0\nfiles=\[\{.*"filename":"b".*"sales 1"/,
  )
  const again = await step('with-key', { user: 'ci', 'api-key': key }, {})
  expect([again.code, again.stdout.match(/unchanged/g)?.length]).toEqual([0, 2])
})

it('without a key logs in with the identity token, and keeps nothing', async () => {
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/github?v=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request token',
  }
  const done = await step(
    'with-token',
    { files: 'data/sales 1.csv\nbad.csv', arguments: '--provenance' },
    {
      ...env,
      GITHUB_SHA: 'abc',
    },
  )
  expect(done.code).toBe(8)
  expect(done.stderr).toMatch(/^::error file=bad\.csv,line=3/m)
  expect(done.output()).toMatch(/action=created/)
  const left = await ended(spawn('find', [done.cwd, '-name', 'config.json']))
  expect(left.stdout).toBe('')
})
