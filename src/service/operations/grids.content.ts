// Content of grids in each format.
import { Problem } from '../../contract/errors.ts'
import { type contentFormats, dataTypes } from '../../contract/operations/index.ts'
import { type Bytes, WorkBudget } from '../../json/index.ts'
import { type AuthorizedFile, authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { fileEtag } from '../core/etag.ts'
import { loadVersionRow } from '../files/versions.ts'
import {
  type Snapshot,
  selectByName,
  skipRows,
  streamContentBrotli,
  streamContentJson,
  takeVersionSnapshot,
  trimSnapshot,
} from '../grids/column/snapshot.ts'
import {
  createDelimitedWriter,
  createMarkdownWriter,
  ndjson,
  type RowWriter,
} from '../grids/read/row-writers.ts'
import { streamSelectedJson } from '../grids/read/selected-json.ts'
import { type RowQuery, type Selected, Selection, streamSelected } from '../grids/read/selection.ts'
import { streamWorkbook } from '../grids/read/workbook.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { Readers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

export const contentHandlers = {
  'grids.content': (service, call) => loadGridContent(service, call, call.query),
} satisfies Partial<Handlers>

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
      'head' in selected ? streamContentJson(snap, selected.head) : streamSelectedJson(snap, selected),
  },
  csv: {
    type: `${dataTypes.csv}; charset=utf-8`,
    body: writeByRow((isOrdered) => createDelimitedWriter(',', isOrdered)),
  },
  tsv: {
    type: `${dataTypes.tsv}; charset=utf-8`,
    body: writeByRow((isOrdered) => createDelimitedWriter('\t', isOrdered)),
  },
  ndjson: { type: dataTypes.ndjson, body: writeByRow(() => ndjson()) },
  xlsx: {
    type: dataTypes.xlsx,
    body: (snap, selected) => streamWorkbook(snap, (writer) => streamSelected(snap, writer, selected)),
  },
  md: { type: `${dataTypes.md}; charset=utf-8`, body: writeByRow(() => createMarkdownWriter()) },
}

function writeByRow(writer: (isOrdered: boolean) => RowWriter): ContentWriter['body'] {
  return (snap, selected) => streamSelected(snap, writer('order' in selected), selected)
}

/** Takes a snapshot of the requested version of the grid in the path. `choose` selects columns. */
export async function takeRequestedSnapshot(
  { store }: Service,
  readers: Readers,
  access: AuthorizedFile,
  call: Call,
  choose?: (columns: ColumnRow[]) => ColumnRow[],
): Promise<Snapshot> {
  const row = await loadVersionRow(readers, access, call.version)
  return takeVersionSnapshot(store, readers, call.fid, row, choose)
}

/** Returns the content of the grid in the path, in the requested format. */
export async function loadGridContent(
  service: Service,
  call: Call,
  { format = 'json', columns, ...query }: ContentOptions,
): Promise<OperationResult<Bytes>> {
  if (query.sample !== undefined && (format === 'json' || format === 'api'))
    throw new Problem('invalid_request', 'sample needs a format of rows, such as csv', { field: 'sample' })
  const selection = new Selection(query)
  const { loaded, tag } = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    const choose = (all: ColumnRow[]) => selection.bind(all, columns ? selectByName(columns)(all) : all)
    const loaded = await takeRequestedSnapshot(service, readers, access, call, choose)
    return { loaded, tag: fileEtag(access.file) }
  })
  const snapshot = await trimSnapshot(loaded)
  const { type, body } = CONTENT_WRITERS[format === 'api' ? 'json' : format]
  const { head, offset, tail, sample } = query
  if (selection.needsValues) {
    const evaluate = async (work: WorkBudget) => {
      const selected = await selection.select(service.orders, snapshot, work)
      const rows = body(selection.printedSnapshot(snapshot), selected)
      return { body: 'order' in selected ? await service.orders.buffer(rows) : rows, type }
    }
    return {
      body: emptyStream(),
      type,
      etag: sample === undefined ? tag : undefined,
      // Reads all values before the first row is known: limited concurrency, and only while the client waits.
      createBody: (user, work) =>
        selection.isSorted
          ? service.orders.runInSlot(user, () => evaluate(work), work.isAborted)
          : service.analysis.run(user, () => evaluate(work), work.isAborted),
    }
  }
  if (sample !== undefined)
    return { body: body(snapshot, await selection.select(service.orders, snapshot, new WorkBudget())), type }
  const from = tail === undefined ? (offset ?? 0) : Math.max(0, snapshot.rows - tail)
  const snap = from > 0 ? skipRows(snapshot, from) : snapshot
  const isWhole = (format === 'json' || format === 'api') && head === undefined && from === 0
  return {
    body: body(snap, { head }),
    type,
    etag: tag,
    ...(isWhole && { brotli: () => streamContentBrotli(snap) }),
  }
}

async function* emptyStream(): Bytes {}
