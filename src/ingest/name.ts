const PACKED = /\.(gz|tgz)$/i
const DATA = /\.(csv|tsv|tab|psv|txt|dat|json|jsonl|ndjson|xlsx|xlsm)$/i
const ARCHIVE = /\.(zip|tar|tgz)$/i

/** Data files lose their extension: `sales.csv.gz` makes the grid `sales`. */
export function gridName(fileName: string | undefined): string {
  const name = (fileName ?? '').split(/[/\\]/).pop() ?? ''
  return name.replace(/\.gz$/i, '').replace(ARCHIVE, '').replace(DATA, '') || 'Untitled grid'
}

/** Whether a name is that of a file that becomes a grid: archives hold others too. */
export function isDataFile(fileName: string): boolean {
  return DATA.test(fileName.replace(PACKED, ''))
}

/** Texts that lie in archives beside the data, to be read by people. */
export function isAboutFile(fileName: string): boolean {
  return /^(read[ _-]?me|licen[cs]e|copying|notice|changelog)\.txt$/i.test(fileName)
}
