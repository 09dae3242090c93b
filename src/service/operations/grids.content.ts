import { Problem } from '../../contract/errors.ts'
import { type contentFormats, dataTypes } from '../../contract/operations/index.ts'
import { type Bytes, Work } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { etag } from '../core/etag.ts'
import { rowOfVersion } from '../files/versions.ts'
import {
  byName,
  contentBrotli,
  contentJson,
  rowsFrom,
  type Snapshot,
  snapshotOf,
  trimmed,
} from '../grids/column/content.ts'
import { delimited, ndjson, type RowWriter } from '../grids/read/rows.ts'
import { selectedJson } from '../grids/read/selected-json.ts'
import { type RowQuery, type Selected, Selection, selectedAs } from '../grids/read/selection.ts'
import type { OperationService as Service } from './handler.ts'

/** Options of a grid download. */
interface Wanted extends RowQuery {
  format?: (typeof contentFormats)[number] | 'api'
  columns?: string[]
}

interface ContentWriter {
  type: string
  body: (snap: Snapshot, selected: Selected) => Bytes
}

/** Each format of the contract with its media type: a format without a writer does not compile. */
const writers: Record<(typeof contentFormats)[number], ContentWriter> = {
  json: {
    type: 'application/json',
    body: (snap, selected) =>
      'head' in selected ? contentJson(snap, selected.head) : selectedJson(snap, selected),
  },
  csv: { type: `${dataTypes.csv}; charset=utf-8`, body: byRow((isOrdered) => delimited(',', isOrdered)) },
  tsv: { type: `${dataTypes.tsv}; charset=utf-8`, body: byRow((isOrdered) => delimited('\t', isOrdered)) },
  ndjson: { type: dataTypes.ndjson, body: byRow(() => ndjson()) },
}

function byRow(writer: (isOrdered: boolean) => RowWriter): ContentWriter['body'] {
  return (snap, selected) => selectedAs(snap, writer('order' in selected), selected)
}

/** The content of the grid in the path, in the requested format. */
export async function gridContent(
  service: Service,
  call: Call,
  { format = 'json', columns, ...query }: Wanted,
): Promise<OperationResult<Bytes>> {
  if (query.sample !== undefined && (format === 'json' || format === 'api'))
    throw new Problem('invalid_request', 'sample needs the format csv, tsv or ndjson', { field: 'sample' })
  const selection = new Selection(query)
  const {
    snap: given,
    row,
    tag,
  } = await service.store.read(async (readers) => {
    const found = await authorizeCall(readers, call)
    const choose = columns && byName(columns)
    const row = await rowOfVersion(readers, found, call.version)
    return {
      snap: await snapshotOf(service.store, readers, call.fid, row, (own) =>
        selection.columns(own, choose ? choose(own) : own),
      ),
      row,
      tag: etag(found.file),
    }
  })
  const all = row ? await trimmed(given) : given
  const { type, body } = writers[format === 'api' ? 'json' : format]
  const { head, offset, tail, sample } = query
  if (selection.readsValues) {
    const evaluate = async (work: Work) => {
      const selected = await selection.select(service.orders, all, work)
      const rows = body(selection.printedOf(all), selected)
      return { body: 'order' in selected ? await service.orders.hold(rows) : rows, type }
    }
    return {
      body: empty(),
      type,
      etag: sample === undefined ? tag : undefined,
      // All values are read before the first row is known: a few at once, and only as long as the client waits.
      later: (user, work) =>
        selection.isSorted
          ? service.orders.inTurn(user, () => evaluate(work), work.gone)
          : service.describing.run(user, () => evaluate(work), work.gone),
    }
  }
  if (sample !== undefined)
    return { body: body(all, await selection.select(service.orders, all, new Work())), type }
  const from = tail === undefined ? (offset ?? 0) : Math.max(0, all.rows - tail)
  const snap = from > 0 ? rowsFrom(all, from) : all
  const isWhole = (format === 'json' || format === 'api') && head === undefined && from === 0
  return {
    body: body(snap, { head }),
    type,
    etag: tag,
    ...(isWhole && { brotli: () => contentBrotli(snap) }),
  }
}

async function* empty(): Bytes {}
