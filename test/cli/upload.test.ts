// Uploads of directories and patterns, in parallel and in parts, from CI systems.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { xlsx } from '../support/archives.ts'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
let server: Awaited<ReturnType<typeof serve>>
let key: string
beforeAll(async () => {
  const home = join(folder.path, 'server')
  server = await serve([], { home })
  key = JSON.parse((await gridline(['admin', 'create-user', 'alice', '--json'], { home })).stdout).api_key
})
afterAll(async () => {
  await server.stop()
  folder.remove()
})

/** Creates a folder with these files, and returns a function that runs commands in it. */
function place(name: string, files: Record<string, string>) {
  const cwd = join(folder.path, name)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), content)
  }
  mkdirSync(cwd, { recursive: true })
  const run = (args: string[], env: Record<string, string> = {}) =>
    gridline(args, {
      home: join(cwd, '.home'),
      cwd,
      env: { GRIDLINE_URL: server.url, GRIDLINE_USER: 'alice', GRIDLINE_API_KEY: key, ...env },
    })
  return { cwd, run }
}

describe('a local file', () => {
  it.skipIf(process.platform === 'win32')('can be a pipe, as of <(command)', async () => {
    const { cwd, run } = place('pipe', {})
    const pipe = join(cwd, 'rows.csv')
    execFileSync('mkfifo', [pipe])
    const writer = spawn('sh', ['-c', `printf 'a,b\\n1,2\\n' > '${pipe}'`])
    const { code, stderr } = await run(['upload', pipe, '--name', 'piped'])
    expect([code, stderr]).toEqual([0, ''])
    writer.kill()
    expect((await run(['cat', 'piped'])).stdout).toBe('a,b\n1,2\n')
  })

  it('patterns with characters outside of ASCII work in the build as in the sources', async () => {
    const { run } = place('signs', { 'a.csv': 'd;p\n2024年3月31日;1.234,50 €\n2024年4月1日;2,50 €\n' })
    const args = [
      'cat',
      'a.csv',
      '--locale',
      'de',
      '--column',
      'p:number',
      '--column',
      'd:date',
      '--format',
      'csv',
    ]
    expect((await run(args)).stdout).toBe('d,p\n2024-03-31,1234.50\n2024-04-01,2.50\n')
  })
})

