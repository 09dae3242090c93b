/// <reference lib="dom" />
// Code that few charts need. Pages load it on demand; it passes itself to the chart script.
import { adapted } from './adapted.ts'
import { placesNote } from './theme/maps.ts'
import { moreParts } from './theme/more.ts'

globalThis.gridlineMore = { adapted, parts: moreParts, placesNote }
