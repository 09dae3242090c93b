// Commands for files, plots, columns, sharing and keys.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { zip } from '../support/archives.ts'
import { type Ended, gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

function home(name: string) {
  const path = join(folder.path, name)
  mkdirSync(path, { recursive: true })
  const file = (called: string, content: string): void => writeFileSync(join(path, called), content)
  const run = (args: string[], stdin?: string): Promise<Ended> =>
    gridline(args, { home: join(path, 'home'), cwd: path, stdin })
  /** Removes ids and times, which differ between runs. */
  const shown = async (args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args)
    return `${code} ${stdout}${stderr}`
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'NOW')
      .replace(/(^|[\t ])[\w.-]+:(\d+)/gm, '$1me:$2')
      .replace(/~[\w.-]+\//g, '~me/')
  }
  return { file, run, shown }
}

describe('managing files', () => {
  const { file, run, shown } = home('order')

  it('rename, mv, trash, restore and delete take one file, several, or patterns', async () => {
    file('a.csv', 'x,y\n1,2\n')
    for (const name of ['draft 1', 'draft 2', 'sales']) await run(['upload', 'a.csv', '--name', name])
    await run(['mkdir', 'Archive'])
    expect(await shown(['rename', 'sales', 'sales 2024'])).toBe('0 me:2\tsales 2024\tgrid\tprivate\tNOW\n')
    expect(await shown(['mv', 'draft*', 'Archive'])).toBe(
      '0 me:0\tdraft 1\tgrid\tprivate\tNOW\nme:1\tdraft 2\tgrid\tprivate\tNOW\n',
    )
    expect(
      await shown([
        'path',
        'me:0'.replace('me', (await run(['whoami', '--json', 'username'])).stdout.split('"')[3]),
      ]),
    ).toBe('0 /Archive/draft 1\n')
    expect(await shown(['trash', 'Archive/draft ?', 'nothing'])).toBe(
      '8 me:0\tdraft 1\tgrid\tprivate\tNOW\nme:1\tdraft 2\tgrid\tprivate\tNOW\nerror: no file at nothing. List files with: gridline ls\n',
    )
    expect(await shown(['restore', 'draft 1'])).toBe('0 me:0\tdraft 1\tgrid\tprivate\tNOW\n')
    expect((await run(['delete', 'draft 2'])).code).toBe(2)
    expect(await shown(['delete', 'draft 2', 'sales 2024', '--yes'])).toBe(
      '0 me:2\tsales 2024\tgrid\nme:1\tdraft 2\tgrid\n',
    )
    expect(await shown(['ls', '--trashed'])).toMatch(/^0 /)
    expect((await run(['trash', 'zzz*'])).code).toBe(3)
  })
})

