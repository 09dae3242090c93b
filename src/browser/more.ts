/// <reference lib="dom" />
// Code that few charts need. Pages load it on demand; it passes itself to the chart script.
import { adaptFigure } from './adapted.ts'
import { findPlacesNote } from './theme/maps.ts'
import { ADDITIONAL_STEPS } from './theme/more.ts'

globalThis.gridlineMore = { upgrade: adaptFigure, steps: ADDITIONAL_STEPS, placesNote: findPlacesNote }
