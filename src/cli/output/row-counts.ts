/** Formats the counts of an upsert: `12 updated, 3 appended, 985 unchanged`. Undefined for other writes. */
export function formatUpsertCounts(counts: {
  rows_added?: number
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
}): string | undefined {
  if (counts.rows_updated === undefined) return undefined
  const { rows_updated, rows_added = 0, rows_unchanged = 0, rows_removed = 0 } = counts
  const removed = rows_removed > 0 ? `, ${rows_removed} removed` : ''
  return `${rows_updated} updated, ${rows_added} appended, ${rows_unchanged} unchanged${removed}`
}
