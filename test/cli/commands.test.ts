// Commands as processes: upload, bad input, settings, usage errors.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ended, gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

/** A separate home with the embedded service's database. */
function home(name: string) {
  const path = join(folder.path, name)
  mkdirSync(path, { recursive: true })
  const file = (called: string, content: string | Uint8Array): string => {
    writeFileSync(join(path, called), content)
    return called
  }
  const run = (args: string[], stdin?: string, env?: Record<string, string>): Promise<Ended> =>
    gridline(args, { home: join(path, 'home'), cwd: path, stdin, env })
  return { path, file, run }
}

const me = /^[\w.-]+$/

describe('the quick start', () => {
  const { file, run } = home('first')

  it('upload, ls, cat, append and show print the documented output', async () => {
    file('sales.csv', 'city,price\nOslo,1.50\nLima,2\n')
    const up = await run(['upload', 'sales.csv'])
    const user = up.stdout.split(':')[0]
    expect(user).toMatch(me)
    expect(up).toEqual({
      code: 0,
      // Said once, by the first run.
      stderr: expect.stringMatching(/^Your data is on this machine: \S+gridline\.db\. .*\n$/),
      stdout: `${user}:0\tsales\t2\thttp://127.0.0.1:8080/~${user}/0/\tcreated\t1\n`,
    })
    expect(await run(['append', 'sales', '--row', 'Kyoto,3'])).toEqual({
      code: 0,
      stderr: '',
      stdout: `${user}:0\t1\t3\t2\n`,
    })
    expect(await run(['cat', 'sales'])).toEqual({
      code: 0,
      stderr: '',
      stdout: 'city,price\nOslo,1.50\nLima,2\nKyoto,3\n',
    })
    expect(
      await run([
        'cat',
        `http://127.0.0.1:8080/~${user}/0/`,
        '--format',
        'ndjson',
        '--head',
        '1',
        '--columns',
        'price,city',
      ]),
    ).toEqual({ code: 0, stderr: '', stdout: '{"price":1.50,"city":"Oslo"}\n' })
    expect((await run(['cat', 'sales', '--format', 'table', '--head', '1'])).stdout).toBe(
      'city  price\nOslo   1.50\n',
    )
    const ls = await run(['ls'])
    expect(ls.stdout).toMatch(new RegExp(`^${user}:0\tsales\tgrid\tprivate\t\\d{4}-`))
    const show = JSON.parse((await run(['show', `${user}:0`, '--json'])).stdout)
    expect(show).toMatchObject({ fid: `${user}:0`, filename: 'sales', filetype: 'grid', row_count: 3 })
    expect((await run(['show', 'sales', '--jq', '.cols[].name'])).stdout).toBe('city\nprice\n')
    expect((await run(['show', 'sales', '--json', 'fid,row_count'])).stdout).toBe(
      `{"fid":"${user}:0","row_count":3}\n`,
    )
    expect((await run(['lookup', 'sales', '-q'])).stdout).toBe(`${user}:0\n`)
    // For the summary of a job: a list, and the details of one thing without empty fields.
    const markdown = async (...args: string[]) => (await run([...args, '--format', 'md'])).stdout.split('\n')
    expect((await markdown('ls')).slice(0, 2)).toEqual([
      '| FID | NAME | TYPE | ACCESS | MODIFIED |',
      '| --- | --- | --- | --- | --- |',
    ])
    expect((await markdown('describe', 'sales'))[3]).toMatch(/^\| price \| number \| 0 \| 3 \| 1\.5 \|/)
    const details = await markdown('show', 'sales')
    expect(details.slice(0, 5)).toEqual([
      '|  |  |',
      '| --- | --- |',
      `| fid | ${user}:0 |`,
      '| name | sales |',
      '| type | grid |',
    ])
    expect(details.filter((line) => line.endsWith('|  |'))).toEqual(['|  |  |'])
    expect((await run(['whoami', '--json', 'username,server'])).stdout).toBe(
      `{"username":"${user}","server":null}\n`,
    )
  })

  it('global options may come before the command', async () => {
    expect((await run(['-q', 'lookup', 'sales'])).stdout).toMatch(/^\S+:0\n$/)
    expect(JSON.parse((await run(['--json', 'fid,filename', 'lookup', 'sales'])).stdout).filename).toBe(
      'sales',
    )
    expect(JSON.parse((await run(['--json', 'ls'])).stdout)).toHaveLength(1)
  })

  it('--json may be followed by an argument that is not a field', async () => {
    expect(JSON.parse((await run(['show', '--json', 'sales'])).stdout).filename).toBe('sales')
    expect(JSON.parse((await run(['lookup', '--json', 'sales'])).stdout).filename).toBe('sales')
  })
})