describe('directories and patterns', () => {
  it('upload of a directory keeps its structure, skips other files, and continues after failures', async () => {
    const { cwd, run } = place('tree', {
      'data/a.csv': 'n\n1\n',
      'data/2024/b.csv': 'n\n2\n',
      'data/2024/c.csv': 'n,m\n1,2\n1,2,3,4\n',
      'data/notes.md': '# notes',
      'data/.hidden.csv': 'n\n9\n',
    })
    const first = await run(['upload', 'data', '--folder', 'tree', '--json', 'file,action,row_count'])
    expect(first.code).toBe(8)
    expect(JSON.parse(first.stdout)).toEqual([
      { file: 'data/2024/b.csv', action: 'created', row_count: 1 },
      { file: 'data/a.csv', action: 'created', row_count: 1 },
    ])
    expect(JSON.parse(first.stderr.trim().split('\n').at(-1)!).errors[0]).toMatchObject({
      code: 'bad_data',
      line: 3,
    })
    writeFileSync(join(cwd, 'data/2024/c.csv'), 'n\n3\n')
    writeFileSync(join(cwd, 'data/a.csv'), 'n\n4\n')
    const again = await run(['upload', 'data', '--folder', 'tree', '--json', 'file,action'])
    expect([again.code, JSON.parse(again.stdout)]).toEqual([
      8,
      [
        { file: 'data/2024/b.csv', action: 'unchanged' },
        { file: 'data/2024/c.csv', action: 'created' },
      ],
    ])
    expect(again.stderr).toMatch(/already_exists/)
    const planned = await run([
      ...['upload', 'data', '--folder', 'tree', '--on-conflict', 'replace'],
      ...['--dry-run', '--json', 'file,would'],
    ])
    expect(JSON.parse(planned.stdout)).toEqual([
      { file: 'data/2024/b.csv', would: 'nothing' },
      { file: 'data/2024/c.csv', would: 'nothing' },
      { file: 'data/a.csv', would: 'replace' },
    ])
    const replaced = await run([
      'upload',
      'data',
      '--folder',
      'tree',
      '--on-conflict',
      'replace',
      '--json',
      'action',
    ])
    expect(JSON.parse(replaced.stdout).map(({ action }: { action: string }) => action)).toEqual([
      'unchanged',
      'unchanged',
      'replaced',
    ])
    expect((await run(['cat', 'tree/data/a'])).stdout).toBe('n\n4\n')
  })

  it('--strict and --checks accept unchanged files again, and still refuse their faults', async () => {
    const { run } = place('checked', {
      'data/k.csv': 'k\n1\n',
      'data/w.csv': 'd\n1/2/2024\n13/2/2024\n',
      'rules.yml': 'columns:\n  k: { minimum: 1, optional: true }\n',
    })
    const upload = async (...options: string[]) => {
      const { code, stdout } = await run(['upload', 'data', ...options, '--json', 'file,action'])
      return [code, ...JSON.parse(stdout).map(({ action }: { action: string }) => action)]
    }
    expect(await upload('--strict')).toEqual([8, 'created'])
    expect(await upload('--strict')).toEqual([8, 'unchanged'])
    expect(await upload()).toEqual([0, 'unchanged', 'created'])
    expect(await upload('--strict')).toEqual([8, 'unchanged'])
    for (const action of ['created', 'unchanged'])
      expect(await upload('--folder', 'rules', '--checks', 'rules.yml')).toEqual([0, action, action])
  })

  it('a dry run refuses the chart that the upload refuses', async () => {
    const { run } = place('charted', { 'd.csv': 'x,y\na,1\na,2\nb,3\n' })
    const chart = ['upload', 'd.csv', '--plot', 'bar', '--x', 'x', '--y', 'y']
    for (const dry of [['--dry-run'], []])
      expect(await run([...chart, ...dry])).toMatchObject({
        code: 7,
        stderr: expect.stringContaining('3 rows have 2 different values'),
      })
    expect((await run([...chart, '--aggregate', 'sum', '--dry-run'])).code).toBe(0)
  })

  it('files that become new grids have no tag of their content, with which changed ones are sent again', async () => {
    const { cwd, run } = place('renamed', { 'a.csv': 'n\n1\n', 'b.csv': 'n\n2\n' })
    const upload = ['upload', 'a.csv', 'b.csv', '--folder', 'renamed', '--on-conflict']
    expect((await run([...upload, 'replace'])).code).toBe(0)
    writeFileSync(join(cwd, 'a.csv'), 'n\n3\n')
    expect((await run([...upload, 'rename'])).code).toBe(0)
    const tagOf = async (name: string) => JSON.parse((await run(['show', name, '--json'])).stdout).source_tag
    expect([await tagOf('renamed/a'), await tagOf('renamed/a (1)')]).toEqual([
      expect.stringMatching(/^sha256:/),
      null,
    ])
    expect((await run(['cat', 'renamed/a'])).stdout).toBe('n\n1\n')
  })

  itLong('--include and --exclude choose files; ** matches at any depth', async () => {
    const { run } = place('choose', {
      'x/a.csv': 'n\n1\n',
      'x/b.csv': 'n\n1\n',
      'x/y/d.csv': 'n\n1\n',
      'x/y/z/c.log': 'n\n1\n',
    })
    const files = async (...args: string[]) => {
      const { stdout, code } = await run(['upload', ...args, '--dry-run', '--json', 'file'])
      return code === 0 ? JSON.parse(stdout).map(({ file }: { file: string }) => file) : code
    }
    expect(await files('x', '--exclude', 'b.*')).toEqual(['x/a.csv', 'x/y/d.csv'])
    expect(await files('x', '--include', '*.log')).toEqual(['x/y/z/c.log'])
    expect(await files('x', '--exclude', 'y/**')).toEqual(['x/a.csv', 'x/b.csv'])
    expect(await files('x/**/*.csv')).toEqual(['x/a.csv', 'x/b.csv', 'x/y/d.csv'])
    expect(await files('x/[ab].csv')).toEqual(['x/a.csv', 'x/b.csv'])
    expect(await files('none*.csv')).toBe(3)
  })

  it('parallel uploads are reported in order, and written to --output-file', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`m/f${10 + k}.csv`, `n\n${k}\n`]))
    const { cwd, run } = place('many', { ...files, 'm/f99.csv': 'a,b\n1,2\n1,2,3,4\n' })
    const { code, stdout } = await run(['upload', 'm', '--jobs', '8', '--output-file', 'out.ndjson', '-q'])
    expect([code, stdout.trim().split('\n').length]).toEqual([8, 40])
    const lines = readFileSync(join(cwd, 'out.ndjson'), 'utf8').trim().split('\n')
    const results = lines.map((line) => JSON.parse(line))
    expect(results.map(({ file }) => file)).toEqual([...Object.keys(files), 'm/f99.csv'])
    expect(results.at(-1)).toMatchObject({ action: 'failed', code: 'bad_data' })
  })
})

