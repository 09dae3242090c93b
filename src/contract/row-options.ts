// Command-line options that filter and sort rows.
/** Declaration of a command-line option. */
export interface TypedOption {
  /** Flags in commander syntax: `-f, --field <key=value>`. */
  flags: string
  description: string
  choices?: readonly string[]
  /** Value of an option with an optional argument, if the argument is missing. */
  preset?: string
  /** True if the option may be repeated. The value is an array. */
  repeatable?: boolean
  /** Whole number from 0 to `max`; without `max`, unbounded. */
  integer?: { max?: number }
}

/** Functions that combine the values of a group of rows. */
export const AGGREGATE_FUNCTIONS = ['sum', 'mean', 'median', 'min', 'max', 'count', 'first', 'last'] as const
/** Periods into which dates are collected. */
export const PERIODS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const

/** Options that filter and sort rows (docs/filtering.md). The service evaluates them. */
export const whereOption = {
  flags: '--where <condition>',
  description: "only rows for which this is true: temp > 20 and city in ('Oslo', 'Rome')",
} as const
export const sortOption = {
  flags: '--sort <columns>',
  description: 'sort rows by these columns, comma-separated; a minus sign means descending: -date,city',
} as const
