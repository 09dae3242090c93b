// Help texts are complete and agree with the code.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { commandOptionsOf, helpGroups, listCommands, longFlagOf } from '../../src/cli/core/define.ts'
import { ENVIRONMENT_VARIABLES } from '../../src/cli/help/environment.ts'
import { EXIT_CODES } from '../../src/cli/help/exit-codes.ts'
import { TOPICS } from '../../src/cli/help/topics.ts'
import { commands } from '../../src/cli/run/registry.ts'
import { errorCodes } from '../../src/contract/errors.ts'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const run = (args: string[]) => gridline(args, { home: join(folder.path, 'home'), cwd: folder.path })

/** Returns the text of all source files below a folder. */
function source(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}

describe('help', () => {
  it('every command has two examples that begin with gridline and name the command', async () => {
    const all = await listCommands(commands)
    const few = all.filter(({ command }) => (command.examples?.length ?? 0) < 2).map(({ path }) => path)
    expect(few).toEqual([])
    for (const { path, command } of all)
      expect([path, command.examples!.some((line) => line.includes(`gridline ${path}`))]).toEqual([
        path,
        true,
      ])
  })

  it('help lists each command once, in its section, with the five most common first', async () => {
    const { stdout } = await run(['--help'])
    const sections = [...stdout.matchAll(/^(\w[\w ]*):\n((?: {2}.*\n)+)/gm)].map(([, title, body]) => ({
      title,
      names: [...body.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name),
    }))
    for (const [group, title] of Object.entries(helpGroups))
      expect(sections.find((section) => section.title === title)?.names).toEqual(
        commands.filter((entry) => entry.group === group && !('isRare' in entry)).map(({ name }) => name),
      )
    expect(sections.find(({ title }) => title === helpGroups.start)?.names).toHaveLength(5)
  })

  it('help of a command with many options fits one screen, and names the option that prints all', async () => {
    for (const { path, command } of await listCommands(commands)) {
      if (!command.shortHelp) {
        expect([path, commandOptionsOf(command).length <= 40]).toEqual([path, true])
        continue
      }
      const own = commandOptionsOf(command).map(({ flags }) => longFlagOf(flags))
      expect(own).toEqual(expect.arrayContaining(Object.keys(command.shortHelp.options)))
      for (const topic of command.shortHelp.topics) expect(TOPICS).toHaveProperty(topic)
      const { stdout } = await run([...path.split(' '), '--help'])
      expect(stdout.split('\n').length).toBeLessThan(45)
      expect(stdout).toContain(`gridline ${path} --help --all`)
      const whole = (await run([...path.split(' '), '--help', '--all'])).stdout
      for (const name of own) expect(whole).toContain(name)
    }
  })

  it('only help all lists rare commands', async () => {
    const [short, all] = [(await run(['--help'])).stdout, (await run(['help', 'all'])).stdout]
    const rare = commands.filter((entry) => 'isRare' in entry).map(({ name }) => name)
    expect(rare).toEqual(['star', 'unstar', 'file'])
    for (const name of rare) {
      expect(short).not.toMatch(new RegExp(`^  ${name} `, 'm'))
      expect(all).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
  })

  it('help has a page for each topic', async () => {
    for (const name of Object.keys(TOPICS)) {
      const { code, stdout } = await run(['help', name])
      expect([name, code, stdout]).toEqual([name, 0, TOPICS[name].text()])
    }
  })

  it('help environment lists every environment variable that the source reads', () => {
    const text = source('src')
    const read = new Set([
      ...[...text.matchAll(/\benv(?:ironment)?\.([A-Z][A-Z0-9_]+)\b/g)].map(([, name]) => name),
      ...[...text.matchAll(/\b(GRIDLINE_[A-Z_]+[A-Z])\b/g)].map(([, name]) => name),
    ])
    // Variables of the system, and those passed on to Chromium.
    const others = 'APPDATA LOCALAPPDATA PATH TERM_PROGRAM LD_LIBRARY_PATH FONTCONFIG_FILE GRIDLINE_LIMIT'
    for (const name of others.split(' ')) read.delete(name)
    // Every variable has a _FILE variant.
    for (const name of read) if (name.endsWith('_FILE') && name !== 'GRIDLINE_NAME_FILE') read.delete(name)
    // Variables of CI systems.
    for (const name of read)
      if (/^(GRIDLINE_LIMIT|GITHUB|GITLAB|CI|CIRCLE|BUILDKITE|ACTIONS)_/.test(name)) read.delete(name)
    expect([...read].filter((name) => !Object.hasOwn(ENVIRONMENT_VARIABLES, name)).sort()).toEqual([])
  })

  it('help exit-codes lists every exit code of an error', () => {
    const codes = new Set(Object.values(errorCodes).map(({ exit }) => exit))
    expect([...codes].filter((code) => !Object.hasOwn(EXIT_CODES, code))).toEqual([])
  })
})

describe('other names', () => {
  it.each([
    [['list'], ['ls']],
    [
      ['rm', '--help'],
      ['trash', '--help'],
    ],
    [
      ['auth', 'login', '--help'],
      ['auth', 'login', '--help'],
    ],
    [
      ['plot', 'ls'],
      ['plot', 'list'],
    ],
    [
      ['team', 'new', '--help'],
      ['team', 'create', '--help'],
    ],
    [
      ['info', '--help'],
      ['show', '--help'],
    ],
  ])('%j is an alias of %j', async (given, same) => {
    const [one, other] = await Promise.all([run(given), run(same)])
    expect([one.code, one.stdout]).toEqual([0, other.stdout])
  })

  it.each([
    [['help', 'embed'], 'Guide › Charts › Embed charts', 'guide.md#embed-charts'],
    [['help', 'github', 'pages'], 'GitHub Actions', 'export.md#sites'],
    [['help', 'glibc'], 'Installing › Without Node', 'install.md#without-node'],
  ])('%j searches the documentation', async (given, heading, link) => {
    const { code, stdout } = await run(given)
    expect([code, stdout]).toEqual([0, expect.stringContaining(heading)])
    expect(stdout).toContain(`  ${link}\n`)
    // Each result is a section that exists.
    for (const [, file, anchor] of stdout.matchAll(/^ {2}([a-z-]+\.md)#(\S+)$/gm)) {
      const text = readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8')
      const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
        title
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replace(/ /g, '-'),
      )
      expect(anchors).toContain(anchor)
    }
  })

  it.each([
    [['uplod'], /Did you mean upload\?/],
    [['upload', '--fodler', 'x', 'a.csv'], /Did you mean --folder\?/],
    [['ls', '--type', 'gird'], /Did you mean grid\?/],
    [['team', 'creat', 'x'], /Did you mean create\?/],
    [['help', 'uplod'], /no command or topic named uplod. Did you mean upload\?/],
  ])('a misspelled command gets a suggestion: %j', async (given, meant) => {
    const { code, stderr } = await run(given)
    expect([code, stderr]).toEqual([2, expect.stringMatching(meant)])
  })

  it('a word unlike every command gets no suggestion', async () => {
    expect((await run(['xyzzy'])).stderr).toBe("error: unknown command 'xyzzy'. See: gridline --help\n")
  })
})

describe('help of commands', () => {
  it.each([
    [['help', 'plot', 'create'], /^Usage: gridline plot create /],
    [['help', 'ls'], /^Usage: gridline ls /],
    [['help'], /^Usage: gridline /],
    [['help', 'help'], /^Usage: gridline /],
    [['help', '-h'], /^Usage: gridline /],
    [['help', 'upload', '--'], /^Usage: gridline upload /],
    [['help', 'formats', '--json'], /^Input of upload/],
  ])('%j', async (args, shown) => {
    const { code, stdout } = await run(args)
    expect([code, stdout]).toEqual([0, expect.stringMatching(shown)])
  })

  it('the fast path of --help prints the same as the whole program', async () => {
    const { stdout } = await run(['help', 'help'])
    for (const args of [['--help'], ['-h'], ['help']]) expect((await run(args)).stdout).toBe(stdout)
  })

  it('an unknown command with --help is an error', async () => {
    const { code, stderr } = await run(['uplaod', '--help'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/unknown command 'uplaod'. Did you mean upload/),
    ])
  })
})

it.skipIf(!existsSync('/dev/full'))('help and version that cannot be written are errors', () => {
  const bin = fileURLToPath(new URL('../../bin/gridline.js', import.meta.url))
  for (const words of [['--version'], ['--help'], ['help', 'options']]) {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [bin, ...words], {
      stdio: ['ignore', full, 'pipe'],
    })
    closeSync(full)
    expect([words, status, `${stderr}`]).toEqual([
      words,
      1,
      expect.stringMatching(/^error: cannot write the output: .*\n$/),
    ])
  }
})
