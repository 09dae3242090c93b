// All rules: how a checks file writes them, and what they expect. How they run is in service/grids/checks.
import { formatList } from '../contract/message-texts.ts'
import { type ColumnRule, checkTypes, type TableRule } from './types.ts'
import { formatPercent, formatRange, parseDurationMs, parseRange, parseShare } from './values.ts'

/** Maximum number of columns of a key. */
const MAX_KEY_COLUMNS = 100

/**
 * How a checks file writes a rule. `parse` returns undefined for a value that is not accepted, and no rules for one that
 * turns the rule off.
 */
interface Spelling<R> {
  /** Accepted values, for messages. */
  accepts: string
  parse(value: unknown, columns: readonly string[]): R | readonly R[] | undefined
}

interface RuleKind<R> {
  /** By the name in a checks file. None: the rule follows from others, or from a Table Schema. */
  spellings: Readonly<Record<string, Spelling<R>>>
  /** Describes what the rule expects, such as `one of open, closed`. */
  describe(rule: R): string
}

type Kinds<R extends { rule: string }> = { readonly [N in R['rule']]: RuleKind<Extract<R, { rule: N }>> }

const BOOLEAN = 'true or false'

/** Parses a rule that true turns on. */
function parseSwitch<R>(rule: R): Spelling<R>['parse'] {
  return (value) => (value === true ? rule : value === false ? [] : undefined)
}