describe('a file that is on the server already', () => {
  it('an unchanged file still gets its chart and its rows', async () => {
    const { run } = place('chart', { 'c.csv': 'day,price\n1,2\n2,3\n' })
    const chart = [
      '--on-conflict',
      'replace',
      '--plot',
      'line',
      '--x',
      'day',
      '--y',
      'price',
      '--json',
      'action,fid',
    ]
    const first = await run(['upload', 'c.csv', ...chart])
    const again = await run(['upload', 'c.csv', ...chart])
    expect([first.code, again.code, again.stderr]).toEqual([0, 0, ''])
    expect(JSON.parse(again.stdout)[0]).toEqual({ ...JSON.parse(first.stdout)[0], action: 'unchanged' })
    const rows = await run(['upload', 'c.csv', '--on-conflict', 'replace', '--json', 'action,row_count'])
    expect(JSON.parse(rows.stdout)).toEqual([{ action: 'unchanged', row_count: 2 }])
    const wrong = await run(['upload', 'c.csv', ...chart.map((word) => (word === 'price' ? 'prise' : word))])
    expect([wrong.code, wrong.stderr]).toEqual([7, expect.stringMatching(/Did you mean price\?/)])
  })

  it('a missing sheet is reported before a name conflict', async () => {
    const { cwd, run } = place('sheet', { 'book.csv': 'n\n1\n' })
    await run(['upload', 'book.csv'])
    writeFileSync(join(cwd, 'book.xlsx'), await xlsx({ One: [['a'], [1]], Two: [['b'], [2]] }))
    const wrong = await run(['upload', 'book.xlsx', '--sheet', 'Nope'])
    expect([wrong.code, wrong.stderr]).toEqual([7, expect.stringMatching(/no sheet "Nope".*One, Two/s)])
    const taken = await run(['upload', 'book.xlsx', '--sheet', 'One'])
    expect([taken.code, taken.stderr]).toEqual([6, expect.stringMatching(/already exists/)])
  })

  it('two files with the same name are refused before anything is sent', async () => {
    const { run } = place('twice', { 'a/x.csv': 'n\n1\n', 'b/x.csv': 'n\n2\n' })
    const { code, stdout, stderr } = await run(['upload', '**/x.csv', '--folder', 'twice'])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/would both be named x/)])
  })
})

