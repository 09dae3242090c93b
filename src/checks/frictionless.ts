// Converts Frictionless Table Schemas to checks: https://specs.frictionlessdata.io/table-schema/
import { Problem } from '../contract/errors.ts'
import type { Checks, CheckType, ColumnRule, TableRule, WithSeverity } from './types.ts'

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** Types of checks by type of a Table Schema. Types with a pattern only are in `TYPE_PATTERNS`. */
const CHECK_TYPES: Readonly<Record<string, CheckType | undefined>> = {
  string: 'text',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
  time: 'time',
  object: 'json',
  array: 'json',
  list: 'text',
  geojson: 'json',
}

/** Regular expressions by type, and by format of texts. */
const TYPE_PATTERNS: Readonly<Record<string, string>> = {
  year: '-?[0-9]{4}',
  yearmonth: '[0-9]{4}-(0[1-9]|1[0-2])',
  duration: '-?P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\\.[0-9]+)?S)?)?',
  geopoint: '\\s*-?[0-9]+(\\.[0-9]+)?\\s*,\\s*-?[0-9]+(\\.[0-9]+)?\\s*',
}
const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  email: '[^@\\s]+@[^@\\s]+',
  uri: '[A-Za-z][A-Za-z0-9+.-]*:\\S+',
  uuid: '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
}

/** Texts of booleans if the schema sets none. */
const TRUE_TEXTS = ['true', 'True', 'TRUE', '1']
const FALSE_TEXTS = ['false', 'False', 'FALSE', '0']

/** Maximum number of fields; of unique keys, and of columns per key. */
const MAX_FIELDS = 20_000
const MAX_KEYS = 100

/** A Table Schema. */
type TableSchema = Members & { fields: readonly unknown[] }

/** Returns whether a checks file is a Table Schema: it has a list of fields. */
export function isTableSchema(document: Members): document is TableSchema {
  return Array.isArray(document.fields)
}

/** Converts a Table Schema to checks. Constraints that cannot be checked become rules that always fail. */
export function convertTableSchema(schema: TableSchema): Checks {
  const { fields } = schema
  if (fields.length > MAX_FIELDS) throw new Problem('bad_checks', `checks: more than ${MAX_FIELDS} fields`)
  const columns = fields.map(toMembers).map((field, k) => {
    const { name } = field
    if (typeof name !== 'string') throw new Problem('bad_checks', `checks, fields[${k}]: name is missing`)
    return {
      column: name,
      isOptional: false,
      severity: 'error' as const,
      rules: convertField(field),
    }
  })
  const names = columns.map(({ column }) => column)
  const table: TableRule[] = []
  const match = typeof schema.fieldsMatch === 'string' ? schema.fieldsMatch : 'exact'
  // Columns that must exist, and whether other columns are allowed.
  if (['exact', 'equal', 'subset'].includes(match))
    for (const column of names) table.push({ rule: 'columns', column })
  else if (!['superset', 'partial'].includes(match))
    table.push({ rule: 'cannot', name: 'fieldsMatch', why: `unknown value ${JSON.stringify(match)}` })
  if (['exact', 'equal', 'superset'].includes(match)) table.push({ rule: 'extra_columns', columns: names })
  if (match === 'exact') table.push({ rule: 'column_order', columns: names })
  const primaryKey = toTexts(schema.primaryKey)
  if (primaryKey) table.push({ rule: 'key', columns: primaryKey })
  if (Array.isArray(schema.uniqueKeys))
    for (const unique of schema.uniqueKeys.slice(0, MAX_KEYS)) {
      const uniqueColumns = toTexts(unique)
      table.push(
        uniqueColumns
          ? { rule: 'unique', columns: uniqueColumns }
          : { rule: 'cannot', name: 'uniqueKeys', why: 'not a list of columns' },
      )
    }
  if (Array.isArray(schema.foreignKeys) && schema.foreignKeys.length > 0)
    table.push({ rule: 'cannot', name: 'foreignKeys', why: 'other tables are not read' })
  const missing = Array.isArray(schema.missingValues)
    ? schema.missingValues.map((item) => String(isMembers(item) ? item.value : item))
    : []
  return {
    columns: columns.map((column) => ({
      ...column,
      isOptional: ['superset', 'partial'].includes(match),
      rules: column.rules.map(withErrorSeverity),
    })),
    table: table.map(withErrorSeverity),
    missing,
  }
}

