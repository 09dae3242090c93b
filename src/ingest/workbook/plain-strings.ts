// Reads plain shared strings of XLSX workbooks: those with a single text without formats.
import { ODD, PlainElements, skipPast } from './plain-elements.ts'

const STARTS = [Buffer.from('<si><t>'), Buffer.from('<si><t xml:space="preserve">')]
const END = Buffer.from('</t></si>')

/** Passes each text to `take`. */
export class PlainStrings extends PlainElements {
  constructor(private readonly take: (text: string) => void) {
    super('sst', 'si')
  }

  protected override readElement(buf: Buffer, from: number): number {
    const start = Math.max(...STARTS.map((tag) => skipPast(buf, from, tag)))
    const end = start === ODD ? ODD : this.scanText(buf, start)
    const after = skipPast(buf, end, END)
    if (after !== ODD) this.take(this.decodeText(buf, start, end))
    return after
  }
}
