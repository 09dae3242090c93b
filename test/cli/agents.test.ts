// gridline mcp, doctor and watch, and hints of errors.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline, start } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
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

const READING = ['find', 'read_rows', 'describe', 'chart', 'check', 'diff', 'api']
const WRITING = ['upload_draft', 'publish', 'share']

describe('mcp', () => {
  /** Starts gridline mcp, sends requests in order, and returns their results. */
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

  const call = (name: string, given: object): [string, object] => ['tools/call', { name, arguments: given }]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  const json = (result: any, k = 0) => JSON.parse(result.result.content[k].text)

  it('mcp offers a short list of task tools, and those that write only with --allow-write', async () => {
    const list = async (args: string[]) => (await session(args, [['tools/list', {}]]))[0].result
    const [reading, all] = [await list([]), await list(['--allow-write'])]
    const names = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name)
    expect(names(reading)).toEqual(READING)
    expect(names(all).sort()).toEqual([...READING, ...WRITING].sort())
    expect(JSON.stringify(all).length).toBeLessThan(8 * 1024)
  })

  it('mcp tools find, read and describe files, and return errors of the service', async () => {
    const [found, rows, described, missing, refused, unknown] = await session(
      [],
      [
        call('find', { query: 'sal' }),
        call('read_rows', { grid: 'sales', where: 'price > 1', columns: ['city'] }),
        call('describe', { file: 'sales' }),
        call('describe', { file: 'nothing' }),
        call('publish', { file: 'sales' }),
        call('find', { folder_name: 'x' }),
      ],
    )
    expect(json(found)).toMatchObject([{ filename: 'sales', filetype: 'grid' }])
    expect(rows.result.content[0].text).toBe('city\nLima\n')
    expect(json(described)).toMatchObject({
      row_count: 2,
      columns: [{ name: 'city' }, { name: 'price', max: 2 }],
    })
    expect([missing.result.isError, json(missing).errors[0].code]).toEqual([true, 'not_found'])
    expect(refused.error.message).toMatch(/no tool named publish/)
    expect(json(unknown).errors[0].message).toBe('folder_name: unknown argument')
  })

  it('mcp tools check and compare grids, and store drafts and plots with --allow-write', async () => {
    const rules = { columns: { price: { maximum: 1 } } }
    const asked: [string, object][] = [
      call('check', { grid: 'sales', rules }),
      call('upload_draft', { filename: 'sales.csv', content: 'city,price\nOslo,5\n' }),
      call('publish', { file: 'sales' }),
      call('chart', {
        grid: 'sales',
        type: 'bar',
        x: 'city',
        y: 'price',
        name: 'agent bar',
        options: { nothing: 1 },
      }),
      call('diff', { grid: 'sales' }),
    ]
    const [checked, draft, published, chart, diff] = await session(['--allow-write'], asked)
    expect(json(checked)).toMatchObject({ passed: false })
    expect(json(draft).file).toMatchObject({ draft: 'agent', row_count: 1 })
    expect(json(published)).toMatchObject({ filename: 'sales', world_readable: true })
    expect(json(chart).errors[0].message).toBe('no chart option named nothing')
    expect(diff.result.content[0].text).toMatch(/version|rows/)
    expect((await run(['cat', 'sales'])).stdout).toBe('city,price\nOslo,1\nLima,2\n')
  })

  it('the api tool sends only requests that agents may make', async () => {
    const requests: [string, object][] = [
      call('api', { path: '/v2/users/current' }),
      call('api', { path: '/v2/folders/home', query: { page_size: 1 } }),
      call('api', { method: 'POST', path: '/v2/folders', body: { path: 'New' } }),
      call('api', { path: '/v2/keys' }),
      call('api', { method: 'POST', path: '/v2/keys', body: {} }),
      call('api', { path: '/v2/files/../keys' }),
      call('api', { path: '/signin' }),
    ]
    const [user, home, ...refused] = await session([], requests)
    expect(json(user)).toHaveProperty('username')
    expect(json(home).children.results).toHaveLength(1)
    expect(refused.map((one) => json(one).errors[0].message)).toEqual([
      expect.stringMatching(/changes data: start gridline mcp with --allow-write/),
      ...Array.from({ length: 4 }, () => expect.stringMatching(/not an operation that agents may use/)),
    ])
    const [made] = await session(['--allow-write'], [requests[2]])
    expect(json(made)).toMatchObject({ file: { filename: 'New' } })
  })
})

