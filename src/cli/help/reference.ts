// Generates docs/cli.md: all commands.
import {
  type CommandEntry,
  commandOptionsOf,
  globalOptions,
  type Option,
  optionHelpText,
} from '../core/define.ts'

/** Returns docs/cli.md: the help of all commands as Markdown. */
export async function generateCliReference(commands: readonly CommandEntry[]): Promise<string> {
  const visible = commands.filter(({ hidden }) => !hidden)
  const sections = (await Promise.all(visible.map((entry) => formatSection(entry, ['gridline'])))).flat()
  const contents = visible.map(({ name, summary }) => `| [\`${name}\`](#gridline-${name}) | ${summary} |`)
  return [
    '# Command reference',
    'This page is generated from the command table by `npm run docs`.',
    ['| command | summary |', '|---|---|', ...contents].join('\n'),
    ...sections,
    '## Options of all commands',
    formatOptionTable(globalOptions),
    '',
  ].join('\n\n')
}

/** Returns the section of a command, with subcommands. */
async function formatSection(entry: CommandEntry, path: string[]): Promise<string[]> {
  const loaded = await entry.load()
  const name = [...path, entry.name].join(' ')
  const heading = `${'#'.repeat(path.length + 1)} ${name}`
  if ('commands' in loaded) {
    const subsections = await Promise.all(
      loaded.commands.map((subcommand) => formatSection(subcommand, [...path, entry.name])),
    )
    return [heading, `${entry.summary}.`, ...subsections.flat()]
  }
  const { arguments: syntax, usage = syntax, examples = [] } = loaded.command
  const options = commandOptionsOf(loaded.command)
  const line = [name, usage, options.length > 0 ? '[options]' : ''].filter(Boolean).join(' ')
  return [
    heading,
    `${entry.summary}.`,
    formatCodeBlock([line]),
    ...(options.length > 0 ? [formatOptionTable(options)] : []),
    ...(examples.length > 0 ? ['Examples:', formatCodeBlock(examples)] : []),
  ]
}

/** Formats options as a table. */
function formatOptionTable(options: readonly Option[]): string {
  const rows = options.map((option) => {
    const { flags, choices } = option
    const values = choices ? ` (${choices.map((choice) => `\`${choice}\``).join(', ')})` : ''
    return `| \`${escapeCell(flags)}\` | ${escapeCell(optionHelpText(option))}${values} |`
  })
  return ['| option | description |', '|---|---|', ...rows].join('\n')
}

/** Escapes a table cell. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
}

/** Formats a code block. */
function formatCodeBlock(lines: readonly string[]): string {
  return ['```', ...lines, '```'].join('\n')
}
