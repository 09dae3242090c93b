import type { TypedOption } from '../../contract/row-options.ts'
import { formats } from '../config/settings.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'
import type { Context } from './context.ts'
import type { Prints } from './prints.ts'

/** The result of a command. It is printed in one place (`print.ts`). */
export type CommandResult =
  | ((
      | { one: object; view: TableView; failures?: Failure[] }
      /** `alone`: a batch command ran on one thing; tables show it as a single item. */
      | { many: object[]; view: TableView; failures?: Failure[]; empty?: string; alone?: boolean }
      /** Raw bytes: a download. */
      | { bytes: AsyncIterable<Uint8Array> }
      | { text: string; failures?: Failure[] }
    ) & {
      /** The exit code without failures. Default: 0. */
      exit?: number
    })
  | undefined

/** What shells complete: names from the server or from the settings, commands, and files of this machine. */
export type Completed =
  | 'file'
  | 'grid'
  | 'plot'
  | 'folder'
  | 'column'
  | 'version'
  | 'profile'
  | 'team'
  | 'user'
  | 'command'
  | 'local'

/** One kind, several, or words of its own. */
export type Completion = Completed | readonly Completed[] | { words: readonly string[] } | undefined

export interface Option extends TypedOption {
  /** What completes its value in a shell. Default: by its name. */
  completes?: Completion
  /** The environment variable that gives its value where the option is not given. */
  variable?: string
  /** Another name, which the help does not list: `--head`. */
  alias?: string
}

/** The help of a command on one screen. */
export interface ShortHelp {
  /** Options by their long names, each with a text of one line. */
  options: Readonly<Record<string, string>>
  /** Topics of `gridline help` with the other options. */
  topics: readonly string[]
  /** The first examples, as many as these. */
  examples: number
}

export interface Command {
  /** What it prints with --json. */
  prints: Prints
  /** In commander syntax: `<file...>`, `[folder]`. */
  arguments?: string
  /** The arguments as the help shows them, where that syntax cannot say it: `<source...> <destination>`. */
  usage?: string
  options?: readonly Option[]
  /** What `--help` shows where there are many options. `--help --all` shows all of them. */
  usual?: ShortHelp
  /** What completes each argument, and all later ones. Default: by their names. */
  completes?: readonly Completion[]
  /** Whether the command changes data on the server. */
  writes?: true
  /** It makes versions: it has --message. */
  versions?: true
  /** It may change data in other ways than by its own requests with an idempotency key. */
  stores?: true
  /** In a CI job, its results become outputs and a summary, and its warnings annotations. */
  reports?: true
  /** It lists things: it has --limit, with this default. */
  lists?: { limit?: number }
  /** Shown in the help, below the options. */
  examples?: readonly string[]
  run(context: Context, args: string[], options: Record<string, unknown>): Promise<CommandResult>
}

/** `min-quality` → `minQuality`, as commander names values. */
type CamelCase<S extends string> = S extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S
type LongFlag<F extends string> = F extends `${string}, ${infer Long}` ? Long : F
type NameOf<F extends string> =
  LongFlag<F> extends `--no-${infer Name}`
    ? CamelCase<Name>
    : LongFlag<F> extends `--${infer Name} ${string}`
      ? CamelCase<Name>
      : LongFlag<F> extends `--${infer Name}`
        ? CamelCase<Name>
        : never
type ValueOf<O extends Option> = O extends { integer: object }
  ? number
  : O extends { repeatable: true }
    ? string[]
    : O extends { choices: readonly (infer Choice)[] }
      ? Choice
      : LongFlag<O['flags']> extends `${string} <${string}`
        ? string
        : LongFlag<O['flags']> extends `${string} [${string}`
          ? string | true
          : boolean

/**
 * The values of options, by name, as their declaration says. Without declared options there are none: a name that is
 * not declared does not compile.
 */
export type OptionsOf<L extends readonly Option[], Writes = undefined, Lists = undefined> = ([
  L[number],
] extends [never]
  ? object
  : { [O in L[number] as string extends O['flags'] ? never : NameOf<O['flags']>]?: ValueOf<O> }) &
  (Writes extends true ? { dryRun?: boolean } : unknown) &
  (Lists extends object ? { limit?: number } : unknown)

/** The name under which commander keeps the value of an option: `min-quality` → `minQuality`. */
export function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A command whose `run` gets its options typed by their declaration. */
export function defineCommand<
  const L extends readonly Option[] = [],
  const Writes extends Command['writes'] = undefined,
  const Lists extends Command['lists'] = undefined,
>(
  command: Omit<Command, 'options' | 'writes' | 'lists' | 'run'> & {
    options?: L
    writes?: Writes
    lists?: Lists
    run(
      context: Context,
      args: string[],
      options: NoInfer<OptionsOf<L, Writes, Lists>>,
    ): Promise<CommandResult>
  },
): Command {
  return command as Command
}

/** An entry of the command table. The command is loaded on demand. */
interface NamedCommand {
  name: string
  /** Other names that people type. */
  aliases?: readonly string[]
  summary: string
  load: () => Promise<{ command: Command } | { commands: readonly CommandEntry[] }>
}

