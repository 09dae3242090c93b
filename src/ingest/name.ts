const PACKED = /\.(gz|zst|bz2)$/i
const DATA = /\.(csv|tsv|tab|psv|txt|dat|json|jsonl|ndjson|xlsx|xlsm|ods|parquet|arrow|arrows|feather)$/i
const ARCHIVE = /\.(zip|tar|tgz|tbz2?|tzst)$/i

/** The name of the grid for a data file: without its extensions. `sales.csv.gz` → `sales`. */
export function gridName(fileName: string | undefined): string {
  const name = (fileName ?? '').split(/[/\\]/).pop() ?? ''
  return withoutPacking(name).replace(ARCHIVE, '').replace(DATA, '') || 'Untitled grid'
}

/** A file name without the extension of its compression. */
export function withoutPacking(fileName: string): string {
  return fileName.replace(PACKED, '')
}

/** Whether a file in an archive is a data file, by its extension. */
export function isDataFile(fileName: string): boolean {
  return DATA.test(withoutPacking(fileName))
}

/** Whether a file in an archive is documentation (readme, license), not data. */
export function isAboutFile(fileName: string): boolean {
  return /^(read[ _-]?me|licen[cs]e|copying|notice|changelog)\.txt$/i.test(fileName)
}
