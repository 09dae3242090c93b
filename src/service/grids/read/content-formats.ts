// Formats in which a grid is downloaded: media type and writer of each.
import { type contentFormats, dataTypes } from '../../../contract/operations/index.ts'
import type { PageFacts } from '../../../contract/standalone.ts'
import type { Bytes } from '../../../json/index.ts'
import { type Snapshot, streamContentJson } from '../column/snapshot.ts'
import { createDelimitedWriter, createMarkdownWriter, ndjson, type RowWriter } from './row-writers.ts'
import { streamSelectedJson } from './selected-json.ts'
import { countSelected, type Selected, streamSelected } from './selection.ts'

export type ContentFormat = (typeof contentFormats)[number]

interface ContentWriter {
  type: string
  /** Streams rows. `getFacts`: returns what a page says of the grid. */
  body(snap: Snapshot, selected: Selected, getFacts: () => PageFacts): Bytes
}

/** Content format → media type and writer. A missing format is a compile error. */
export const CONTENT_WRITERS: Record<ContentFormat, ContentWriter> = {
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
    async *body(snap, selected) {
      const { streamWorkbook } = await import('./workbook.ts')
      yield* streamWorkbook(sizeOf(snap, selected), (writer) => streamSelected(snap, writer, selected))
    },
  },
  parquet: {
    type: dataTypes.parquet,
    async *body(snap, selected) {
      const { streamParquet } = await import('./parquet/stream-parquet.ts')
      yield* streamParquet(snap, countSelected(snap, selected), selected)
    },
  },
  md: { type: `${dataTypes.md}; charset=utf-8`, body: writeByRow(() => createMarkdownWriter()) },
  html: {
    type: dataTypes.html,
    async *body(snap, selected, getFacts) {
      const { streamTablePage } = await import('./table-page.ts')
      const write = (writer: RowWriter) => streamSelected(snap, writer, selected)
      yield* streamTablePage(sizeOf(snap, selected), getFacts(), write)
    },
  },
}

function writeByRow(writer: (isOrdered: boolean) => RowWriter): ContentWriter['body'] {
  return (snap, selected) => streamSelected(snap, writer('order' in selected), selected)
}

/** Returns the number of rows and columns that are written. */
function sizeOf(snap: Snapshot, selected: Selected): { rows: number; columns: number } {
  return { rows: countSelected(snap, selected), columns: snap.columns.length }
}
