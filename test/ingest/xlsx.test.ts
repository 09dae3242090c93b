// Conversion of sheets to CSV.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../src/contract/limits.ts'
import { spoolToFile } from '../../src/ingest/archive/spool.ts'
import { Warnings } from '../../src/ingest/values/warnings.ts'
import { readXlsxSheets } from '../../src/ingest/workbook/xlsx.ts'
import { xlsx } from '../support/archives.ts'

/** Parses CSV as in RFC 4180. */
function records(csv: string): string[][] {
  const rows: string[][] = [['']]
  let quoted = false
  for (const [k, c] of [...csv].entries()) {
    const row = rows[rows.length - 1]
    if (c === '"') quoted = !quoted
    if (c === '"' && csv[k - 1] === '"' && quoted) row[row.length - 1] += '"'
    if (c === '"') continue
    if (c === ',' && !quoted) row.push('')
    else if (c === '\n' && !quoted) rows.push([''])
    else row[row.length - 1] += c
  }
  return rows.slice(0, -1)
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

it('every row of a sheet has as many cells as the widest row, wherever that is', async () => {
  const cell = fc.oneof(fc.constantFrom('x', 'a "b"', 'two\nlines', 'c,d', 'é'), fc.integer())
  const row = fc.array(cell, { minLength: 2, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 80 }),
      async (rows, copies) => {
        const table = Array.from({ length: copies }, () => rows).flat()
        const spooled = await spoolToFile(
          once(await xlsx({ One: table })),
          1e9,
          () => new Error('too large') as never,
        )
        const width = Math.max(...table.map(({ length }) => length))
        const sheets: string[] = []
        for await (const { csv } of readXlsxSheets(spooled, defaultLimits, 'book', new Warnings())) {
          const parts: Uint8Array[] = []
          for await (const part of csv) parts.push(part)
          sheets.push(Buffer.concat(parts).toString())
        }
        await spooled.close()
        expect(sheets.map(records)).toEqual([
          table.map((cells) => Array.from({ length: width }, (_, k) => String(cells[k] ?? ''))),
        ])
      },
    ),
    { numRuns: 60 },
  )
})
