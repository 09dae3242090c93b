/** Evaluates the transforms of a figure, and reduces its large traces: JSON text → JSON text. */
import { pointsNote } from './figure.ts'
import type { Ranges } from './points/axes.ts'
import { reducedFigure } from './points/figure.ts'
import { type TransformLimits, transformed } from './transforms/index.ts'

/** How a figure is evaluated. */
export interface EvaluationOptions {
  /** Large traces have the points that a picture needs. */
  isDrawn: boolean
  /** The parts of axes that are shown. */
  ranges?: Ranges
}

/** Returns the text of a figure with its transforms evaluated. Throws `too_large` and `bad_figure`. */
export async function evaluateText(
  text: Uint8Array,
  { isDrawn, ranges }: EvaluationOptions,
  limits?: TransformLimits,
): Promise<Uint8Array> {
  const figure = JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'))
  const whole = (await transformed(figure, limits)) as { data?: unknown; layout?: unknown }
  if (!isDrawn) return new TextEncoder().encode(JSON.stringify(whole))
  const { figure: reduced, drawn, of } = reducedFigure(whole, ranges)
  return new TextEncoder().encode(JSON.stringify(drawn < of ? withPointsNote(reduced, drawn, of) : reduced))
}

/** The figure with the note of how many points are drawn. */
function withPointsNote(figure: { layout?: unknown }, points: number, of: number): object {
  const layout = typeof figure.layout === 'object' && figure.layout !== null ? figure.layout : {}
  const given = 'annotations' in layout && Array.isArray(layout.annotations) ? layout.annotations : []
  return { ...figure, layout: { ...layout, annotations: [...given, pointsNote(points, of)] } }
}
