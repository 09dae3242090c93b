import type { Fid } from '../../contract/fid.ts'
import { type ImageFormat, imageTypes } from '../../contract/operations/index.ts'
import type { Bytes } from '../../json/index.ts'

/** What is under a path outside of the API. */
export type Place =
  | { kind: 'asset'; name: string; hash?: string }
  | { kind: 'oembed' }
  | { kind: 'start' }
  | { kind: 'newchart' }
  | { kind: 'preview' }
  | { kind: 'user'; username: string }
  | { kind: 'file'; fid: Fid; extension: Extension | undefined }

const images = Object.keys(imageTypes) as ImageFormat[]
/** What follows the address of a file: `/~alice/12.embed`. */
export type Extension = 'embed' | 'json' | 'csv' | 'events' | 'state' | 'live' | ImageFormat
export const extensions: readonly Extension[] = ['embed', 'json', 'csv', 'events', 'state', 'live', ...images]

export interface Answer {
  body: string | Bytes
  /** Media type. */
  type: string
  headers?: Record<string, string>
  etag?: string
  /** The file whose views this counts for. */
  viewed?: Fid
  /** As in `OperationResult`. */
  later?: (user: string, gone?: () => boolean) => Promise<{ body: Bytes; type?: string }>
}
