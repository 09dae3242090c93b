import { type Pixels, pixelsOf } from './png.ts'

/** Dots of a braille character: two columns of four. */
export const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
]
/** Pixels of the image per dot, across and down: finer than the dots, so that thin lines are seen. */
export const PIXELS_PER_DOT = 3

/** The size of an image in pixels that fills this many characters. */
export function sizeFor(columns: number, lines: number): { width: number; height: number } {
  return { width: columns * 2 * PIXELS_PER_DOT, height: lines * 4 * PIXELS_PER_DOT }
}

/** An image as lines of braille characters. With color, each has the color of what it shows most. */
export function braille(png: Uint8Array, color: boolean): string[] {
  const pixels = pixelsOf(png)
  const columns = Math.floor(pixels.width / (2 * PIXELS_PER_DOT))
  const count = Math.floor(pixels.height / (4 * PIXELS_PER_DOT))
  const lines: string[] = []
  for (let line = 0; line < count; line++) {
    let text = ''
    let last = ''
    for (let column = 0; column < columns; column++) {
      const { dots, rgb } = character(pixels, column, line)
      const style = color && dots > 0 ? `\u001b[38;2;${rgb.join(';')}m` : ''
      if (style !== last) text += style === '' ? '\u001b[39m' : style
      last = style
      text += dots === 0 ? ' ' : String.fromCharCode(0x2800 + dots)
    }
    lines.push(last === '' ? text.trimEnd() : `${text}\u001b[39m`)
  }
  return lines
}

/** One character: its dots, and the strongest color among them. */
function character(pixels: Pixels, column: number, line: number): { dots: number; rgb: number[] } {
  let dots = 0
  let rgb = [0, 0, 0]
  let strongest = -1
  for (let y = 0; y < 4; y++)
    for (let x = 0; x < 2; x++) {
      const found = dot(pixels, column * 2 + x, line * 4 + y)
      if (!found) continue
      dots |= DOTS[y][x]
      const strength = Math.max(...found) - Math.min(...found)
      if (strength > strongest) {
        strongest = strength
        rgb = found
      }
    }
  return { dots, rgb }
}

/** The color of the darkest pixel of a dot; undefined if all are nearly white. */
function dot({ width, rgba }: Pixels, x: number, y: number): number[] | undefined {
  let darkest: number[] | undefined
  let least = 3 * 255 - 120
  for (let dy = 0; dy < PIXELS_PER_DOT; dy++)
    for (let dx = 0; dx < PIXELS_PER_DOT; dx++) {
      const at = ((y * PIXELS_PER_DOT + dy) * width + x * PIXELS_PER_DOT + dx) * 4
      const sum = rgba[at] + rgba[at + 1] + rgba[at + 2]
      if (sum >= least || rgba[at + 3] < 128) continue
      least = sum
      darkest = [rgba[at], rgba[at + 1], rgba[at + 2]]
    }
  return darkest
}

export type Graphics = 'kitty' | 'iterm'

/** The graphics that the terminal can show; undefined for characters only. */
export function graphicsOf(environment: NodeJS.ProcessEnv): Graphics | undefined {
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID, TMUX } = environment
  // tmux passes pictures on only if it is told to.
  if (TMUX) return undefined
  if (KITTY_WINDOW_ID || TERM === 'xterm-kitty' || /^(ghostty|WezTerm)$/i.test(TERM_PROGRAM)) return 'kitty'
  return TERM_PROGRAM === 'iTerm.app' ? 'iterm' : undefined
}

/** Bytes of a piece of a picture in the kitty protocol. */
const PIECE_CHARACTERS = 4096

/** A PNG as the control sequence that shows it. */
export function picture(png: Uint8Array, graphics: Graphics): string {
  const data = Buffer.from(png).toString('base64')
  if (graphics === 'iterm') return `\u001b]1337;File=inline=1;size=${png.length}:${data}\u0007\n`
  const pieces = data.match(new RegExp(`.{1,${PIECE_CHARACTERS}}`, 'g')) ?? []
  const sequences = pieces.map((piece, k) => {
    const more = k < pieces.length - 1 ? 1 : 0
    return `\u001b_G${k === 0 ? 'a=T,f=100,' : ''}m=${more};${piece}\u001b\\`
  })
  return `${sequences.join('')}\n`
}

const BARS = '▁▂▃▄▅▆▇█'

/** Numbers as a line of bars: means of as many groups as there are characters. */
export function sparkline(values: readonly number[], width: number): string {
  if (values.length === 0) return ''
  const groups = Math.min(width, values.length)
  const means = Array.from({ length: groups }, (_, k) => {
    const part = values.slice(
      Math.floor((k * values.length) / groups),
      Math.floor(((k + 1) * values.length) / groups),
    )
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const least = Math.min(...means)
  const range = Math.max(...means) - least
  return means
    .map((mean) => BARS[range === 0 ? 0 : Math.min(7, Math.floor(((mean - least) / range) * 8))])
    .join('')
}
