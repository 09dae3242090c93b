// Writes rules that fit the data of a grid, for `check --init`.
import type { Client } from '../../client/index.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'

/** Maximum number of distinct texts for an enum rule. */
const MAX_ENUM_VALUES = 10
/** Minimum average number of rows per distinct text for an enum rule. */
const MIN_ENUM_REPETITIONS = 5

/** Returns a YAML checks file with rules that the grid passes. `name`: source of the data, for a comment. */
export async function generateChecks(client: Client, fid: string, name: string): Promise<string> {
  const { columns, row_count } = await client.call('grids.describe', { fid })
  const lines = [
    `# Rules for ${name}. See: gridline check --help`,
    '# A rule that fails refuses the data; with severity: warn, it only warns.',
    'columns:',
  ]
  for (const column of columns) {
    const rules = await generateRules(client, fid, column)
    lines.push(`  ${quoteYaml(column.name)}:${rules.length === 0 ? ' {}' : ''}`)
    for (const rule of rules) lines.push(`    ${rule}`)
  }
  const key = columns.filter((column) => looksLikeKey(column)).slice(0, 1)
  lines.push('table:')
  for (const { name: column } of key) lines.push(`  key: ${quoteYaml(column)}`)
  lines.push(
    row_count > 0 ? '  rows: 1..' : '  rows: 0..',
    '  extra_columns: true          # false: no other columns',
    '  plot_columns: true           # keep columns that plots use',
    '  change:                      # since the last version',
    '    rows: -50%..+1000%',
    '    removed: 50%',
  )
  return `${lines.join('\n')}\n`
}

/** Returns whether a column looks like a key: by name, unique, no nulls, text or number. */
function looksLikeKey({ rows, nulls, distinct, distinct_is_exact, type, name }: ColumnDescription): boolean {
  const hasKeyName = /(^|[_\s-])(id|key|code|uuid)$/i.test(name)
  return (
    hasKeyName &&
    rows > 1 &&
    nulls === 0 &&
    distinct === rows &&
    distinct_is_exact &&
    (type === 'number' || type === 'text')
  )
}

/** Returns the rules of a column. */
async function generateRules(client: Client, fid: string, column: ColumnDescription): Promise<string[]> {
  const { type, nulls, rows, distinct, min } = column
  if (type === 'empty') return ['# no values']
  const rules = [
    `type: ${type === 'number' && (await hasOnlyIntegers(client, fid, column)) ? 'integer' : type}`,
  ]
  if (nulls === 0) rules.push('required: true')
  else rules.push(`nulls: ${Math.min(100, Math.ceil((nulls / rows) * 100))}%`)
  if (type === 'number' && typeof min === 'number' && min >= 0) rules.push('minimum: 0')
  if (type === 'text' && distinct <= MAX_ENUM_VALUES && rows >= distinct * MIN_ENUM_REPETITIONS) {
    const values = await loadDistinctTexts(client, fid, column)
    if (values) rules.push(`enum: [${values.map(quoteYaml).join(', ')}]`)
  }
  return rules
}

/** Maximum number of rows from which values are read. */
const MAX_READ_ROWS = 200_000

/** Loads the values of a column; undefined if there are too many. */
async function loadColumn(
  client: Client,
  fid: string,
  { name, rows }: ColumnDescription,
): Promise<unknown[] | undefined> {
  if (rows > MAX_READ_ROWS) return undefined
  const response = await client.response('grids.content', {
    fid,
    query: { format: 'ndjson', columns: [name] },
  })
  const lines = (await response.text()).split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as Record<string, unknown>)[name])
}

/** Returns whether all numbers of a column are integers. */
async function hasOnlyIntegers(client: Client, fid: string, column: ColumnDescription): Promise<boolean> {
  const { min, max } = column
  if (!Number.isInteger(min) || !Number.isInteger(max)) return false
  const values = await loadColumn(client, fid, column)
  return values?.every((value) => value === null || Number.isInteger(value)) === true
}

/** Loads the distinct texts of a column, sorted. */
async function loadDistinctTexts(
  client: Client,
  fid: string,
  column: ColumnDescription,
): Promise<string[] | undefined> {
  const values = await loadColumn(client, fid, column)
  return values && [...new Set(values.filter((value) => value !== null && value !== '').map(String))].sort()
}

/** Formats a text for YAML, quoted if necessary. */
function quoteYaml(value: string): string {
  return /^[A-Za-z_][A-Za-z0-9_ -]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(value) &&
    !value.endsWith(' ')
    ? value
    : JSON.stringify(value)
}
