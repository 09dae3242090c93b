import { type contentFormats, dataTypes } from '../../contract/operations/index.ts'
import type { Bytes } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { etag } from '../core/etag.ts'
import { byName, contentBrotli, contentJson, type Snapshot, snapshot } from '../grids/content.ts'
import { delimited, ndjson, rowsAs } from '../grids/rows.ts'
import type { OperationService as Service } from './handler.ts'

/** Options of a grid download. */
interface Wanted {
  format?: (typeof contentFormats)[number] | 'api'
  columns?: string[]
  head?: number
}

interface ContentWriter {
  type: string
  body: (snap: Snapshot, head: number | undefined) => Bytes
}

/** Each format of the contract with its media type: a format without a writer does not compile. */
const writers: Record<(typeof contentFormats)[number], ContentWriter> = {
  json: { type: 'application/json', body: contentJson },
  csv: {
    type: `${dataTypes.csv}; charset=utf-8`,
    body: (snap, head) => rowsAs(snap, delimited(','), head),
  },
  tsv: {
    type: `${dataTypes.tsv}; charset=utf-8`,
    body: (snap, head) => rowsAs(snap, delimited('\t'), head),
  },
  ndjson: { type: dataTypes.ndjson, body: (snap, head) => rowsAs(snap, ndjson(), head) },
}

/** The content of the grid in the path, in the requested format. */
export async function gridContent(
  service: Service,
  call: Call,
  { format = 'json', columns, head }: Wanted,
): Promise<OperationResult<Bytes>> {
  const { snap, tag } = await service.store.read(async (readers) => {
    const { file } = await authorizeCall(readers, call)
    return {
      snap: await snapshot(service.store, readers, call.fid, columns && byName(columns)),
      tag: etag(file),
    }
  })
  const { type, body } = writers[format === 'api' ? 'json' : format]
  const isWhole = body === contentJson && head === undefined
  return {
    body: body(snap, head),
    type,
    etag: tag,
    ...(isWhole && { brotli: () => contentBrotli(snap) }),
  }
}
