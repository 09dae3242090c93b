/** Evaluates the transforms of a figure and downsamples its large traces, from JSON to JSON. */

import { evaluateTransforms, type TransformLimits } from '../../charts/evaluate/index.ts'
import type { VisibleRanges } from './downsampling/axes.ts'
import { downsampleFigure } from './downsampling/inline-data.ts'
import { createPointsNote } from './edit-figure.ts'

/** Options of an evaluation. */
export interface EvaluationOptions {
  /** Downsamples large traces. */
  isDrawn: boolean
  /** Visible ranges of axes. */
  visibleRanges?: VisibleRanges
}

/** Evaluates the JSON text of a figure. Throws `too_large` and `bad_figure`. */
export async function evaluateFigureText(
  text: Uint8Array,
  { isDrawn, visibleRanges: ranges }: EvaluationOptions,
  limits?: TransformLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const figure = JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'))
  const evaluated = await evaluateTransforms(figure, limits)
  if (!isDrawn) return new TextEncoder().encode(JSON.stringify(evaluated))
  const { figure: downsampled, drawn, of } = downsampleFigure(evaluated, ranges)
  return new TextEncoder().encode(
    JSON.stringify(drawn < of ? addPointsNote(downsampled, drawn, of) : downsampled),
  )
}

/** Adds the note of how many of `of` points are drawn. */
function addPointsNote(figure: { layout?: unknown }, points: number, of: number): object {
  const layout = typeof figure.layout === 'object' && figure.layout !== null ? figure.layout : {}
  const annotations = 'annotations' in layout && Array.isArray(layout.annotations) ? layout.annotations : []
  return { ...figure, layout: { ...layout, annotations: [...annotations, createPointsNote(points, of)] } }
}
