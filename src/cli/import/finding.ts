// Figures, grids and lost charts that documents contain.
import { isObject } from '../../charts/figure/figure.ts'
import { type Fid, parseFid } from '../../contract/fid.ts'
import { isFigure } from '../charts/figures.ts'
import { parseExact } from '../files/exact-json.ts'

/** Something in a document, parsed by `parseExact`. `lost` is a chart that cannot be read, `skipped` a document without charts. `old`: its number on the former server. */
export type Finding = { name: string; old?: Fid } & (
  | { kind: 'plot'; figure: Record<string, unknown> }
  | { kind: 'grid'; data: Record<string, unknown> }
  | { kind: 'lost' | 'skipped'; why: string }
)

/** Returns the figure in a JSON value, also if it is wrapped, a list of traces, or JSON text. */
export function extractFigure(value: unknown): Record<string, unknown> | undefined {
  if (typeof value === 'string') {
    try {
      return extractFigure(parseExact(value))
    } catch {
      return undefined
    }
  }
  if (Array.isArray(value)) return isFigure(value) && value.length > 0 ? { data: value } : undefined
  if (!isObject(value) || !isFigure(value)) return undefined
  for (const wrapper of ['figure', 'data', 'x']) {
    const inner = value[wrapper]
    if (isObject(inner) && (inner.data !== undefined || inner.layout !== undefined))
      return extractFigure(inner)
  }
  const { data, layout, frames, config } = value
  if (data !== undefined && !Array.isArray(data)) return undefined
  return {
    data: data ?? [],
    ...(isObject(layout) && { layout }),
    ...(Array.isArray(frames) && { frames }),
    ...(isObject(config) && { config }),
  }
}

/** Why a call that draws a chart was not read. */
export const UNREAD_REASON = 'its figure is not JSON: a script makes it when the page is opened'

/** Creates the finding of a chart of which only a frame is left. */
export function createLostFrame(name: string, old: Fid): Finding {
  return { kind: 'lost', name, old, why: 'only a frame of the former server: its figure is not in the file' }
}

/** Frames, pictures and embed blocks of charts of a former server. Links alone are no charts. */
const OLD_CHARTS = [
  /<iframe\b[^>]{0,2000}?\bsrc=\\?["'][^"']{0,300}?\/(?:~|%7E)([\w.-]{1,64})\/(\d{1,9})\b/gi,
  /<img\b[^>]{0,2000}?\bsrc=\\?["'][^"']{0,300}?\/(?:~|%7E)([\w.-]{1,64})\/(\d{1,9})\.(?:png|jpe?g|svg)\b/gi,
  /\/(?:~|%7E)([\w.-]{1,64})\/(\d{1,9})\.embed\b/gi,
  /\bdata-plotly=\\?["']([\w.-]{1,64}):(\d{1,9})\\?["']/gi,
]

/** Finds the numbers of charts in frames, pictures and embed blocks, each once. */
export function findOldCharts(html: string): Fid[] {
  const found = new Map<string, Fid>()
  for (const pattern of OLD_CHARTS)
    for (const [, owner, id] of html.matchAll(pattern)) {
      const fid = parseFid(`${owner}:${id}`)
      if (fid) found.set(`${owner}:${id}`, fid)
    }
  return [...found.values()]
}
