// Unpivots columns of a local file into rows.
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseColumnNames } from '../../charts/spec/column-names.ts'
import { Problem } from '../../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'
import type { Context } from '../core/context.ts'
import { loadLocalGrid } from './local-data.ts'
import type { ReadingOptions } from './parse-options.ts'

/** Columns to unpivot, and names of the two new columns. */
export interface Unpivot {
  /** Columns in the syntax of --y: `2019-2023`, `temp_*`, or names. */
  columns: string
  into: string
}

/**
 * Writes a temporary CSV file in which each cell of some columns is a row, with the name of its column and
 * its value. Deleted on exit. Throws `usage` and `unknown_column`.
 */
export async function writeUnpivoted(
  context: Context,
  file: string,
  { columns, into }: Unpivot,
  options: ReadingOptions,
): Promise<string> {
  const names = parseColumnNames(into)
  if (names.length !== 2)
    throw new Problem('usage', `--into ${into}: expected the names of two columns`, {
      hint: 'For example: --unpivot 2019-2023 --into year,value',
    })
  const { client, fid } = await loadLocalGrid(context, file, options)
  const { cols } = await client.call('grids.get', { fid })
  const allNames = cols.map(({ name }) => name)
  const unpivotNames = parseColumnNames(columns, allNames)
  const unknown = unpivotNames.find((name) => !allNames.includes(name))
  if (unknown !== undefined)
    throw new Problem('unknown_column', `--unpivot ${unknown}: the file has no column of that name`, {
      hint: withSuggestion(findClosest(unknown, allNames), `Columns: ${formatList(allNames)}.`),
    })
  const keptNames = allNames.filter((name) => !unpivotNames.includes(name))
  const duplicate = names.find((name) => keptNames.includes(name))
  if (duplicate !== undefined)
    throw new Problem('usage', `--into ${into}: the file has a column ${duplicate}`)
  const folder = mkdtempSync(join(tmpdir(), 'gridline-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, file === '-' ? 'unpivoted.csv' : `${basename(file).replace(/\.[^.]*$/, '')}.csv`)
  const response = await client.response('grids.content', { fid, query: { format: 'csv' } })
  const indexesOf = (list: readonly string[]): number[] => list.map((name) => allNames.indexOf(name))
  const [keptIndexes, unpivotIndexes] = [indexesOf(keptNames), indexesOf(unpivotNames)]
  await pipeline(async function* () {
    yield formatCsvLine([...keptNames, ...names].map(quoteCsvCell))
    let isHeader = true
    for await (const row of splitCsvRows(response.bytes())) {
      if (!isHeader)
        yield unpivotIndexes
          .map((index, k) =>
            formatCsvLine([...keptIndexes.map((n) => row[n]), quoteCsvCell(unpivotNames[k]), row[index]]),
          )
          .join('')
      isHeader = false
    }
  }, createWriteStream(path))
  return path
}

/** Formats a CSV line from quoted cells. */
function formatCsvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\n`
}

/** Quotes a CSV cell if necessary. */
function quoteCsvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Splits the CSV of the service into rows. Cells keep their quotes. */
async function* splitCsvRows(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true })
    let [start, end] = [0, 0]
    let cells: string[] = []
    let from = 0
    let isQuoted = false
    for (; end < rest.length; end++) {
      const c = rest[end]
      if (c === '"') isQuoted = !isQuoted
      else if (!isQuoted && c === ',') {
        cells.push(rest.slice(from, end))
        from = end + 1
      } else if (!isQuoted && c === '\n') {
        cells.push(rest.slice(from, end).replace(/\r$/, ''))
        yield cells
        cells = []
        from = end + 1
        start = end + 1
      }
    }
    rest = rest.slice(start)
  }
  if (rest !== '') throw new Problem('bad_data', 'the table ends in the middle of a row')
}