/** Parses a limit of values: a finite number or a date. */
function limit<N extends 'minimum' | 'maximum'>(rule: N, isExclusive: boolean) {
  return {
    accepts: 'a number or a date',
    parse: (value: unknown) =>
      (typeof value === 'number' && Number.isFinite(value)) ||
      (typeof value === 'string' && /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/.test(value))
        ? { rule, value, isExclusive }
        : undefined,
  }
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

const cannot = { spellings: {}, describe: ({ name }: { name: string }) => name }

const columnRules: Kinds<ColumnRule> = {
  type: {
    spellings: {
      type: {
        accepts: `one of ${checkTypes.join(', ')}`,
        parse: (value) => {
          const type = value === 'string' ? 'text' : checkTypes.find((candidate) => candidate === value)
          return type && { rule: 'type', type }
        },
      },
    },
    describe: ({ type }) => `type ${type}`,
  },
  required: {
    spellings: { required: { accepts: BOOLEAN, parse: parseSwitch({ rule: 'required' }) } },
    describe: () => 'no missing values',
  },
  unique: {
    spellings: { unique: { accepts: BOOLEAN, parse: parseSwitch({ rule: 'unique' }) } },
    describe: () => 'unique',
  },
  enum: {
    spellings: {
      enum: {
        accepts: 'a list of texts, numbers or booleans',
        parse: (value) =>
          Array.isArray(value) && value.length > 0 && value.every(isScalar)
            ? { rule: 'enum', values: value }
            : undefined,
      },
    },
    describe: ({ values }) => `one of ${formatList(values.map(String), 10)}`,
  },
  pattern: {
    spellings: {
      pattern: {
        accepts: 'a regular expression, as a text',
        parse: (value) => (typeof value === 'string' ? { rule: 'pattern', pattern: value } : undefined),
      },
    },
    describe: ({ pattern }) => `matches ${pattern}`,
  },
  minimum: {
    spellings: { minimum: limit('minimum', false), exclusive_minimum: limit('minimum', true) },
    describe: ({ isExclusive, value }) => `${isExclusive ? 'more than' : 'at least'} ${value}`,
  },
  maximum: {
    spellings: { maximum: limit('maximum', false), exclusive_maximum: limit('maximum', true) },
    describe: ({ isExclusive, value }) => `${isExclusive ? 'less than' : 'at most'} ${value}`,
  },
  length: {
    spellings: {
      length: {
        accepts: 'a number or a range, such as 2..10',
        parse: (value) => {
          const range = parseRange(value)
          return range && { rule: 'length', range }
        },
      },
    },
    describe: ({ range }) => `${formatRange(range)} characters`,
  },
  nulls: {
    spellings: {
      nulls: {
        accepts: 'a percentage, such as 5%',
        parse: (value) => {
          const most = parseShare(value)
          return most === undefined ? undefined : { rule: 'nulls', maxShare: most }
        },
      },
    },
    describe: ({ maxShare: most }) => `at most ${formatPercent(most)} missing values`,
  },
  max_age: {
    spellings: {
      max_age: {
        accepts: 'a duration, such as 36h or 2d',
        parse: (value) => {
          const ms = parseDurationMs(value)
          return ms === undefined ? undefined : { rule: 'max_age', ms, written: String(value) }
        },
      },
    },
    describe: ({ written: given }) => `newest value at most ${given} old`,
  },
  cannot,
}

const tableRules: Kinds<TableRule> = {
  key: {
    spellings: {
      key: {
        accepts: 'a column or a list of columns',
        parse: (value) => {
          const columns: unknown[] = Array.isArray(value) ? value : [value]
          const isKey = columns.length > 0 && columns.length <= MAX_KEY_COLUMNS && columns.every(isText)
          return isKey && new Set(columns).size === columns.length ? { rule: 'key', columns } : undefined
        },
      },
    },
    describe: ({ columns }) => `key: ${formatList(columns)}`,
  },
  rows: {
    spellings: {
      rows: {
        accepts: 'a number or a range, such as 1.. or 100..200',
        parse: (value) => {
          const range = parseRange(value)
          return range && { rule: 'rows', range }
        },
      },
    },
    describe: ({ range }) => `${formatRange(range)} rows`,
  },
  where: {
    spellings: {
      where: {
        accepts: 'a condition, such as start <= end, or a list of them',
        parse: (value) => {
          const conditions: unknown[] = Array.isArray(value) ? value : [value]
          return conditions.every((text) => isText(text) && text.trim() !== '')
            ? conditions.map((text) => ({ rule: 'where', where: text as string }))
            : undefined
        },
      },
    },
    describe: ({ where }) => where,
  },
  extra_columns: {
    spellings: {
      extra_columns: {
        accepts: 'true (allowed) or false',
        parse: (value, columns) =>
          value === false ? { rule: 'extra_columns', columns } : value === true ? [] : undefined,
      },
    },
    describe: () => 'no other columns',
  },
  plot_columns: {
    spellings: { plot_columns: { accepts: BOOLEAN, parse: parseSwitch({ rule: 'plot_columns' }) } },
    describe: () => 'all columns that plots use',
  },
  'change.rows': {
    spellings: {
      'change.rows': {
        accepts: 'a range of percentages, such as -10%..+50%',
        parse: (value) => {
          const range = parseRange(value, true)
          return range && { rule: 'change.rows', range }
        },
      },
    },
    describe: ({ range }) => `rows change by ${formatRange(range, '%')}`,
  },
  'change.removed': {
    spellings: {
      'change.removed': {
        accepts: 'a percentage, such as 5%',
        parse: (value) => {
          const most = parseShare(value)
          return most === undefined ? undefined : { rule: 'change.removed', maxShare: most }
        },
      },
    },
    describe: ({ maxShare: most }) => `at most ${formatPercent(most)} of the rows removed`,
  },
  unique: { spellings: {}, describe: ({ columns }) => `unique: ${formatList(columns)}` },
  columns: { spellings: {}, describe: ({ column }) => `column ${column}` },
  column_order: { spellings: {}, describe: () => 'columns in this order' },
  cannot,
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Returns the spellings of rules, by name. */
function spellingsOf<R extends { rule: string }>(kinds: Kinds<R>): Readonly<Record<string, Spelling<R>>> {
  return Object.assign({}, ...Object.values<RuleKind<R>>(kinds).map(({ spellings }) => spellings))
}

export const columnSpellings = spellingsOf(columnRules)
export const tableSpellings = spellingsOf(tableRules)

/** Describes what a rule of a column expects. */
export function describeColumnRule(rule: ColumnRule): string {
  return (columnRules[rule.rule] as RuleKind<ColumnRule>).describe(rule)
}

/** Describes what a rule of the table expects. */
export function describeTableRule(rule: TableRule): string {
  return (tableRules[rule.rule] as RuleKind<TableRule>).describe(rule)
}
