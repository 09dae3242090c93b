import { type contentFormats, dataTypes } from '../../contract/operations.ts'
import type { Bytes } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { etag } from '../core/etag.ts'
import { byName, contentJson, snapshot } from '../grids/content.ts'
import { delimited, ndjson, rowsAs } from '../grids/rows.ts'
import type { OperationService as Service } from './handler.ts'

/** Options of a grid download. */
interface Wanted {
  format?: (typeof contentFormats)[number] | 'api'
  columns?: string[]
  head?: number
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
  switch (format) {
    case 'csv':
      return { body: rowsAs(snap, delimited(','), head), type: `${dataTypes.csv}; charset=utf-8`, etag: tag }
    case 'tsv':
      return { body: rowsAs(snap, delimited('\t'), head), type: `${dataTypes.tsv}; charset=utf-8`, etag: tag }
    case 'ndjson':
      return { body: rowsAs(snap, ndjson(), head), type: dataTypes.ndjson, etag: tag }
    default:
      return { body: contentJson(snap, head), type: 'application/json', etag: tag }
  }
}