describe('resolving names', () => {
  const { file, run, shown } = home('meant')

  it('trashed files are found by their former folder', async () => {
    file('a.csv', 'x\n1\n')
    for (const folder of ['E1', 'E2']) await run(['upload', 'a.csv', '--name', 'p', '--folder', folder])
    expect((await run(['trash', 'E1/*', 'E2/*'])).code).toBe(0)
    expect((await run(['ls', '--trashed', '--json', 'filename,folder'])).stdout).toBe(
      '[{"filename":"p","folder":"E1/"},{"filename":"p","folder":"E2/"}]\n',
    )
    expect((await run(['delete', 'Nowhere/p', '--yes'])).code).toBe(3)
    expect((await run(['restore', 'Nowhere/*'])).code).toBe(3)
    expect((await run(['restore', 'p'])).stderr).toMatch(/2 files in the trash are named p.*from E1.*from E2/)
    expect(await shown(['restore', 'E1/*', '-q'])).toBe('0 me:1\n')
    expect((await run(['ls', '--trashed', '--jq', '.[].folder'])).stdout).toBe('E2/\n')
    expect(await shown(['ls', 'E*/*', '-q'])).toBe('0 me:1\n')
    expect((await run(['ls', 'E1/p'])).stderr).toContain('E1/p is a grid, not a folder')
  })

  it('links to another server are refused', async () => {
    const link = JSON.parse((await run(['show', 'E1/p', '--json'])).stdout).web_url
    const other = link.replace(/^https?:\/\/[^/]+/, 'http://elsewhere.example.com')
    const { code, stderr } = await run(['delete', other, '--yes'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('belongs to another server')])
    expect((await run(['show', link])).code).toBe(0)
  })

  it('cp copies into a folder or under a name; folders can be named by id', async () => {
    await run(['upload', 'a.csv'])
    await run(['mkdir', 'Copies'])
    expect((await run(['cp', 'a', 'E1/p', 'Copies'])).code).toBe(0)
    expect((await run(['cp', 'a', '--to', 'Copies', '--name', 'b'])).code).toBe(0)
    expect((await run(['ls', 'Copies', '--jq', '.[].filename'])).stdout).toBe('a\nb\np\n')
    const { code, stderr } = await run(['cp', 'a', '--to', 'Copies', '--name', 'b'])
    expect([code, stderr]).toEqual([
      6,
      expect.stringMatching(/copied as \S+ \(a \(\d\)\), but the copy could not be moved/),
    ])
    const { fid } = JSON.parse((await run(['show', 'Copies', '--json'])).stdout)
    expect((await run(['mkdir', `${fid}/sub`])).code).toBe(0)
    expect((await run(['path', 'Copies/sub'])).stdout).toBe('/Copies/sub\n')
    expect((await run(['show', `${fid}/sub`, '--json', 'filename'])).stdout).toBe('{"filename":"sub"}\n')
    expect((await run(['mkdir', 'nobody:3/x'])).code).toBe(5)
    expect((await run(['upload', 'a.csv', '--folder', `${fid}/sub`, '--name', 'deep'])).code).toBe(0)
    expect((await run(['ls', `${fid}/s*`, '--json', 'filename'])).stdout).toBe('[{"filename":"sub"}]\n')
    expect((await run(['path', 'Copies/sub/deep'])).stdout).toBe('/Copies/sub/deep\n')
    expect((await run(['cp', 'a', 'Copies/another'])).code).toBe(0)
    expect((await run(['path', 'Copies/another'])).stdout).toBe('/Copies/another\n')
  })

  it('cp creates nothing without a valid destination, and chooses free names', async () => {
    const names = async (folder: string) =>
      (await run(['ls', folder, '--jq', '.[].filename'])).stdout.trim().split('\n')
    const before = await names('/')
    expect((await run(['cp', 'Copies/*', 'Nowhere'])).code).toBe(3)
    expect((await run(['cp', 'Copies/*', '--name', 'x'])).code).toBe(2)
    expect(await names('/')).toEqual(before)
    for (const _ of [1, 2, 3]) expect((await run(['cp', 'a', 'Copies'])).code).toBe(0)
    expect((await names('Copies')).filter((name) => name.startsWith('a ('))).toEqual([
      'a (1)',
      'a (2)',
      'a (3)',
    ])
    expect(await names('/')).toEqual(before)
  })

  it('literal names with brackets are accepted, and missing files do not stop a batch', async () => {
    await run(['upload', 'a.csv', '--name', 'sales [1]'])
    expect((await run(['star', 'sales [1]', '--json', 'filename'])).stdout).toBe(
      '[{"filename":"sales [1]"}]\n',
    )
    const { code, stdout, stderr } = await run([
      'delete',
      'nobody:9',
      'sales [1]',
      '--yes',
      '--json',
      'filename',
    ])
    expect([code, stdout, stderr]).toEqual([
      8,
      '[{"filename":"sales [1]"}]\n',
      expect.stringContaining('nobody:9'),
    ])
  })

  it('trash and delete warn about plots that lose their data', async () => {
    file('figure.json', '{"data": [{"y": [1, 2]}]}')
    await run(['plot', 'create', 'figure.json'])
    const grid = 'figure_grid'
    expect((await run(['trash', grid])).stderr).toContain(
      'other users see these charts without its data: figure (',
    )
    await run(['restore', grid])
    expect((await run(['delete', grid, '--yes'])).stderr).toMatch(
      /warning: figure_grid: plots that will lose their data: \S+:\d+/,
    )
    expect((await run(['cp', 'figure'])).stderr).toContain('is missing')
  })

  it('upload --dry-run supports all formats of upload', async () => {
    file('people.json', '[{"name": "Ann", "age": 3}, {"name": "Bo", "age": null}]')
    file('events.ndjson', '{"t": 1}\n{"t": 2}\n')
    expect(await shown(['upload', 'people.json', '--dry-run'])).toBe(
      '0 people\t2\tname:text age:number\t\tcreate\n',
    )
    expect(await shown(['upload', 'events.ndjson', '--dry-run'])).toBe('0 events\t2\tt:number\t\tcreate\n')
    writeFileSync(
      join(folder.path, 'meant', 'two.zip'),
      await zip({ 'q1.csv': 'a\n1\n2\n', 'sub/q2.csv': 'b\nx\ny\n', 'README.txt': 'about\n' }),
    )
    expect(await shown(['upload', 'two.zip', '--dry-run', '-q'])).toBe(
      '0 two/q1\ntwo/sub/q2\nwarning: two.zip: README.txt was skipped: not a data file\n',
    )
    expect((await run(['upload', 'two.zip'])).code).toBe(0)
    expect((await run(['upload', 'a.csv', '--name', 'two', '--on-conflict', 'replace'])).stderr).toContain(
      'only grids can be replaced',
    )
    file('bad.json', '{"a": [1, 2')
    expect((await run(['upload', 'bad.json', '--dry-run'])).code).toBe(7)
  })

  it('upload of a URL is fetched by the service, except from private addresses', async () => {
    const { code, stderr } = await run(['upload', 'http://127.0.0.1:1/a.csv'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('not public')])
    expect((await run(['upload', 'http://127.0.0.1:1/a.csv', '--dry-run'])).stderr).toContain('curl')
  })

  it('attachments are text or JSON; other content is refused with an explanation', async () => {
    file('notes.txt', 'about it')
    file('bad.json', '{')
    writeFileSync(join(folder.path, 'meant', 'image.png'), Buffer.from([0x89, 0x50, 0, 0xff]))
    const made = await run(['extras', 'add', 'a', 'notes.txt', '-q'])
    expect((await run(['extras', 'cat', made.stdout.trim()])).stdout).toBe('about it')
    expect((await run(['extras', 'add', 'a', 'bad.json'])).code).toBe(7)
    expect((await run(['extras', 'add', 'a', 'image.png'])).stderr).toContain('is not text')
  })

  it('a user without an API key is reported', async () => {
    const env = { GRIDLINE_URL: 'http://127.0.0.1:1', GRIDLINE_USER: 'bob' }
    const { code, stderr } = await gridline(['ls'], { home: join(folder.path, 'meant', 'home'), env })
    expect([code, stderr]).toEqual([2, expect.stringContaining('but no API key')])
    expect((await run(['upload', 'a.csv', '--name', 'p\\q'])).code).toBe(2)
  })

  it('key revoke reports which keys were revoked and which were not', async () => {
    const { id } = JSON.parse((await run(['key', 'create', '--json'])).stdout)
    const { code, stdout, stderr } = await run(['key', 'revoke', id, 'nope', '-q'])
    expect([code, stdout, stderr]).toEqual([8, `${id}\n`, expect.stringContaining('nope')])
    expect((await run(['key', 'create', '--scopes', 'foo'])).stderr).toContain(
      'Available scopes: read, write, admin',
    )
  })
})

