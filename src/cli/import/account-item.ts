// A file of an exported account, and how far its import has come.
import { HEADER_PREFIXES, MESSAGE_HEADER } from '../../contract/headers.ts'
import { type FileMeta, filetypeLabel } from '../../contract/resources/index.ts'
import type { ManifestContent, ManifestFile } from '../export/manifest.ts'

/** A file of the manifest, and what is known of it here. */
export interface AccountItem {
  subject: string
  entry: ManifestFile
  /** SHA-256 of its entry, by which a later run knows the file. */
  mark: string
  /** Path that the file gets. */
  path: string
  /** The file here; undefined until it is made. */
  file?: FileMeta
  state: 'new' | 'started' | 'complete' | 'reused'
  /** Number of contents that it has. */
  step: number
  /** Whether its first version is an empty figure, made for its number. */
  isEmptyFirst?: boolean
  /** Numbers of the grids that its figures show. */
  references: number[]
  notes: string[]
}

/** Returns the header that gives the new version the message of a content. */
export function messageHeaders({ message }: ManifestContent): Record<string, string> {
  return message === undefined ? {} : { [HEADER_PREFIXES[0] + MESSAGE_HEADER]: encodeURIComponent(message) }
}

/** Returns the name of a file that is not complete. */
export function temporaryName({ mark }: AccountItem): string {
  return `import ${mark.slice(0, 16)}`
}

/** Returns the metadata of a plot that is not complete. */
export function progressMark({ mark, step, isEmptyFirst = false }: AccountItem): Record<string, unknown> {
  return { imported_sha256: mark, imported_step: step, imported_empty: isEmptyFirst }
}

/** Returns what an earlier run has made of an item; undefined if a file is another one. */
export function stateOf(
  item: AccountItem,
  { filetype, filename, metadata }: FileMeta,
): 'started' | 'complete' | undefined {
  if (filetypeLabel(filetype) !== item.entry.type) return undefined
  if (filename === temporaryName(item)) return 'started'
  if (metadata.imported_sha256 !== item.mark) return undefined
  return 'imported_step' in metadata ? 'started' : 'complete'
}

/** Returns how many contents a file has that is not complete. */
export function stepOf({ metadata, source_tag }: FileMeta): number {
  const tagged = Number(/^import [0-9a-f]{64} (\d+)$/.exec(source_tag ?? '')?.[1] ?? 0)
  const { imported_step = 0 } = metadata
  return typeof imported_step === 'number' ? Math.max(imported_step, tagged) : tagged
}
