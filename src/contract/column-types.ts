// Types of grid columns, one row each. Code that distinguishes types reads this table.

/** Traits of a column type. */
interface ColumnTypeTraits {
  /** Values of the type in messages. */
  noun: string
  /** How queries, sorting and axes compare the values. */
  compared: 'number' | 'text' | 'boolean' | 'moment' | 'any'
  /** Whether all values are JSON strings. Columns of such types merge to text at worst. */
  isString: boolean
  /** Whether a value can contain a comma. */
  hasCommas: boolean
  /** Names for users who declare the type of a column of a file; see `ingest/values/column.ts`. */
  declaredAs: readonly string[]
}

export const COLUMN_TYPES = {
  empty: { noun: 'nothing', compared: 'any', isString: false, hasCommas: false, declaredAs: [] },
  number: { noun: 'numbers', compared: 'number', isString: false, hasCommas: false, declaredAs: ['number'] },
  text: { noun: 'text', compared: 'text', isString: true, hasCommas: true, declaredAs: ['text'] },
  boolean: {
    noun: 'booleans',
    compared: 'boolean',
    isString: false,
    hasCommas: false,
    declaredAs: ['boolean'],
  },
  date: {
    noun: 'dates',
    compared: 'moment',
    isString: true,
    hasCommas: false,
    declaredAs: ['date', 'date-dmy', 'date-mdy'],
  },
  datetime: {
    noun: 'dates with times',
    compared: 'moment',
    isString: true,
    hasCommas: false,
    declaredAs: ['datetime'],
  },
  json: { noun: 'mixed values', compared: 'any', isString: false, hasCommas: true, declaredAs: [] },
} as const satisfies Record<string, ColumnTypeTraits>

/** Type of a grid column, as in the API. */
export type ColumnType = keyof typeof COLUMN_TYPES
export const COLUMN_TYPE_NAMES = Object.keys(COLUMN_TYPES) as ColumnType[]

/** Returns whether the values of a type are dates, with or without times. */
export function isMomentType(type: ColumnType | undefined): boolean {
  return type !== undefined && COLUMN_TYPES[type].compared === 'moment'
}
