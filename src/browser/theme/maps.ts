import { COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { stateCode } from '../../charts/figure/states.ts'
import { counted } from '../../contract/closest.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { GROUNDS } from './colors.ts'
import type { Attributes, Draft } from './draft.ts'

/** Regions whose borders are thin lines. */
const MANY_REGIONS = 400
/** Degrees of longitude beyond which a map shows the world. */
const WORLD_DEGREES = 120
/** Room around the points of a map, as a part of their extent, and at least, in degrees. */
const ROOM = 0.15
const MIN_DEGREES = 2

/** A quiet ground for what a map shows, and the part of the world where it is. */
export function arrangeMaps(draft: Draft): void {
  const { data, layout, view } = draft
  const points = data.filter(({ type }) => type === 'scattergeo')
  const places = data.filter(({ type }) => type === 'choropleth')
  if (points.length + places.length === 0) return
  const { ground, line, soft } = GROUNDS[view.scheme]
  const given: Attributes = layout.geo ?? {}
  // Regions of a file are all of the map.
  const isOwn = given.fitbounds === 'geojson'
  const { fitbounds, ...geo } = isOwn ? { ...given, fitbounds: undefined } : given
  const isOfUsa =
    places.length === 0 && given.scope === undefined && fitbounds !== undefined && isUsa(draft, points)
  const extent = places.length === 0 && fitbounds !== undefined && !isOfUsa ? extentOf(points) : undefined
  layout.geo = {
    landcolor: view.scheme === 'light' ? '#eceff2' : '#2a2f36',
    countrycolor: ground,
    subunitcolor: ground,
    coastlinecolor: line,
    bgcolor: ground,
    lakecolor: ground,
    showlakes: false,
    ...(isOwn && { fitbounds: given.fitbounds }),
    ...(isOfUsa && { scope: 'usa' }),
    ...(given.scope === undefined && !isOwn && !isOfUsa && { lataxis: { range: extent?.lat ?? [-58, 85] } }),
    ...(extent && { lonaxis: { range: extent.lon } }),
    ...geo,
    ...(isOfUsa && { projection: { type: 'albers usa' } }),
  }
  // More series than colors: the next ones have another symbol.
  for (const [k, trace] of data.entries())
    if (trace.type === 'scattergeo' && k >= COLORS.length)
      data[k] = { ...trace, marker: { symbol: 'diamond', ...trace.marker } }
  for (const [k, trace] of data.entries())
    if (trace.type === 'choropleth') {
      const width = listOf(trace.locations).length > MANY_REGIONS ? 0.1 : 0.5
      data[k] = { marker: { line: { color: soft, width } }, ...trace }
      // plotly.js knows states by their codes only.
      if (trace.locationmode === 'USA-states')
        data[k].locations = [...listOf(trace.locations)].map((place) => stateCode(String(place)) ?? place)
    }
}

/** Boxes of the USA: west, east, south, north. */
const USA = [
  [-125, -66, 24, 50],
  [-180, -129, 51, 72],
  [-161, -154, 18, 23],
] as const
/** Part of the points that are in the USA, for a map of it, and how far apart they are, in degrees. */
const MOSTLY = 0.95
const WIDE_DEGREES = 30

/** Whether nearly all points are in the USA, and all over it. The map has Alaska and Hawaii beside it; the others are said. */
function isUsa({ unseen }: Draft, points: readonly Attributes[]): boolean {
  const lon = rangeOf(points.map((trace) => trace.lon))
  if (!lon || lon[1] - lon[0] < WIDE_DEGREES) return false
  let [count, outside] = [0, 0]
  for (const trace of points)
    for (const [k, x] of [...listOf(trace.lon)].entries()) {
      const y = listOf(trace.lat)[k]
      if (typeof x !== 'number' || typeof y !== 'number') continue
      count++
      if (!USA.some(([west, east, south, north]) => x >= west && x <= east && y >= south && y <= north))
        outside++
    }
  if (count - outside < count * MOSTLY) return false
  if (outside > 0) unseen.push(`${counted(outside, 'place')} outside of the map`)
  return true
}

/** The part of the world with all points; undefined if it is most of it. */
function extentOf(
  points: readonly Attributes[],
): { lat: [number, number]; lon: [number, number] } | undefined {
  const lat = rangeOf(points.map((trace) => trace.lat))
  const lon = rangeOf(points.map((trace) => trace.lon))
  if (!lat || !lon || lon[1] - lon[0] > WORLD_DEGREES) return undefined
  return { lat: [Math.max(-90, lat[0]), Math.min(90, lat[1])], lon }
}

function rangeOf(lists: readonly unknown[]): [number, number] | undefined {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const list of lists)
    for (const value of listOf(list)) {
      if (typeof value !== 'number') continue
      if (value < least) least = value
      if (value > most) most = value
    }
  if (least > most) return undefined
  const room = Math.max(MIN_DEGREES, (most - least) * ROOM)
  return [least - room, most + room]
}

/** The annotation that names places that a map does not know, and how many of them. */
const PLACES = 'gridline-places'
const MAX_PLACES = 3

/** Places of maps that plotly.js has not found: nothing is drawn for them. */
function unknownPlaces({ calcdata }: { calcdata?: unknown }): string[] {
  const points: Attributes[] = Array.isArray(calcdata) ? calcdata.flat() : []
  const lost = points.filter((point) => point?.geojson === null && typeof point.loc === 'string')
  return [...new Set(lost.map(({ loc }) => String(loc)))]
}

function noteOf(places: readonly string[]): Attributes {
  const more = places.length - MAX_PLACES
  const names = places.slice(0, MAX_PLACES).map((place) => escapedMarkup(place))
  return {
    name: PLACES,
    text: `not on the map: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    ...{ xref: 'paper', yref: 'paper', x: 1, y: 1, xanchor: 'right', yanchor: 'bottom', showarrow: false },
    ...{ opacity: 0.7, font: { size: 11 } },
  }
}

/** Names places of a drawn map that plotly.js has not found, unless it says so already. */
export function placesNote(chart: unknown, annotations: readonly Attributes[]): Attributes | undefined {
  const unknown = unknownPlaces(chart as { calcdata?: unknown })
  return unknown.length > 0 && !annotations.some(({ name }) => name === PLACES) ? noteOf(unknown) : undefined
}
