/** Options that choose and sort rows: see docs/queries.md. The service evaluates both. */
export const whereOption = {
  flags: '--where <condition>',
  description: "only rows for which this is true: temp > 20 and city in ('Oslo', 'Rome')",
} as const
export const sortOption = {
  flags: '--sort <columns>',
  description: 'sort rows by these columns, comma-separated; a minus sign means descending: -date,city',
} as const