describe('large files', () => {
  /** Forwards to the server, and cuts each connection after a number of bytes from the client. */
  async function cutting(limits: number[]): Promise<{ url: string; proxy: Server; cuts: () => number }> {
    const { port } = new URL(server.url)
    let cuts = 0
    const proxy = createServer((socket) => {
      const upstream = connect(Number(port), '127.0.0.1')
      let sent = 0
      socket.on('data', (chunk) => {
        sent += chunk.length
        if (limits.length > 0 && sent > limits[0]) {
          limits.shift()
          cuts++
          socket.destroy()
          upstream.destroy()
          return
        }
        if (!upstream.write(chunk)) {
          socket.pause()
          upstream.once('drain', () => socket.resume())
        }
      })
      upstream.pipe(socket)
      for (const one of [socket, upstream]) one.on('error', () => {})
      socket.on('close', () => upstream.destroy())
      upstream.on('close', () => socket.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const at = proxy.address() as { port: number }
    return { url: `http://127.0.0.1:${at.port}`, proxy, cuts: () => cuts }
  }

  itLong('a large upload resumes after broken connections, without resending received bytes', async () => {
    const line = `${'x'.repeat(98)}\n`
    const { run } = place('large', { 'large.csv': `text\n${line.repeat(720_000)}` })
    const { url, proxy, cuts } = await cutting([20_000_000, 30_000_000, 10_000_000])
    try {
      const { code, stdout, stderr } = await run(['upload', 'large.csv', '--json', 'row_count,action'], {
        GRIDLINE_URL: url,
      })
      expect([code, stderr, cuts()]).toEqual([0, '', 3])
      expect(JSON.parse(stdout)).toEqual([{ row_count: 720_000, action: 'created' }])
    } finally {
      proxy.close()
    }
  })
})

describe('CI systems', () => {
  it('in GitHub Actions, upload writes step outputs, a summary, and an annotation of the wrong line', async () => {
    const { cwd, run } = place('github', { 'good.csv': 'n\n1\n', 'bad.csv': 'a,b\n1,2\n1,2,3,4\n' })
    const env = {
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: join(cwd, 'output'),
      GITHUB_STEP_SUMMARY: join(cwd, 'summary'),
    }
    const { code, stderr } = await run(['upload', 'good.csv', 'bad.csv', '--folder', 'gh'], env)
    expect(code).toBe(8)
    expect(stderr).toMatch(/^::error file=bad\.csv,line=3,title=gridline::bad\.csv, line 3/m)
    expect(readFileSync(env.GITHUB_OUTPUT, 'utf8')).toMatch(
      /^fid=alice:\d+\nurl=http.*\naction=created\ngrid_action=\nwarnings=0\nfiles=\[/,
    )
    expect(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8')).toMatch(
      /\| \[gh\/good\]\(http\S+\) \| 1 \| created \|\n\| bad\.csv \| \| failed: /,
    )
  })

  it('in GitLab CI, upload writes a code quality report', async () => {
    const { cwd, run } = place('gitlab', { 'bad.csv': 'a,b\n1,2\n1,2,3,4\n' })
    expect((await run(['upload', 'bad.csv'], { GITLAB_CI: 'true', CI: 'true' })).code).toBe(7)
    const report = JSON.parse(readFileSync(join(cwd, 'gl-code-quality-report.json'), 'utf8'))
    expect(report).toEqual([
      expect.objectContaining({
        check_name: 'gridline bad_data',
        location: { path: 'bad.csv', lines: { begin: 3 } },
      }),
    ])
  })

  it('in other CI systems, upload prints file and line; without CI nothing', async () => {
    const { cwd, run } = place('plain', { 'bad.csv': 'a,b\n1,2\n1,2,3,4\n' })
    expect((await run(['upload', 'bad.csv'], { CI: '1' })).stderr).toMatch(/^bad\.csv:3: error: /)
    expect((await run(['upload', 'bad.csv'])).stderr).toMatch(/^error: /)
    expect(existsSync(join(cwd, 'gl-code-quality-report.json'))).toBe(false)
  })

  it('--provenance records commit, branch and run; without it nothing is recorded', async () => {
    const { run } = place('provenance', { 'p.csv': 'n\n1\n', 'q.csv': 'n\n1\n' })
    const env = {
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_SHA: 'abc',
      GITHUB_REF_NAME: 'main',
      GITHUB_RUN_ID: '7',
    }
    const up = await run(['upload', 'p.csv', '--provenance'], env)
    expect(up.code, up.stderr).toBe(0)
    expect(JSON.parse((await run(['show', 'p', '--json'])).stdout).metadata.provenance).toEqual({
      repository: 'https://github.com/o/r',
      commit: 'abc',
      branch: 'main',
      run: 'https://github.com/o/r/actions/runs/7',
    })
    await run(['upload', 'q.csv'], env)
    expect(JSON.parse((await run(['show', 'q', '--json'])).stdout).metadata).toEqual({})
    expect((await run(['upload', 'q.csv', '--provenance'])).code).toBe(2)
  })
})

describe('--unpivot', () => {
  it('--unpivot turns columns into rows in every format, and is suggested for columns that are years', async () => {
    const { run } = place('unpivot', {
      'wide.csv': 'country,code,2019,2020,2021\nNorway,01,1,,3\n"a, ""b""",02,4,5,6\n',
      'wide.json': '[{"k":"a","t1":1,"t2":2},{"k":"b","t1":3,"t2":4}]',
    })
    const noted = await run(['upload', 'wide.csv', '--name', 'wide'])
    expect(noted.stderr).toContain('add --unpivot 2019-2021 --into year,value')
    const made = await run([
      'upload',
      'wide.csv',
      '--unpivot',
      '2019-2021',
      '--into',
      'year,value',
      '--name',
      'long',
      '--json',
      'file',
    ])
    expect(JSON.parse(made.stdout)).toEqual([{ file: 'wide.csv' }])
    const long = 'country,code,year,value\nNorway,01,2019,1\nNorway,01,2020,\nNorway,01,2021,3\n'
    const rest = '"a, ""b""",02,2019,4\n"a, ""b""",02,2020,5\n"a, ""b""",02,2021,6\n'
    expect((await run(['cat', 'long'])).stdout.replaceAll('\r', '')).toBe(long + rest)
    const tried = await run([
      'upload',
      'wide.json',
      '--unpivot',
      't*',
      '--into',
      't,v',
      '--name',
      'tried',
      '--dry-run',
      '--json',
      'rows,columns',
    ])
    expect(JSON.parse(tried.stdout)[0].rows).toBe(4)
  })

  it('--unpivot is refused without --into, and for missing columns', async () => {
    const { run } = place('unpivot-wrong', { 'a.csv': 'k,x,y\n1,2,3\n' })
    for (const [args, said] of [
      [['--unpivot', 'x,y'], 'belong together'],
      [['--unpivot', 'x,z', '--into', 'a,b'], 'the table has no column "z"'],
      [['--unpivot', 'x,y', '--into', 'k,b'], 'the table has a column "k"'],
      [['--unpivot', 'x,y', '--into', 'a'], 'must be the names of two columns'],
    ] as const) {
      const { code, stderr } = await run(['upload', 'a.csv', ...args])
      expect([code !== 0, stderr]).toEqual([true, expect.stringContaining(said)])
    }
  })

  it('a file with many warnings shows the first ones and their number; JSON has all', async () => {
    const names = Array.from({ length: 30 }, (_, k) => `c${k}`)
    const { run } = place('many', {
      'many.csv': `${names}\n${names.map(() => 1)}\n${names.map(() => 'x')}\n`,
    })
    const { stderr } = await run(['upload', 'many.csv'])
    expect(stderr.match(/^warning: .*c\d+ is text/gm)).toHaveLength(20)
    expect(stderr).toMatch(/^warning: many\.csv: 10 more warnings$/m)
    const { stdout } = await run(['upload', 'many.csv', '--name', 'many 2', '--json', 'warnings'])
    expect(JSON.parse(stdout)[0].warnings).toHaveLength(30)
  })
})
