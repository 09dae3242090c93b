// Runs the command line as a process.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Command, type CommandEntry, hasCommandName } from '../../src/cli/core/define.ts'
import { outputFieldsOf } from '../../src/cli/core/output-schema.ts'
import { commands } from '../../src/cli/run/registry.ts'
import { PATIENT } from './patience.ts'
import { isLong } from './property-runs.ts'

const executable = fileURLToPath(new URL('../../bin/gridline.js', import.meta.url))
const commandProcess = fileURLToPath(new URL('command-process.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  /** Folder of settings and data, isolated from others. */
  home: string
  cwd?: string
  stdin?: string | Uint8Array
  env?: Record<string, string>
  nodeArguments?: string[]
}

function environment({ home, env = {} }: RunOptions): NodeJS.ProcessEnv {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(GRIDLINE_|NO_COLOR|FORCE_COLOR|VITEST|NODE_|CI$)/.test(name),
    ),
  )
  return { ...clean, ...PATIENT, GRIDLINE_HOME: home, ...env }
}

export function start(args: string[], options: RunOptions): ChildProcess {
  return spawn(process.execPath, [...(options.nodeArguments ?? []), executable, ...args], {
    cwd: options.cwd,
    env: environment(options),
    stdio: 'pipe',
  })
}

/**
 * Runs the command, and waits for its end: as a process, or in one that has run others, which takes a tenth of the time.
 * Throws if it prints undeclared fields.
 */
export async function gridline(args: string[], options: RunOptions): Promise<Ended> {
  const done = needsOwnProcess(args, options)
    ? await ended(start(args, options), options.stdin)
    : await runIn(idle.pop() ?? startCommandProcess(), args, options)
  if (args.includes('--json') && done.code === 0) await checkFields(args, done.stdout)
  return done
}

/** Long runs start a process for each command, as people do. */
const HAS_OWN_PROCESSES = isLong || Boolean(process.env.GRIDLINE_TEST_PROCESSES)

/** Variables that Node and libraries read when they start. */
const AT_START = /^(NODE_|FORCE_COLOR|NO_COLOR|COLORTERM|TERM|COLUMNS|LC_|LANG|CI$|GITHUB_|GRIDLINE_DEBUG)/

/** Returns whether a command cannot share a process: it serves, or has variables that matter at the start. */
function needsOwnProcess(args: string[], { env = {}, nodeArguments }: RunOptions): boolean {
  return (
    HAS_OWN_PROCESSES ||
    nodeArguments !== undefined ||
    args.includes('serve') ||
    Object.keys(env).some((name) => AT_START.test(name))
  )
}

/** Processes that have loaded the build and run nothing. */
const idle: ChildProcess[] = []

function startCommandProcess(): ChildProcess {
  const child = fork(commandProcess, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    execArgv: [],
    env: environment({ home: '' }),
  })
  // It ends with this process.
  child.unref()
  return child
}

interface EndedCommand extends Ended {
  isClean: boolean
}

async function runIn(child: ChildProcess, args: string[], options: RunOptions): Promise<Ended> {
  const { cwd = process.cwd(), stdin = '' } = options
  child.ref()
  child.channel?.ref()
  const done = new Promise<EndedCommand>((resolve) => {
    child.once('message', (message) => resolve(message as EndedCommand))
    child.once('exit', (code) => resolve({ code, stdout: '', stderr: 'the process ended', isClean: false }))
  })
  child.send({ argv: args, cwd, env: environment(options), input: Buffer.from(stdin) })
  const { code, stdout, stderr, isClean } = await done
  child.removeAllListeners()
  if (isClean) {
    child.unref()
    child.channel?.unref()
    idle.push(child)
  } else child.kill()
  return { code, stdout: `${Buffer.from(stdout)}`, stderr: `${Buffer.from(stderr)}` }
}

/** Throws if a command prints fields that its `prints` does not have. */
async function checkFields(args: readonly string[], stdout: string): Promise<void> {
  const found = await commandOf(commands, args)
  const known = found && outputFieldsOf(found)
  if (!known || !/^[[{]/.test(stdout)) return
  const printed = JSON.parse(stdout) as object | object[]
  const unknown = [printed]
    .flat()
    .flatMap((row) => Object.keys(row).filter((field) => !known.includes(field)))
  if (unknown.length > 0)
    throw new Error(`gridline ${args.join(' ')}: prints does not have ${[...new Set(unknown)].join(', ')}`)
}

async function commandOf(
  entries: readonly CommandEntry[],
  args: readonly string[],
): Promise<Command | undefined> {
  const at = args.findIndex((word) => !word.startsWith('-'))
  const loaded = await entries.find((entry) => hasCommandName(entry, args[at]))?.load()
  if (!loaded) return undefined
  return 'command' in loaded ? loaded.command : commandOf(loaded.commands, args.slice(at + 1))
}

export function ended(child: ChildProcess, stdin?: string | Uint8Array): Promise<Ended> {
  return new Promise((resolve) => {
    const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    child.stdout!.on('data', (chunk) => parts.stdout.push(chunk))
    child.stderr!.on('data', (chunk) => parts.stderr.push(chunk))
    child.stdin!.on('error', () => {})
    child.on('close', (code) =>
      resolve({
        code,
        stdout: Buffer.concat(parts.stdout).toString('utf8'),
        stderr: Buffer.concat(parts.stderr).toString('utf8'),
      }),
    )
    child.stdin!.end(stdin ?? '')
  })
}

/** Starts `gridline serve`; resolves when it listens. */
export async function serve(
  args: string[],
  options: RunOptions,
): Promise<{ url: string; child: ChildProcess; log: () => string; stop: () => Promise<number | null> }> {
  const child = start(['serve', '--port', '0', ...args], options)
  const lines = createInterface({ input: child.stderr! })
  let log = ''
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      log += `${line}\n`
      const found = /^listening on (\S+)/.exec(line)
      if (found) resolve(found[1])
    })
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${log}`)))
  })
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    url,
    child,
    log: () => log,
    stop: () => {
      child.kill('SIGINT')
      return gone
    },
  }
}
