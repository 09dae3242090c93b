// Adapts figures of an older plotly.js, or in another language, to the current plotly.js.
import type { markParts, watchParts } from './chart-parts.ts'
import { registerLocale } from './locales.ts'
import type { joinMarks } from './marks/index.ts'
import type { Figure, PlotlyApi } from './plotly.ts'
import type { AdditionalSteps } from './theme/core.ts'
import type { furtherChanges } from './theme/further-changes.ts'
import { upgradeFigure } from './upgrade-figure.ts'

/** Code that few charts need, loaded on demand. */
export interface AdditionalCode {
  upgrade: typeof adaptFigure
  steps: AdditionalSteps
  joinMarks: typeof joinMarks
  furtherChanges: typeof furtherChanges
  watchParts: typeof watchParts
  markParts: typeof markParts
}

declare global {
  var gridlineMore: AdditionalCode | undefined
}

/** Returns a figure as the current plotly.js draws it, with its language. */
export function adaptFigure(figure: Figure, plotly: PlotlyApi): Figure {
  return registerLocale(upgradeFigure(figure), plotly)
}
