// Builds the commander program: commands, options and help.
import {
  type Command as Commander,
  CommanderError,
  Option as CommanderOption,
  Command as Program,
} from 'commander'
import { Problem } from '../../contract/errors.ts'
import { version } from '../../contract/version.ts'
import {
  allOptionsOf,
  type Command,
  type CommandEntry,
  camelCase,
  commandOptionsOf,
  globalOptions,
  helpGroups,
  longFlagOf,
  type Option,
  optionHelpText,
  type ShortHelp,
} from '../core/define.ts'

export { CommanderError }

export const EPILOGUE = `
Topics: gridline help all, options, charts, formats, files, json, limits, environment, exit-codes

A FILE or GRID is a path (Reports/sales), an id (alice:12) or a link.
Without a server (gridline login or GRIDLINE_URL), files are stored on this machine.`

/** Longest list of choices that the help of an option shows completely. */
const MAX_LISTED_CHOICES = 10
/** Number of choices shown of a longer list. */
const SHORTENED_CHOICES = 6

/** Descriptions of options in a short help. */
const shortDescriptions = new WeakMap<CommanderOption, string>()

/** Creates the commander program, without commands. */
export function createProgram(): Commander {
  return new Program('gridline')
    .description('The command line for charts and grids.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show help for a command')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(false)
    .configureHelp({
      // Beside long flags too: in a narrow terminal, words would be broken.
      minWidthToWrap: 20,
      subcommandTerm: (command) => command.name(),
      optionDescription: (option) => {
        const { argChoices = [], description } = option
        const brief = shortDescriptions.get(option)
        if (brief !== undefined) return brief
        if (argChoices.length === 0) return description
        return argChoices.length > MAX_LISTED_CHOICES
          ? `${description} (choices: ${argChoices.slice(0, SHORTENED_CHOICES).join(', ')} … see: gridline help charts)`
          : `${description} (choices: ${argChoices.join(', ')})`
      },
      commandUsage: (command) => {
        const names: string[] = []
        for (let at: Commander | null = command; at; at = at.parent) names.unshift(at.name())
        return `${names.join(' ')} ${command.usage()}`
      },
    })
    .addHelpText('after', EPILOGUE)
}

/** Runs a parsed command. */
export type RunAction = (command: Command, args: string[], options: Record<string, unknown>) => Promise<void>

/** Registers all commands for the help, and loads those on `path`. `isWhole`: the help shows all options. */
export async function registerCommands(
  parent: Commander,
  entries: readonly CommandEntry[],
  path: readonly CommandEntry[],
  act: RunAction,
  isWhole = false,
): Promise<void> {
  for (const entry of entries) {
    const child = parent
      .command(entry.name, { hidden: entry.hidden || (entry.isRare && !isWhole) })
      .aliases([...(entry.aliases ?? [])])
      .description(entry.summary)
      .copyInheritedSettings(parent)
    if (entry.group) child.helpGroup(`${helpGroups[entry.group]}:`)
    if (entry !== path[0]) continue
    const loaded = await entry.load()
    if ('commands' in loaded) {
      await registerCommands(child, loaded.commands, path.slice(1), act, isWhole)
      continue
    }
    const { command } = loaded
    if (command.arguments) child.arguments(command.arguments)
    if (command.usage) child.usage(`[options] ${command.usage}`)
    const specific = commandOptionsOf(command)
    const short = isWhole ? undefined : command.shortHelp
    for (const option of allOptionsOf(command)) {
      addOption(child, option)
      const commanderOption = child.options.at(-1)!
      const brief = short?.options[longFlagOf(option.flags)!]
      // Global options are listed together, in a few lines and in a topic.
      if (short ? brief === undefined : !specific.includes(option)) commanderOption.hideHelp()
      else if (brief !== undefined) shortDescriptions.set(commanderOption, brief)
    }
    child.addHelpText(
      'after',
      `\n${short ? formatOmittedOptions(child, specific.length, short) : formatGlobalOptions()}`,
    )
    const examples = command.examples?.slice(0, short?.examples)
    if (examples) child.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`)
    child.action(async (...values: unknown[]) => {
      const options = child.opts()
      await act(
        command,
        values
          .slice(0, child.registeredArguments.length)
          .flat()
          .filter((arg) => typeof arg === 'string'),
        options,
      )
    })
  }
}

/** Returns where to find the options that a short help omits. */
function formatOmittedOptions(program: Commander, count: number, { options, topics }: ShortHelp): string {
  const names: string[] = []
  for (let at: Commander | null = program; at; at = at.parent) names.unshift(at.name())
  const more = count - Object.keys(options).length
  return [
    `${more} more options: ${names.join(' ')} --help --all`,
    `By subject: gridline help ${topics.join(' | ')} | options`,
  ].join('\n')
}

/** Lists the global options in lines of up to 78 characters, or as many as the terminal has. */
function formatGlobalOptions(): string {
  const width = Math.min(process.stdout.columns || 80, 80) - 2
  const flags = globalOptions.map((option) => option.flags.replace(/^-\w, /, ''))
  const lines = ['Common options:']
  for (const flag of flags) {
    const line = lines[lines.length - 1]
    if (line.length + flag.length + 2 > width || lines.length === 1) lines.push(`  ${flag}`)
    else lines[lines.length - 1] = `${line}, ${flag}`
  }
  return `${lines.join('\n')}\n  See: gridline help options`
}

/** Adds an option to a command, and its alias as a hidden option. */
function addOption(command: Commander, declared: Option): void {
  const { flags, choices, preset, repeatable, integer, alias } = declared
  const description = optionHelpText(declared)
  if (alias !== undefined) {
    const [long] = flags.split(' ')
    addOption(command, { flags: flags.replace(long, alias), description, choices, repeatable, integer })
    const aliasOption = command.options.at(-1)!
    aliasOption.hideHelp()
    command.on(`option:${aliasOption.name()}`, () => {
      command.setOptionValue(camelCase(long.slice(2)), command.getOptionValue(aliasOption.attributeName()))
    })
  }
  const option = new CommanderOption(flags, description)
  if (choices) {
    const isChoice = option.choices(choices).parseArg!
    option.parseArg = (value: string, before) => isChoice(resolveSynonym(choices, value), before)
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

/** Alternative names of choices. */
const SYNONYMS: Readonly<Record<string, string>> = { jsonl: 'ndjson', fold: 'folder' }

/** Returns the choice that `value` is a synonym of, or `value` itself. */
function resolveSynonym(choices: readonly string[], value: string): string {
  const canonical = Object.hasOwn(SYNONYMS, value) ? SYNONYMS[value] : value
  return choices.includes(canonical) ? canonical : value
}
