// Content of grids in each format.
import { Problem } from '../../contract/errors.ts'
import { reshapeQuery } from '../../contract/operations/shared.ts'
import { type Bytes, WorkBudget } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { STANDALONE_POLICY } from '../core/chart-policy.ts'
import { contentEtag } from '../core/etag.ts'
import { createPageFacts } from '../files/page-facts.ts'
import { createStaleHeaders } from '../files/stale.ts'
import { selectByName, skipRows, streamContentBrotli, trimSnapshot } from '../grids/column/snapshot.ts'
import { CONTENT_WRITERS } from '../grids/read/content-formats.ts'
import { Selection } from '../grids/read/selection.ts'
import type { ReshapeQuery } from '../grids/reshape/index.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import { type ContentOptions, takeRequestedSnapshot } from './grids.requested.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

export const contentHandlers = {
  'grids.content': (service, call) => loadGridContent(service, call, call.query),
} satisfies Partial<Handlers>

/** Parameters that make another table of the rows. */
const RESHAPE_PARAMETERS = Object.keys(reshapeQuery) as (keyof ReshapeQuery)[]

/** Returns the content of the grid in the path, in the requested format. */
export async function loadGridContent(
  service: Service,
  call: Call,
  { format = 'json', columns, ...query }: ContentOptions,
): Promise<OperationResult<Bytes>> {
  if (query.sample !== undefined && (format === 'json' || format === 'api'))
    throw new Problem('invalid_request', 'sample needs a format of rows, such as csv', { field: 'sample' })
  if (RESHAPE_PARAMETERS.some((name) => query[name] !== undefined))
    return (await import('./grids.reshape.ts')).loadReshapedContent(service, call, {
      ...{ format, columns },
      ...query,
    })
  const selection = new Selection(query)
  const { loaded, file } = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    const choose = (all: ColumnRow[]) => selection.bind(all, columns ? selectByName(columns)(all) : all)
    const loaded = await takeRequestedSnapshot(service, readers, access, call, choose)
    return { loaded, file: access.file }
  })
  const snapshot = await trimSnapshot(loaded)
  const tag = contentEtag(file, call.version)
  const getFacts = () => createPageFacts(service, file)
  const { type, body } = CONTENT_WRITERS[format === 'api' ? 'json' : format]
  const { head, offset, tail, sample } = query
  const headers = {
    ...(format === 'html' && { 'content-security-policy': STANDALONE_POLICY }),
    // A version is what the grid was.
    ...(call.version === undefined && createStaleHeaders([file])),
  }
  if (selection.needsValues) {
    const evaluate = async (work: WorkBudget) => {
      const selected = await selection.select(service.orders, snapshot, work)
      const rows = body(selection.printedSnapshot(snapshot), selected, getFacts)
      return { body: 'order' in selected ? await service.orders.buffer(rows) : rows, type }
    }
    return {
      body: emptyStream(),
      type,
      headers,
      etag: sample === undefined ? tag : undefined,
      // Reads all values before the first row is known: limited concurrency, and only while the client waits.
      createBody: (user, work) =>
        selection.isSorted
          ? service.orders.runInSlot(user, () => evaluate(work), work.isAborted)
          : service.analysis.run(user, () => evaluate(work), work.isAborted),
    }
  }
  if (sample !== undefined)
    return {
      body: body(snapshot, await selection.select(service.orders, snapshot, new WorkBudget()), getFacts),
      type,
      headers,
    }
  const from = tail === undefined ? (offset ?? 0) : Math.max(0, snapshot.rows - tail)
  const snap = from > 0 ? skipRows(snapshot, from) : snapshot
  const isWhole = (format === 'json' || format === 'api') && head === undefined && from === 0
  return {
    body: body(snap, { head }, getFacts),
    type,
    headers,
    etag: tag,
    ...(isWhole && { brotli: () => streamContentBrotli(snap) }),
  }
}

async function* emptyStream(): Bytes {}
