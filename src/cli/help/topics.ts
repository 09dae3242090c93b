// Topics of `gridline help`.
import { CHART_OPTIONS } from '../../charts/spec/options.ts'
import { CHART_TYPES } from '../../charts/spec/types.ts'
import { type FileFormat, fileFormats } from '../../contract/formats.ts'
import { limits } from '../../contract/limits.ts'
import { globalOptions, type Option, optionHelpText } from '../core/define.ts'
import { readingOptions } from '../files/parse-options.ts'
import { ENVIRONMENT_VARIABLES } from './environment.ts'
import { EXIT_CODES } from './exit-codes.ts'

/** Formats listed by their titles; others are described in the text. */
const LISTED_FORMATS = Object.values<FileFormat>(fileFormats)
  .filter(({ reader, isArchive }) => reader !== 'delimited' && !isArchive)
  .map(({ title }) => title)

/** Page of `gridline help` that is not about a command. */
export interface Topic {
  summary: string
  text: () => string
}

export const TOPICS: Readonly<Record<string, Topic>> = {
  environment: {
    summary: 'Environment variables',
    text: () => alignColumns(Object.entries(ENVIRONMENT_VARIABLES)),
  },
  'exit-codes': {
    summary: 'Exit codes of commands',
    text: () => alignColumns(Object.entries(EXIT_CODES)),
  },
  options: {
    summary: 'Options of all commands',
    text: () => alignColumns(globalOptions.map(({ flags, description }) => [flags, description] as const)),
  },
  formats: {
    summary: 'Formats of input and output',
    text: () => `Input of upload and append, detected from the content:

  CSV and TSV, with any delimiter, quotes and encoding
  tables printed by psql, mysql, sqlplus and DuckDB; Markdown tables
  ${LISTED_FORMATS.slice(0, -1).join(', ')} and ${LISTED_FORMATS.at(-1)}
  zip and tar archives; gzip, bzip2 and zstd of any of these

These options override what is detected. gridline upload FILE --dry-run shows
how a file is read.

${alignColumns(readingOptions.map(optionRow))}
Output of lists and details:

  table     on a terminal
  tsv       in a pipe
  csv       with a header line
  json      one array or object; see: gridline help json
  ndjson    one object per line (alias: jsonl)

Choose one with --format, GRIDLINE_FORMAT or gridline config set format FORMAT.
`,
  },
  charts: {
    summary: 'Types of charts and their options',
    text: () => `Types, for upload --plot and plot create --type:

${wrapIndented(CHART_TYPES.join(', '))}

docs/charts.md shows each type with its command. Options:

${alignColumns(CHART_OPTIONS.map(optionRow))}
Missing --type, --x and --y are chosen from the columns.
`,
  },
  limits: {
    summary: 'Limits of the service',
    text: () =>
      `An operator sets a limit with GRIDLINE_LIMIT_NAME=VALUE, such as
GRIDLINE_LIMIT_UPLOAD_BYTES=1073741824. These are the defaults:

${alignColumns(Object.entries(limits).map(([name, { value, unit, what }]) => [name, `${value.toLocaleString('en')} ${unit}: ${what}`]))}`,
  },
  files: {
    summary: 'How to name files, grids and folders',
    text: () => `A FILE, GRID, PLOT or FOLDER on the server is named by one of:

  sales                 its name, in your home folder
  Reports/2024/sales    its path
  alice:12              its id (fid)
  alice:12/sales        a path inside a folder
  https://…/~alice/12/  its link; a secret link also gives access

Patterns select several files. Quote them, so that the shell does not expand them:

  'Reports/2024*'       * and ? match inside one name, [ab] and [!ab] one character
  'Reports/**'          ** matches folders at any depth

Commands that take local files accept the same patterns, quoted or not.
Files in the trash are named by their name or former path; see: gridline ls --trashed.
`,
  },
  json: {
    summary: 'JSON output and its filters',
    text: () => `--json prints one JSON object, or an array for commands that list or take several files.
--json fid,filename prints only these fields.
--jq EXPRESSION filters the JSON, as jq -r does.
--template '{filename}\\t{row_count}' prints a line of text for each result, without JSON.
--format ndjson prints one object per line.

Field names are those of the API and do not change; docs/json.md lists them for each command.
With --json, an error is one object on stderr:

  {"detail": "…", "errors": [{"code": "not_found", "message": "…", "hint": "…", "next": "gridline ls"}]}

code is stable. file, line and column are the place in a data file. next is a command to run.
A list that was cut by --limit says so on stderr.
`,
  },
}

/** Aligns rows in two columns. */
function alignColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join('')
}

/** Returns an option as a row. */
function optionRow(option: Option): readonly [string, string] {
  return [option.flags, optionHelpText(option)]
}

/** Wraps words at 78 characters, indented. */
function wrapIndented(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1]
    if (line !== '' && line.length + word.length > 75) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `  ${line}`).join('\n')
}
