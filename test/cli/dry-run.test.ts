// --dry-run of every command that writes.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listCommands } from '../../src/cli/core/define.ts'
import { commands } from '../../src/cli/run/registry.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
/** An editor for plot edit that changes an attribute. */
const env = { EDITOR: `"${process.execPath}" "${join(cwd, 'edit.cjs')}"` }
const run = (args: string[], stdin?: string) => gridline(args, { home, cwd, stdin, env })
afterAll(folder.remove)

/** A dry run of each command, with the change that it prints. */
const runs: Record<string, [args: string[], shown: RegExp]> = {
  upload: [['upload', 'new.csv'], /new.*"rows":1/],
  append: [['append', 'grid', 'more.csv'], /rows\.append.*"rows":2/],
  'plot create': [['plot', 'create', 'figure.json', '--name', 'p'], /plots\.create.*"filename":"p"/],
  'plot set': [['plot', 'set', 'plot', 'layout.title.text=x'], /plots\.update/],
  'plot edit': [['plot', 'edit', 'plot'], /plots\.update/],
  'plot update': [['plot', 'update', 'plot', 'figure.json'], /plots\.update/],
  'plot pick': [['plot', 'pick', 'shown plot'], /feed\.add/],
  'plot unpick': [['plot', 'unpick', 'plot'], /feed\.remove/],
  import: [['import', 'figure.json'], /"action":"would create"/],
  mkdir: [['mkdir', 'a/b'], /folders\.create.*"path":"a\/b"/],
  mv: [['mv', 'grid', 'folder'], /files\.update.*"parent":\d/],
  cp: [['cp', 'grid'], /files\.copy/],
  rename: [['rename', 'grid', 'other'], /files\.update.*"filename":"other"/],
  trash: [['trash', 'grid'], /files\.trash/],
  restore: [['restore', 'trashed'], /files\.restore/],
  history: [['history', 'shown', '--forget', '1', '--yes'], /versions\.forget/],
  revert: [['revert', 'grid', '--to', '1'], /versions\.revert.*"version":"1"/],
  keep: [['keep', 'grid', '--name', 'final'], /versions\.keep.*"name":"final"/],
  'draft delete': [['draft', 'delete', 'made'], /drafts\.delete/],
  review: [['review', 'new.csv', '--draft', 'pr-1'], /grids\.upload/],
  check: [['check', 'grid', '--set', 'rules.yml'], /checks\.set.*"checks":/],
  delete: [['delete', 'trashed'], /files\.permanent_delete/],
  star: [['star', 'grid'], /stars\.add/],
  unstar: [['unstar', 'grid'], /stars\.remove/],
  'file extras add': [['file', 'extras', 'add', 'grid', 'more.csv'], /extras\.create/],
  'file reference remove': [['file', 'reference', 'remove', 'plot', 'EXTRA'], /files\.drop_reference/],
  'column set': [['column', 'set', 'grid', 'n', '--data', '[1]'], /columns\.update/],
  'column add': [['column', 'add', 'grid', 'm', '--data', '[1]'], /columns\.create/],
  'column rename': [['column', 'rename', 'grid', 'n', 'm'], /columns\.update/],
  'column key': [['column', 'key', 'grid', 'n'], /rows\.append/],
  'column remove': [['column', 'remove', 'grid', 'n'], /columns\.delete/],
  share: [['share', 'grid', '--user', 'bob'], /collaborators\.\w+.*"users":\["bob"\]/],
  unshare: [['unshare', 'grid', '--user', 'bob'], /collaborators\.\w+/],
  publish: [['publish', 'grid'], /files\.update.*"world_readable":true/],
  unpublish: [['unpublish', 'grid'], /files\.update.*"world_readable":false/],
  'key create': [['key', 'create'], /keys\.create/],
  'key revoke': [['key', 'revoke', 'KEY'], /keys\.revoke/],
  api: [['api', 'POST', '/v2/folders', '-f', 'path=x'], /"path":"x"/],
  watch: [['watch', 'new.csv'], /grids\.upload/],
  refresh: [['refresh', 'follower'], /refreshes\.run/],
  'alert add': [
    ['alert', 'add', 'grid', '--when', 'count(*) > 9', '--to', 'https://example.com/hook'],
    /alerts\.create.*"when":"count\(\*\) > 9"/,
  ],
  'alert set': [['alert', 'set', 'ALERT', '--stale', '2d'], /alerts\.update.*"stale_seconds":172800/],
  'alert remove': [['alert', 'remove', 'ALERT'], /alerts\.delete/],
  'board create': [['board', 'create', 'board.yml'], /dashboards\.create.*"filename":"board"/],
  derive: [
    ['derive', 'derived', '--sql', 'select * from grid'],
    /grids\.derive.*"sql":"select \* from grid"/,
  ],
  'team create': [['team', 'create', 'crew'], /teams\.create.*"name":"crew"/],
  'team add': [['team', 'add', 'mine', 'bob'], /members\.add/],
  'team remove': [['team', 'remove', 'mine', 'bob'], /members\.remove/],
  'team delete': [['team', 'delete', 'mine'], /teams\.delete/],
}

