// Tools around the commands: the server for agents, the checks of doctor, files that are watched, errors with a next step.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline, start } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
const run = (args: string[], env?: Record<string, string>) => gridline(args, { home, cwd, env })
afterAll(folder.remove)
beforeAll(async () => {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(cwd, 'sales.csv'), 'city,price\nOslo,1\nLima,2\n')
  await run(['upload', 'sales.csv'])
})

/** The tools of agents: those that read, and those that --allow-write adds. */
const READING =
  'checks_get checks_run collaborators_list columns_get drafts_list files_content files_get files_lookup files_path files_sources ' +
  'folders_all folders_get folders_home folders_lookup folders_search folders_shared folders_starred folders_trashed ' +
  'grids_content grids_describe grids_diff grids_get grids_lookup plots_content plots_feed plots_get plots_list ' +
  'plots_lookup teams_get teams_list users_current users_get versions_list'
const WRITING =
  'checks_set collaborators_add collaborators_remove columns_create columns_delete columns_update drafts_delete extras_create ' +
  'files_copy files_delete files_drop_reference files_permanent_delete files_restore files_trash ' +
  'files_update folders_create grids_create grids_upload members_add members_remove plots_create ' +
  'plots_update rows_append stars_add stars_remove teams_create teams_delete versions_keep versions_revert'

describe('mcp', () => {
  /** Sends requests to a server of its own, one after the other, and returns their results. */
  async function session(args: string[], requests: [method: string, params: object][]) {
    const child = start(['mcp', ...args], { home, cwd })
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
    const send = (message: object) =>
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
    const results: any[] = []
    const client = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    }
    const all: [string, object][] = [['initialize', client], ...requests]
    for (const [id, [method, params]] of all.entries()) {
      send({ id, method, params })
      results.push(JSON.parse((await lines.next()).value))
      if (id === 0) send({ method: 'notifications/initialized' })
    }
    child.stdin!.end()
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(0)
    return results.slice(1)
  }

  it('offers the operations that read, and those that write only with --allow-write', async () => {
    const names = async (args: string[]) =>
      (await session(args, [['tools/list', {}]]))[0].result.tools.map(({ name }: { name: string }) => name)
    const [reading, all] = [await names([]), await names(['--allow-write'])]
    expect(reading).toEqual(expect.arrayContaining(['grids_content', 'grids_describe', 'folders_home']))
    expect(reading).not.toContain('files_trash')
    expect(all).toEqual(expect.arrayContaining([...reading, 'files_trash', 'grids_upload', 'rows_append']))
    // All of them, so that a new operation does not become a tool unseen.
    expect([...reading].sort()).toEqual(READING.split(' '))
    expect(all.filter((name: string) => !reading.includes(name)).sort()).toEqual(WRITING.split(' ').sort())
  })

  it('calls them, and returns errors of the service as such', async () => {
    const call = (name: string, given: object): [string, object] => ['tools/call', { name, arguments: given }]
    const [found, content, missing, refused] = await session(
      [],
      [
        call('grids_lookup', { path: 'sales' }),
        call('grids_content', { fid: (await run(['show', 'sales', '-q'])).stdout.trim() }),
        call('grids_lookup', { path: 'nothing' }),
        call('files_trash', { fid: 'x:1' }),
      ],
    )
    expect(JSON.parse(found.result.content[0].text).filename).toBe('sales')
    expect(content.result.content[0].text).toBe('city,price\nOslo,1\nLima,2\n')
    expect([missing.result.isError, JSON.parse(missing.result.content[0].text).errors[0].code]).toEqual([
      true,
      'not_found',
    ])
    expect(refused.error.message).toMatch(/no tool named files_trash/)
    const [made] = await session(
      ['--allow-write'],
      [call('grids_upload', { filename: 'agent.csv', content: 'a\n1\n' })],
    )
    expect(JSON.parse(made.result.content[0].text).file).toMatchObject({ filename: 'agent', row_count: 1 })
  })
})

describe('doctor', () => {
  it('checks what commands need; a server that does not answer is a failure with what to do', async () => {
    const local = await run(['doctor', '--no-chromium', '--json', 'check,status'])
    expect([local.code, JSON.parse(local.stdout).map(({ check }: { check: string }) => check)]).toEqual([
      0,
      ['version', 'settings', 'server', 'credentials', 'plots', 'proxy', 'database', 'terminal'],
    ])
    const down = await run(['doctor', '--no-chromium', '--json', 'check,status,fix'], {
      GRIDLINE_URL: 'http://127.0.0.1:1',
      GRIDLINE_USER: 'a',
      GRIDLINE_API_KEY: 'b',
    })
    expect(JSON.parse(down.stdout)).toContainEqual({
      check: 'server',
      status: 'failure',
      fix: expect.stringMatching(/Check that the server runs/),
    })
    expect(down.code).toBe(8)
  })
})

describe('watch', () => {
  it('appends new rows of a file that has grown, and replaces the grid otherwise', async () => {
    const file = join(cwd, 'live.csv')
    writeFileSync(file, 'n,t\n1,a\n')
    const child = start(['watch', 'live.csv'], { home, cwd })
    const lines = createInterface({ input: child.stderr! })[Symbol.asyncIterator]()
    const next = async (): Promise<string> => (await lines.next()).value
    expect(await next()).toMatch(/^live\.csv: created, http/)
    appendFileSync(file, '2,b\n3,c\n')
    expect(await next()).toBe('live.csv: 2 rows appended, 3 in total')
    writeFileSync(file, 'n,t\n9,z\n')
    expect(await next()).toMatch(/^live\.csv: replaced/)
    child.kill('SIGINT')
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(130)
    expect((await run(['cat', 'live'])).stdout).toBe('n,t\n9,z\n')
  })
})

describe('errors', () => {
  const failed = async (args: string[], env?: Record<string, string>) =>
    JSON.parse((await run([...args, '--json'], env)).stderr.trim().split('\n').at(-1)!).errors[0]

  it('name the next command to run', async () => {
    expect(await failed(['show', 'sals'])).toMatchObject({
      code: 'not_found',
      next: 'gridline ls',
      hint: expect.stringMatching(/Did you mean sales\?/),
    })
    expect((await failed(['upload', 'sales.csv'])).next).toBe(
      'gridline upload sales.csv --json --on-conflict replace',
    )
    expect((await failed(['delete', 'sales'])).next).toBe('gridline delete sales --json --yes')
  })

  it('name the place in a data file', async () => {
    writeFileSync(join(cwd, 'bad.csv'), 'a,b\n1,2\n3,4,5\n')
    expect(await failed(['upload', 'bad.csv'])).toMatchObject({ code: 'bad_data', line: 3, file: 'bad.csv' })
  })

  it('suggest columns and paths', async () => {
    expect((await failed(['cat', 'sales', '--columns', 'prize'])).hint).toMatch(/Did you mean price\?/)
    expect((await failed(['column', 'get', 'sales', 'citi'])).hint).toMatch(/Did you mean city\?/)
  })
})
