// Formats of data files and images: names, extensions and media types.
import { INVISIBLE_CHARACTERS } from './invisible-characters.ts'

/**
 * Format of data files. `reader`: module of `ingest` that reads it. The format is detected from the bytes
 * first, then from the extension.
 */
export interface FileFormat {
  title: string
  extensions: readonly string[]
  mediaTypes: readonly string[]
  reader: 'delimited' | 'json' | 'lines' | 'zip' | 'tar' | 'parquet' | 'arrow'
  /** Delimiter that the format prescribes. */
  delimiter?: string
  /** True if the file contains other files. */
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

/** Key of the metadata of a Parquet file of ours: a JSON array with a `ParquetMark` for each column. */
export const COLUMNS_KEY = 'gridline.columns'

/** Facts about a column that Parquet does not keep. */
export interface ParquetMark {
  /** Type of the column in the grid. */
  type: string
  /** Character between day and time of day. */
  separator?: ' ' | 'T'
}

/** Compressions that files of any format may have. */
export const compressions = {
  gzip: { extensions: ['gz'], mediaTypes: ['application/gzip'] },
  zstd: { extensions: ['zst'], mediaTypes: ['application/zstd'] },
  bzip2: { extensions: ['bz2'], mediaTypes: ['application/x-bzip2'] },
} as const satisfies Record<string, { extensions: readonly string[]; mediaTypes: readonly string[] }>

const FORMAT_BY_EXTENSION = new Map<string, FormatName>(
  (Object.keys(fileFormats) as FormatName[]).flatMap((name) =>
    fileFormats[name].extensions.map((extension): [string, FormatName] => [extension, name]),
  ),
)

const COMPRESSION_EXTENSION = new RegExp(
  `\\.(${Object.values(compressions)
    .flatMap(({ extensions }) => extensions)
    .join('|')})$`,
  'i',
)

/** Returns a file name without the extension of a compression. */
export function removeCompressionExtension(fileName: string): string {
  return fileName.replace(COMPRESSION_EXTENSION, '')
}

/** Returns the format that the extension names, before that of a compression; undefined if unknown. */
export function formatOfFileName(fileName: string): FormatName | undefined {
  const extension = /\.(\w+)$/.exec(removeCompressionExtension(fileName))?.[1]
  return extension === undefined ? undefined : FORMAT_BY_EXTENSION.get(extension.toLowerCase())
}

/** Returns the delimiter that the extension prescribes; undefined for other extensions. */
export function delimiterOfFileName(fileName: string): string | undefined {
  const name = formatOfFileName(fileName)
  const format: FileFormat | undefined = name && fileFormats[name]
  return format?.delimiter
}

/**
 * Returns the grid name for a data file, without folders and extensions: `sales.csv.gz` → `sales`. Normalized
 * to NFC, because some systems decompose letters with accents, which would make a second name that looks the
 * same.
 */
export function gridNameOf(fileName: string | undefined): string {
  const last = (fileName ?? '').normalize('NFC').split(/[/\\]/).pop() ?? ''
  const name = removeCompressionExtension(last.replaceAll(new RegExp(INVISIBLE_CHARACTERS, 'g'), ''))
  const formatName = formatOfFileName(name)
  const format: FileFormat | undefined = formatName && fileFormats[formatName]
  const inner = format?.isArchive ? removeExtension(name) : name
  // A dot at the end only ends the name: there is no extension.
  return (formatOfFileName(inner) ? removeExtension(inner) : inner.replace(/\.$/, '')) || 'Untitled grid'
}

/**
 * Returns the file name to send for a grid named `name`: with the extension of `file`, which decides how it
 * is parsed. Standard input has no extension. A name that itself ends like that of a file gets an empty extension, so
 * that the grid keeps the name.
 */
export function uploadNameOf(name: string | undefined, file: string | undefined): string | undefined {
  if (name === undefined) return file
  const isKnown = file !== undefined && formatOfFileName(file) !== undefined
  const extension = isKnown ? file.slice(removeCompressionExtension(file).lastIndexOf('.')) : ''
  const plain = name + extension
  return gridNameOf(plain) === name.normalize('NFC') ? plain : `${name}.${extension}`
}

function removeExtension(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

/** Warnings about unambiguous facts. `--strict` ignores them. */
const NOTICE_PATTERN =
  /^(?:[^:]+: )?(?:delimiter detected: |read as numbers, as in the grid: |sheet .* was skipped: it is empty$|sheets were skipped, which are empty: )/s

/** Returns whether a warning only tells what was detected or skipped: `strict` does not refuse it. */
export function isNotice(warning: string): boolean {
  return NOTICE_PATTERN.test(warning)
}

/** Image formats and their media types. */
export const imageTypes = {
  png: 'image/png',
  svg: 'image/svg+xml',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  pdf: 'application/pdf',
  html: 'text/html; charset=utf-8',
} as const

export type ImageFormat = keyof typeof imageTypes

export const imageFormats = Object.keys(imageTypes) as [ImageFormat, ...ImageFormat[]]
