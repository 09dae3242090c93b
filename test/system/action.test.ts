// The steps of action.yml, run by bash as GitHub does: with a key, and with the identity token of the job.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ended, gridline, serve } from '../support/cli.ts'
import { startForge } from '../support/fake-github.ts'
import { startIssuer } from '../support/fake-oidc-issuer.ts'
import { itLong } from '../support/property-runs.ts'
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

/** Script of the upload step. */
function script(): string {
  const [, text = ''] =
    /id: upload[\s\S]*?run: \|\n([\s\S]*)$/.exec(readFileSync(join(root, 'action.yml'), 'utf8')) ?? []
  return text.replace(/^ {8}/gm, '')
}

/** Runs the step in a folder with files, with the inputs of the action. */
async function step(
  name: string,
  inputs: Record<string, string>,
  env: Record<string, string>,
  isFirst = true,
) {
  const cwd = join(folder.path, name)
  mkdirSync(join(cwd, 'data/more'), { recursive: true })
  if (isFirst) {
    writeFileSync(join(cwd, 'data/sales 1.csv'), 'city,price\nOslo,1\n')
    writeFileSync(join(cwd, 'data/more/b.csv'), 'n\n1\n')
    writeFileSync(join(cwd, 'bad.csv'), 'a,b\n1,2\n1,2,3,4\n')
  }
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
          `INPUT_${input.toUpperCase().replaceAll('-', '_')}`,
          value,
        ]),
      ),
      ...env,
    },
  })
  return { ...(await ended(child)), output: () => readFileSync(output, 'utf8'), cwd }
}

