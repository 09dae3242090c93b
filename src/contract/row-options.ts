/** How an option is typed, and what it does. */
export interface TypedOption {
  /** In commander syntax: `-f, --field <key=value>`. */
  flags: string
  description: string
  choices?: readonly string[]
  /** The value of an option with an optional one, where none is given. */
  preset?: string
  /** May be repeated; the value is an array. */
  repeatable?: boolean
  /** A whole number from 0 to `max`, or without bound. */
  integer?: { max?: number }
}

/** Options that choose and sort rows: see docs/filtering.md. The service evaluates both. */
export const whereOption = {
  flags: '--where <condition>',
  description: "only rows for which this is true: temp > 20 and city in ('Oslo', 'Rome')",
} as const
export const sortOption = {
  flags: '--sort <columns>',
  description: 'sort rows by these columns, comma-separated; a minus sign means descending: -date,city',
} as const
