import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { columnNames } from '../../charts/spec/column-names.ts'
import { closest, hintWith, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import type { Context } from '../core/context.ts'
import { gridOfFile } from './local-data.ts'
import type { ReadingOptions } from './parse-options.ts'

/** The columns that become rows, and the names of the two columns that they become. */
export interface Unpivot {
  /** As `--y` names columns: `2019-2023`, `temp_*`, or names. */
  columns: string
  into: string
}

/**
 * A CSV file with the rows of a data file, in which some columns are rows: one for each cell, with the name of its column and
 * its value. It ends with the command. Throws `usage` and `unknown_column`.
 */
export async function unpivoted(
  context: Context,
  file: string,
  { columns, into }: Unpivot,
  options: ReadingOptions,
): Promise<string> {
  const names = columnNames(into)
  if (names.length !== 2)
    throw new Problem('usage', `--into ${into}: expected the names of two columns`, {
      hint: 'For example: --unpivot 2019-2023 --into year,value',
    })
  const { client, fid } = await gridOfFile(context, file, options)
  const { cols } = await client.call('grids.get', { fid })
  const all = cols.map(({ name }) => name)
  const chosen = columnNames(columns, all)
  const unknown = chosen.find((name) => !all.includes(name))
  if (unknown !== undefined)
    throw new Problem('unknown_column', `--unpivot ${unknown}: the file has no column of that name`, {
      hint: hintWith(closest(unknown, all), `Columns: ${listed(all)}.`),
    })
  const kept = all.filter((name) => !chosen.includes(name))
  const taken = names.find((name) => kept.includes(name))
  if (taken !== undefined) throw new Problem('usage', `--into ${into}: the file has a column ${taken}`)
  const folder = mkdtempSync(join(tmpdir(), 'gridline-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, file === '-' ? 'unpivoted.csv' : `${basename(file).replace(/\.[^.]*$/, '')}.csv`)
  const response = await client.response('grids.content', { fid, query: { format: 'csv' } })
  const places = (list: readonly string[]): number[] => list.map((name) => all.indexOf(name))
  const [others, melted] = [places(kept), places(chosen)]
  await pipeline(async function* () {
    yield lineOf([...kept, ...names].map(quotedCell))
    let isHeader = true
    for await (const row of rowsOf(response.bytes())) {
      if (!isHeader)
        yield melted
          .map((at, k) => lineOf([...others.map((n) => row[n]), quotedCell(chosen[k]), row[at]]))
          .join('')
      isHeader = false
    }
  }, createWriteStream(path))
  return path
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(',')}\n`
}

function quotedCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The rows of CSV as the service writes it. Cells stay as they are written, with their quotes. */
async function* rowsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
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
