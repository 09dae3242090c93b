// Converts rows of a grid to table cells.
import { NO_JSON_LIMITS, parseRaw } from '../../json/index.ts'
import type { Cells } from '../output/fit-table.ts'

/** Parses NDJSON into cells, with numbers as written. `names`: columns, also for a grid without rows. */
export function parseCells(ndjson: string, names: readonly string[]): Cells {
  const numeric = names.map(() => true)
  const rows = ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row = parseRaw(Buffer.from(line), 'the answer', NO_JSON_LIMITS).entries()
      return names.map((name, k) => {
        const value = row.get(name)
        if (!value || value.kind === 'null') return ''
        if (value.kind !== 'number') numeric[k] = false
        return value.kind === 'string' ? String(value.toValue()) : value.bytes.toString('utf8')
      })
    })
  return { names, numeric, rows }
}
