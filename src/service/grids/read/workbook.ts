// Writes rows as an XLSX workbook with one sheet.
import { PassThrough, Readable } from 'node:stream'
import { columnLettersOf } from '../../../contract/column-letters.ts'
import { Problem } from '../../../contract/errors.ts'
import type { Bytes } from '../../../json/index.ts'
import { decodeJsonText, type RowWriter } from './row-writers.ts'

/** Maximum number of rows and columns of a sheet. */
const MAX_ROWS = 1_048_576
const MAX_COLUMNS = 16_384

/** Width of a column of days or times: programs show narrow ones as `####`. */
const MOMENT_CHARACTERS = 20

/** Cell styles, by index in `STYLES`. */
const [DAY, TIME, ISO_TIME, BOLD] = [1, 2, 3, 4]
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const STYLES = `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="166" formatCode="yyyy\\-mm\\-dd&quot;T&quot;hh:mm:ss"/></numFmts><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" xfId="0"/><xf numFmtId="164" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" xfId="0" applyNumberFormat="1"/><xf numFmtId="166" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
/** Parts of the workbook besides the sheet, by path. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`,
  '_rels/.rels': `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': STYLES,
}
/** Time of all parts, so that the same rows give the same bytes. */
const PART_TIME = new Date(2000, 0, 1)

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes a text for a cell: also characters that XML cannot contain, as `_x0001_`, and texts that look so. */
function escapeCell(text: string): string {
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[\p{Cc}\ufffe\uffff]/gu, (c) =>
      c === '\n' || c === '\t' ? c : `_x${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replace(/[&<>]/g, (c) => ESCAPES[c])
}

/** `attributes`: reference and style of the cell. */
function formatText(text: string, attributes: string): string {
  return `<c${attributes} t="inlineStr"><is><t xml:space="preserve">${escapeCell(text)}</t></is></c>`
}

const DAY_MS = 24 * 3600 * 1000
/** 1 March 1900: before, spreadsheet programs count a day that did not exist. */
const FIRST_DAY_MS = Date.UTC(1900, 2, 1)
const EPOCH_MS = Date.UTC(1899, 11, 30)
const MOMENT = /^\d{4}-\d\d-\d\d(?:([T ])(\d\d:\d\d:\d\d(?:\.\d{1,3})?))?$/

/** Formats a day or time as a serial number; undefined for other texts and days that a sheet cannot have. */
function formatMoment(text: string, reference: string): string | undefined {
  const match = MOMENT.exec(text)
  if (!match) return undefined
  const [, separator, time] = match
  const ms = Date.parse(`${text.slice(0, 10)}T${time ?? '00:00:00'}Z`)
  if (!(ms >= FIRST_DAY_MS)) return undefined
  const style = time === undefined ? DAY : separator === 'T' ? ISO_TIME : TIME
  return `<c${reference} s="${style}"><v>${(ms - EPOCH_MS) / DAY_MS}</v></c>`
}

/** Creates a writer of the rows of a sheet. Programs may need the references of cells, which are optional. */
function createSheetWriter(): RowWriter {
  let isMoment: boolean[] = []
  /** Beginning of the reference of a cell in each column. */
  let references: string[] = []
  let row = 1
  return {
    head(columns) {
      isMoment = columns.map(({ type }) => /^date/.test(type))
      const wide = isMoment.flatMap((is, k) =>
        is ? [`<col min="${k + 1}" max="${k + 1}" width="${MOMENT_CHARACTERS}" customWidth="1"/>`] : [],
      )
      const widths = wide.length > 0 ? `<cols>${wide.join('')}</cols>` : ''
      references = columns.map((_, k) => ` r="${columnLettersOf(k)}`)
      const names = columns.map(({ name }, k) => formatText(name, `${references[k]}1" s="${BOLD}"`)).join('')
      return `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${widths}<sheetData><row r="1">${names}</row>`
    },
    row(cells, out) {
      row++
      const rowName = String(row)
      out.addText(`<row r="${rowName}">`)
      for (const [k, { buf, start, end }] of cells.entries()) {
        const first = buf[start]
        if (first === 0x6e) continue
        const reference = `${references[k]}${rowName}"`
        if (first === 0x74 || first === 0x66)
          out.addText(`<c${reference} t="b"><v>${first === 0x74 ? 1 : 0}</v></c>`)
        else if (first === 0x22 || first === 0x5b || first === 0x7b) {
          const text = decodeJsonText(buf, start, end)
          out.addText(
            (isMoment[k] ? formatMoment(text, reference) : undefined) ?? formatText(text, reference),
          )
        } else {
          out.addText(`<c${reference}><v>`)
          out.addBytes(buf, start, end)
          out.addText('</v></c>')
        }
      }
      out.addText('</row>')
    },
    tail(out) {
      out.addText('</sheetData></worksheet>')
    },
  }
}

/**
 * Writes rows as a workbook. `write` streams the rows with a writer. Throws `too_large` if a sheet cannot hold the
 * rows or columns.
 */
export async function* streamWorkbook(
  { rows, columns }: { rows: number; columns: number },
  write: (writer: RowWriter) => Bytes,
): AsyncGenerator<Uint8Array> {
  if (rows >= MAX_ROWS || columns > MAX_COLUMNS)
    throw new Problem(
      'too_large',
      `${rows} rows and ${columns} columns; a sheet holds ${MAX_ROWS - 1} and ${MAX_COLUMNS}`,
      { field: 'format', hint: 'Use CSV, or choose rows and columns.' },
    )
  const { ZipFile } = await import('../../../vendor/zip.ts')
  const zip = new ZipFile()
  const out = new PassThrough()
  zip.on('error', (error: Error) => out.destroy(error))
  const options = { mtime: PART_TIME, mode: 0o100644 }
  for (const [path, text] of Object.entries(PARTS)) zip.addBuffer(Buffer.from(text), path, options)
  const sheet = Readable.from(write(createSheetWriter()), { objectMode: false })
  sheet.on('error', (error) => out.destroy(error))
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', options)
  zip.end()
  zip.outputStream.pipe(out)
  try {
    for await (const chunk of out) yield chunk as Uint8Array
  } finally {
    // The client has disconnected, or an error ended the rows.
    sheet.destroy()
  }
}
