import type { Client } from '../../client/index.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'

/** A column with no more different texts than this is taken for one with a list of values. */
const FEW_VALUES = 10
/** And each of them is there this many times on average. */
const REPEATED = 5

/** A checks file with rules that a grid passes, as YAML with comments. `name`: what it is made from. */
export async function initialChecks(client: Client, fid: string, name: string): Promise<string> {
  const { columns, row_count } = await client.call('grids.describe', { fid })
  const lines = [
    `# Rules for ${name}. See: gridline check --help`,
    '# A rule that fails refuses the data; with severity: warn, it only warns.',
    'columns:',
  ]
  for (const column of columns) {
    const rules = await rulesOf(client, fid, column)
    lines.push(`  ${text(column.name)}:${rules.length === 0 ? ' {}' : ''}`)
    for (const rule of rules) lines.push(`    ${rule}`)
  }
  const key = columns.filter((column) => isKey(column)).slice(0, 1)
  lines.push('table:')
  for (const { name: column } of key) lines.push(`  key: ${text(column)}`)
  lines.push(
    row_count > 0 ? '  rows: 1..' : '  rows: 0..',
    '  extra_columns: true          # false: no other columns',
    '  plot_columns: true           # columns that plots use stay',
    '  change:                      # since the last version',
    '    rows: -50%..+1000%',
    '    removed: 50%',
  )
  return `${lines.join('\n')}\n`
}

/** Whether the values of a column tell rows apart: numbers without a fraction, or texts. */
function isKey({ rows, nulls, distinct, distinct_is_exact, type, name }: ColumnDescription): boolean {
  const isNamedSo = /(^|[_\s-])(id|key|code|uuid)$/i.test(name)
  return (
    isNamedSo &&
    rows > 1 &&
    nulls === 0 &&
    distinct === rows &&
    distinct_is_exact &&
    (type === 'number' || type === 'text')
  )
}

async function rulesOf(client: Client, fid: string, column: ColumnDescription): Promise<string[]> {
  const { type, nulls, rows, distinct, min } = column
  if (type === 'empty') return ['# no values']
  const rules = [`type: ${type === 'number' && (await isWhole(client, fid, column)) ? 'integer' : type}`]
  if (nulls === 0) rules.push('required: true')
  else rules.push(`nulls: ${Math.min(100, Math.ceil((nulls / rows) * 100))}%`)
  if (type === 'number' && typeof min === 'number' && min >= 0) rules.push('minimum: 0')
  if (type === 'text' && distinct <= FEW_VALUES && rows >= distinct * REPEATED) {
    const values = await valuesOf(client, fid, column)
    if (values) rules.push(`enum: [${values.map(text).join(', ')}]`)
  }
  return rules
}

/** Values that are read to write rules of them. */
const MAX_ROWS = 200_000

async function columnOf(
  client: Client,
  fid: string,
  { name, rows }: ColumnDescription,
): Promise<unknown[] | undefined> {
  if (rows > MAX_ROWS) return undefined
  const response = await client.response('grids.content', {
    fid,
    query: { format: 'ndjson', columns: [name] },
  })
  const lines = (await response.text()).split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as Record<string, unknown>)[name])
}

async function isWhole(client: Client, fid: string, column: ColumnDescription): Promise<boolean> {
  const { min, max } = column
  if (!Number.isInteger(min) || !Number.isInteger(max)) return false
  const values = await columnOf(client, fid, column)
  return values?.every((value) => value === null || Number.isInteger(value)) === true
}

async function valuesOf(
  client: Client,
  fid: string,
  column: ColumnDescription,
): Promise<string[] | undefined> {
  const values = await columnOf(client, fid, column)
  return values && [...new Set(values.filter((value) => value !== null && value !== '').map(String))].sort()
}

/** A text in YAML, with quotes where it could be something else. */
function text(value: string): string {
  return /^[A-Za-z_][A-Za-z0-9_ -]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(value) &&
    !value.endsWith(' ')
    ? value
    : JSON.stringify(value)
}
