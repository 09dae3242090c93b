import type { Problem } from '../contract/errors.ts'
import type { Context } from './context.ts'
import type { View } from './output/view.ts'

/** What a command came to. Printed in one place, as the flags and the terminal ask. */
export type Outcome =
  | { one: object; view: View; failures?: Failure[] }
  /** `alone`: of one thing that might have been several, shown as one to a person. */
  | { many: object[]; view: View; failures?: Failure[]; empty?: string; alone?: boolean }
  /** Bytes as they are: a download. */
  | { bytes: AsyncIterable<Uint8Array> }
  | { text: string }
  | undefined

/** One of several things that could not be done. */
export interface Failure {
  of: string
  problem: Problem
  /** What was not tried any more after it. */
  untried?: readonly string[]
}

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
  /** It changes something on the server. */
  writes?: true
  /** Shown below the options. */
  examples?: readonly string[]
  run(context: Context, args: string[], options: Record<string, unknown>): Promise<Outcome>
}

/** An entry of the table of commands: loaded once it is known to be meant. */
export interface Entry {
  name: string
  summary: string
  load: () => Promise<{ command: Command } | { commands: readonly Entry[] }>
}

/** An entry of a table whose commands are in the same file. */
export function entry(name: string, summary: string, command: Command): Entry {
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
