/** Request and response of a page, a download or a chart. */
import { type Fid, formatWebUrl } from '../../contract/fid.ts'
import type { Bytes, WorkBudget } from '../../json/index.ts'
import type { Caller, Principal } from '../access/access.ts'
import { assetPathOf } from './assets.ts'
import { appendQuery, type DocumentOptions, readColorScheme, renderDocument } from './html.ts'

/** A request for a page, a download or a chart. */
export interface PageRequest {
  principal: Principal
  query: URLSearchParams
  /** Username or IP address, for limits. */
  user: string
  /** User in the path; empty if there is none. */
  username: string
  /** File in the path. */
  fid: Fid
  /** Extension in the path, such as `png`; empty if there is none. */
  ending: string
}

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

/** Creates a page with navigation, the script of all pages, and `scripts` after it. `body` is HTML. */
export function createSitePage(
  title: string,
  body: string,
  caller: Caller | undefined,
  query: URLSearchParams,
  { viewed, scripts = [], ...options }: DocumentOptions & { viewed?: Fid } = {},
): PageAnswer {
  const { scripts: siteScripts = [], ...site } = siteOptionsOf(caller)
  const next = viewed && appendQuery(formatWebUrl('', viewed), query.toString())
  const own = { scheme: readColorScheme(query, 'auto'), scripts: [...siteScripts, ...scripts] }
  return createPage(renderDocument(title, body, { ...site, ...own, next, ...options }), { viewed })
}

/** Returns navigation and script of a page. */
export function siteOptionsOf(caller: Caller | undefined): DocumentOptions {
  return {
    user: caller?.username ?? null,
    scripts: [assetPathOf('page.js')],
    // What is dropped on a page is added.
    data: caller ? { add: assetPathOf('add.js') } : {},
  }
}
