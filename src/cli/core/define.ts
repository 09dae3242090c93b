// Types and helpers with which commands are declared.
import type { TypedOption } from '../../contract/row-options.ts'
import { OUTPUT_FORMATS } from '../config/settings.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'
import type { Context } from './context.ts'
import type { OutputSchema } from './output-schema.ts'

/** Result of a command, printed by `print.ts`. */
export type CommandResult =
  | ((
      | { item: object; view: TableView; failures?: Failure[] }
      /** `isDetail`: a batch command ran on one thing, so a table shows its details. */
      | { items: object[]; view: TableView; failures?: Failure[]; empty?: string; isDetail?: boolean }
      /** Raw bytes: a download. */
      | { bytes: AsyncIterable<Uint8Array> }
      | { text: string; failures?: Failure[] }
    ) & {
      /** Exit code if there are no failures. Default: 0. */
      exit?: number
    })
  | undefined

/** Kinds of shell completions: names from the server, settings, commands, and local files. */
export type CompletionKind =
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

/** One kind, several kinds, or fixed words. */
export type Completion = CompletionKind | readonly CompletionKind[] | { words: readonly string[] } | undefined

export interface Option extends TypedOption {
  /** Completion of the value. Default: by the name of the value. */
  completion?: Completion
  /** Environment variable that is used if the option is missing. */
  variable?: string
  /** Alternative flag that the help does not list, such as `--head`. */
  alias?: string
}

/** Short help of a command, on one screen. */
export interface ShortHelp {
  /** One-line descriptions by long flag. */
  options: Readonly<Record<string, string>>
  /** Topics of `gridline help` that explain the other options. */
  topics: readonly string[]
  /** Number of examples to show. */
  examples: number
}

export interface Command {
  /** Output with --json. */
  output: OutputSchema
  /** Arguments in commander syntax: `<file...>`, `[folder]`. */
  arguments?: string
  /** Arguments as shown by the help, if commander syntax is too limited: `<source...> <destination>`. */
  usage?: string
  options?: readonly Option[]
  /** Short version of `--help`, for commands with many options. `--help --all` shows all of them. */
  shortHelp?: ShortHelp
  /** Completion of each argument; the last entry applies to all later ones. Default: by their names. */
  completion?: readonly Completion[]
  /** True if the command changes data on the server. */
  writes?: true
  /** Creates versions; adds --message. */
  createsVersions?: true
  /** May change data also by requests without an idempotency key. */
  mayWrite?: true
  /** In CI jobs, results become outputs and a summary, and warnings become annotations. */
  reportsToCi?: true
  /** Prints a list; adds --limit, with this default. */
  lists?: { limit?: number }
  /** Examples in the help, below the options. */
  examples?: readonly string[]
  run(context: Context, args: string[], options: Record<string, unknown>): Promise<CommandResult>
}

/** Camel case of an option name: `min-quality` → `minQuality`. */
type CamelCase<S extends string> = S extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S
type LongFlag<F extends string> = F extends `${string}, ${infer Long}` ? Long : F
type OptionName<F extends string> =
  LongFlag<F> extends `--no-${infer Name}`
    ? CamelCase<Name>
    : LongFlag<F> extends `--${infer Name} ${string}`
      ? CamelCase<Name>
      : LongFlag<F> extends `--${infer Name}`
        ? CamelCase<Name>
        : never
type OptionValue<O extends Option> = O extends { integer: object }
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
 * Option values by name, typed by their declarations. Undeclared names do not compile. `confirmed` is --yes as
 * given: with --dry-run, `yes` is always set.
 */
export type OptionValues<L extends readonly Option[], Writes = undefined, Lists = undefined> = ([
  L[number],
] extends [never]
  ? object
  : { [O in L[number] as string extends O['flags'] ? never : OptionName<O['flags']>]?: OptionValue<O> }) &
  (Writes extends true ? { dryRun?: boolean; confirmed?: boolean } : unknown) &
  (Lists extends object ? { limit?: number } : unknown)

/** Returns the name of an option value in commander: `min-quality` → `minQuality`. */
export function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Declares a command; `run` gets options typed by their declarations. */
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
      options: NoInfer<OptionValues<L, Writes, Lists>>,
    ): Promise<CommandResult>
  },
): Command {
  return command as Command
}

/** Named command that is loaded on demand. */
interface NamedCommand {
  name: string
  /** Alternative names. */
  aliases?: readonly string[]
  summary: string
  load: () => Promise<{ command: Command } | { commands: readonly CommandEntry[] }>
}