describe('upload', () => {
  const { file, path, run } = home('upload')

  it('upload of several files prints an array, and exits with 8 if only some succeed', async () => {
    file('a.csv', 'x,y\n1,2\n')
    file('b.tsv', 'x\ty\n1\tq,r\n')
    file('c.csv.gz', gzipSync('x,y\n1,2\n3,4\n'))
    const { code, stdout, stderr } = await run([
      'upload',
      'a.csv',
      'b.tsv',
      'missing.csv',
      'c.csv.gz',
      '--folder',
      'In/2024',
      '--json',
      'filename,row_count',
    ])
    expect([code, JSON.parse(stdout)]).toEqual([
      8,
      [
        { filename: 'a', row_count: 1 },
        { filename: 'b', row_count: 1 },
        { filename: 'c', row_count: 2 },
      ],
    ])
    expect(JSON.parse(stderr)).toMatchObject({ detail: 'no such file: missing.csv', file: 'missing.csv' })
    expect((await run(['ls', 'In/2024', '-q'])).stdout.split('\n')).toHaveLength(4)
  })

  it('--on-conflict fails by default; replace keeps fid and link; rename and append work', async () => {
    file('t.csv', 'a,b\n1,2\n')
    const [first] = JSON.parse((await run(['upload', 't.csv', '--json'])).stdout)
    const clash = await run(['upload', 't.csv'])
    expect([clash.code, clash.stdout]).toEqual([6, ''])
    expect(clash.stderr).toBe(
      "error: a file named 't' already exists. Choose another name, or replace or append to it (--on-conflict).\n",
    )
    expect((await run(['upload', 't.csv', '--on-conflict', 'rename', '--json', 'filename'])).stdout).toBe(
      '[{"filename":"t (1)"}]\n',
    )
    expect(
      JSON.parse((await run(['upload', 't.csv', '--on-conflict', 'append', '--json'])).stdout)[0].row_count,
    ).toBe(2)
    file('t.csv', 'b,c\n3,4\n')
    const [replaced] = JSON.parse(
      (await run(['upload', 't.csv', '--on-conflict', 'replace', '--yes', '--json'])).stdout,
    )
    expect([replaced.fid, replaced.web_url, replaced.cols[0].uid]).toEqual([
      first.fid,
      first.web_url,
      first.cols[1].uid,
    ])
  })

  it('upload from standard input requires a name', async () => {
    expect((await run(['upload', '-'], 'a,b\n1,2\n')).code).toBe(2)
    expect(
      (
        await run(
          ['upload', '-', '--name', 'piped', '--public', '--json', 'filename,world_readable'],
          'a,b\n1,2\n',
        )
      ).stdout,
    ).toBe('[{"filename":"piped","world_readable":true}]\n')
  })

  itLong('--dry-run shows the result and changes nothing', async () => {
    file('dry.csv', 'zip;n;note\n01;1,5;x\n02;2,5;\n')
    const { code, stdout, stderr } = await run(['upload', 'dry.csv', '--dry-run', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)[0]).toEqual({
      file: 'dry.csv',
      name: 'dry',
      would: 'create',
      rows: 2,
      columns: [
        { name: 'zip', type: 'text' },
        { name: 'n', type: 'text' },
        { name: 'note', type: 'text' },
      ],
      warnings: [
        'delimiter detected: ;',
        'column n looks like numbers with a decimal comma (line 2: 1,5); kept as text; to read them: --decimal , (or --locale de)',
      ],
      target: null,
      changes: null,
    })
    expect(stderr).toBe('')
    expect((await run(['upload', 'dry.csv', '--dry-run'])).stderr).toMatch(
      /^warning: dry.csv: delimiter detected: ;\n/,
    )
    expect((await run(['lookup', 'dry'])).code).toBe(3)
    // The dry run fails with the error of the upload.
    const refused = async (...more: string[]) => {
      const real = await run(['upload', ...more])
      const dry = await run(['upload', ...more, '--dry-run'])
      expect([dry.code, dry.stdout]).toEqual([real.code, ''])
      return dry.code
    }
    file('lost.csv', 'a\n1\n')
    await run(['upload', 'lost.csv', '--name', 'shrinks'])
    file('full.csv', 'a,b\n1,x\n2,y\n3,z\n4,z\n')
    await run(['upload', 'full.csv', '--name', 'keeps'])
    expect(await refused('full.csv', '--name', 'keeps')).toBe(6)
    file('less.csv', 'a,b\n1,x\n')
    file('distinct.csv', 'a,b\n1,q\n2,r\n3,s\n4,t\n')
    file('none.csv', 'a,b\n')
    const replace = ['--name', 'keeps', '--on-conflict', 'replace']
    expect(await refused('lost.csv', ...replace)).toBe(2)
    expect(await refused('less.csv', ...replace)).toBe(2)
    expect(await refused('none.csv', ...replace)).toBe(2)
    expect(await refused('less.csv', ...replace, '--max-shrink', '50%', '--yes')).toBe(6)
    expect(await refused('dry.csv', '--name', 'new', '--strict')).toBe(7)
    expect(await refused('dry.csv', '--name', 'keeps', '--on-conflict', 'append')).toBe(7)
    const lossy = await run(['upload', 'less.csv', ...replace, '--dry-run', '--yes', '--json'])
    expect(JSON.parse(lossy.stdout)[0].changes).toEqual({ rows_added: 0, rows_removed: 3, rows_changed: 0 })
    // A grid without the key, or with repeated keys, is not compared by it.
    file('keyed.csv', 'id,a,b\n1,1,x\n2,2,y\n3,3,z\n4,4,z\n')
    for (const key of ['id', 'b']) {
      const keyed = await run([
        'upload',
        key === 'id' ? 'keyed.csv' : 'distinct.csv',
        ...replace,
        '--key',
        key,
        '--dry-run',
      ])
      expect([key, keyed.code, keyed.stderr]).toEqual([key, 0, expect.any(String)])
    }
    file('corrected.csv', 'a,b\n1,x\n2,yes\n3,z\n4,z\n5,new\n')
    const corrected = await run(['upload', 'corrected.csv', ...replace, '--key', 'a', '--dry-run'])
    expect([corrected.code, corrected.stderr]).toEqual([
      0,
      expect.stringContaining('keeps would change: 1 row added, 1 row changed\n'),
    ])
    expect((await run(['cat', 'keeps'])).stdout).toBe('a,b\n1,x\n2,y\n3,z\n4,z\n')
    expect((await run(['upload', 'less.csv', ...replace, '--yes'])).code).toBe(0)
    // 100 % permits an empty file.
    expect((await run(['upload', 'none.csv', ...replace, '--max-shrink', '100%'])).code).toBe(0)
  })

  it('--column applies to those of several files that have the column', async () => {
    mkdirSync(join(path, 'typed'))
    file('typed/zips.csv', 'zip,n\n01,1\n')
    file('typed/days.csv', 'day,n\n2026-W05,1\n')
    const typed = ['upload', 'typed', '--column', 'day:date', '--column', 'zip:number']
    const dry = await run([...typed, '--dry-run', '--json'])
    const types = JSON.parse(dry.stdout).map(
      ({ columns }: { columns: { type: string }[] }) => columns[0].type,
    )
    expect([dry.code, dry.stderr, types]).toEqual([0, '', ['date', 'number']])
    expect(await run([...typed, '--column', 'dya:text'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('warning: no file has a column named dya. Did you mean day?\n'),
    })
    expect((await run(['cat', 'typed/days'])).stdout).toBe('day,n\n2026-01-26,1\n')
    expect((await run(['upload', 'typed/days.csv', '--name', 'one', '--column', 'zip:text'])).code).toBe(7)
  })

  it('append reads files like upload, and --strict stores nothing of a file with warnings', async () => {
    file('de.csv', 'id;day;amount\n007;13.01.2024;1.234,50\n008;14.01.2024;5,50\n')
    const german = ['--locale', 'de', '--delimiter', ';']
    expect((await run(['upload', 'de.csv', '--name', 'german', ...german])).code).toBe(0)
    file('more.csv', 'id;day;amount\n009;15.01.2024;2.000,25\n')
    const added = await run(['append', 'german', 'more.csv', ...german])
    expect([added.code, added.stderr]).toEqual([0, ''])
    expect((await run(['cat', 'german', '--no-header'])).stdout).toBe(
      '007,2024-01-13,1234.50\n008,2024-01-14,5.50\n009,2024-01-15,2000.25\n',
    )
    file('short.csv', 'id;day\n010;16.01.2024\n')
    for (const more of [[], ['--locale', 'de']]) {
      const strict = await run(['append', 'german', 'short.csv', ...more, '--strict'])
      expect([more, strict.code]).toEqual([more, 7])
    }
    expect((await run(['show', 'german', '--jq', '.row_count'])).stdout).toBe('3\n')
  })

  it('options override detection', async () => {
    file('odd.txt', 'x#1\ny#NA\n')
    const { code } = await run([
      'upload',
      'odd.txt',
      '--delimiter',
      '#',
      '--no-header',
      '--null',
      'NA',
      '--column',
      'column_2:number',
    ])
    expect(code).toBe(0)
    expect((await run(['cat', 'odd'])).stdout).toBe('column_1,column_2\nx,1\ny,\n')
  })
})

describe('bad input gives a one-line error and the right exit code, and loses no data', () => {
  const { file, path, run } = home('bad')
  beforeAll(async () => {
    file('good.csv', 'a,b\n1,x\n')
    await run(['upload', 'good.csv', '--name', 'target'])
    mkdirSync(join(path, 'dir'))
    file('-dash.csv', 'a\n1\n')
    file('empty.csv', '')
    file('binary.csv', Buffer.from([1, 2, 0, 255, 0, 3]))
    file(
      'wide.csv',
      `${Array.from({ length: 100_000 }, (_, k) => `c${k}`).join()}\n${Array.from({ length: 100_000 }, () => 1).join()}\n`,
    )
    file('cut.csv.gz', gzipSync('a,b\n1,2\n'.repeat(1000)).subarray(0, 30))
    file('ragged.csv', 'a,b\n1,2\n3,4,5\n')
  })

  const cases: [string, string[], number, RegExp, string?][] = [
    ['missing file', ['upload', 'nope.csv'], 3, /^error: no such file: nope.csv/],
    ['empty directory', ['upload', 'dir'], 3, /^error: no files to upload/],
    ['empty file', ['upload', 'empty.csv'], 7, /^error: empty.csv: the file is empty/],
    [
      'binary file',
      ['upload', 'binary.csv'],
      7,
      /^error: binary.csv, line 1: a NUL byte: this is a binary file/,
    ],
    [
      '100,000 columns',
      ['upload', 'wide.csv'],
      7,
      /^error: wide.csv, line 1: 100000 columns; the limit is 10000/,
    ],
    ['truncated gzip', ['upload', 'cut.csv.gz'], 7, /^error: cut.csv.gz: the gzip data is truncated/],
    [
      'unknown encoding',
      ['upload', 'good.csv', '--encoding', 'klingon'],
      2,
      /^error: unknown encoding: klingon/,
    ],
    [
      'ragged row',
      ['upload', 'ragged.csv'],
      7,
      /^error: ragged.csv, line 3: expected 2 cells, found 3: 3,4,5/,
    ],
    [
      'a row of the wrong length',
      ['append', 'target', '--row', '1,2,3'],
      7,
      /^error: --row, line 1: 3 cells; the grid has 2 columns/,
    ],
    [
      'unknown column',
      ['append', 'target', '-'],
      7,
      /^error: standard input: the grid has no column "zz"/,
      'zz\n1\n',
    ],
    [
      'broken JSON lines',
      ['append', 'target', '-', '--format', 'jsonl'],
      7,
      /^error: standard input, line 2: the line is not JSON/,
      '[1,"y"]\n[2,\n',
    ],
    ['no such grid', ['cat', 'nowhere'], 3, /^error: no grid at nowhere/],
    ['a fid of nobody', ['show', 'zed:1'], 3, /^error: no such file, or you may not see it/],
    ['unknown command', ['uplod', 'x'], 2, /^error: unknown command 'uplod'.*upload/],
    ['an id as a name', ['upload', 'x.csv', '--name', 'ana:9'], 2, /looks like the id of a file/],
    ['a short option', ['upload', '-m', 'x'], 2, /^error: unknown option '-m'. Did you mean --message\?/],
    ['a synonym', ['image', 'x.csv', '--type', 'bar'], 2, /'--type'. Did you mean --plot\?/],
    ['unknown option', ['upload', '--frobnicate', 'x'], 2, /^error: unknown option '--frobnicate'/],
    ['a file that begins with a dash', ['upload', '-dash.csv'], 2, /To name the file, write \.\/-dash\.csv/],
    ['missing argument', ['cat'], 2, /^error: missing required argument 'grid'/],
    [
      'a wrong choice',
      ['cat', 'target', '--format', 'pdf'],
      2,
      /^error: option '--format <format>' argument 'pdf' is invalid/,
    ],
    ['a profile that is not there', ['ls', '--profile', 'none'], 2, /^error: no profile named none/],
  ]
  for (const [name, args, code, message, stdin] of cases) {
    it(name, async () => {
      const ended = await run(args, stdin)
      expect([ended.code, ended.stdout], ended.stderr).toEqual([code, ''])
      expect(ended.stderr).toMatch(message)
      expect(ended.stderr.trim().split('\n')).toHaveLength(1)
    })
    it(`${name} prints one JSON error with --json, and nothing on stdout`, async () => {
      const ended = await run(
        [...args, ...(args.some((arg) => arg.startsWith('--json')) ? [] : ['--json'])],
        stdin,
      )
      expect([ended.code, ended.stdout]).toEqual([code, ''])
      const lines = ended.stderr.trim().split('\n')
      expect(lines).toHaveLength(1)
      expect(JSON.parse(lines[0])).toMatchObject({
        detail: expect.any(String),
        errors: [{ code: expect.any(String) }],
      })
    })
  }

  it('--json fields and --jq are checked before anything is done', async () => {
    for (const args of [
      ['--json', 'fid,nothing'],
      ['--jq', '.bad['],
      ['--json', 'nothing'],
    ]) {
      const { code, stdout } = await run(['append', 'target', '--row', '9,z', ...args])
      expect([code, stdout]).toEqual([2, ''])
    }
    expect((await run(['mkdir', 'Fields', '--json', 'nothing'])).code).toBe(2)
  })

  it('a key without a server is a usage error, not an upload to the local database', async () => {
    const { code, stderr } = await run(['upload', 'good.csv'], undefined, { GRIDLINE_API_KEY: 'k' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('no server')])
  })

  it('an unknown field and an invalid jq expression are reported', async () => {
    for (const [flag, message] of [
      ['--json=nothing', 'no field named nothing'],
      ['--jq=.[', '--jq: error: syntax error, unexpected end of file'],
    ]) {
      const { code, stdout, stderr } = await run(['show', 'target', flag])
      expect([code, stdout, JSON.parse(stderr).detail]).toEqual([2, '', expect.stringContaining(message)])
    }
  })

  it('a line of 100 MB is refused', async () => {
    file('long.csv', Buffer.concat([Buffer.from('a,b\n1,'), Buffer.alloc(100 << 20, 'x')]))
    const ended = await run(['upload', 'long.csv'])
    expect([ended.code, ended.stderr]).toEqual([
      7,
      expect.stringMatching(
        /^error: long.csv, line 2: the line is longer than 16 MiB \(limit record_bytes\)/,
      ),
    ])
  })

  it('bad input never changes existing data', async () => {
    expect((await run(['ls', '--all', '-q'])).stdout.trim().split('\n')).toHaveLength(1)
    expect((await run(['cat', 'target'])).stdout).toBe('a,b\n1,x\n')
  })
})

describe('settings', () => {
  const { path, run } = home('settings')

  it('config list shows the source of each value', async () => {
    const { stdout } = await run(['config', 'list'], undefined, {
      GRIDLINE_URL: 'http://from.env',
      GRIDLINE_FORMAT: 'tsv',
    })
    expect(stdout).toBe(
      'url\thttp://from.env\tenvironment GRIDLINE_URL\nuser\t\tdefault\napi_key\t\tdefault\nca_file\t\tdefault\nformat\ttsv\tenvironment GRIDLINE_FORMAT\ntheme\t\tdefault\nlocale\t\tdefault\nprofile\tdefault\tdefault\n',
    )
  })

  it('set, get and profiles work; only the owner can read the file', async () => {
    expect((await run(['config', 'set', 'url', 'localhost:59999'])).stdout).toBe(
      'url\thttp://localhost:59999\tprofile default\n',
    )
    expect((await run(['config', 'get', 'url', '--json'])).stdout).toBe(
      '{"setting":"url","value":"http://localhost:59999","source":"profile default"}\n',
    )
    expect((await run(['profile', 'list'])).stdout).toMatch(
      /^\*\tdefault\thttp:\/\/localhost:59999\t\n\tlocal\tthis machine\t\S+\n$/,
    )
    expect((await run(['profile', 'use', 'x'])).code).toBe(3)
    const down = await run(['ls'])
    expect([down.code, down.stderr]).toEqual([
      9,
      expect.stringContaining('no response from http://localhost:59999: the connection was refused'),
    ])
    expect((await run(['profile', 'remove', 'default'])).code).toBe(0)
    expect((await run(['ls'])).code).toBe(0)
    expect(readFileSync(join(path, 'home', 'config.json'), 'utf8')).not.toContain('localhost')
  })

  it('a group without a subcommand is a usage error, and shows the help of the group', async () => {
    const { code, stdout, stderr } = await run(['plot'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^Usage: gridline plot .*create/s)
  })

  it.each(['folder', 'fold'])('ls --type %s lists only folders', async (type) => {
    await run(['mkdir', 'Reports'])
    const { stdout } = await run(['ls', '--type', type, '--json', 'filename'])
    expect(JSON.parse(stdout)).toEqual([{ filename: 'Reports' }])
  })

  it.each([
    [['ls', '--limit', 'x'], '--limit x: must be a whole number, 0 or more'],
    [['cat', 'g', '--head', '-1'], '--head -1: must be a whole number, 0 or more'],
    [['serve', '--port', '99999'], '--port 99999: must be a whole number from 0 to 65535'],
    [['plot', 'list', '--min-quality', '6'], '--min-quality 6: must be a whole number from 0 to 5'],
  ])('%j is a usage error', async (args, message) => {
    const { code, stderr } = await run(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('--help exits with 0; no command is a usage error', async () => {
    const help = await run(['--help'])
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('upload')])
    const upload = await run(['help', 'upload'])
    expect([upload.code, upload.stdout]).toEqual([0, expect.stringContaining('--on-conflict')])
    expect((await run([])).code).toBe(2)
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('api sends raw requests', async () => {
    expect(
      JSON.parse((await run(['api', 'POST', '/v2/folders', '-f', 'path=Raw/1'])).stdout).file.filename,
    ).toBe('1')
    expect(
      JSON.parse(
        (await run(['api', 'get', 'v2/folders/home', '-F', 'page_size=1', '--jq', '.children.results']))
          .stdout,
      ),
    ).toHaveLength(1)
    const made = JSON.parse(
      (
        await run(
          ['api', 'POST', '/v2/grids', '--input', '-'],
          '{"data":{"cols":{"a":{"data":[1]}}},"filename":"by api"}',
        )
      ).stdout,
    )
    expect(
      (await run(['api', 'POST', `/v2/grids/${made.file.fid}/row`, '-F', 'rows=[[2]]', '--jq', '.row_count']))
        .stdout,
    ).toBe('2\n')
    const missing = await run(['api', 'GET', '/v2/grids/x:1'])
    expect([missing.code, missing.stdout]).toEqual([3, ''])
    expect((await run(['api', 'FETCH', '/v2'])).code).toBe(2)
  })
})
