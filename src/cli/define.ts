import type { Context } from './context.ts'
import type { Failure } from './output/failure.ts'
import type { TableView } from './output/view.ts'

/** The result of a command. It is printed in one place (`print.ts`). */
export type CommandResult =
  | { one: object; view: TableView; failures?: Failure[] }
  /** `alone`: a batch command ran on one thing; tables show it as a single item. */
  | { many: object[]; view: TableView; failures?: Failure[]; empty?: string; alone?: boolean }
  /** Raw bytes: a download. */
  | { bytes: AsyncIterable<Uint8Array> }
  | { text: string }
  | undefined

export interface Option {
  /** In commander syntax: `-f, --field <key=value>`. */
  flags: string
  description: string
  choices?: readonly string[]
  /** May be repeated; the value is an array. */
  repeatable?: boolean
  /** A whole number from 0 to `max`, or without bound. */
  integer?: { max?: number }
}

export interface Command {
  /** In commander syntax: `<file...>`, `[folder]`. */
  arguments?: string
  options?: readonly Option[]
  /** Its arguments include files of this machine: shells complete them. */
  localFiles?: true
  /** Whether the command changes data on the server. */
  writes?: true
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

/** The values of options, by name, as their declaration says. */
export type OptionsOf<L extends readonly Option[]> = { [O in L[number] as NameOf<O['flags']>]?: ValueOf<O> }

/** A command whose `run` gets its options typed by their declaration. */
export function defineCommand<const L extends readonly Option[] = []>(
  command: Omit<Command, 'options' | 'run'> & {
    options?: L
    run(context: Context, args: string[], options: OptionsOf<L>): Promise<CommandResult>
  },
): Command {
  return command as Command
}

/** An entry of the command table. The command is loaded on demand. */
export interface CommandEntry {
  name: string
  summary: string
  load: () => Promise<{ command: Command } | { commands: readonly CommandEntry[] }>
}

/** An entry for a command defined in the same file. */
export function subcommand(name: string, summary: string, command: Command): CommandEntry {
  return { name, summary, load: async () => ({ command }) }
}

/** The additional option of all commands that write. */
const writeOption: Option = {
  flags: '--idempotency-key <key>',
  description: 'apply the command only once, even if it is repeated with this key within 24 hours',
}

/** The options of a command, without those of all commands. */
export function ownOptions({ options = [], writes }: Command): readonly Option[] {
  return writes ? [...options, writeOption] : options
}

/** Options of all commands. */
export const globalOptions: readonly Option[] = [
  { flags: '--json [fields]', description: 'output JSON, optionally only these comma-separated fields' },
  { flags: '--jq <expression>', description: 'filter the JSON output with a jq expression' },
  { flags: '-q, --quiet', description: 'print only ids, without progress' },
  { flags: '--profile <name>', description: 'use this profile (see: gridline profile list)' },
  { flags: '--local', description: 'use the database on this machine (same as --profile local)' },
  { flags: '--timeout <seconds>', description: 'stop after this many seconds (default: no limit)' },
]