/** Command or subcommand. */
export interface CommandEntry extends NamedCommand {
  /** Section of the help. */
  group?: HelpGroup
  /** Excluded from help, completion and documentation. */
  hidden?: true
  /** Listed only by `gridline help all`. */
  isRare?: true
}

/** Top-level command. Must name its help section, unless hidden. */
export type RegisteredCommand = NamedCommand &
  ({ group: HelpGroup; isRare?: true; hidden?: never } | { hidden: true; group?: never })

/** Sections of the help, in order. */
export const helpGroups = {
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

export type HelpGroup = keyof typeof helpGroups

/** Default aliases of subcommands. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  create: ['new'],
  list: ['ls'],
  show: ['get', 'info', 'view'],
  delete: ['rm'],
  revoke: ['rm'],
}

/** Returns an entry for a command that is defined in the same file. */
export function subcommand(
  name: string,
  summary: string,
  command: Command,
  aliases = SYNONYMS[name],
): CommandEntry {
  return { name, aliases, summary, load: async () => ({ command }) }
}

/** Lists commands without subcommands (and not hidden), with paths such as `plot create`. */
export async function listCommands(
  entries: readonly CommandEntry[],
  before: readonly string[] = [],
): Promise<{ path: string; command: Command }[]> {
  const loading = entries
    .filter(({ hidden }) => !hidden)
    .map(async (entry) => {
      const loaded = await entry.load()
      const path = [...before, entry.name]
      return 'commands' in loaded
        ? listCommands(loaded.commands, path)
        : [{ path: path.join(' '), command: loaded.command }]
    })
  return (await Promise.all(loading)).flat()
}

/** Returns whether `word` is the name or an alias of the command. */
export function hasCommandName({ name, aliases = [] }: CommandEntry, word: string | undefined): boolean {
  return name === word || aliases.some((alias) => alias === word)
}

/** Option of commands that write: --dry-run. */
export const dryRunOption = {
  flags: '--dry-run',
  description: 'show what would change, without changing anything',
} as const satisfies Option

/** Option of commands that ask for confirmation. */
export const yesOption = {
  flags: '-y, --yes',
  description: 'skip the confirmation prompt',
} as const satisfies Option

export const idempotencyOption: Option = {
  flags: '--idempotency-key <key>',
  description: 'apply the command only once, even if it is repeated with this key within 24 hours',
}

/** Option of commands that make versions. */
const messageOption = {
  flags: '--message <text>',
  description: 'reason for the change, shown in the history (up to 500 characters)',
} as const satisfies Option

const limitOption = (limit: number | undefined): Option => ({
  flags: '--limit <n>',
  alias: '--head',
  integer: {},
  description: `maximum number of items to list${limit === undefined ? '' : ` (default: ${limit})`}`,
})

/** Returns the options of a command without the global ones. */
export function commandOptionsOf({
  options = [],
  writes,
  createsVersions,
  lists,
}: Command): readonly Option[] {
  return [
    ...options,
    ...(lists && !options.some(({ flags }) => flags.startsWith('--limit '))
      ? [limitOption(lists.limit)]
      : []),
    ...(writes && !options.some(({ flags }) => flags === '--dry-run') ? [dryRunOption] : []),
    ...(createsVersions ? [messageOption] : []),
    ...(writes ? [idempotencyOption] : []),
  ]
}

/** Returns all options of a command. Its own options override global ones of the same name. */
export function allOptionsOf(command: Command): readonly Option[] {
  const specific = commandOptionsOf(command)
  const names = new Set(specific.map(({ flags }) => longFlagOf(flags)))
  return [...specific, ...globalOptions.filter(({ flags }) => !names.has(longFlagOf(flags)))]
}

/** Returns the help text of an option, with its environment variable. */
export function optionHelpText({ description, variable }: Option): string {
  return variable === undefined ? description : `${description} [${variable}]`
}

/** Returns the long flag: `-f, --field <key=value>` → `--field`. */
export function longFlagOf(flags: string): string | undefined {
  return /--[a-z\d-]+/.exec(flags)?.[0]
}

/** Options that every command has. */
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
    completion: { words: OUTPUT_FORMATS },
  },
  { flags: '-q, --quiet', description: 'print only ids, without progress' },
  {
    flags: '--profile <name>',
    description: 'use this profile (see: gridline profile list)',
    completion: 'profile',
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
