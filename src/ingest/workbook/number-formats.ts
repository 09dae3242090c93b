// Number formats of XLSX workbooks: which cells are dates, times or codes.
import type { ArchiveEntry } from '../archive/archive.ts'
import { localNameOf, readPart } from './xml-parts.ts'

/**
 * Kind of a number format: days, days and times with a T between them, times of day, durations, or integers with
 * leading zeros up to a width.
 */
export type NumberFormat = 'date' | 'timestamp' | 'time' | 'duration' | number | undefined

/** Built-in number formats for dates and durations. Formats from 164 on are defined in the workbook. */
const BUILT_IN_FORMATS = new Map<number, NumberFormat>([
  ...[14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map(
    (id): [number, NumberFormat] => [id, 'date'],
  ),
  ...[18, 19, 20, 21, 32, 33, 45, 47].map((id): [number, NumberFormat] => [id, 'time']),
  [46, 'duration'],
])

/** Reads the number format of each cell style. */
export async function readCellFormats(
  member: ArchiveEntry | undefined,
  source: string,
): Promise<NumberFormat[]> {
  const styles: NumberFormat[] = []
  if (!member) return styles
  const customFormats = new Map<number, NumberFormat>()
  let inCells = false
  await readPart(member, source, {
    open({ name, attributes }) {
      const tag = localNameOf(name)
      if (tag === 'numFmt')
        customFormats.set(Number(attributes.numFmtId), numberFormatOf(attributes.formatCode ?? ''))
      else if (tag === 'cellXfs') inCells = true
      else if (tag === 'xf' && inCells) {
        const id = Number(attributes.numFmtId)
        styles.push(customFormats.has(id) ? customFormats.get(id) : BUILT_IN_FORMATS.get(id))
      }
    },
    close(name) {
      if (localNameOf(name) === 'cellXfs') inCells = false
    },
  })
  return styles
}

/**
 * Returns the kind of a number format: date, time, duration, or the width of a code such as 00000; undefined
 * for all others, such as plain numbers and texts.
 */
function numberFormatOf(code: string): NumberFormat {
  // Zeros as for postal codes: 00000. Fewer zeros are used for hours and months.
  if (/^0{4,20}$/.test(code)) return code.length
  const bare = code.replace(/"[^"]*"|\\.|_.|\*./g, '')
  if (/\[(h+|m+|s+)\]/i.test(bare)) return 'duration'
  const letters = bare.replace(/\[[^[\]]*\]/g, '').replace(/general/gi, '')
  if (!/[ymdhs]/i.test(letters)) return undefined
  if (/d"T"h/i.test(code)) return 'timestamp'
  // `m` is a month, but minutes next to hours or seconds.
  return /[hs]/i.test(letters) && !/[yd]|m{3}/i.test(letters) ? 'time' : 'date'
}
