import type { Context } from './context.ts'
import type { Failure } from './output/failure.ts'
import type { TableView } from './output/view.ts'

/** What a command came to. Printed in one place, as the flags and the terminal ask. */
export type CommandResult =
  | { one: object; view: TableView; failures?: Failure[] }
  /** `alone`: of one thing that might have been several, shown as one to a person. */
  | { many: object[]; view: TableView; failures?: Failure[]; empty?: string; alone?: boolean }
  /** Bytes as they are: a download. */
  | { bytes: AsyncIterable<Uint8Array> }
  | { text: string }
  | undefined

export interface Option {
  /** As commander reads it: `-f, --field <key=value>`. */
  flags: string
  description: string
  choices?: readonly string[]
  /** May be given several times; the values come as an array. */
  repeatable?: boolean
}

export interface Command {
  /** `<file...>`, `[folder]`, as commander reads it. */
  arguments?: string
  options?: readonly Option[]
  /** Its arguments include files of this machine: shells complete them. */
  localFiles?: true
  /** It changes something on the server. */
  writes?: true
  /** Shown below the options. */
  examples?: readonly string[]
  run(context: Context, args: string[], options: Record<string, unknown>): Promise<CommandResult>
}

/** An entry of the table of commands: loaded once it is known to be meant. */
export interface CommandEntry {
  name: string
  summary: string
  load: () => Promise<{ command: Command } | { commands: readonly CommandEntry[] }>
}

/** An entry of a table whose commands are in the same file. */
export function subcommand(name: string, summary: string, command: Command): CommandEntry {
  return { name, summary, load: async () => ({ command }) }
}

/** What every command that writes takes too. */
export const writeOption: Option = {
  flags: '--idempotency-key <key>',
  description: 'apply once, however often the command is repeated with this key (for 24 hours)',
}

/** Options every command takes. */
export const globalOptions: readonly Option[] = [
  { flags: '--json [fields]', description: 'print JSON; only these fields, comma-separated' },
  { flags: '--jq <expression>', description: 'run a jq expression on the JSON' },
  { flags: '-q, --quiet', description: 'print ids only, and no progress' },
  { flags: '--profile <name>', description: 'use this profile (see: gridline profile list)' },
  { flags: '--local', description: 'use the database of this machine, as --profile local' },
  { flags: '--timeout <seconds>', description: 'give up after so long; default: never' },
]
