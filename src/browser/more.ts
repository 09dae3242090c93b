/// <reference lib="dom" />
// What few charts need: a page loads it where it does. It gives itself to the script of the chart.
import { adapted } from './adapted.ts'
import { placesNote } from './theme/maps.ts'
import { moreParts } from './theme/more.ts'

globalThis.gridlineMore = { adapted, parts: moreParts, placesNote }
