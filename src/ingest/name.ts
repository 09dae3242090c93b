/** Data files lose their extension: `sales.csv.gz` makes the grid `sales`. */
export function gridName(fileName: string | undefined): string {
  const name = (fileName ?? '').split(/[/\\]/).pop() ?? ''
  return (
    name.replace(/\.gz$/i, '').replace(/\.(csv|tsv|tab|psv|txt|dat|jsonl|ndjson)$/i, '') || 'Untitled grid'
  )
}
