// Runs the command line as a process.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Command, type CommandEntry, hasCommandName } from '../../src/cli/core/define.ts'
import { outputFieldsOf } from '../../src/cli/core/output-schema.ts'
import { commands } from '../../src/cli/run/registry.ts'

const executable = fileURLToPath(new URL('../../bin/gridline.js', import.meta.url))

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
  return { ...clean, GRIDLINE_HOME: home, ...env }
}

export function start(args: string[], options: RunOptions): ChildProcess {
  return spawn(process.execPath, [...(options.nodeArguments ?? []), executable, ...args], {
    cwd: options.cwd,
    env: environment(options),
    stdio: 'pipe',
  })
}

/** Runs the command as a process, and waits for its end. Throws if it prints undeclared fields. */
export async function gridline(args: string[], options: RunOptions): Promise<Ended> {
  const done = await ended(start(args, options), options.stdin)
  if (args.includes('--json') && done.code === 0) await checkFields(args, done.stdout)
  return done
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
