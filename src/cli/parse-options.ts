import { Problem } from '../contract/errors.ts'
import { type DelimitedOptions, type GivenType, givenDelimiter, givenTypes } from '../ingest/index.ts'
import type { Option } from './define.ts'

/** Options that say how a text is to be read, the same for upload and append. */
export const readingOptions: readonly Option[] = [
  {
    flags: '--delimiter <character>',
    description: 'character between cells, or tab, comma, semicolon, pipe, space; detected if not given',
  },
  { flags: '--encoding <name>', description: 'utf-8, utf-16le, windows-1252 …; detected if not given' },
  { flags: '--header', description: 'the first line is names; detected if not given' },
  { flags: '--no-header', description: 'the first line is data' },
  {
    flags: '--column <name:type>',
    description: 'a column is number, text or boolean; may be repeated',
    repeatable: true,
  },
  { flags: '--null <text>', description: 'text that stands for a missing value, as NA' },
]

/** Of rows that are appended. */
export const allowTypeChange: Option = {
  flags: '--allow-type-change',
  description: 'append values that change the type of a column; default: refuse them',
}

interface Given {
  delimiter?: string
  encoding?: string
  header?: boolean
  column?: string[]
  null?: string
}

function columnTypes(columns: readonly string[] | undefined): Map<string, GivenType> | undefined {
  if (!columns) return undefined
  return new Map(
    columns.map((given) => {
      const at = given.lastIndexOf(':')
      const type = given.slice(at + 1) as GivenType
      if (at > 0 && givenTypes.includes(type)) return [given.slice(0, at), type]
      throw new Problem('usage', `--column ${given}: must be NAME:TYPE`, {
        hint: `Types are ${givenTypes.join(', ')}.`,
      })
    }),
  )
}

/** For reading here. */
export function readingOptionsOf(options: Record<string, unknown>, source: string): DelimitedOptions {
  const { delimiter, encoding, header, column, null: nullText } = options as Given
  const tsv = /\.(tsv|tab)(\.gz)?$/i.test(source)
  return {
    source,
    delimiter: delimiter === undefined ? (tsv ? '\t' : undefined) : givenDelimiter(delimiter),
    encoding,
    header,
    types: columnTypes(column),
    nullText,
  }
}

/** For reading by the service. */
export function readingHeaders(
  options: Record<string, unknown>,
): Record<string, string | boolean | undefined> {
  const { delimiter, encoding, header, column, null: nullText } = options as Given
  const types = columnTypes(column)
  return {
    Delimiter: delimiter === undefined ? undefined : encodeURIComponent(givenDelimiter(delimiter)!),
    Encoding: encoding,
    Header: header,
    Columns: types && encodeURIComponent(JSON.stringify(Object.fromEntries(types))),
    'Null-Text': nullText === undefined ? undefined : encodeURIComponent(nullText),
  }
}
