// Images and sparklines in the terminal.

export type Graphics = 'kitty' | 'iterm'

/** Returns the graphics that the terminal supports; undefined for characters only. */
export function graphicsOf(environment: NodeJS.ProcessEnv): Graphics | undefined {
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID, TMUX } = environment
  // tmux passes images on only if it is configured to.
  if (TMUX) return undefined
  if (KITTY_WINDOW_ID || TERM === 'xterm-kitty' || /^(ghostty|WezTerm)$/i.test(TERM_PROGRAM)) return 'kitty'
  return TERM_PROGRAM === 'iTerm.app' ? 'iterm' : undefined
}

/** Maximum length of a chunk of the kitty protocol. */
const MAX_CHUNK_CHARACTERS = 4096

/** Formats a PNG as the control sequence that shows it. */
export function picture(png: Uint8Array, graphics: Graphics): string {
  const data = Buffer.from(png).toString('base64')
  if (graphics === 'iterm') return `\u001b]1337;File=inline=1;size=${png.length}:${data}\u0007\n`
  const pieces = data.match(new RegExp(`.{1,${MAX_CHUNK_CHARACTERS}}`, 'g')) ?? []
  const sequences = pieces.map((piece, k) => {
    const more = k < pieces.length - 1 ? 1 : 0
    return `\u001b_G${k === 0 ? 'a=T,f=100,' : ''}m=${more};${piece}\u001b\\`
  })
  return `${sequences.join('')}\n`
}

const BARS = '▁▂▃▄▅▆▇█'

/** Formats numbers as a line of bars: means of as many groups as there are characters. */
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