describe('plots', () => {
  const { file, run, shown } = home('plots')

  it('plot create moves the data into a grid; plot data, plot update, cp and sources follow it', async () => {
    file('figure.json', '{"data": [{"type": "bar", "x": ["a", "b"], "y": [1.10, 2]}], "layout": {}}')
    file('other.json', '[{"type": "bar", "y": [3]}]')
    expect(await shown(['plot', 'create', 'figure.json', '--public'])).toContain(
      '0 me:1\tfigure\tme:0\thttp://127.0.0.1:8080/~me/1/\tcreated\t1\n',
    )
    const { stdout } = await run(['plot', 'data', 'figure', '--inline'])
    expect(stdout).toContain('"y":[1.10, 2]')
    expect((await run(['plot', 'update', 'figure', 'other.json'])).code).toBe(0)
    expect(
      JSON.parse((await run(['plot', 'data', 'figure', '--inline', '--json'])).stdout).data[0].y,
    ).toEqual([3])
    const [copy] = JSON.parse((await run(['cp', 'figure', '--deep', '--json'])).stdout)
    expect([copy.filename, copy.files.length]).toEqual(['figure (1)', 2])
    const { graph } = JSON.parse((await run(['sources', 'figure', '--json'])).stdout)
    expect(graph.edges.map(({ relation }: { relation: string }) => relation)).toEqual([
      'child',
      'source grids',
    ])
    expect(await shown(['plot', 'list', '--public', '-q'])).toBe('0 me:1\n')
    expect(await shown(['plot', 'create', '-'])).toContain('2 error: standard input has no name')
    expect((await run(['plot', 'create', '-', '--name', 'x'], 'nonsense')).code).toBe(7)
  })
})

