import {
  type Command as Commander,
  CommanderError,
  Option as CommanderOption,
  Command as Program,
} from 'commander'
import { Problem } from '../../contract/errors.ts'
import { version } from '../../contract/version.ts'
import {
  type Command,
  type CommandEntry,
  camelCase,
  descriptionOf,
  globalOptions,
  groups,
  type Option,
  optionsOf,
  ownOptions,
} from '../core/define.ts'

export { CommanderError }

export const EPILOGUE = `
Topics: gridline help options, environment, exit-codes, formats, files, json

A FILE or GRID is a path (Reports/sales), an id (alice:12) or a link.
Without a server (gridline login or GRIDLINE_URL), files are stored on this machine.`

/** The program for commander, without commands. */
export function programOf(): Commander {
  return new Program('gridline')
    .description('The command line for charts and grids.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show help for a command')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(false)
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      commandUsage: (command) => {
        const names: string[] = []
        for (let at: Commander | null = command; at; at = at.parent) names.unshift(at.name())
        return `${names.join(' ')} ${command.usage()}`
      },
    })
    .addHelpText('after', EPILOGUE)
}

export type Act = (command: Command, args: string[], options: Record<string, unknown>) => Promise<void>

/** Registers all commands for the help, and loads those on `path`. */
export async function registerCommands(
  parent: Commander,
  entries: readonly CommandEntry[],
  path: readonly CommandEntry[],
  act: Act,
): Promise<void> {
  for (const entry of entries) {
    const child = parent
      .command(entry.name, { hidden: entry.hidden })
      .aliases([...(entry.aliases ?? [])])
      .description(entry.summary)
      .copyInheritedSettings(parent)
    if (entry.group) child.helpGroup(`${groups[entry.group]}:`)
    if (entry !== path[0]) continue
    const loaded = await entry.load()
    if ('commands' in loaded) {
      await registerCommands(child, loaded.commands, path.slice(1), act)
      continue
    }
    const { command } = loaded
    if (command.arguments) child.arguments(command.arguments)
    if (command.usage) child.usage(`[options] ${command.usage}`)
    const own = new Set(ownOptions(command).map(({ flags }) => flags))
    for (const option of optionsOf(command)) {
      addOption(child, option)
      // Those of all commands are in one line, and in a topic.
      if (!own.has(option.flags)) child.options.at(-1)!.hideHelp()
    }
    child.addHelpText('after', `\n${commonOptions()}`)
    if (command.examples)
      child.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  ${line}`).join('\n')}`)
    child.action(async (...given: unknown[]) => {
      const options = child.opts()
      await act(
        command,
        given
          .slice(0, child.registeredArguments.length)
          .flat()
          .filter((arg) => arg !== undefined) as string[],
        options,
      )
    })
  }
}

/** The options of all commands, in a few lines. */
function commonOptions(): string {
  const flags = globalOptions.map((option) => option.flags.replace(/^-\w, /, ''))
  const lines = ['Common options:']
  for (const flag of flags) {
    const line = lines[lines.length - 1]
    if (line.length + flag.length + 2 > 78 || lines.length === 1) lines.push(`  ${flag}`)
    else lines[lines.length - 1] = `${line}, ${flag}`
  }
  return `${lines.join('\n')}\n  See: gridline help options`
}

function addOption(command: Commander, declared: Option): void {
  const { flags, choices, preset, repeatable, integer, alias } = declared
  const description = descriptionOf(declared)
  if (alias !== undefined) {
    const [long] = flags.split(' ')
    addOption(command, { flags: flags.replace(long, alias), description, choices, repeatable, integer })
    const same = command.options.at(-1)!
    same.hideHelp()
    command.on(`option:${same.name()}`, () => {
      command.setOptionValue(camelCase(long.slice(2)), command.getOptionValue(same.attributeName()))
    })
  }
  const option = new CommanderOption(flags, description)
  if (choices) {
    const isChoice = option.choices(choices).parseArg!
    option.parseArg = (value: string, before) => isChoice(synonymIn(choices, value), before)
  }
  if (preset !== undefined) option.preset(preset)
  if (repeatable)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
  if (integer)
    option.argParser((value: string) => {
      const { max = Number.MAX_SAFE_INTEGER } = integer
      if (/^\d+$/.test(value) && Number(value) <= max) return Number(value)
      const bound = integer.max === undefined ? ', 0 or more' : ` from 0 to ${max}`
      throw new Problem('usage', `${option.long} ${value}: must be a whole number${bound}`)
    })
  command.addOption(option)
}

/** Other names of choices. */
const SYNONYMS: Readonly<Record<string, string>> = { jsonl: 'ndjson', fold: 'folder' }

function synonymIn(choices: readonly string[], value: string): string {
  const other = Object.hasOwn(SYNONYMS, value) ? SYNONYMS[value] : value
  return choices.includes(other) ? other : value
}