/** Tested elsewhere, since they need a server, a mail server or a plan. */
const elsewhere = ['push', 'apply', 'send', 'alert test']

/** Commands that change something on the server. */
async function writers(): Promise<string[]> {
  return (await listCommands(commands)).filter(({ command }) => command.writes).map(({ path }) => path)
}

describe('--dry-run', () => {
  let before: string
  /** Ids of what was made. */
  const ids: Record<string, string> = {}
  const state = async (): Promise<string> =>
    [
      (await run(['ls', '--all', '--json'])).stdout,
      (await run(['ls', '--trashed', '--json'])).stdout,
      (await run(['cat', 'grid'])).stdout,
      (await run(['team', 'list', '--json'])).stdout,
      (await run(['key', 'list', '--json'])).stdout,
      (await run(['ls', '--starred', '--json'])).stdout,
    ].join('\n')

  beforeAll(async () => {
    mkdirSync(home, { recursive: true })
    writeFileSync(
      join(cwd, 'edit.cjs'),
      `const { readFileSync, writeFileSync } = require('node:fs')
const [file] = process.argv.slice(2)
const figure = JSON.parse(readFileSync(file, 'utf8'))
figure.layout.hovermode = 'x'
writeFileSync(file, JSON.stringify(figure))
`,
    )
    const figure = '{"data":[{"x":[1,2],"y":[3,4]}]}'
    for (const [name, text] of Object.entries({
      'grid.csv': 'n\n1\n2\n',
      'trashed.csv': 'n\n1\n',
      'new.csv': 'n\n1\n',
      'more.csv': 'n\n3\n4\n',
      'wrong.csv': 'zz\n3\n',
      'board.yml': 'rows: [{ text: a }, { table: grid }]\n',
      'rules.yml': 'table: { rows: 1.. }\n',
      'figure.json': figure,
    }))
      writeFileSync(join(cwd, name), text)
    await run(['upload', 'grid.csv', 'trashed.csv'])
    await run(['trash', 'trashed'])
    await run(['mkdir', 'folder'])
    await run(['plot', 'create', 'figure.json', '--name', 'plot'])
    await run(['team', 'create', 'mine'])
    await run(['upload', 'new.csv', '--name', 'shown', '--public'])
    await run(['append', 'shown', 'more.csv'])
    await run(['derive', 'follower', '--sql', 'select * from shown'])
    await run(['plot', 'create', 'figure.json', '--name', 'shown plot', '--public'])
    writeFileSync(join(cwd, 'notes.txt'), 'notes')
    const added = await run(['file', 'extras', 'add', 'plot', 'notes.txt', '--json'])
    ids.EXTRA = JSON.parse(added.stdout).fid
    await run(['upload', 'new.csv', '--name', 'drafted', '--draft', 'made'])
    await run(['admin', 'create-user', 'bob'])
    const made = await run(['key', 'create', '--json'])
    ids.KEY = JSON.parse(made.stdout).id
    const to = 'https://example.com/hook'
    const alert = await run(['alert', 'add', 'grid', '--stale', '365d', '--to', to, '--json'])
    ids.ALERT = JSON.parse(alert.stdout).id
    before = await state()
  })

  it('every command that writes has --dry-run, and is tested here', async () => {
    expect((await writers()).sort()).toEqual([...Object.keys(runs), ...elsewhere].sort())
  })

  it.each(Object.entries(runs))('--dry-run of %s prints the change', async (_, [args, shown]) => {
    const { code, stdout, stderr } = await run([
      ...args.map((word) => ids[word] ?? word),
      '--dry-run',
      '--json',
    ])
    expect([code, stderr.replace(/^\{.*\n/, '')]).toEqual([0, ''])
    expect(stdout).toMatch(shown)
  })

  it.each([
    [['share', 'grid', '--link'], 'create a secret link\tgrid\t'],
    [['rename', 'grid', 'other'], 'rename\tgrid\t', 'name=other'],
    [['column', 'rename', 'grid', 'n', 'm'], 'change a column\tgrid\t', 'name=m'],
    [['mkdir', 'new'], 'create a folder\tnew\t', 'path=new'],
    [['plot', 'create', 'figure.json', '--name', 'p', '--public'], 'create a plot\t', 'public name=p'],
  ])('--dry-run describes %j in words of the command line', async (args, start, change = '') => {
    const { stdout } = await run([...args, '--dry-run'])
    expect([stdout.startsWith(start), stdout.trimEnd().split('\t')[3] ?? '']).toEqual([true, change])
  })

  it('--dry-run changes nothing', async () => {
    expect(await state()).toBe(before)
  })

  it('--dry-run refuses exactly what the write refuses: types, and checks of the grid', async () => {
    for (const [name, text] of Object.entries({
      'times.csv': 't,n\n2024-05-01T10:00,1\n',
      'days.csv': 't,n\n2024-05-02,2\n',
      'texts.csv': 't,n\n2024-05-02,x\n',
      'least.yml': 'columns: { n: { minimum: 0 } }\n',
    }))
      writeFileSync(join(cwd, name), text)
    await run(['upload', 'times.csv'])
    const days = ['upload', 'days.csv', '--name', 'times', '--on-conflict', 'append']
    for (const args of [days, ['append', 'times', 'texts.csv']])
      expect((await run([...args, '--dry-run'])).code).toBe((await run(args)).code)
    await run(['check', 'times', '--set', 'least.yml'])
    expect((await run(['append', 'times', '--row', '2024-05-05,-3', '--dry-run'])).code).toBe(7)
    await run(['trash', 'times'])
    await run(['delete', 'times', '--yes'])
  })

  it('--dry-run reports what would fail', async () => {
    expect((await run(['trash', 'nothing', '--dry-run'])).code).toBe(3)
    expect(await run(['append', 'grid', 'wrong.csv', '--dry-run'])).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/no column "zz"/),
    })
  })
})

