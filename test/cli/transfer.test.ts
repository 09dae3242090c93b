// pull and push.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toSafeFileName } from '../../src/cli/files/local-names.ts'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
const run = (args: string[], env?: Record<string, string>) => gridline(args, { home, cwd, env })
afterAll(folder.remove)

beforeAll(async () => {
  mkdirSync(home, { recursive: true })
  const figure = { data: [{ x: [1, 2], y: [1.5, 2.5] }], layout: { title: { text: 'T' } } }
  writeFileSync(join(cwd, 'figure.json'), JSON.stringify(figure))
  writeFileSync(join(cwd, 'a.csv'), 'n,t\n1.10,x\n2,"y, z"\n')
  writeFileSync(join(cwd, 'b.csv'), 'n\n3\n')
  await run(['upload', 'a.csv', '--folder', 'Reports/2024'])
  await run(['upload', 'b.csv', '--folder', 'Reports'])
  await run(['plot', 'create', 'figure.json', '--folder', 'Reports'])
})

describe('pull', () => {
  it('pull writes grids as CSV and plots as figures with their data, and skips unchanged files', async () => {
    const { code, stdout } = await run(['pull', 'Reports', 'out', '--json', 'path,action'])
    expect(code).toBe(0)
    const actions = new Map(
      JSON.parse(stdout).map(({ path, action }: { path: string; action: string }) => [path, action]),
    )
    expect(actions.get('out/Reports/2024/a.csv')).toBe('downloaded')
    expect(readFileSync(join(cwd, 'out/Reports/2024/a.csv'), 'utf8')).toBe('n,t\n1.10,x\n2,"y, z"\n')
    const figure = JSON.parse(readFileSync(join(cwd, 'out/Reports/figure.json'), 'utf8'))
    expect(figure.data[0].y).toEqual([1.5, 2.5])
    await run(['append', 'Reports/b', '--row', '4'])
    writeFileSync(join(cwd, 'out/Reports/2024/a.csv'), 'changed here')
    const again = await run(['pull', 'Reports', 'out', '--json', 'path,action'])
    expect(again.code).toBe(8)
    expect(again.stderr).toMatch(/out\/Reports\/2024\/a\.csv was changed locally/)
    expect(readFileSync(join(cwd, 'out/Reports/2024/a.csv'), 'utf8')).toBe('changed here')
    const downloaded = JSON.parse(again.stdout).filter(
      ({ action }: { action: string }) => action === 'downloaded',
    )
    expect(downloaded).toEqual([{ path: 'out/Reports/b.csv', action: 'downloaded' }])
    expect(readFileSync(join(cwd, 'out/Reports/b.csv'), 'utf8')).toBe('n\n3\n4\n')
    expect(readdirSync(join(cwd, 'out/Reports')).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('pull downloads again with another --where, and checks the condition', async () => {
    const path = join(cwd, 'chosen/b.csv')
    const actions: string[] = []
    for (const args of [['--where', 'n > 3'], ['--where', 'n > 3'], ['--sort', '-n'], [], []]) {
      const { stdout } = await run(['pull', 'Reports/b', 'chosen', '--json', 'action', ...args])
      actions.push(`${JSON.parse(stdout)[0].action} ${readFileSync(path, 'utf8').replaceAll('\n', ' ')}`)
    }
    expect(actions).toEqual([
      'downloaded n 4 ',
      'unchanged n 4 ',
      'downloaded n 4 3 ',
      'downloaded n 3 4 ',
      'unchanged n 3 4 ',
    ])
    expect((await run(['pull', 'Reports/b', 'chosen', '--where', 'x > 3'])).stderr).toContain('no column "x"')
  })

  it('pull writes the version, the draft and the data that the file has now', async () => {
    const pull = async (file: string, path: string) => {
      const { stdout } = await run(['pull', file, 'now', '--json', 'action'])
      return `${JSON.parse(stdout)[0].action} ${readFileSync(join(cwd, 'now', path), 'utf8').replaceAll('\n', ' ')}`
    }
    writeFileSync(join(cwd, 'dated.csv'), 'd,v\n2024-01-01,1\n2024-01-02,2\n')
    await run(['upload', 'dated.csv', '--plot', 'line', '--x', 'd', '--y', 'v'])
    expect(await pull('dated line', 'dated line.json')).toMatch(/^downloaded .*\[1,2\]/)
    expect(await pull('dated line', 'dated line.json')).toMatch(/^unchanged .*\[1,2\]/)
    writeFileSync(join(cwd, 'dated.csv'), 'd,v\n2024-01-01,5\n')
    await run(['upload', 'dated.csv', '--on-conflict', 'replace', '--yes'])
    expect(await pull('dated line', 'dated line.json')).toMatch(/^downloaded .*\[5\]/)
    expect(await pull('dated', 'dated.csv')).toBe('downloaded d,v 2024-01-01,5 ')
    expect(await pull('dated@1', 'dated.csv')).toBe('downloaded d,v 2024-01-01,1 2024-01-02,2 ')
    expect(await pull('dated@1', 'dated.csv')).toBe('unchanged d,v 2024-01-01,1 2024-01-02,2 ')
    expect(await pull('dated', 'dated.csv')).toBe('downloaded d,v 2024-01-01,5 ')
    for (const value of [7, 8]) {
      writeFileSync(join(cwd, 'dated.csv'), `d,v\n2024-01-01,${value}\n`)
      await run(['upload', 'dated.csv', '--on-conflict', 'replace', '--draft', 'next'])
      expect(await pull('dated@next', 'dated.csv')).toBe(`downloaded d,v 2024-01-01,${value} `)
    }
    expect(await pull('dated@next', 'dated.csv')).toBe('unchanged d,v 2024-01-01,8 ')
    expect(await pull('dated', 'dated.csv')).toBe('downloaded d,v 2024-01-01,5 ')
  })

  it('pull completes an interrupted one, which has left files without records, and parts of files', async () => {
    const folder = join(cwd, 'half/Reports')
    const pull = (...more: string[]) => run(['pull', 'Reports/*', folder, '--json', 'action', ...more])
    await pull()
    rmSync(join(folder, '.gridline-pull.json'))
    const part = join(folder, 'b.csv.99999999.part')
    writeFileSync(part, 'half')
    utimesSync(part, 0, 0)
    for (const more of [['--dry-run'], [], []]) expect((await pull(...more)).stdout).not.toMatch(/download/)
    expect(existsSync(part)).toBe(false)
    rmSync(join(folder, '.gridline-pull.json'))
    writeFileSync(join(folder, 'b.csv'), 'mine')
    for (const more of [['--dry-run'], []])
      expect((await pull(...more)).stderr).toMatch(/b\.csv was changed locally/)
    expect(readFileSync(join(folder, 'b.csv'), 'utf8')).toBe('mine')
  })

  it.each([
    ['before', 'before the data change'],
    ['after', 'before the data change'],
    ['before', 'and later'],
    ['after', 'and later'],
  ])('files that a pull was killed %s renaming are still its own, %s', async (when, later) => {
    const folder = `killed ${when} ${later}`
    const [first, second] = ['k1', 'k2'].map((name) => join(cwd, folder, `${name}.csv`))
    const upload = async (value: number): Promise<void> => {
      for (const name of ['k1', 'k2']) {
        writeFileSync(join(cwd, `${name}.csv`), `n\n${value}\n`)
        const more = ['--folder', 'Killed', '--on-conflict', 'replace', '--yes']
        await run(['upload', `${name}.csv`, ...more])
      }
    }
    const pull = ['pull', 'Killed/*', folder, '--jobs', '1']
    await upload(1)
    await run(pull)
    await upload(2)
    // Ends the process at the second file.
    const script = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'
      const { renameSync } = fs; let count = 0
      fs.renameSync = (from, to) => {
        const isLast = from.endsWith('.part') && ++count === 2
        if (isLast && '${when}' === 'before') process.kill(process.pid, 'SIGKILL')
        renameSync(from, to)
        if (isLast) process.kill(process.pid, 'SIGKILL')
      }
      syncBuiltinESMExports()`
    const nodeArguments = ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
    expect((await gridline(pull, { home, cwd, nodeArguments })).code).toBe(null)
    const contents = () => [first, second].map((file) => readFileSync(file, 'utf8'))
    expect(contents()).toEqual(['n\n2\n', when === 'after' ? 'n\n2\n' : 'n\n1\n'])
    if (later === 'and later') await run(pull)
    await upload(3)
    const { code, stderr } = await run(pull)
    expect([code, stderr, ...contents()]).toEqual([0, '', 'n\n3\n', 'n\n3\n'])
    expect(existsSync(join(cwd, folder, '.gridline-pull.journal'))).toBe(false)
  })

  it('pull --force downloads again, and pull --dry-run writes nothing', async () => {
    const path = join(cwd, 'out/Reports/b.csv')
    const before = statSync(path).ino
    await run(['pull', 'Reports/b', 'out/Reports', '--force'])
    expect(statSync(path).ino).not.toBe(before)
    utimesSync(path, 0, 0)
    const { stdout } = await run(['pull', 'Reports/b', 'elsewhere', '--dry-run', '--json', 'action'])
    expect([stdout, existsSync(join(cwd, 'elsewhere'))]).toEqual(['[{"action":"would download"}]\n', false])
  })

  it('pull never writes outside of the directory', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom('..', '.', '/', '../..', '\\'), fc.string()), { minLength: 1 }),
        (names) => {
          const path = join('/target', ...names.map(toSafeFileName))
          expect(path.startsWith('/target/')).toBe(true)
          expect(path.split('/')).toHaveLength(2 + names.length)
        },
      ),
    )
  })
})

describe('push', () => {
  itLong('push copies folders, grids with the uids of their columns, and their plots', async () => {
    const serverHome = join(cwd, 'server')
    const server = await serve([], { home: serverHome })
    try {
      const made = await gridline(['admin', 'create-user', 'bob', '--json'], { home: serverHome })
      const { api_key } = JSON.parse(made.stdout)
      // Makes ids differ on both sides.
      const there = { GRIDLINE_URL: server.url, GRIDLINE_USER: 'bob', GRIDLINE_API_KEY: api_key }
      for (const name of ['p', 'q', 'r']) await run(['mkdir', name], there)
      const login = await gridline(['login', server.url, '--user', 'bob', '--profile', 'work'], {
        home,
        cwd,
        stdin: api_key,
      })
      expect(login.code, login.stderr).toBe(0)
      const plan = await run([
        'push',
        'Reports/b',
        '--local',
        '--to',
        'work',
        '--dry-run',
        '--json',
        'operation',
      ])
      expect(plan.stdout).toBe('[{"operation":"grids.create"}]\n')
      const pushed = await run(['push', 'Reports', '--local', '--to', 'work', '--json', 'file,action'])
      expect([pushed.code, pushed.stderr]).toEqual([0, ''])
      const columns = async (path: string, where: string[]) =>
        JSON.parse((await run(['column', 'list', path, '--json', 'name,uid,type', ...where])).stdout)
      expect(await columns('Reports/2024/a', ['--profile', 'work'])).toEqual(
        await columns('Reports/2024/a', ['--local']),
      )
      expect((await run(['cat', 'Reports/2024/a', '--profile', 'work'])).stdout).toBe(
        'n,t\n1.10,x\n2,"y, z"\n',
      )
      const figure = await run(['plot', 'data', 'Reports/figure', '--inline', '--profile', 'work'])
      expect(JSON.parse(figure.stdout).data[0].y).toEqual([1.5, 2.5])
      const again = await run([
        'push',
        'Reports',
        '--local',
        '--to',
        'work',
        '--on-conflict',
        'skip',
        '--json',
        'action',
      ])
      expect(new Set(JSON.parse(again.stdout).map(({ action }: { action: string }) => action))).toEqual(
        new Set(['unchanged', 'skipped']),
      )
      // Existing content is replaced; ids, links and uids stay.
      const idsThere = async () =>
        (await run(['ls', '--all', '--profile', 'work', '--json', 'fid,path'])).stdout
      const before = await idsThere()
      await run(['append', 'Reports/2024/a', '--row', '3,w', '--local'])
      const replaced = await run(['push', 'Reports', '--local', '--to', 'work', '--on-conflict', 'replace'])
      expect([replaced.code, replaced.stderr]).toEqual([0, ''])
      expect((await run(['cat', 'Reports/2024/a', '--profile', 'work'])).stdout).toMatch(/\n3,w\n$/)
      expect(await columns('Reports/2024/a', ['--profile', 'work'])).toEqual(
        await columns('Reports/2024/a', ['--local']),
      )
      expect(await idsThere()).toBe(before)
      const same = await run(['plot', 'data', 'Reports/figure', '--inline', '--profile', 'work'])
      expect(JSON.parse(same.stdout).data[0].y).toEqual([1.5, 2.5])
      // Columns of several types, which CSV has not.
      writeFileSync(join(cwd, 'mixed.ndjson'), '{"j":[1,{"b":null}],"t":"2024-01-01 x"}\n{"j":"s","t":"1"}\n')
      await run(['upload', 'mixed.ndjson', '--folder', 'Mixed', '--local'])
      for (const action of ['created', 'replaced']) {
        const mixed = await run([
          ...['push', 'Mixed', '--local', '--to', 'work', '--on-conflict', 'replace'],
          ...['--jq', '.[] | select(.file | endswith("mixed")) | .action'],
        ])
        expect([mixed.code, mixed.stderr, mixed.stdout]).toEqual([0, '', `${action}\n`])
        const content = await run(['cat', 'Mixed/mixed', '--profile', 'work', '--format', 'ndjson'])
        expect(content.stdout).toBe('{"j":[1,{"b":null}],"t":"2024-01-01 x"}\n{"j":"s","t":"1"}\n')
      }
      // Values and names that CSV has not, many columns, a key and checks.
      const names = Array.from({ length: 3000 }, (_, k) => `measurement_${k}`)
      const exact = {
        'nulls.ndjson': '{"o":null}\n{"o":null}\n',
        'blanks.ndjson': '{" s":1,"t":""}\n{" s":null,"t":null}\n',
        'wide.ndjson': `${JSON.stringify(Object.fromEntries(names.map((name, k) => [name, k])))}\n`,
        'keyed.ndjson': '{"id":1,"day":"2024-01-31"}\n{"id":2,"day":null}\n',
      }
      for (const [name, text] of Object.entries(exact)) {
        writeFileSync(join(cwd, name), text)
        await run([
          'upload',
          name,
          '--folder',
          'Exact',
          '--local',
          ...(name === 'keyed.ndjson' ? ['--key', 'id'] : []),
        ])
      }
      writeFileSync(join(cwd, 'rules.yaml'), 'columns: { id: { required: true } }\n')
      await run(['check', 'Exact/keyed', '--checks', 'rules.yaml', '--set', '--local'])
      for (const action of ['created', 'replaced']) {
        const sent = await run([
          ...['push', 'Exact', '--local', '--to', 'work', '--on-conflict', 'replace', '--yes'],
          ...['--jq', '.[] | .action'],
        ])
        expect([sent.code, sent.stderr, sent.stdout]).toEqual([
          0,
          '',
          `${action === 'created' ? 'created' : 'unchanged'}\n${`${action}\n`.repeat(4)}`,
        ])
        for (const [name, text] of Object.entries(exact)) {
          const path = `Exact/${name.replace('.ndjson', '')}`
          const content = await run(['cat', path, '--profile', 'work', '--format', 'ndjson'])
          expect([name, content.stdout]).toEqual([name, text])
        }
        const { primary_key } = JSON.parse(
          (await run(['show', 'Exact/keyed', '--profile', 'work', '--json'])).stdout,
        )
        const checked = await run(['append', 'Exact/keyed', '--row', ',2024-02-01', '--profile', 'work'])
        expect([primary_key, checked.code]).toEqual([['id'], 7])
      }
      // A board and all that it shows; a dry run says the same without them.
      writeFileSync(join(cwd, 'board.yaml'), 'rows: [{ plot: Reports/figure }, { table: Reports/b }]\n')
      const boardMade = await run(['board', 'create', 'board.yaml', '--name', 'Shown', '--local'])
      expect(boardMade.stderr).toBe('')
      const boardArgs = ['push', 'Shown', '--local', '--to', 'work', '--folder', 'Board']
      const planned = await run([...boardArgs, '--dry-run', '--json', 'operation'])
      expect([
        planned.code,
        JSON.parse(planned.stdout).map(({ operation }: { operation: string }) => operation),
      ]).toEqual([0, expect.arrayContaining(['grids.create', 'plots.create', 'dashboards.create'])])
      const board = await run([...boardArgs, '--json', 'file,fid'])
      expect([board.code, board.stderr]).toEqual([0, ''])
      const { fid: boardFid } = JSON.parse(board.stdout).at(-1)
      const authorization = `Basic ${Buffer.from(`bob:${api_key}`).toString('base64')}`
      const stored = await fetch(`${server.url}/v2/dashboards/${boardFid}`, { headers: { authorization } })
      const ids = [...(await stored.json()).content.matchAll(/"(?:plot|table)":"(.*?)"/g)].map(([, id]) => id)
      const sent: string[] = JSON.parse(board.stdout).map(({ fid }: { fid: string }) => fid)
      expect([ids.length, sent]).toEqual([2, expect.arrayContaining(ids)])
      // Charts of a new column refer to the column of that name on the other server.
      writeFileSync(join(cwd, 'a.csv'), 'n,t,extra\n1,x,10\n2,y,20\n')
      const place = ['--folder', 'Reports/2024', '--local']
      await run(['upload', 'a.csv', ...place, '--on-conflict', 'replace'])
      const chart = ['--type', 'line', '--x', 'n', '--y', 'extra', '--name', 'extra chart']
      await run(['plot', 'create', '--grid', 'Reports/2024/a', ...chart, ...place])
      const pushArgs = ['push', 'Reports/2024', '--local', '--to', 'work', '--folder', 'Reports']
      const dry = await run([
        ...pushArgs,
        '--on-conflict',
        'replace',
        '--dry-run',
        '--json',
        'operation,file',
      ])
      expect(JSON.parse(dry.stdout)).toEqual(
        expect.arrayContaining([{ operation: 'grids.create', file: '2024/a' }]),
      )
      const grown = await run([...pushArgs, '--on-conflict', 'replace'])
      expect([grown.code, grown.stderr]).toEqual([0, ''])
      const drawn = await run(['plot', 'data', 'Reports/2024/extra chart', '--inline', '--profile', 'work'])
      expect(JSON.parse(drawn.stdout).data[0]).toMatchObject({ x: [1, 2], y: [10, 20] })
      // A loss of columns requires confirmation.
      writeFileSync(join(cwd, 'a.csv'), 'n\n1\n')
      await run(['upload', 'a.csv', ...place, '--on-conflict', 'replace', '--yes'])
      const asked = await run([...pushArgs, '--on-conflict', 'replace'])
      expect([asked.code, asked.stderr]).toEqual([8, expect.stringMatching(/--yes/)])
      expect((await run(['cat', 'Reports/2024/a', '--profile', 'work'])).stdout).toMatch(/^n,t,extra\n/)
      const confirmed = await run([
        'push',
        'Reports/2024/a',
        ...pushArgs.slice(2),
        '--on-conflict',
        'replace',
        '--yes',
      ])
      expect(confirmed.code, confirmed.stderr).toBe(0)
      // Back to this machine.
      const back = await run(['push', 'Reports/b', '--profile', 'work', '--to', 'local', '--folder', 'Back'])
      expect([back.code, back.stderr]).toEqual([0, ''])
      expect((await run(['cat', 'Back/b', '--local'])).stdout).toBe('n\n3\n4\n')
      const refused = await run(['push', 'Reports/b', '--local', '--to', 'work', '--folder', 'Reports'])
      expect([refused.code, refused.stderr]).toEqual([6, expect.stringMatching(/Reports\/b already exists/)])
    } finally {
      await server.stop()
    }
  })
})