describe('columns, sharing, keys', () => {
  const { file, run, shown } = home('more')

  it('column list, get, set, add, rename and remove work on one grid', async () => {
    file('a.csv', 'x,y\n1,p\n2,q\n')
    await run(['upload', 'a.csv'])
    expect((await run(['column', 'add', 'a', 'z', '--data', '[1.50, null]'])).code).toBe(0)
    expect((await run(['column', 'get', 'a', 'z', 'y'])).stdout).toBe('1.5\tp\n\tq\n')
    expect((await run(['column', 'rename', 'a', 'z', 'new'])).code).toBe(0)
    expect((await run(['column', 'set', 'a', 'new', '--order', '0'])).code).toBe(0)
    expect((await run(['column', 'list', 'a', '--jq', '.[].name'])).stdout).toBe('new\nx\ny\n')
    expect((await run(['column', 'remove', 'a', 'new', 'x', '--yes'])).code).toBe(0)
    expect(await shown(['column', 'get', 'a', 'gone'])).toContain('7 error: the grid has no column "gone"')
  })

  it('share, star, team and key commands change access', async () => {
    const [shared] = JSON.parse(
      (
        await run([
          'share',
          'a',
          '--email',
          'eve@example.org',
          '--read-only',
          '--message',
          'hi',
          '--link',
          '--json',
        ])
      ).stdout,
    )
    expect(shared).toMatchObject({
      collaborators: [{ type: 'email', email: 'eve@example.org', readonly: true }],
      emails_sent: 0,
      warnings: [expect.stringContaining('SMTP is not configured')],
      share_link: expect.stringMatching(/\?share_key=\S{24}$/),
    })
    expect(await shown(['collaborators', 'a'])).toBe(
      '0 eve@example.org\temail\tread\t\nanyone with the link\tlink\tread\t\n',
    )
    expect((await run(['unshare', 'a', '--email', 'eve@example.org', '--link'])).code).toBe(0)
    expect(await shown(['collaborators', 'a', '--json'])).toBe('0 []\n')
    expect((await run(['star', 'a'])).code).toBe(0)
    expect(await shown(['ls', '--starred', '-q'])).toBe('0 me:0\n')
    expect((await run(['team', 'create', 'crew'])).code).toBe(0)
    expect((await run(['team', 'list', '-q'])).stdout).toBe('crew\n')
    expect((await run(['team', 'delete', 'crew', '--yes'])).code).toBe(0)
    const key = JSON.parse(
      (await run(['key', 'create', '--label', 'ci', '--scopes', 'read', '--json'])).stdout,
    )
    expect(key.scopes).toEqual(['read'])
    expect((await run(['key', 'revoke', key.id])).code).toBe(0)
    expect((await run(['key', 'list', '--json'])).stdout).toBe('[]\n')
    expect((await run(['share', 'a'])).code).toBe(2)
  })
})
