// Content of grids: JSON, CSV, TSV and NDJSON.
import { Problem } from '../../contract/errors.ts'
import { type contentFormats, dataTypes } from '../../contract/operations/index.ts'
import { type Bytes, Work } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { fileEtag } from '../core/etag.ts'
import { loadVersionRow } from '../files/versions.ts'
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
interface ContentOptions extends RowQuery {
  format?: (typeof contentFormats)[number] | 'api'
  columns?: string[]
}

interface ContentWriter {
  type: string
  body: (snap: Snapshot, selected: Selected) => Bytes
}

/** Content format → media type and writer. A missing format is a compile error. */
const CONTENT_WRITERS: Record<(typeof contentFormats)[number], ContentWriter> = {
  json: {
    type: 'application/json',
    body: (snap, selected) =>
      'head' in selected ? contentJson(snap, selected.head) : selectedJson(snap, selected),
  },
  csv: {
    type: `${dataTypes.csv}; charset=utf-8`,
    body: writeByRow((isOrdered) => delimited(',', isOrdered)),
  },
  tsv: {
    type: `${dataTypes.tsv}; charset=utf-8`,
    body: writeByRow((isOrdered) => delimited('\t', isOrdered)),
  },
  ndjson: { type: dataTypes.ndjson, body: writeByRow(() => ndjson()) },
}

function writeByRow(writer: (isOrdered: boolean) => RowWriter): ContentWriter['body'] {
  return (snap, selected) => selectedAs(snap, writer('order' in selected), selected)
}

/** Returns the content of the grid in the path, in the requested format. */
export async function loadGridContent(
  service: Service,
  call: Call,
  { format = 'json', columns, ...query }: ContentOptions,
): Promise<OperationResult<Bytes>> {
  if (query.sample !== undefined && (format === 'json' || format === 'api'))
    throw new Problem('invalid_request', 'sample needs the format csv, tsv or ndjson', { field: 'sample' })
  const selection = new Selection(query)
  const {
    snap: loaded,
    row,
    tag,
  } = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    const choose = columns && byName(columns)
    const row = await loadVersionRow(readers, access, call.version)
    return {
      snap: await snapshotOf(service.store, readers, call.fid, row, (ownColumns) =>
        selection.columns(ownColumns, choose ? choose(ownColumns) : ownColumns),
      ),
      row,
      tag: fileEtag(access.file),
    }
  })
  const snapshot = row ? await trimmed(loaded) : loaded
  const { type, body } = CONTENT_WRITERS[format === 'api' ? 'json' : format]
  const { head, offset, tail, sample } = query
  if (selection.readsValues) {
    const evaluate = async (work: Work) => {
      const selected = await selection.select(service.orders, snapshot, work)
      const rows = body(selection.printedOf(snapshot), selected)
      return { body: 'order' in selected ? await service.orders.hold(rows) : rows, type }
    }
    return {
      body: emptyStream(),
      type,
      etag: sample === undefined ? tag : undefined,
      // Reads all values before the first row is known: limited concurrency, and only while the client waits.
      createBody: (user, work) =>
        selection.isSorted
          ? service.orders.inTurn(user, () => evaluate(work), work.isAborted)
          : service.analysis.run(user, () => evaluate(work), work.isAborted),
    }
  }
  if (sample !== undefined)
    return { body: body(snapshot, await selection.select(service.orders, snapshot, new Work())), type }
  const from = tail === undefined ? (offset ?? 0) : Math.max(0, snapshot.rows - tail)
  const snap = from > 0 ? rowsFrom(snapshot, from) : snapshot
  const isWhole = (format === 'json' || format === 'api') && head === undefined && from === 0
  return {
    body: body(snap, { head }),
    type,
    etag: tag,
    ...(isWhole && { brotli: () => contentBrotli(snap) }),
  }
}

async function* emptyStream(): Bytes {}
