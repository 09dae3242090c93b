// Entry point of the command line: parses, runs and prints one command.
import type { Command as Commander } from 'commander'
import { errorMessageOf, formatErrorBody, Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import { OUTPUT_FORMATS, type OutputFormat, parseFormatName } from '../config/settings.ts'
import { Context, type GlobalFlags } from '../core/context.ts'
import {
  type Command,
  type CommandEntry,
  type CommandResult,
  commandOptionsOf,
  hasCommandName,
} from '../core/define.ts'
import { Planned, plannedView } from '../core/dry-run.ts'
import { maskCommandLine, readOptionVariables, readVariableFiles } from '../core/environment.ts'
import { outputFieldsOf } from '../core/output-schema.ts'
import type { Failure } from '../output/failure.ts'
import type { Messages } from '../output/messages.ts'
import { joinJsonFields, moveGlobalFlagsLast, peekGlobalFlags } from './argv.ts'
import { Interrupted, watchInterrupt } from './interrupt.ts'
import { withLocalFileHint } from './local-file-hint.ts'
import { commands } from './registry.ts'

/** Runs one command line. Returns the exit code, and the path of the command, such as `plot create`. */
export async function main(commandWords: string[]): Promise<{ code: number; command: string }> {
  const argv = withHelpFlag(commandWords)
  let context = new Context(process.env, peekGlobalFlags(argv), argv)
  watchStdout(context.messages)
  let code = 0
  let path: CommandEntry[] = []
  try {
    const environment = readVariableFiles(process.env)
    // Other users of this machine can see command lines.
    const masked = maskCommandLine(argv)
    if (masked) process.title = `gridline ${masked.join(' ')}`
    const done = await runWithoutProgram(argv)
    if (done !== undefined) return { code: 0, command: done }
    const { CommanderError, EPILOGUE, createProgram, registerCommands } = await import('./program.ts')
    const program = createProgram()
    path = await resolveCommandPath(commands, moveGlobalFlagsLast(argv))
    await registerCommands(
      program,
      commands,
      path,
      async (command, args, parsed) => {
        const options = { ...parsed, ...readOptionVariables(commandOptionsOf(command), parsed, environment) }
        const flags: GlobalFlags = {
          ...options,
          format: parseFormat(command, options),
          json: options.json === '' ? true : (options.json as GlobalFlags['json']),
        }
        context = new Context(environment, flags, argv)
        context.mayWrite = command.writes === true || command.mayWrite === true
        code = await runCommand(context, command, args, options)
        if (context.messages.isTerminal) await (await import('./update.ts')).noteUpdate(context)
      },
      argv.includes('--all'),
    )
    assertCommandExists(path, argv)
    const words = joinJsonFields(moveGlobalFlagsLast(argv), await loadOutputFields(path))
    try {
      await program.parseAsync(words, { from: 'user' })
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error
      if (error.exitCode !== 0) {
        const help = `See: gridline ${path.map(({ name }) => name).join(' ')}${path.length > 0 ? ' ' : ''}--help`
        if (error.code === 'commander.help') {
          // A command group without a subcommand: print the help of the group, not of the program.
          const help = findCommand(program, path).helpInformation()
          process.stderr.write(path.length === 0 ? `${help}${EPILOGUE}\n` : help)
          return { code: 2, command: '' }
        }
        const { convertCommanderError } = await import('./usage.ts')
        throw convertCommanderError(error, findCommand(program, path), help)
      }
    }
  } catch (error) {
    code = await reportError(context, error)
  } finally {
    try {
      await context.close()
    } catch (error) {
      code ||= await reportError(context, error)
    }
  }
  return { code, command: path.map(({ name }) => name).join(' ') }
}

/** Runs a help topic or an internal word, and returns its name; undefined for commands of the registry. */
async function runWithoutProgram(argv: readonly string[]): Promise<string | undefined> {
  const topic = await loadHelpTopic(argv)
  if (topic !== undefined) {
    process.stdout.write(topic)
    return 'help'
  }
  if (argv[0] === '__update') {
    await (await import('./update.ts')).storeLatestVersion(process.env)
    return ''
  }
  if (!/^__(re)?complete/.test(argv[0] ?? '')) return undefined
  await (await import('../completion/complete.ts')).completeWords(commands, argv)
  return '__complete'
}

/** Returns the fields that the command can print. */
async function loadOutputFields(path: readonly CommandEntry[]): Promise<ReadonlySet<string>> {
  const loaded = await path.at(-1)?.load()
  return new Set(loaded && 'command' in loaded ? outputFieldsOf(loaded.command) : [])
}

/**
 * Returns the text of `gridline help TOPIC`, or what the documentation has on other words; undefined if the words are
 * something else.
 */
async function loadHelpTopic([help, name, ...rest]: readonly string[]): Promise<string | undefined> {
  if (help !== 'help' || name === undefined) return undefined
  if (name === 'all') {
    const { EPILOGUE, createProgram, registerCommands } = await import('./program.ts')
    const program = createProgram()
    await registerCommands(program, commands, [], async () => {}, true)
    return `${program.helpInformation()}${EPILOGUE}\n`
  }
  const { TOPICS } = await import('../help/topics.ts')
  if (Object.hasOwn(TOPICS, name) && rest.length === 0) return TOPICS[name].text()
  if (commands.some((entry) => hasCommandName(entry, name))) return undefined
  const { searchDocs } = await import('../help/search.ts')
  const found = searchDocs([name, ...rest], process.stdout.columns)
  if (found !== undefined) return found
  const suggestion = findClosest(name, [...commands.map((entry) => entry.name), ...Object.keys(TOPICS)])
  throw new Problem('usage', `no command or topic named ${[name, ...rest].join(' ')}`, {
    hint: withSuggestion(suggestion, 'See: gridline --help'),
  })
}

/** Throws for an unknown command with --help: commander would print the help of the program. */
function assertCommandExists(path: readonly CommandEntry[], argv: readonly string[]): void {
  const [first] = moveGlobalFlagsLast(argv)
  if (path.length > 0 || first === undefined || first.startsWith('-')) return
  if (!argv.includes('--help') && !argv.includes('-h')) return
  const suggestion = findClosest(
    first,
    commands.filter(({ hidden }) => !hidden).map(({ name }) => name),
  )
  throw new Problem('usage', `unknown command '${first}'`, {
    hint: withSuggestion(suggestion, 'See: gridline --help'),
  })
}

/** Converts `help plot create` to `plot create --help`. Other words stay: they can be a topic. */
function withHelpFlag(argv: string[]): string[] {
  if (argv[0] !== 'help') return argv
  const words = argv.slice(1).filter((word) => !word.startsWith('-') && word !== 'help')
  const isCommand = words.length > 1 && commands.some((entry) => hasCommandName(entry, words[0]))
  return isCommand || words.length === 0 ? [...words, '--help'] : ['help', ...words]
}

/** Returns the command of a path, or the closest group above it. */
function findCommand(program: Commander, path: readonly CommandEntry[]): Commander {
  return path.reduce(
    (parent, { name }) => parent.commands.find((command) => command.name() === name) ?? parent,
    program,
  )
}

/** Finds the command entries of a command line, such as `profile` and `list`. */
async function resolveCommandPath(
  entries: readonly CommandEntry[],
  argv: readonly string[],
): Promise<CommandEntry[]> {
  const words = argv[0] === 'help' ? argv.slice(1) : argv
  const start = words.findIndex((word) => !word.startsWith('-'))
  const entry = entries.find((candidate) => hasCommandName(candidate, words[start]))
  if (!entry) return []
  const loaded = await entry.load()
  return 'commands' in loaded
    ? [entry, ...(await resolveCommandPath(loaded.commands, words.slice(start + 1)))]
    : [entry]
}

/** Parses the global --format. Returns undefined if missing, or if the command defines its own. */
function parseFormat(command: Command, { format }: Record<string, unknown>): OutputFormat | undefined {
  if (format === undefined || commandOptionsOf(command).some(({ flags }) => /^--format\b/.test(flags)))
    return undefined
  const parsed = parseFormatName(String(format))
  if (parsed === undefined)
    throw new Problem('usage', `--format ${format}: unknown format`, {
      hint: `Available formats: ${OUTPUT_FORMATS.join(', ')}.`,
    })
  return parsed
}

/** Runs a command and prints its result. Returns the exit code. */
async function runCommand(
  context: Context,
  command: Command,
  args: string[],
  options: Record<string, unknown>,
): Promise<number> {
  const interrupted = watchInterrupt(context)
  let { outputFile } = context.flags
  try {
    const { json, jq, template } = context.flags
    if (json !== undefined || jq !== undefined || template !== undefined)
      await checkSelection(context.flags, command)
    context.startTimeout()
    const ends = [interrupted.interruption, context.timedOut]
    const { dryRun } = context.flags
    const running = command
      .run(context, args, dryRun ? { ...options, yes: true, confirmed: options.yes } : options)
      .catch((error) => {
        if (error instanceof Planned) return { item: error.row(args[0]), view: plannedView }
        throw error
      })
    const result = await Promise.race([running, ...ends])
    if (outputFile !== undefined && result && 'bytes' in result) {
      outputFile = undefined
      context.messages.warning('--output-file was left out: this command prints data. To save it: > FILE')
    }
    const outcome = applyLimit(context, command, options, dryRun ? withDryRunView(result) : result)
    const { print } = await import('../core/print.ts')
    const failures = (outcome && 'view' in outcome ? (outcome.failures ?? []) : []).map((failure) => ({
      ...failure,
      problem: withLocalFileHint(failure.problem),
    }))
    const rows = rowsOf(outcome)
    if (outcome && (failures.length === 0 || rows.length > 0)) {
      const format = parseFormatName((await context.settings()).format.value ?? '')
      await Promise.race([print(outcome, context.flags, format, context.environment), ...ends])
    }
    if (outputFile !== undefined) await writeResults(outputFile, rows, failures)
    context.messages.failures(failures)
    if (command.reportsToCi && !dryRun) {
      const { reportToCi } = await import('../core/ci.ts')
      await reportToCi(context, rows, failures)
    }
    if (failures.length === 0) return outcome?.exit ?? 0
    if (outcome && 'items' in outcome && rows.length > 0) return 8
    const exits = new Set(failures.map(({ problem }) => problem.exit))
    return exits.size === 1 ? failures[0].problem.exit : 1
  } catch (error) {
    if (outputFile !== undefined && error instanceof Problem)
      await writeResults(outputFile, [], [{ subject: args[0] ?? '', problem: error }])
    if (command.reportsToCi && !context.flags.dryRun && error instanceof Problem) {
      const { reportToCi } = await import('../core/ci.ts')
      const subject = args.join(' ') || String(options.grid ?? options.name ?? '-')
      await reportToCi(context, [], [{ subject, problem: error }])
    }
    throw error
  } finally {
    interrupted.stop()
  }
}

/** Replaces the view of a --dry-run result. Uploads have their own view. */
function withDryRunView(outcome: CommandResult): CommandResult {
  const isPlan = (row: object): boolean => 'dry_run' in row
  if (!outcome || !('items' in outcome) || !outcome.items.some(isPlan)) return outcome
  return { ...outcome, view: plannedView, isDetail: false }
}

/** Cuts a list to --limit, and prints a note about it. */
function applyLimit(
  context: Context,
  { lists }: Command,
  options: Record<string, unknown>,
  outcome: CommandResult,
): CommandResult {
  if (!lists || !outcome || !('items' in outcome)) return outcome
  const limit = (options.limit as number | undefined) ?? (options.all === true ? undefined : lists.limit)
  if (limit === undefined || outcome.items.length <= limit) return outcome
  context.messages.noteCut(limit)
  return { ...outcome, items: outcome.items.slice(0, limit) }
}

/** Returns the rows of a result; none for texts and bytes. */
function rowsOf(outcome: CommandResult): object[] {
  if (outcome && 'items' in outcome) return outcome.items
  return outcome && 'item' in outcome ? [outcome.item] : []
}

/** Writes results and failures to a file, one JSON object per line. */
async function writeResults(
  file: string,
  rows: readonly object[],
  failures: readonly Failure[],
): Promise<void> {
  const failed = failures.map(({ subject, problem }) => ({
    file: subject,
    action: 'failed',
    ...formatErrorBody(problem).errors[0],
  }))
  const { writeNamedFile } = await import('../files/write-file.ts')
  await writeNamedFile(file, [...rows, ...failed].map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** Validates --json fields, --jq and --template before the command runs. */
async function checkSelection(flags: GlobalFlags, command: Command): Promise<void> {
  const fields = outputFieldsOf(command)
  const hint = command.output.kind === 'other' ? command.output.hint : undefined
  const { assertFields, assertJq } = await import('../output/selection.ts')
  if (typeof flags.json === 'string') assertFields(flags.json.split(','), fields, hint)
  if (flags.jq !== undefined) await assertJq(flags.jq)
  if (flags.template === undefined) return
  if (flags.json !== undefined || flags.jq !== undefined || flags.format !== undefined)
    throw new Problem('usage', '--template cannot be used with --json, --jq or --format')
  const { compileTemplate } = await import('../output/template.ts')
  compileTemplate(flags.template, fields)
}

/** Prints an error and returns the exit code. */
async function reportError(context: Context, error: unknown): Promise<number> {
  if (error instanceof Interrupted) {
    // The running transaction will not be committed: exit without waiting for it.
    process.exit(130)
  }
  const { GRIDLINE_DEBUG } = context.environment
  if (GRIDLINE_DEBUG && GRIDLINE_DEBUG !== 'http') console.error(error)
  if (error instanceof Problem) {
    context.messages.error(withLocalFileHint(error))
    // After a timeout, exit without waiting for running requests.
    if (context.hasTimedOut) process.exit(error.exit)
    return error.exit
  }
  const message = errorMessageOf(error)
  context.messages.error(
    new Problem('failed', message, { hint: 'Set GRIDLINE_DEBUG=1 to print the stack trace.' }),
  )
  return 1
}

/** Exits silently if stdout is closed (`| head`). Reports other output errors. */
function watchStdout(messages: Messages): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    messages.error(
      new Problem(
        'failed',
        `cannot write the output: ${error.code === 'ENOSPC' ? 'the disk is full' : error.message}`,
      ),
    )
    process.exit(1)
  })
}
