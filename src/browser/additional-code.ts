/// <reference lib="dom" />
// Code that few charts need. Pages load it on demand; it passes itself to the chart script.
import { adaptFigure } from './adapt-figure.ts'
import { markParts, watchParts } from './chart-parts.ts'
import { joinMarks } from './marks/index.ts'
import { ADDITIONAL_STEPS } from './theme/additional-steps.ts'
import { furtherChanges } from './theme/further-changes.ts'

globalThis.gridlineMore = {
  upgrade: adaptFigure,
  steps: ADDITIONAL_STEPS,
  joinMarks,
  furtherChanges,
  watchParts,
  markParts,
}
