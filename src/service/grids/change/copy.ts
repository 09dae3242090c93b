import type { Fid } from '../../../contract/fid.ts'
import { decodeTypes, encodeTypes } from '../../store/schema/column-types.ts'
import type { Writers } from '../../store/store.ts'
import { transposeColumns, transposeRows } from '../column/values.ts'
import { firstVersion } from './versions.ts'

/** Copies all columns of a grid, or those of `uids`, to a new file. Slices are shared, not copied. */
export async function copyColumns(
  writers: Writers,
  from: Fid,
  to: Fid,
  by: string | null,
  uids?: string[],
): Promise<void> {
  const { grids } = writers
  await copyStored(writers, from, to, uids)
  const { row_count, types } = await grids.get(to.owner, to.idlocal)
  const change = { operation: 'copy' as const, by }
  await writers.versions.add(firstVersion(to, change, row_count, types.length))
}

async function copyStored({ grids }: Writers, from: Fid, to: Fid, uids?: string[]): Promise<void> {
  const target = { owner: to.owner, idlocal: to.idlocal }
  await grids.copyGrid({ owner: from.owner, idlocal: from.idlocal }, target, uids)
  const source = await grids.get(from.owner, from.idlocal)
  if (source.tail_rows === 0) return
  // Rows appended since the tail was folded.
  const columns = await grids.listColumns(from.owner, from.idlocal)
  const tail = await grids.loadTail(from.owner, from.idlocal)
  const chosen = columns.map(({ uid }) => !uids || uids.includes(uid))
  let bytes = 0
  for (const { seq, rows, body } of tail) {
    const texts = transposeRows([body], columns.length).map(({ text }) => text)
    const kept = transposeColumns(
      texts.filter((_, k) => chosen[k]),
      rows,
    )
    const copied = Buffer.from(kept.join(','))
    bytes += copied.length
    await grids.addTail({ ...target, seq, rows, body: copied })
  }
  await grids.change(to.owner, to.idlocal, {
    row_count: (await grids.get(to.owner, to.idlocal)).row_count + source.tail_rows,
    tail_rows: source.tail_rows,
    tail_bytes: bytes,
    tail_seq: source.tail_seq,
    types: encodeTypes(decodeTypes(source.types).filter((_, k) => chosen[k])),
  })
}
