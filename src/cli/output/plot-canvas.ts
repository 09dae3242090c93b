// Canvas of braille dots in colors.

/** Dots of a braille character: two columns of four. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
]

/** Canvas of braille dots. Each character has the color of the trace drawn last. */
export class Canvas {
  readonly dotColumns: number
  readonly dotRows: number
  private readonly dots: Uint8Array
  private readonly traceByCharacter: Uint16Array

  constructor(
    private readonly columns: number,
    private readonly lines: number,
  ) {
    this.dotColumns = columns * 2
    this.dotRows = lines * 4
    this.dots = new Uint8Array(columns * lines)
    this.traceByCharacter = new Uint16Array(columns * lines)
  }

  /** Sets one dot. Ignores positions outside. */
  setDot(x: number, y: number, trace: number): void {
    if (x < 0 || y < 0 || x >= this.dotColumns || y >= this.dotRows) return
    const row = this.dotRows - 1 - y
    const k = (row >> 2) * this.columns + (x >> 1)
    this.dots[k] |= DOTS[row & 3][x & 1]
    this.traceByCharacter[k] = trace
  }

  /** Draws a line, clipped to the canvas. */
  drawLine(x0: number, y0: number, x1: number, y1: number, trace: number): void {
    // Visible section of the line, as fractions of its length.
    let [from, to] = [0, 1]
    for (const [start, change, end] of [
      [x0, x1 - x0, this.dotColumns - 1],
      [y0, y1 - y0, this.dotRows - 1],
    ]) {
      if (change === 0 && (start < 0 || start > end)) return
      if (change === 0) continue
      const [entry, exit] = [-start / change, (end - start) / change]
      from = Math.max(from, Math.min(entry, exit))
      to = Math.min(to, Math.max(entry, exit))
    }
    if (!(from <= to)) return
    const steps = Math.max(1, Math.ceil((to - from) * Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0))))
    for (let k = 0; k <= steps; k++) {
      const fraction = from + ((to - from) * k) / steps
      this.setDot(Math.round(x0 + (x1 - x0) * fraction), Math.round(y0 + (y1 - y0) * fraction), trace)
    }
  }

  /** Returns the lines of text. `paint` returns the RGB color of a trace. */
  toLines(paint: ((trace: number) => number[]) | undefined): string[] {
    return Array.from({ length: this.lines }, (_, line) => {
      let text = ''
      let lastStyle = ''
      for (let column = 0; column < this.columns; column++) {
        const k = line * this.columns + column
        const style = paint && this.dots[k] > 0 ? colorCode(paint(this.traceByCharacter[k])) : ''
        if (style !== lastStyle) text += style === '' ? '\u001b[39m' : style
        lastStyle = style
        text += this.dots[k] === 0 ? ' ' : String.fromCharCode(0x2800 + this.dots[k])
      }
      return lastStyle === '' ? text.trimEnd() : `${text}\u001b[39m`
    })
  }
}

/** Returns the escape code of a text color. */
export function colorCode(rgb: readonly number[]): string {
  return `\u001b[38;2;${rgb.join(';')}m`
}
