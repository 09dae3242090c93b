const PACKED = /\.(gz|tgz)$/i
const DATA = /\.(csv|tsv|tab|psv|txt|dat|json|jsonl|ndjson|xlsx|xlsm)$/i
const ARCHIVE = /\.(zip|tar|tgz)$/i

/** The name of the grid for a data file: without its extensions. `sales.csv.gz` → `sales`. */
export function gridName(fileName: string | undefined): string {
  const name = (fileName ?? '').split(/[/\\]/).pop() ?? ''
  return name.replace(/\.gz$/i, '').replace(ARCHIVE, '').replace(DATA, '') || 'Untitled grid'
}

/** Whether a file in an archive is a data file, by its extension. */
export function isDataFile(fileName: string): boolean {
  return DATA.test(fileName.replace(PACKED, ''))
}

/** Whether a file in an archive is documentation (readme, license), not data. */
export function isAboutFile(fileName: string): boolean {
  return /^(read[ _-]?me|licen[cs]e|copying|notice|changelog)\.txt$/i.test(fileName)
}
