// Refuses a second table below the first.
import { excerpt } from '../../json/index.ts'
import { isMissingMarker } from '../detect/value-shape.ts'
import type { ColumnBuilder } from '../values/column.ts'
import { badData } from '../values/warnings.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Throws `bad_data` if a second table begins: a row of words after a blank line, with the first text in a
 * numeric column, is the header of another table.
 */
export function refuseSecondTable(
  { gapLines, lines, starts, ends, rows, width }: Tokenizer,
  buf: Buffer,
  builders: readonly ColumnBuilder[],
  source: string,
): void {
  for (const line of gapLines.splice(0)) {
    const row = lines.subarray(0, rows).indexOf(line)
    if (row < 0 || width < 2) continue
    const cells = Array.from({ length: width }, (_, k) => {
      const at = row * width + k
      return buf.toString('utf8', starts[at], ends[at] >> 2).trim()
    })
    const last = cells.findLastIndex((cell) => cell !== '')
    const filled = cells.slice(0, last + 1)
    const isHeader =
      last > 0 &&
      new Set(filled).size === filled.length &&
      filled.every((cell) => cell !== '' && !/^[+-]?[\d.,]+$/.test(cell) && !isMissingMarker(cell))
    const broken = builders.filter((builder) => builder.numbers > 0 && builder.firstText?.line === line)
    // An incomplete header must break more than one column.
    if (isHeader && broken.length > (last + 1 < width ? 1 : 0))
      throw badData(
        source,
        { line },
        `a second table starts here, with the columns ${excerpt(filled.join(', '))}`,
        'Put each table in its own file.',
      )
  }
}
