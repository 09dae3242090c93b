// Writes ZIP, TAR and XLSX files.
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { ZipFile } from 'yazl'

type Files = Record<string, string | Buffer>

async function whole(stream: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts)
}

export function zip(files: Files): Promise<Buffer> {
  const file = new ZipFile()
  for (const [name, content] of Object.entries(files)) file.addBuffer(Buffer.from(content as string), name)
  file.end()
  return whole(file.outputStream as unknown as AsyncIterable<Uint8Array>)
}

export async function tar(files: Files): Promise<Buffer> {
  const packing = pack()
  for (const [name, content] of Object.entries(files)) packing.entry({ name }, content)
  packing.finalize()
  return whole(packing)
}

export async function tarGz(files: Files): Promise<Buffer> {
  return gzipSync(await tar(files))
}

/** A cell of a workbook: a number, a text, a boolean, a day (serial number), an error. */
export type Cell = number | string | boolean | null | { date: number } | { error: string }

/** Writes a workbook like spreadsheet programs: shared strings, styles, one part per sheet. */
export function xlsx(sheets: Record<string, Cell[][]>): Promise<Buffer> {
  const texts: string[] = []
  const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
  const letters = (k: number): string =>
    (k < 26 ? '' : letters(Math.floor(k / 26) - 1)) + String.fromCharCode(65 + (k % 26))
  const cellXml = (cell: Cell, row: number, column: number): string => {
    if (cell === null) return ''
    const r = `r="${letters(column)}${row + 1}"`
    if (typeof cell === 'number') return `<c ${r}><v>${cell}</v></c>`
    if (typeof cell === 'boolean') return `<c ${r} t="b"><v>${cell ? 1 : 0}</v></c>`
    if (typeof cell === 'object' && 'date' in cell) return `<c ${r} s="1"><v>${cell.date}</v></c>`
    if (typeof cell === 'object') return `<c ${r} t="e"><v>${cell.error}</v></c>`
    texts.push(cell)
    return `<c ${r} t="s"><v>${texts.length - 1}</v></c>`
  }
  const names = Object.keys(sheets)
  const parts: Files = {}
  for (const [k, rows] of Object.values(sheets).entries()) {
    const data = rows.map(
      (cells, row) =>
        `<row r="${row + 1}">${cells.map((cell, column) => cellXml(cell, row, column)).join('')}</row>`,
    )
    parts[`xl/worksheets/sheet${k + 1}.xml`] =
      `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${data.join('')}</sheetData></worksheet>`
  }
  parts['[Content_Types].xml'] = '<Types/>'
  parts['xl/workbook.xml'] =
    `<workbook xmlns:r="r"><sheets>${names.map((name, k) => `<sheet name="${escaped(name)}" sheetId="${k + 1}" r:id="rId${k + 1}"/>`).join('')}</sheets></workbook>`
  parts['xl/_rels/workbook.xml.rels'] =
    `<Relationships>${names.map((_, k) => `<Relationship Id="rId${k + 1}" Target="worksheets/sheet${k + 1}.xml"/>`).join('')}</Relationships>`
  parts['xl/styles.xml'] = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
  parts['xl/sharedStrings.xml'] =
    `<sst>${texts.map((text) => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`
  return zip(parts)
}
