/** Response of a page, a download or a chart. */
import type { Fid } from '../../contract/fid.ts'
import type { Bytes, WorkBudget } from '../../json/index.ts'

/** Response of an address outside of the API. */
export interface PageAnswer {
  body: string | Bytes
  /** Media type. */
  type: string
  headers?: Record<string, string>
  etag?: string
  /** File whose views are counted. */
  viewed?: Fid
  /** Completes the body outside of the queue, as in `OperationResult`. */
  later?: (user: string, work: WorkBudget) => Promise<{ body: Bytes; type?: string }>
}

/** Creates an answer with an HTML page. */
export function createPage(body: string | Bytes, options: Partial<PageAnswer> = {}): PageAnswer {
  return { body, type: 'text/html; charset=utf-8', ...options }
}
