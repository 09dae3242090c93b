// Figures, grids and lost charts that documents contain.
import { isObject } from '../../charts/figure/figure.ts'
import { type Fid, parseFid } from '../../contract/fid.ts'
import { isFigure } from '../charts/figures.ts'

/** Something in a document: `lost` is a chart that cannot be read, `skipped` a document without charts. `old`: its number on the former server. */
export type Finding = { name: string; old?: Fid } & (
  | { kind: 'plot'; figure: Record<string, unknown> }
  | { kind: 'grid'; data: Record<string, unknown> }
  | { kind: 'lost' | 'skipped'; why: string }
)

/** Returns the figure in a JSON value, also if it is wrapped, a list of traces, or JSON text. */
export function extractFigure(value: unknown): Record<string, unknown> | undefined {
  if (typeof value === 'string') {
    try {
      return extractFigure(JSON.parse(value))
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

/** Creates the finding of a chart of which only a frame is left. */
export function createLostFrame(name: string, old: Fid): Finding {
  return { kind: 'lost', name, old, why: 'only a frame of the former server: its figure is not in the file' }
}

/** Finds the numbers of charts in frames and embed blocks, each once. */
export function findOldCharts(html: string): Fid[] {
  const found = new Map<string, Fid>()
  const add = (owner: string, id: string): void => {
    const fid = parseFid(`${owner}:${id}`)
    if (fid) found.set(`${owner}:${id}`, fid)
  }
  for (const [, owner, id] of html.matchAll(/\/(?:~|%7E)([\w.-]{1,64})\/(\d{1,9})\.embed\b/gi)) add(owner, id)
  for (const [, owner, id] of html.matchAll(/\bdata-plotly=\\?["']([\w.-]{1,64}):(\d{1,9})\\?["']/gi))
    add(owner, id)
  return [...found.values()]
}
