// Generates the man pages.
import {
  type CommandEntry,
  commandOptionsOf,
  globalOptions,
  type HelpGroup,
  helpGroups,
  type Option,
  optionHelpText,
} from '../core/define.ts'
import { ENVIRONMENT_VARIABLES } from './environment.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { TOPICS } from './topics.ts'

/** Returns the man pages by file name: one for the program, and one per section of the help. */
export async function generateManPages(
  commands: readonly CommandEntry[],
  version: string,
): Promise<Record<string, string>> {
  const visible = commands.filter(({ hidden }) => !hidden)
  const pages: Record<string, string> = { 'gridline.1': programPage(visible, version) }
  for (const group of Object.keys(helpGroups) as HelpGroup[])
    pages[`gridline-${group}.1`] = await groupPage(
      group,
      visible.filter((entry) => entry.group === group),
      version,
    )
  return pages
}

/** Returns the man page of the program. */
function programPage(commands: readonly CommandEntry[], version: string): string {
  const lines = [
    header('gridline', version),
    '.SH NAME',
    'gridline \\- the command line for charts and grids',
    '.SH SYNOPSIS',
    '.B gridline',
    '.I command',
    '[arguments] [options]',
    '.SH DESCRIPTION',
    escapeMan(
      'Uploads data files as grids with a link, creates charts of them, and shares and copies them. Without a server (gridline login or GRIDLINE_URL), files are stored on this machine.',
    ),
  ]
  for (const [group, title] of Object.entries(helpGroups)) {
    lines.push(`.SH ${title.toUpperCase()}`, escapeMan(`See gridline-${group}(1).`))
    for (const { name, summary } of commands.filter((entry) => entry.group === group))
      lines.push('.TP', `.B ${escapeMan(name)}`, escapeMan(summary))
  }
  lines.push('.SH OPTIONS OF ALL COMMANDS', ...globalOptions.flatMap(optionLines))
  lines.push('.SH NAMES OF FILES', ...formatVerbatim(TOPICS.files.text()))
  lines.push('.SH ENVIRONMENT')
  for (const [name, description] of Object.entries(ENVIRONMENT_VARIABLES))
    lines.push('.TP', `.B ${escapeMan(name)}`, escapeMan(description))
  lines.push('.SH EXIT STATUS')
  for (const [code, meaning] of Object.entries(EXIT_CODES))
    lines.push('.TP', `.B ${code}`, escapeMan(meaning))
  lines.push(
    '.SH SEE ALSO',
    Object.keys(helpGroups)
      .map((group) => `.BR gridline-${group} (1)`)
      .join(',\n'),
  )
  return `${lines.join('\n')}\n`
}

/** Returns the man page of a section. */
async function groupPage(
  group: HelpGroup,
  commands: readonly CommandEntry[],
  version: string,
): Promise<string> {
  const lines = [
    header(`gridline-${group}`, version),
    '.SH NAME',
    `gridline\\-${group} \\- ${escapeMan(commands.map(({ name }) => name).join(', '))}`,
    '.SH DESCRIPTION',
    escapeMan('All commands also have the options of gridline(1).'),
  ]
  for (const entry of commands) lines.push(...(await formatManSections(entry, ['gridline'])))
  lines.push('.SH SEE ALSO', '.BR gridline (1)')
  return `${lines.join('\n')}\n`
}

/** Formats the sections (roff) of a command and its subcommands. */
async function formatManSections(entry: CommandEntry, path: readonly string[]): Promise<string[]> {
  const loaded = await entry.load()
  const commandPath = [...path, entry.name]
  if ('commands' in loaded)
    return (
      await Promise.all(loaded.commands.map((subcommand) => formatManSections(subcommand, commandPath)))
    ).flat()
  const { command } = loaded
  const { arguments: syntax = '', usage = syntax, examples = [] } = command
  return [
    `.SH ${escapeMan(commandPath.join(' ').toUpperCase())}`,
    escapeMan(`${entry.summary}.`),
    '.PP',
    `.B ${escapeMan(commandPath.join(' '))}`,
    escapeMan(`${usage} [options]`.trim()),
    ...commandOptionsOf(command).flatMap(optionLines),
    '.PP',
    'Examples:',
    ...formatVerbatim(`${examples.map((line) => `  ${line}`).join('\n')}\n`),
  ]
}

/** Returns the lines of an option. */
function optionLines(option: Option): string[] {
  const { flags, choices } = option
  const values = choices ? ` (${choices.join(', ')})` : ''
  return ['.TP', `.B ${escapeMan(flags)}`, escapeMan(optionHelpText(option) + values)]
}

/** Returns the header of a page. */
function header(name: string, version: string): string {
  return `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 "" "gridline ${version}" "Gridline"`
}

/** Returns lines in which line breaks are kept. */
function formatVerbatim(lines: string): string[] {
  return ['.nf', ...lines.replace(/\n$/, '').split('\n').map(escapeMan), '.fi']
}

/** Escapes a line for man. */
function escapeMan(line: string): string {
  const escaped = line.replaceAll('\\', '\\e').replaceAll('-', '\\-')
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped
}
