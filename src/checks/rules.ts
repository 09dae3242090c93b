// Syntax and description of every rule of a checks file. service/grids/checks runs them.
import { formatList } from '../contract/message-texts.ts'
import { type CannotRule, CHECK_TYPES, type ColumnRule, type TableRule } from './types.ts'
import { formatPercent, formatRange, parseDurationMs, parseRange, parseShare } from './values.ts'

/** Maximum number of key columns. */
const MAX_KEY_COLUMNS = 100

/** Parser of a rule. `parse` returns undefined for an invalid value, [] if the rule is off. */
interface RuleParser<R> {
  /** Accepted values, for messages. */
  accepts: string
  parse(value: unknown, columns: readonly string[]): R | readonly R[] | undefined
}

interface RuleKind<R> {
  /** Parsers by name in a checks file. Empty if no checks file can set the rule directly. */
  parsers: Readonly<Record<string, RuleParser<R>>>
  /** Describes the expected values, such as `one of open, closed`. */
  describe(rule: R): string
}

type RuleKinds<R extends { rule: string }> = { readonly [N in R['rule']]: RuleKind<Extract<R, { rule: N }>> }

/** Creates a parser of a rule that is either on or off. */
function createSwitchParser<R>(rule: R): RuleParser<R> {
  return {
    accepts: 'true or false',
    parse: (value) => (value === true ? rule : value === false ? [] : undefined),
  }
}

/** Creates a parser of a range, in percent if `isPercent`. */
function createRangeParser<N extends string>(rule: N, accepts: string, isPercent = false) {
  return {
    accepts,
    parse: (value: unknown) => {
      const range = parseRange(value, isPercent)
      return range && { rule, range }
    },
  }
}

/** Creates a parser of a maximum share. */
function createShareParser<N extends string>(rule: N) {
  return {
    accepts: 'a percentage, such as 5%',
    parse: (value: unknown) => {
      const maxShare = parseShare(value)
      return maxShare === undefined ? undefined : { rule, maxShare }
    },
  }
}

/** Creates a parser of a limit: a finite number or a date. */
function createLimitParser<N extends 'minimum' | 'maximum'>(rule: N, isExclusive: boolean) {
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

const CANNOT_RULE: RuleKind<CannotRule> = { parsers: {}, describe: ({ name }) => name }

const COLUMN_RULES: RuleKinds<ColumnRule> = {
  type: {
    parsers: {
      type: {
        accepts: `one of ${CHECK_TYPES.join(', ')}`,
        parse: (value) => {
          const type = value === 'string' ? 'text' : CHECK_TYPES.find((candidate) => candidate === value)
          return type && { rule: 'type', type }
        },
      },
    },
    describe: ({ type }) => `type ${type}`,
  },
  required: {
    parsers: { required: createSwitchParser({ rule: 'required' }) },
    describe: () => 'no missing values',
  },
  unique: {
    parsers: { unique: createSwitchParser({ rule: 'unique' }) },
    describe: () => 'unique',
  },
  enum: {
    parsers: {
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
    parsers: {
      pattern: {
        accepts: 'a regular expression, as a text',
        parse: (value) => (typeof value === 'string' ? { rule: 'pattern', pattern: value } : undefined),
      },
    },
    describe: ({ pattern }) => `matches ${pattern}`,
  },
  minimum: {
    parsers: {
      minimum: createLimitParser('minimum', false),
      exclusive_minimum: createLimitParser('minimum', true),
    },
    describe: ({ isExclusive, value }) => `${isExclusive ? 'more than' : 'at least'} ${value}`,
  },
  maximum: {
    parsers: {
      maximum: createLimitParser('maximum', false),
      exclusive_maximum: createLimitParser('maximum', true),
    },
    describe: ({ isExclusive, value }) => `${isExclusive ? 'less than' : 'at most'} ${value}`,
  },
  length: {
    parsers: { length: createRangeParser('length', 'a number or a range, such as 2..10') },
    describe: ({ range }) => `${formatRange(range)} characters`,
  },
  nulls: {
    parsers: { nulls: createShareParser('nulls') },
    describe: ({ maxShare: most }) => `at most ${formatPercent(most)} missing values`,
  },
  max_age: {
    parsers: {
      max_age: {
        accepts: 'a duration, such as 36h or 2d',
        parse: (value) => {
          const ms = parseDurationMs(value)
          return ms === undefined ? undefined : { rule: 'max_age', ms, written: String(value) }
        },
      },
    },
    describe: ({ written }) => `newest value at most ${written} old`,
  },
  cannot: CANNOT_RULE,
}

const TABLE_RULES: RuleKinds<TableRule> = {
  key: {
    parsers: {
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
    parsers: { rows: createRangeParser('rows', 'a number or a range, such as 1.. or 100..200') },
    describe: ({ range }) => `${formatRange(range)} rows`,
  },
  where: {
    parsers: {
      where: {
        accepts: 'a condition, such as start <= end, or a list of them',
        parse: (value) => {
          const conditions: unknown[] = Array.isArray(value) ? value : [value]
          return conditions.every(isText) && conditions.every((text) => text.trim() !== '')
            ? conditions.map((text) => ({ rule: 'where', where: text }))
            : undefined
        },
      },
    },
    describe: ({ where }) => where,
  },
  extra_columns: {
    parsers: {
      extra_columns: {
        accepts: 'true (allowed) or false',
        parse: (value, columns) =>
          value === false ? { rule: 'extra_columns', columns } : value === true ? [] : undefined,
      },
    },
    describe: () => 'no other columns',
  },
  plot_columns: {
    parsers: { plot_columns: createSwitchParser({ rule: 'plot_columns' }) },
    describe: () => 'all columns that plots use',
  },
  'change.rows': {
    parsers: {
      'change.rows': createRangeParser('change.rows', 'a range of percentages, such as -10%..+50%', true),
    },
    describe: ({ range }) => `rows change by ${formatRange(range, '%')}`,
  },
  'change.removed': {
    parsers: { 'change.removed': createShareParser('change.removed') },
    describe: ({ maxShare: most }) => `at most ${formatPercent(most)} of the rows removed`,
  },
  unique: { parsers: {}, describe: ({ columns }) => `unique: ${formatList(columns)}` },
  columns: { parsers: {}, describe: ({ column }) => `column ${column}` },
  column_order: { parsers: {}, describe: () => 'columns in this order' },
  cannot: CANNOT_RULE,
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Collects the parsers of all rules, by name in a checks file. */
function collectParsers<R extends { rule: string }>(
  kinds: RuleKinds<R>,
): Readonly<Record<string, RuleParser<R>>> {
  return Object.assign({}, ...Object.values<RuleKind<R>>(kinds).map(({ parsers }) => parsers))
}

export const COLUMN_RULE_PARSERS = collectParsers(COLUMN_RULES)
export const TABLE_RULE_PARSERS = collectParsers(TABLE_RULES)

/** Describes the values that a column rule expects. */
export function describeColumnRule(rule: ColumnRule): string {
  return (COLUMN_RULES[rule.rule] as RuleKind<ColumnRule>).describe(rule)
}

/** Describes the table that a table rule expects. */
export function describeTableRule(rule: TableRule): string {
  return (TABLE_RULES[rule.rule] as RuleKind<TableRule>).describe(rule)
}