describe('doctor', () => {
  itLong('doctor checks what commands need, and says what to do if a server does not answer', async () => {
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
      fix: expect.stringMatching(/Check the server and its URL/),
    })
    expect(down.code).toBe(8)
  })
})

describe('watch', () => {
  it('watch appends new rows of a file that has grown, and otherwise replaces the grid', async () => {
    const file = join(cwd, 'live.csv')
    writeFileSync(file, 'n,t\n1,a\n')
    const child = start(['watch', 'live.csv'], { home, cwd })
    const lines = createInterface({ input: child.stderr! })[Symbol.asyncIterator]()
    const next = async (): Promise<string> => (await lines.next()).value
    expect(await next()).toMatch(/^live\.csv: created, http/)
    appendFileSync(file, '2,b\n3,c\n')
    expect(await next()).toBe('live.csv: 2 rows appended, 3 in total')
    // A file that is being written can be invalid.
    writeFileSync(file, 'n,t\n1,2,3,4\n')
    expect(await next()).toMatch(/waiting for the next change/)
    writeFileSync(file, 'n,t\n9,z\n')
    expect(await next()).toMatch(/^live\.csv: replaced/)
    child.kill('SIGINT')
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(130)
    expect((await run(['cat', 'live'])).stdout).toBe('n,t\n9,z\n')
  })

  /** Watches a file, appends a part of it after each message, and returns the messages and the grid. */
  const watchParts = async (
    name: string,
    parts: string[],
    options: string[],
    between?: () => Promise<void>,
  ) => {
    writeFileSync(join(cwd, `${name}.csv`), parts[0])
    const child = start(['watch', `${name}.csv`, ...options], { home, cwd })
    const lines = createInterface({ input: child.stderr! })[Symbol.asyncIterator]()
    const seen: string[] = []
    const next = async (): Promise<void> => {
      for (let line = ''; !/created|replaced|appended/.test(line); ) {
        line = (await lines.next()).value
        if (/created|replaced|appended/.test(line)) seen.push(/created|replaced|appended/.exec(line)![0])
      }
    }
    await next()
    await between?.()
    for (const part of parts.slice(1)) {
      appendFileSync(join(cwd, `${name}.csv`), part)
      await next()
    }
    child.kill('SIGINT')
    await new Promise((resolve) => child.once('exit', resolve))
    return [seen.join(' '), (await run(['cat', name])).stdout]
  }

  it('new rows below a title, or of a file whose last line is skipped, are read with the whole file', async () => {
    expect(await watchParts('titled', ['Umsatz, 2024\ndatum;wert\na;1,5\nc;2,5\n', 'b;3,5\n'], [])).toEqual([
      'created replaced',
      'datum,wert\na,"1,5"\nc,"2,5"\nb,"3,5"\n',
    ])
    expect(await watchParts('summed', ['a,b\n1,x\n2,y\n', '3,z\n4,q\n'], ['--skip-last', '1'])).toEqual([
      'created replaced',
      'a,b\n1,x\n2,y\n3,z\n',
    ])
  })

  it('new rows go to the columns of their names', async () => {
    const swap = async (): Promise<void> => {
      const { stdout } = await run(['show', 'moved', '--json'])
      const { fid, cols } = JSON.parse(stdout)
      const path = `/v2/grids/${fid}/col?uid=${cols[1].uid}`
      expect((await run(['api', 'PUT', path, '-F', 'cols=[{"order":0}]'])).code).toBe(0)
    }
    expect(await watchParts('moved', ['price;cost\n10;1\n20;2\n', '30;3\n'], [], swap)).toEqual([
      'created appended',
      'cost,price\n1,10\n2,20\n3,30\n',
    ])
  })
})

describe('errors', () => {
  const failed = async (args: string[], env?: Record<string, string>) =>
    JSON.parse((await run([...args, '--json'], env)).stderr.trim().split('\n').at(-1)!).errors[0]

  it('errors name the next command to run', async () => {
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

  it('errors name the line and column of a data file', async () => {
    writeFileSync(join(cwd, 'bad.csv'), 'a,b\n1,2\n3,4,5\n')
    expect(await failed(['upload', 'bad.csv'])).toMatchObject({ code: 'bad_data', line: 3, file: 'bad.csv' })
  })

  it('errors suggest similar columns and paths', async () => {
    expect((await failed(['cat', 'sales', '--columns', 'prize'])).hint).toMatch(/Did you mean price\?/)
    expect((await failed(['column', 'get', 'sales', 'citi'])).hint).toMatch(/Did you mean city\?/)
  })
})
