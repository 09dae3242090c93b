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

/** Parses content by column (`{"cols": {name: {"data"}}}`) into cells, with numbers as written. */
export function parseColumns(json: string): Cells {
  const columns = parseRaw(Buffer.from(json), 'the answer', NO_JSON_LIMITS).get('cols')!.entries()
  const names = [...columns.keys()]
  const values = names.map((name) => {
    const data = columns.get(name)!.get('data')!
    return [...data.items()].map((value) => ({
      text:
        value.kind === 'null'
          ? ''
          : value.kind === 'string'
            ? String(value.toValue())
            : value.bytes.toString('utf8'),
      isNumeric: value.kind === 'number' || value.kind === 'null',
    }))
  })
  return {
    names,
    numeric: values.map((column) => column.every(({ isNumeric }) => isNumeric)),
    rows: (values[0] ?? []).map((_, row) => values.map((column) => column[row].text)),
  }
}