function withErrorSeverity<R extends ColumnRule | TableRule>(rule: R): WithSeverity<R> {
  return { ...rule, severity: 'error' }
}

/** Converts the type, format and constraints of a field to rules. */
function convertField(field: Members): ColumnRule[] {
  const rules: ColumnRule[] = []
  const { type = 'any', format = 'default', decimalChar, groupChar } = field
  const pattern = type === 'string' ? FORMAT_PATTERNS[String(format)] : TYPE_PATTERNS[String(type)]
  if (type === 'boolean')
    rules.push({
      rule: 'type',
      type: 'boolean',
      texts: [...(toTexts(field.trueValues) ?? TRUE_TEXTS), ...(toTexts(field.falseValues) ?? FALSE_TEXTS)],
    })
  else if (CHECK_TYPES[String(type)]) rules.push({ rule: 'type', type: CHECK_TYPES[String(type)]! })
  else if (!pattern && type !== 'any')
    rules.push({ rule: 'cannot', name: 'type', why: `unknown type ${JSON.stringify(type)}` })
  if (pattern) rules.push({ rule: 'pattern', pattern })
  else if (type === 'string' && format === 'binary')
    rules.push({ rule: 'pattern', pattern: '[A-Za-z0-9+/]*={0,2}' })
  if (['date', 'datetime', 'time'].includes(String(type)) && !['default', 'any'].includes(String(format)))
    rules.push({
      rule: 'cannot',
      name: 'format',
      why: `dates are read in their own format, not as ${JSON.stringify(format)}`,
    })
  if ((decimalChar !== undefined && decimalChar !== '.') || groupChar !== undefined)
    rules.push({
      rule: 'cannot',
      name: 'decimalChar',
      why: 'set how numbers are read with --decimal and --thousands',
    })
  for (const [name, value] of Object.entries(field.constraints ?? {})) {
    const rule = convertConstraint(name, value, toMembers(field.constraints))
    if (rule) rules.push(rule)
  }
  return rules
}

/** Converts a constraint to a rule; undefined if it has no effect. `constraints`: all of the field. */
function convertConstraint(name: string, value: unknown, constraints: Members): ColumnRule | undefined {
  switch (name) {
    case 'required':
      return value === true ? { rule: 'required' } : undefined
    case 'unique':
      return value === true ? { rule: 'unique' } : undefined
    case 'minLength':
      return {
        rule: 'length',
        range: {
          from: Number(value),
          ...(constraints.maxLength !== undefined && { to: Number(constraints.maxLength) }),
        },
      }
    case 'maxLength':
      return constraints.minLength === undefined
        ? { rule: 'length', range: { to: Number(value) } }
        : undefined
    case 'minimum':
    case 'maximum':
      return { rule: name, value: value as number | string, isExclusive: false }
    case 'exclusiveMinimum':
      return { rule: 'minimum', value: value as number | string, isExclusive: true }
    case 'exclusiveMaximum':
      return { rule: 'maximum', value: value as number | string, isExclusive: true }
    case 'pattern':
      return { rule: 'pattern', pattern: String(value) }
    case 'enum':
      return Array.isArray(value)
        ? { rule: 'enum', values: value }
        : { rule: 'cannot', name: 'enum', why: 'not a list' }
    default:
      return { rule: 'cannot', name, why: 'unknown constraint' }
  }
}

/** Returns whether a value is an object or a list. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

/** Returns the members of an object; none of other values. */
function toMembers(value: unknown): Members {
  return isMembers(value) ? value : {}
}

/** Returns a text or a list of texts as a list without duplicates; undefined for other values. */
function toTexts(value: unknown): string[] | undefined {
  if (typeof value === 'string') return [value]
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? [...new Set(value)].slice(0, MAX_KEYS) : undefined
}
