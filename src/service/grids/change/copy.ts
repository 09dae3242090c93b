// Copies columns of a grid to another grid. Slices are shared, not copied.
import type { Fid } from '../../../contract/fid.ts'
import { decodeTypes, encodeTypes } from '../../store/schema/column-types.ts'
import type { Writers } from '../../store/store.ts'
import { transposeColumns, transposeRows } from '../column/column-json.ts'
import { createFirstVersion } from './versions.ts'

/** Copies all columns of a grid, or those with `uids`, to a new file, and adds its first version. */
export async function copyColumns(
  writers: Writers,
  from: Fid,
  to: Fid,
  by: string | null,
  uids?: string[],
): Promise<void> {
  const { grids } = writers
  await copyColumnData(writers, from, to, uids)
  const { row_count, types } = await grids.get(to.owner, to.idlocal)
  const change = { operation: 'copy' as const, by }
  await writers.versions.add(createFirstVersion(to, change, row_count, types.length))
}

/** Copies columns, their slices and the tail. */
async function copyColumnData({ grids }: Writers, from: Fid, to: Fid, uids?: string[]): Promise<void> {
  const target = { owner: to.owner, idlocal: to.idlocal }
  await grids.copyGrid({ owner: from.owner, idlocal: from.idlocal }, target, uids)
  const source = await grids.get(from.owner, from.idlocal)
  if (source.tail_rows === 0) return
  // The tail has rows of all columns: keep the values of the copied ones.
  const columns = await grids.listColumns(from.owner, from.idlocal)
  const tail = await grids.loadTail(from.owner, from.idlocal)
  const isCopied = columns.map(({ uid }) => !uids || uids.includes(uid))
  let bytes = 0
  for (const { seq, rows, body } of tail) {
    const texts = transposeRows([{ body }], columns.length).map(({ text }) => text)
    const copiedRows = transposeColumns(
      texts.filter((_, k) => isCopied[k]),
      rows,
    )
    const copiedBody = Buffer.from(copiedRows.join(','))
    bytes += copiedBody.length
    await grids.addTail({ ...target, seq, rows, body: copiedBody })
  }
  await grids.change(to.owner, to.idlocal, {
    row_count: (await grids.get(to.owner, to.idlocal)).row_count + source.tail_rows,
    tail_rows: source.tail_rows,
    tail_bytes: bytes,
    tail_seq: source.tail_seq,
    types: encodeTypes(decodeTypes(source.types).filter((_, k) => isCopied[k])),
  })
}
