import { HIDDEN } from './hidden.ts'

/**
 * The formats of data files: the one list of their names, extensions and media types. `reader` is the part of `ingest`
 * that reads a format; its bytes decide first, then its extension.
 */
export interface FileFormat {
  title: string
  extensions: readonly string[]
  mediaTypes: readonly string[]
  reader: 'delimited' | 'json' | 'lines' | 'zip' | 'tar' | 'parquet' | 'arrow'
  /** The delimiter that the format prescribes. */
  delimiter?: string
  /** Whether the file holds other files. */
  isArchive?: boolean
}

export const fileFormats = {
  csv: { title: 'CSV', extensions: ['csv'], mediaTypes: ['text/csv'], reader: 'delimited' },
  tsv: {
    title: 'TSV',
    extensions: ['tsv', 'tab'],
    mediaTypes: ['text/tab-separated-values'],
    reader: 'delimited',
    delimiter: '\t',
  },
  text: { title: 'text', extensions: ['txt', 'psv', 'dat'], mediaTypes: [], reader: 'delimited' },
  json: {
    title: 'JSON',
    extensions: ['json', 'geojson'],
    mediaTypes: ['application/json'],
    reader: 'json',
  },
  ndjson: {
    title: 'NDJSON',
    extensions: ['ndjson', 'jsonl'],
    mediaTypes: ['application/x-ndjson'],
    reader: 'lines',
  },
  xlsx: {
    title: 'XLSX',
    extensions: ['xlsx', 'xlsm'],
    mediaTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    reader: 'zip',
  },
  ods: {
    title: 'ODS',
    extensions: ['ods'],
    mediaTypes: ['application/vnd.oasis.opendocument.spreadsheet'],
    reader: 'zip',
  },
  parquet: {
    title: 'Parquet',
    extensions: ['parquet'],
    mediaTypes: ['application/vnd.apache.parquet'],
    reader: 'parquet',
  },
  arrow: {
    title: 'Arrow IPC and Feather',
    extensions: ['arrow', 'arrows', 'feather'],
    mediaTypes: ['application/vnd.apache.arrow.file', 'application/vnd.apache.arrow.stream'],
    reader: 'arrow',
  },
  zip: {
    title: 'zip',
    extensions: ['zip'],
    mediaTypes: ['application/zip'],
    reader: 'zip',
    isArchive: true,
  },
  tar: {
    title: 'tar',
    extensions: ['tar', 'tgz', 'tbz', 'tbz2', 'tzst'],
    mediaTypes: ['application/x-tar'],
    reader: 'tar',
    isArchive: true,
  },
} as const satisfies Record<string, FileFormat>

export type FormatName = keyof typeof fileFormats

/** Compressions of files of any format. */
export const compressions = {
  gzip: { extensions: ['gz'], mediaTypes: ['application/gzip'] },
  zstd: { extensions: ['zst'], mediaTypes: ['application/zstd'] },
  bzip2: { extensions: ['bz2'], mediaTypes: ['application/x-bzip2'] },
} as const satisfies Record<string, { extensions: readonly string[]; mediaTypes: readonly string[] }>

const byExtension = new Map<string, FormatName>(
  (Object.keys(fileFormats) as FormatName[]).flatMap((name) =>
    fileFormats[name].extensions.map((extension): [string, FormatName] => [extension, name]),
  ),
)

const COMPRESSED = new RegExp(
  `\\.(${Object.values(compressions)
    .flatMap(({ extensions }) => extensions)
    .join('|')})$`,
  'i',
)

/** A file name without the extension of its compression. */
export function withoutCompression(fileName: string): string {
  return fileName.replace(COMPRESSED, '')
}

/** The format that the extension of a file names, below that of a compression. */
export function formatByName(fileName: string): FormatName | undefined {
  const extension = /\.(\w+)$/.exec(withoutCompression(fileName))?.[1]
  return extension === undefined ? undefined : byExtension.get(extension.toLowerCase())
}

/** The delimiter that the extension of a file prescribes. */
export function delimiterByName(fileName: string): string | undefined {
  const name = formatByName(fileName)
  const format: FileFormat | undefined = name && fileFormats[name]
  return format?.delimiter
}

/**
 * The name of the grid for a data file: without folders and extensions. `sales.csv.gz` → `sales`. Letters with accents
 * are single characters (NFC): some systems name files by letter and accent, which would be another name that looks alike.
 */
export function gridName(fileName: string | undefined): string {
  const last = (fileName ?? '').normalize('NFC').split(/[/\\]/).pop() ?? ''
  const name = withoutCompression(last.replaceAll(new RegExp(HIDDEN, 'g'), ''))
  const named = formatByName(name)
  const format: FileFormat | undefined = named && fileFormats[named]
  const inner = format?.isArchive ? withoutExtension(name) : name
  return (formatByName(inner) ? withoutExtension(inner) : inner) || 'Untitled grid'
}

/**
 * Returns the name under which a file is sent that becomes the grid `name`: with the extension of the file, since how it is
 * read does not depend on the name of the grid. Standard input has none.
 */
export function sentName(name: string | undefined, file: string | undefined): string | undefined {
  if (name === undefined) return file
  const isKnown = file !== undefined && formatByName(file) !== undefined
  return gridName(name) + (isKnown ? file.slice(withoutCompression(file).lastIndexOf('.')) : '')
}

function withoutExtension(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

/** Warnings that tell what is there, without a doubt: `--strict` lets them pass. */
const NOTICE =
  /^(?:[^:]+: )?(?:delimiter detected: |sheet .* was skipped: it is empty$|sheets were skipped, which are empty: )/s

export function isNotice(warning: string): boolean {
  return NOTICE.test(warning)
}

/** Formats of images, with their media types. */
export const imageTypes = {
  png: 'image/png',
  svg: 'image/svg+xml',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  pdf: 'application/pdf',
} as const

export type ImageFormat = keyof typeof imageTypes

export const imageFormats = Object.keys(imageTypes) as [ImageFormat, ...ImageFormat[]]
