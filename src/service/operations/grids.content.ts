import { Problem } from '../../contract/errors.ts'
import { type contentFormats, dataTypes } from '../../contract/operations/index.ts'
import type { Bytes } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { etag } from '../core/etag.ts'
import { byName, contentBrotli, contentJson, rowsFrom, type Snapshot, snapshot } from '../grids/content.ts'
import { delimited, ndjson, rowsAs } from '../grids/rows.ts'
import type { OperationService as Service } from './handler.ts'

/** Options of a grid download. */
interface Wanted {
  format?: (typeof contentFormats)[number] | 'api'
  columns?: string[]
  head?: number
  offset?: number
  tail?: number
  sample?: number
}

interface ContentWriter {
  type: string
  body: (snap: Snapshot, head?: number, chosen?: readonly number[]) => Bytes
}

/** Each format of the contract with its media type: a format without a writer does not compile. */
const writers: Record<(typeof contentFormats)[number], ContentWriter> = {
  json: { type: 'application/json', body: contentJson },
  csv: {
    type: `${dataTypes.csv}; charset=utf-8`,
    body: (snap, head, chosen) => rowsAs(snap, delimited(','), head, chosen),
  },
  tsv: {
    type: `${dataTypes.tsv}; charset=utf-8`,
    body: (snap, head, chosen) => rowsAs(snap, delimited('\t'), head, chosen),
  },
  ndjson: { type: dataTypes.ndjson, body: (snap, head, chosen) => rowsAs(snap, ndjson(), head, chosen) },
}

/** The content of the grid in the path, in the requested format. */
export async function gridContent(
  service: Service,
  call: Call,
  { format = 'json', columns, head, offset, tail, sample }: Wanted,
): Promise<OperationResult<Bytes>> {
  if ((offset !== undefined ? 1 : 0) + (tail !== undefined ? 1 : 0) + (sample !== undefined ? 1 : 0) > 1)
    throw new Problem('invalid_request', 'use only one of offset, tail and sample', { field: 'offset' })
  if (tail !== undefined && head !== undefined)
    throw new Problem('invalid_request', 'use only one of head and tail', { field: 'tail' })
  if (sample !== undefined && (format === 'json' || format === 'api' || head !== undefined))
    throw new Problem('invalid_request', 'sample needs the format csv, tsv or ndjson, and no head', {
      field: 'sample',
    })
  const { snap: all, tag } = await service.store.read(async (readers) => {
    const { file } = await authorizeCall(readers, call)
    return {
      snap: await snapshot(service.store, readers, call.fid, columns && byName(columns)),
      tag: etag(file),
    }
  })
  const { type, body } = writers[format === 'api' ? 'json' : format]
  const from = tail === undefined ? (offset ?? 0) : Math.max(0, all.rows - tail)
  const snap = from > 0 ? rowsFrom(all, from) : all
  if (sample !== undefined) {
    if (sample > MOST_SAMPLED)
      throw new Problem('invalid_request', `sample: at most ${MOST_SAMPLED} rows`, { field: 'sample' })
    return { body: body(snap, undefined, sampleOf(snap.rows, sample)), type }
  }
  const isWhole = body === contentJson && head === undefined && from === 0
  return {
    body: body(snap, head),
    type,
    etag: tag,
    ...(isWhole && { brotli: () => contentBrotli(snap) }),
  }
}

/** Rows of a random sample: their numbers are kept in memory. */
const MOST_SAMPLED = 100_000

/** `count` of the numbers from 0 to `rows`, at random, in ascending order (Floyd's algorithm). */
function sampleOf(rows: number, count: number): number[] {
  const chosen = new Set<number>()
  for (let k = Math.max(0, rows - count); k < rows; k++) {
    const one = Math.floor(Math.random() * (k + 1))
    chosen.add(chosen.has(one) ? k : one)
  }
  return [...chosen].sort((a, b) => a - b)
}
