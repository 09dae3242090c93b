// Theme of maps.
import { COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { stateCode } from '../../charts/figure/states.ts'
import { counted } from '../../contract/closest.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { GROUNDS } from './colors.ts'
import type { Attributes, Draft } from './draft.ts'

/** Above this number of regions, their borders are thinner. */
const MANY_REGIONS = 400
/** Extent in degrees of longitude above which a map shows the world. */
const WORLD_DEGREES = 120
/** Margin around the points of a map, as a share of their extent, and its minimum in degrees. */
const ROOM = 0.15
const MIN_DEGREES = 2

/** Sets the background of a map and the part of the world that it shows. */
export function arrangeMaps(draft: Draft): void {
  const { data, layout, view } = draft
  const points = data.filter(({ type }) => type === 'scattergeo')
  const places = data.filter(({ type }) => type === 'choropleth')
  if (points.length + places.length === 0) return
  const { ground, line, soft } = GROUNDS[view.scheme]
  const geoInput: Attributes = layout.geo ?? {}
  // A map of custom regions shows only these regions.
  const hasRegions = geoInput.fitbounds === 'geojson'
  const { fitbounds, ...geo } = hasRegions ? { ...geoInput, fitbounds: undefined } : geoInput
  const isOfUsa =
    places.length === 0 && geoInput.scope === undefined && fitbounds !== undefined && isUsa(draft, points)
  const extent = places.length === 0 && fitbounds !== undefined && !isOfUsa ? extentOf(points) : undefined
  layout.geo = {
    landcolor: view.scheme === 'light' ? '#eceff2' : '#2a2f36',
    countrycolor: ground,
    subunitcolor: ground,
    coastlinecolor: line,
    bgcolor: ground,
    lakecolor: ground,
    showlakes: false,
    ...(hasRegions && { fitbounds: geoInput.fitbounds }),
    ...(isOfUsa && { scope: 'usa' }),
    ...(geoInput.scope === undefined &&
      !hasRegions &&
      !isOfUsa && { lataxis: { range: extent?.lat ?? [-58, 85] } }),
    ...(extent && { lonaxis: { range: extent.lon } }),
    ...geo,
    ...(isOfUsa && { projection: { type: 'albers usa' } }),
  }
  // With more series than colors, the next series use another symbol.
  for (const [k, trace] of data.entries())
    if (trace.type === 'scattergeo' && k >= COLORS.length)
      data[k] = { ...trace, marker: { symbol: 'diamond', ...trace.marker } }
  for (const [k, trace] of data.entries())
    if (trace.type === 'choropleth') {
      const width = listOf(trace.locations).length > MANY_REGIONS ? 0.1 : 0.5
      data[k] = { marker: { line: { color: soft, width } }, ...trace }
      // plotly.js recognizes states by their codes only.
      if (trace.locationmode === 'USA-states')
        data[k].locations = [...listOf(trace.locations)].map((place) => stateCode(String(place)) ?? place)
    }
}

/** Bounding boxes of the USA: west, east, south, north. */
const USA = [
  [-125, -66, 24, 50],
  [-180, -129, 51, 72],
  [-161, -154, 18, 23],
] as const
/** Minimum share of points in the USA for a map of it, and their minimum extent in degrees. */
const MOSTLY = 0.95
const WIDE_DEGREES = 30

/** Returns whether nearly all points are in the USA, and spread over it. Lists the others as omitted. */
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

/** Returns the extent of all points; undefined if it is most of the world. */
function extentOf(
  points: readonly Attributes[],
): { lat: [number, number]; lon: [number, number] } | undefined {
  const lat = rangeOf(points.map((trace) => trace.lat))
  const lon = rangeOf(points.map((trace) => trace.lon))
  if (!lat || !lon || lon[1] - lon[0] > WORLD_DEGREES) return undefined
  return { lat: [Math.max(-90, lat[0]), Math.min(90, lat[1])], lon }
}

/** Returns the range of numbers with a margin, in degrees; undefined without numbers. */
function rangeOf(lists: readonly unknown[]): [number, number] | undefined {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const list of lists)
    for (const value of listOf(list)) {
      if (typeof value !== 'number') continue
      if (value < low) low = value
      if (value > high) high = value
    }
  if (low > high) return undefined
  const margin = Math.max(MIN_DEGREES, (high - low) * ROOM)
  return [low - margin, high + margin]
}

/** Name of the annotation of unknown places, and the maximum number of places in it. */
const PLACES = 'gridline-places'
const MAX_PLACES = 3

/** Returns the places of maps that plotly.js did not find. */
function unknownPlaces({ calcdata }: { calcdata?: unknown }): string[] {
  const points: Attributes[] = Array.isArray(calcdata) ? calcdata.flat() : []
  const unknownPoints = points.filter((point) => point?.geojson === null && typeof point.loc === 'string')
  return [...new Set(unknownPoints.map(({ loc }) => String(loc)))]
}

/** Returns the annotation of unknown places. */
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

/** Returns the annotation of unknown places in a drawn map; undefined if there is nothing to add. */
export function placesNote(chart: unknown, annotations: readonly Attributes[]): Attributes | undefined {
  const unknown = unknownPlaces(chart as { calcdata?: unknown })
  return unknown.length > 0 && !annotations.some(({ name }) => name === PLACES) ? noteOf(unknown) : undefined
}