/** A command, or a subcommand of one. */
export interface CommandEntry extends NamedCommand {
  /** The section of the help that lists it. */
  group?: Group
  /** Left out of help, completion and documentation. */
  hidden?: true
  /** Only in `gridline help all`, not in the help of the program. */
  rare?: true
}

/** A command of the registry: one without a section of the help does not compile. */
export type RegisteredCommand = NamedCommand &
  ({ group: Group; rare?: true; hidden?: never } | { hidden: true; group?: never })

/** The sections of the help, in its order. */
export const groups = {
  start: 'Start here',
  files: 'Files',
  grids: 'Grids',
  review: 'Checks and versions',
  plots: 'Plots',
  sharing: 'Sharing',
  accounts: 'Accounts',
  service: 'Service',
  settings: 'Settings',
} as const

export type Group = keyof typeof groups

/** What people type for the usual names of subcommands. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  create: ['new'],
  list: ['ls'],
  show: ['get', 'info', 'view'],
  delete: ['rm'],
  revoke: ['rm'],
}

/** An entry for a command defined in the same file. */
export function subcommand(
  name: string,
  summary: string,
  command: Command,
  aliases = SYNONYMS[name],
): CommandEntry {
  return { name, aliases, summary, load: async () => ({ command }) }
}

/** All commands without subcommands that the help lists, with their paths such as `plot create`. */
export async function leavesOf(
  entries: readonly CommandEntry[],
  before: readonly string[] = [],
): Promise<{ path: string; command: Command }[]> {
  const found = entries
    .filter(({ hidden }) => !hidden)
    .map(async (entry) => {
      const loaded = await entry.load()
      const here = [...before, entry.name]
      return 'commands' in loaded
        ? leavesOf(loaded.commands, here)
        : [{ path: here.join(' '), command: loaded.command }]
    })
  return (await Promise.all(found)).flat()
}

/** Whether a word names a command. */
export function isNamed({ name, aliases = [] }: CommandEntry, word: string | undefined): boolean {
  return name === word || aliases.some((alias) => alias === word)
}

/** The additional options of all commands that write. */
export const dryRun = {
  flags: '--dry-run',
  description: 'show what would be changed, without changing anything',
} as const satisfies Option
export const writeOption: Option = {
  flags: '--idempotency-key <key>',
  description: 'apply the command only once, even if it is repeated with this key within 24 hours',
}

/** Option of commands that make versions. */
const messageOption = {
  flags: '--message <text>',
  description: 'why: the history shows it (up to 500 characters)',
} as const satisfies Option

const limitOption = (limit: number | undefined): Option => ({
  flags: '--limit <n>',
  alias: '--head',
  integer: {},
  description: `maximum number of items to list${limit === undefined ? '' : ` (default: ${limit})`}`,
})

/** The options of a command, without those of all commands. */
export function ownOptions({ options = [], writes, versions, lists }: Command): readonly Option[] {
  return [
    ...options,
    ...(lists && !options.some(({ flags }) => flags.startsWith('--limit '))
      ? [limitOption(lists.limit)]
      : []),
    ...(writes && !options.some(({ flags }) => flags === '--dry-run') ? [dryRun] : []),
    ...(versions ? [messageOption] : []),
    ...(writes ? [writeOption] : []),
  ]
}

/** All options of a command. Its own ones replace those of all commands that have the same name. */
export function optionsOf(command: Command): readonly Option[] {
  const own = ownOptions(command)
  const names = new Set(own.map(({ flags }) => longName(flags)))
  return [...own, ...globalOptions.filter(({ flags }) => !names.has(longName(flags)))]
}

/** What the help says about an option. */
export function descriptionOf({ description, variable }: Option): string {
  return variable === undefined ? description : `${description} [${variable}]`
}

/** `-f, --field <key=value>` → `--field`. */
export function longName(flags: string): string | undefined {
  return /--[a-z\d-]+/.exec(flags)?.[0]
}

/** Options of all commands. */
export const globalOptions: readonly Option[] = [
  { flags: '--json [fields]', description: 'output JSON, optionally only these comma-separated fields' },
  { flags: '--jq <expression>', description: 'filter the JSON output with a jq expression' },
  {
    flags: '--template <text>',
    description: "print this text for each result, with fields in braces: '{fid} {filename}'",
  },
  {
    flags: '--format <format>',
    description:
      'output format: table, tsv, csv, json or ndjson (default: table on a terminal, otherwise tsv)',
    completes: { words: formats },
  },
  { flags: '-q, --quiet', description: 'print only ids, without progress' },
  {
    flags: '--profile <name>',
    description: 'use this profile (see: gridline profile list)',
    completes: 'profile',
  },
  { flags: '--local', description: 'use the database on this machine (same as --profile local)' },
  {
    flags: '--progress <style>',
    description: 'progress display: auto (default), bar, plain (lines) or none',
    choices: ['auto', 'bar', 'plain', 'none'],
  },
  { flags: '--output-file <file>', description: 'also write results and failures to this file, as NDJSON' },
  { flags: '--verbose', description: 'print each request and response to stderr, without secrets' },
  { flags: '--ca-file <file>', description: 'also trust the certificates in this PEM file' },
  { flags: '--timeout <seconds>', description: 'stop after this many seconds (default: no limit)' },
]