describe('--dry-run of admin', () => {
  const database = `sqlite:${join(cwd, 'people.db')}`
  const admin = (line: string) => run(['admin', ...line.split(' '), '--database', database])
  const state = async (): Promise<string> =>
    (
      await Promise.all(
        ['user list', 'key list bob', 'trust list'].map(
          async (line) => (await admin(`${line} --json`)).stdout,
        ),
      )
    ).join('\n')
  const reading = ['user list', 'key list', 'trust list', 'blobs list', 'verify', 'backup', 'audit']
  const issuer = 'https://gitlab.com'

  it('every admin command that writes has --dry-run', async () => {
    const leaves = (await listCommands(commands)).filter(({ path }) => path.startsWith('admin '))
    expect(
      leaves
        .filter(({ command }) => !command.options?.some(({ flags }) => flags === '--dry-run'))
        .map(({ path }) => path.slice('admin '.length))
        .sort(),
    ).toEqual(reading.sort())
  })

  itLong('--dry-run of admin prints the change, refuses what would fail, and changes nothing', async () => {
    await admin('create-user bob')
    await admin('create-user eve')
    await admin('user disable eve --yes')
    const [{ id: trust }] = JSON.parse(
      (await admin(`trust add ${issuer} project_path:a/b:ref:main --user bob --json`)).stdout
        .replace(/^\{/, '[{')
        .replace(/\}\s*$/, '}]'),
    )
    const [{ id: key }] = JSON.parse((await admin('key list bob --json')).stdout)
    await admin(`backup ${join(cwd, 'backup.db')}`)
    const before = await state()
    const lines: [string, RegExp][] = [
      ['create-user carol', /create the user carol with a key/],
      ['create-key bob', /create a key for bob/],
      ['user disable bob', /Disable bob\?/],
      ['user enable eve', /let eve sign in/],
      ['user quota bob --files 10', /change the quota of bob/],
      ['user rename bob robert', /Rename bob to robert\?/],
      ['user unlink bob', /Unlink bob/],
      ['user delete bob', /Permanently delete bob/],
      [`key revoke bob ${key}`, /Revoke/],
      [`trust add ${issuer} project_path:a/c:ref:main --user bob`, /trust tokens of project_path:a\/c/],
      [`trust remove ${trust}`, /stop trusting/],
      [`restore ${join(cwd, 'backup.db')}`, /Replace .*people\.db with/],
      ['compact', /remove deleted data/],
      ['blobs move --to file:/nowhere', /move \d+ objects to file:\/nowhere/],
    ]
    for (const [line, shown] of lines) {
      const { code, stdout, stderr } = await admin(`${line} --dry-run`)
      expect([line, code, stdout]).toEqual([line, 0, ''])
      expect(stderr).toMatch(/^Dry run, nothing was changed\. It would /)
      expect(stderr).toMatch(shown)
    }
    expect(await state()).toBe(before)
    for (const [line, code] of [
      ['create-user BOB', 6],
      ['create-user a/b', 2],
      ['create-key nobody', 3],
      ['create-key bob --scopes all', 2],
      ['user rename bob eve', 6],
      ['user enable nobody', 3],
      ['trust remove 000000000000', 3],
      [`restore ${join(cwd, 'grid.csv')}`, 7],
    ] as const)
      expect([line, (await admin(`${line} --dry-run`)).code]).toEqual([line, code])
  })

  it.each([
    'user list',
    'user disable bob',
    'user rename bob eve',
    'key list bob',
    'key revoke bob --all',
    'trust list',
  ])('%s requires an existing database', async (line) => {
    const at = join(cwd, 'missing.db')
    const { code, stderr } = await run(['admin', ...line.split(' '), '--database', `sqlite:${at}`])
    expect([code, stderr, existsSync(at)]).toEqual([3, `error: no such database: ${at}\n`, false])
  })

  it('--dry-run of admin creates no database', async () => {
    const { code } = await run([
      'admin',
      'create-user',
      'bob',
      '--dry-run',
      '--database',
      `sqlite:${join(cwd, 'none.db')}`,
    ])
    expect([code, existsSync(join(cwd, 'none.db'))]).toEqual([0, false])
  })
})
