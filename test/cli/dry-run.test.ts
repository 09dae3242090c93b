// --dry-run of every command that writes: says what would be changed, and changes nothing.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leavesOf } from '../../src/cli/define.ts'
import { commands } from '../../src/cli/registry.ts'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const cwd = folder.path
const home = join(cwd, 'home')
const run = (args: string[], stdin?: string) => gridline(args, { home, cwd, stdin })
afterAll(folder.remove)

/** A dry run of each command, with the change that it shows. */
const runs: Record<string, [args: string[], shown: RegExp]> = {
  upload: [['upload', 'new.csv'], /new.*"rows":1/],
  append: [['append', 'grid', 'more.csv'], /rows\.append.*"rows":2/],
  'plot create': [['plot', 'create', 'figure.json', '--name', 'p'], /plots\.create.*"filename":"p"/],
  'plot update': [['plot', 'update', 'plot', 'figure.json'], /plots\.update/],
  'plot pick': [['plot', 'pick', 'plot'], /feed\.add/],
  'plot unpick': [['plot', 'unpick', 'plot'], /feed\.remove/],
  mkdir: [['mkdir', 'a/b'], /folders\.create.*"path":"a\/b"/],
  mv: [['mv', 'grid', 'folder'], /files\.update.*"parent":\d/],
  cp: [['cp', 'grid'], /files\.copy/],
  rename: [['rename', 'grid', 'other'], /files\.update.*"filename":"other"/],
  trash: [['trash', 'grid'], /files\.trash/],
  restore: [['restore', 'trashed'], /files\.restore/],
  delete: [['delete', 'grid'], /files\.permanent_delete/],
  star: [['star', 'grid'], /stars\.add/],
  unstar: [['unstar', 'grid'], /stars\.remove/],
  'file extras add': [['file', 'extras', 'add', 'grid', 'more.csv'], /extras\.create/],
  'file reference remove': [['file', 'reference', 'remove', 'grid', 'grid'], /files\.drop_reference/],
  'column set': [['column', 'set', 'grid', 'n', '--data', '[1]'], /columns\.update/],
  'column add': [['column', 'add', 'grid', 'm', '--data', '[1]'], /columns\.create/],
  'column rename': [['column', 'rename', 'grid', 'n', 'm'], /columns\.update/],
  'column remove': [['column', 'remove', 'grid', 'n'], /columns\.delete/],
  share: [['share', 'grid', '--user', 'bob'], /collaborators\.\w+.*"users":\["bob"\]/],
  unshare: [['unshare', 'grid', '--user', 'bob'], /collaborators\.\w+/],
  publish: [['publish', 'grid'], /files\.update.*"world_readable":true/],
  unpublish: [['unpublish', 'grid'], /files\.update.*"world_readable":false/],
  'key create': [['key', 'create'], /keys\.create/],
  'key revoke': [['key', 'revoke', 'abc'], /keys\.revoke/],
  api: [['api', 'POST', '/v2/folders', '-f', 'path=x'], /"path":"x"/],
  watch: [['watch', 'new.csv'], /grids\.upload/],
  'team create': [['team', 'create', 'crew'], /teams\.create.*"name":"crew"/],
  'team add': [['team', 'add', 'mine', 'bob'], /members\.add/],
  'team remove': [['team', 'remove', 'mine', 'bob'], /members\.remove/],
  'team delete': [['team', 'delete', 'mine'], /teams\.delete/],
}

/** Tried in the tests of their own, since they need a server. */
const elsewhere = ['push']

/** Commands that change something on the server. */
async function writers(): Promise<string[]> {
  return (await leavesOf(commands)).filter(({ command }) => command.writes).map(({ path }) => path)
}

describe('--dry-run', () => {
  let before: string
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
    const figure = '{"data":[{"x":[1,2],"y":[3,4]}]}'
    for (const [name, text] of Object.entries({
      'grid.csv': 'n\n1\n2\n',
      'trashed.csv': 'n\n1\n',
      'new.csv': 'n\n1\n',
      'more.csv': 'n\n3\n4\n',
      'wrong.csv': 'zz\n3\n',
      'figure.json': figure,
    }))
      writeFileSync(join(cwd, name), text)
    await run(['upload', 'grid.csv', 'trashed.csv'])
    await run(['trash', 'trashed'])
    await run(['mkdir', 'folder'])
    await run(['plot', 'create', 'figure.json', '--name', 'plot'])
    await run(['team', 'create', 'mine'])
    before = await state()
  })

  it('is an option of every command that writes, and each is tried here', async () => {
    expect((await writers()).sort()).toEqual([...Object.keys(runs), ...elsewhere].sort())
  })

  it.each(Object.entries(runs))('%s shows the change', async (_, [args, shown]) => {
    const { code, stdout, stderr } = await run([...args, '--dry-run', '--json'])
    expect([code, stderr.replace(/^\{.*\n/, '')]).toEqual([0, ''])
    expect(stdout).toMatch(shown)
  })

  it('changes nothing', async () => {
    expect(await state()).toBe(before)
  })

  it('says what would fail', async () => {
    expect((await run(['trash', 'nothing', '--dry-run'])).code).toBe(3)
    expect(await run(['append', 'grid', 'wrong.csv', '--dry-run'])).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/no column "zz"/),
    })
  })
})
