import type { Fid } from '../../contract/fid.ts'
import type { Bytes, Work } from '../../json/index.ts'

/** What is sent for an address outside of the API. */
export interface Answer {
  body: string | Bytes
  /** Media type. */
  type: string
  headers?: Record<string, string>
  etag?: string
  /** The file whose views this counts for. */
  viewed?: Fid
  /** As in `OperationResult`. */
  later?: (user: string, work: Work) => Promise<{ body: Bytes; type?: string }>
}

/** An HTML page. */
export function html(body: string | Bytes, more: Partial<Answer> = {}): Answer {
  return { body, type: 'text/html; charset=utf-8', ...more }
}