it('the action uploads with a key, and sets the step outputs', async () => {
  const done = await step('with-key', { user: 'ci', 'api-key': key }, {})
  expect([done.code, done.stderr]).toEqual([0, ''])
  expect(done.output()).toMatch(
    /^fid=ci:\d+\nurl=http\S+\naction=created\ngrid_action=\nwarnings=0\nfiles=\[\{.*"filename":"b".*"sales 1"/,
  )
  const again = await step('with-key', { user: 'ci', 'api-key': key }, {})
  expect([again.code, again.stdout.match(/unchanged/g)?.length]).toEqual([0, 2])
})

itLong('the action exports a site of public files', async () => {
  const inputs = {
    user: 'ci',
    'api-key': key,
    arguments: '--public',
    site: 'site',
    'site-directory': '_site',
  }
  const done = await step('site', { ...inputs, 'site-url': 'https://charts.example.com' }, {})
  expect([done.code, done.stderr]).toEqual([0, ''])
  expect(readFileSync(join(done.cwd, '_site/index.html'), 'utf8')).toContain('sales 1')
  const again = await step('site', { ...inputs, files: '' }, {}, false)
  expect([again.code, again.stderr]).toEqual([0, ''])
  const neither = await step('neither', { user: 'ci', 'api-key': key, files: '' }, {})
  expect([neither.code, neither.stderr]).toEqual([2, '::error::files is missing\n'])
})

itLong('without a key, the action logs in with the identity token, and stores nothing', async () => {
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

const DATA = (rows: number, of = 'city') =>
  `id,city,n\n${Array.from({ length: rows }, (_, k) => `${k},${of}${k},${k * 3}\n`).join('')}`

/** A pull request in a repository whose data and chart are on the server. */
let requests = 11
async function repository(name: string) {
  const number = ++requests
  const forge = await startForge()
  const inputs = { user: 'ci', 'api-key': key, files: 'data', folder: name, review: 'true', checks: '' }
  await step(name, inputs, { GITHUB_EVENT_NAME: 'push' })
  const cwd = join(folder.path, name)
  const env = { GRIDLINE_URL: server.url, GRIDLINE_USER: 'ci', GRIDLINE_API_KEY: key }
  const cli = (...args: string[]) => gridline(args, { home: join(cwd, 'home'), cwd, env })
  writeFileSync(join(cwd, 'data/sales 1.csv'), DATA(200))
  await cli('upload', 'data', '--folder', name, '--on-conflict', 'replace', '--yes')
  const grid = `${name}/data/sales 1`
  await cli(
    'plot',
    'create',
    '--grid',
    grid,
    '--type',
    'line',
    '--x',
    'id',
    '--y',
    'n',
    '--name',
    `${name} chart`,
  )
  const event = join(cwd, 'event.json')
  const request = async (
    action: string,
    more: Record<string, string> = {},
    given: Record<string, string> = {},
  ) => {
    writeFileSync(event, JSON.stringify({ action, pull_request: { number } }))
    const env = {
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: event,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_API_URL: forge.url,
      GITHUB_TOKEN: 'may-comment',
      ...more,
    }
    // The files of the repository are unchanged.
    return step(name, { ...inputs, ...given }, env, false)
  }
  return {
    forge,
    draft: `pr-${number}-o_r`,
    cwd,
    cli,
    grid,
    request,
    write: (csv: string) => writeFileSync(join(cwd, 'data/sales 1.csv'), csv),
  }
}

it('the action reviews a pull request with drafts and one updated comment, and uploads the merge', async () => {
  const { forge, cwd, cli, grid, request, write } = await repository('pulls')
  write(DATA(198).replace('city5,15', 'town5,15'))
  const opened = await request('opened')
  expect([opened.code, opened.stdout]).toEqual([0, expect.stringContaining('+0 −2 ~1 rows')])
  expect((await cli('cat', grid, '--where', 'id = 5')).stdout).toContain('city5')
  expect((await cli('cat', `${grid}@pr-12-o_r`, '--where', 'id = 5')).stdout).toContain('town5')
  expect(forge.comments).toHaveLength(1)
  const { body } = forge.comments[0]
  expect(body).toMatch(/^<!-- gridline review pr-12-o_r -->\n### Gridline: 1 data file changed/)
  // Removed rows come first.
  expect(body).toMatch(/\| − \| 199 .*\n\| − \| 200 .*\n\| ~ \| 6 .*city5 → town5/)
  expect(readFileSync(join(cwd, 'summary'), 'utf8')).toContain('### Gridline: 1 data file changed')
  const after = /!\[after\]\((\S+)\)/.exec(body)![1]
  expect((await fetch(after.replace(/signature=.{4}/, 'signature=AAAA'))).status).toBe(404)
  expect([200, 501]).toContain((await fetch(after)).status)
  expect((await fetch(after.replace('version=pr-12-o_r&', ''))).status).toBe(404)
  write(DATA(200).replace('city5,15', 'town5,16'))
  expect((await request('synchronize')).code).toBe(0)
  expect(forge.comments).toHaveLength(1)
  expect(forge.comments[0].body).toContain('1 row changed (2 cells)')
  // The drafts of another repository with a pull request of this number stay, and need a key.
  const elsewhere = { GITHUB_REPOSITORY: 'o/other' }
  const other = await request('closed', elsewhere)
  expect([other.code, other.stderr]).toEqual([0, expect.stringContaining('it has no drafts (pr-12-o_other)')])
  const unknown = await request('closed', { GITHUB_TOKEN: '' }, { 'api-key': '' })
  expect(unknown.stderr).toMatch(
    /no login, so public files are reviewed: .*\n.*its drafts stay until they expire/s,
  )
  expect((await cli('draft', 'list', '--jq', '.[].name')).stdout).toBe('pr-12-o_r\n')
  const closed = await request('closed')
  expect([closed.code, closed.stderr]).toEqual([0, expect.stringContaining('deleted its drafts (pr-12-o_r)')])
  expect((await cli('draft', 'list', '--json')).stdout).toBe('[]\n')
  const merged = await request('push', { GITHUB_EVENT_NAME: 'push' })
  expect([merged.code, merged.stdout]).toEqual([0, expect.stringMatching(/sales 1.*replaced/)])
  expect((await cli('cat', grid, '--where', 'id = 5')).stdout).toContain('town5')
  await forge.stop()
})

itLong('a comment has at most 60,000 characters, even for 4 MB of differences', async () => {
  const { forge, cwd, cli, grid, request, write } = await repository('large')
  const many = 50_000
  write(DATA(many, 'a city with a long name that is the same in all rows '))
  await cli('upload', 'data', '--folder', 'large', '--on-conflict', 'replace', '--yes')
  write(DATA(many - 1000, 'another city with a long name; `[x](y)` <b> @all |'))
  const done = await request('opened')
  expect(done.code).toBe(0)
  const { body } = forge.comments[0]
  expect(body.length).toBeLessThanOrEqual(60_000)
  expect(body.length).toBeGreaterThan(40_000)
  expect(body).toContain('1000 rows removed')
  expect(body).toMatch(/… and more: `gridline diff ci:\d+@pr-\d+-o_r`/)
  expect(body.match(/^\| [−~+] \|/gm)!.every((sign) => sign === '| − |')).toBe(true)
  expect(body).toContain('![after](')
  expect((await cli('history', grid, '--jq', 'length')).stdout).toBe('3\n')
  expect(readFileSync(join(cwd, 'summary'), 'utf8').length).toBeLessThan(1024 * 1024)
  await forge.stop()
})

it('failed checks are in the review, and fail the job', async () => {
  const { forge, cwd, request, write } = await repository('checked')
  writeFileSync(join(cwd, 'rules.yml'), 'columns:\n  n: { maximum: 600, optional: true }\n')
  write(DATA(300))
  const done = await request('opened', {}, { checks: 'rules.yml' })
  expect([done.code, done.stderr]).toEqual([
    7,
    expect.stringContaining('::error file=data/sales 1.csv,line=203'),
  ])
  expect(forge.comments[0].body).toContain('1 file fails checks')
  await forge.stop()
})

itLong('a pull request from a fork, without key and comments, gets a summary of public grids', async () => {
  const { forge, draft, cwd, cli, grid, request, write } = await repository('forked')
  await cli('publish', grid)
  write(DATA(199))
  const done = await request('opened', { GITHUB_TOKEN: 'may-read' }, { 'api-key': '' })
  expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('the review is only in the summary')])
  expect(forge.comments).toEqual([])
  const summary = readFileSync(join(cwd, 'summary'), 'utf8')
  expect(summary).toContain('1 row removed')
  expect((await cli('draft', 'list', draft, '--json')).stdout).toBe('[]\n')
  await forge.stop()
})

itLong('similar comments of other users are left alone, and GitLab gets a note', async () => {
  const { forge, cwd, cli, write } = await repository('noted')
  write(DATA(100))
  forge.comments.push({
    id: 1,
    body: '<!-- gridline review mr-7 -->\nmine',
    user: { login: 'eve', type: 'User' },
  })
  const env = {
    GRIDLINE_URL: server.url,
    GRIDLINE_USER: 'ci',
    GRIDLINE_API_KEY: key,
    GITLAB_CI: 'true',
    CI_MERGE_REQUEST_IID: '7',
    CI_API_V4_URL: forge.url,
    CI_PROJECT_ID: '5',
    GITLAB_TOKEN: 'may-comment',
  }
  for (let round = 0; round < 2; round++)
    await gridline(['review', 'data', '--folder', 'noted'], { home: join(cwd, 'home'), cwd, env })
  expect(forge.comments.map(({ body }) => body.split('\n')[0])).toEqual([
    '<!-- gridline review mr-7 -->',
    '<!-- gridline review mr-7 -->',
  ])
  expect(forge.comments[0].body).toContain('mine')
  expect((await cli('draft', 'list', 'mr-7', '--jq', '.[].filename')).stdout).toBe('sales 1\n')
  await forge.stop()
})
