// Writes the selected rows of a grid as a Parquet file.
import { Problem } from '../../../../contract/errors.ts'
import { COLUMNS_KEY, type ParquetMark } from '../../../../contract/formats.ts'
import { version } from '../../../../contract/version.ts'
import { familyOf } from '../../../store/schema/column-types.ts'
import {
  batchReads,
  largestChunkBytes,
  type Snapshot,
  type SnapshotColumn,
  streamColumn,
} from '../../column/snapshot.ts'
import { CHUNK_BYTES } from '../row-writers.ts'
import { streamColumnValues } from '../selected-json.ts'
import type { Selected } from '../selection.ts'
import { chooseExactStorage, FactFinder, needsFacts } from './storages.ts'
import { batchGroupReads, GROUP_ROWS, writeFile } from './write-file.ts'

/** Maximum number of columns times row groups: the facts about all of them are written at once. */
const MAX_CHUNKS = 50_000
/** Number of columns from which each loads one slice ahead. */
const MANY_COLUMNS = 8

/**
 * Streams `rows` selected rows as Parquet. Columns of numbers and dates are read twice: first, their values decide how
 * they are stored. Throws `too_large` for grids of many columns and rows.
 */
export async function* streamParquet(
  snap: Snapshot,
  rows: number,
  selected: Selected,
): AsyncGenerator<Uint8Array> {
  const { columns } = snap
  const groups = Math.ceil(rows / GROUP_ROWS)
  if (columns.length === 0 || groups * columns.length > MAX_CHUNKS)
    throw new Problem(
      'too_large',
      `${rows} rows of ${columns.length} columns do not fit into a Parquet file that is written here`,
      { field: 'format', hint: 'Use CSV or NDJSON, or choose fewer columns.' },
    )
  const ahead = columns.length > MANY_COLUMNS ? 1 : undefined
  const isWhole = 'head' in selected && (selected.head ?? snap.rows) >= snap.rows
  const looked = isWhole
    ? batchReads(
        snap,
        columns.filter(({ type }) => needsFacts(type)),
      )
    : snap
  const stream = (column: SnapshotColumn, from = snap) =>
    'head' in selected
      ? streamColumn(from, column, selected.head, ahead)
      : streamColumnValues(snap, column, selected)
  const textBytes = 'head' in selected ? Math.max(0, ...columns.map(largestChunkBytes)) : 2 * CHUNK_BYTES
  const finder = new FactFinder(rows * columns.length, textBytes)
  const stored = []
  for (const column of columns) {
    const { name, type } = column
    const facts = await finder.find(type, stream(column, looked))
    stored.push({ name, type: familyOf(type), ...chooseExactStorage(type, facts) })
  }
  const marks = stored.map(
    ({ type, separator }): ParquetMark => ({
      // A column of a file without values is text.
      type: type === 'empty' ? 'text' : type,
      separator,
    }),
  )
  const read = isWhole ? batchGroupReads(snap) : snap
  yield* writeFile(
    stored.map(({ name, storage }, k) => ({ name, storage, values: stream(columns[k], read) })),
    {
      rows,
      textBytes,
      isCompressed: true,
      createdBy: `gridline version ${version}`,
      metadata: [{ key: COLUMNS_KEY, value: JSON.stringify(marks) }],
    },
  )
}
