// Theme of maps.
import { COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { findStateCode } from '../../charts/figure/states.ts'
import { listLatitudes } from '../../charts/omitted.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { escapeMarkup } from '../../contract/plotly-markup.ts'
import type { Attributes, Draft } from './arrangement.ts'
import { SCHEME_COLORS } from './colors.ts'

/** Above this number of regions, their borders are thinner. */
const THIN_BORDERS_THRESHOLD_REGIONS = 400
/** Extent in degrees of longitude above which a map shows the world. */
const WORLD_DEGREES = 120
/** Margin around the points of a map, as a share of their extent, and its minimum in degrees. */
const MARGIN_SHARE = 0.15
const MIN_MARGIN_DEGREES = 2

/** Sets the background of a map and the part of the world that it shows. */
export function arrangeMaps(draft: Draft): void {
  const { data, layout, view } = draft
  const points = data.filter(({ type }) => type === 'scattergeo')
  const places = data.filter(({ type }) => type === 'choropleth')
  if (points.length + places.length === 0) return
  const { ground, line, soft } = SCHEME_COLORS[view.scheme]
  const geoInput: Attributes = layout.geo ?? {}
  // A map of custom regions shows only these regions.
  const hasRegions = geoInput.fitbounds === 'geojson'
  const { fitbounds, ...geo } = hasRegions ? { ...geoInput, fitbounds: undefined } : geoInput
  const isOfUsa =
    places.length === 0 && geoInput.scope === undefined && fitbounds !== undefined && isInUsa(draft, points)
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
  // plotly.js draws places beyond the poles at the edge of the map.
  for (const [k, trace] of data.entries())
    if (trace.type === 'scattergeo' && listOf(trace.lat).length > 0)
      data[k] = { ...trace, lat: listLatitudes(trace) }
  // With more series than colors, the next series use another symbol.
  for (const [k, trace] of data.entries())
    if (trace.type === 'scattergeo' && k >= COLORS.length)
      data[k] = { ...trace, marker: { symbol: 'diamond', ...trace.marker } }
  for (const [k, trace] of data.entries())
    if (trace.type === 'choropleth') {
      const width = listOf(trace.locations).length > THIN_BORDERS_THRESHOLD_REGIONS ? 0.1 : 0.5
      data[k] = { marker: { line: { color: soft, width } }, ...trace }
      // plotly.js recognizes states by their codes only.
      if (trace.locationmode === 'USA-states')
        data[k].locations = [...listOf(trace.locations)].map((place) => findStateCode(String(place)) ?? place)
    }
}

/** Bounding boxes of the USA: west, east, south, north. */
const USA_BOXES = [
  [-125, -66, 24, 50],
  [-180, -129, 51, 72],
  [-161, -154, 18, 23],
] as const
/** Minimum share of points in the USA for a map of it, and their minimum extent in degrees. */
const MIN_USA_SHARE = 0.95
const MIN_USA_DEGREES = 30

/** Returns whether nearly all points are in the USA, and spread over it. Lists the others as omitted. */
function isInUsa({ omitted }: Draft, points: readonly Attributes[]): boolean {
  const lon = rangeWithMargin(points.map((trace) => trace.lon))
  if (!lon || lon[1] - lon[0] < MIN_USA_DEGREES) return false
  let [count, outside] = [0, 0]
  for (const trace of points)
    for (const [k, x] of [...listOf(trace.lon)].entries()) {
      const y = listOf(trace.lat)[k]
      if (typeof x !== 'number' || typeof y !== 'number') continue
      count++
      if (!USA_BOXES.some(([west, east, south, north]) => x >= west && x <= east && y >= south && y <= north))
        outside++
    }
  if (count - outside < count * MIN_USA_SHARE) return false
  if (outside > 0) omitted.push(`${formatCount(outside, 'place')} outside of the map`)
  return true
}

/** Returns the extent of all points; undefined if it is most of the world. */
function extentOf(
  points: readonly Attributes[],
): { lat: [number, number]; lon: [number, number] } | undefined {
  const lat = rangeWithMargin(points.map((trace) => trace.lat))
  const lon = rangeWithMargin(points.map((trace) => trace.lon))
  if (!lat || !lon || lon[1] - lon[0] > WORLD_DEGREES) return undefined
  return { lat: [Math.max(-90, lat[0]), Math.min(90, lat[1])], lon }
}

/** Returns the range of numbers with a margin, in degrees; undefined without numbers. */
function rangeWithMargin(lists: readonly unknown[]): [number, number] | undefined {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const list of lists)
    for (const value of listOf(list)) {
      if (typeof value !== 'number') continue
      if (value < low) low = value
      if (value > high) high = value
    }
  if (low > high) return undefined
  const margin = Math.max(MIN_MARGIN_DEGREES, (high - low) * MARGIN_SHARE)
  return [low - margin, high + margin]
}

/** Name of the annotation of unknown places, and the maximum number of places in it. */
const PLACES_NOTE_NAME = 'gridline-places'
const MAX_LISTED_PLACES = 3

/** Returns the places of maps that plotly.js did not find. */
function listUnknownPlaces({ calcdata }: { calcdata?: unknown }): string[] {
  const points: Attributes[] = Array.isArray(calcdata) ? calcdata.flat() : []
  const unknownPoints = points.filter((point) => point?.geojson === null && typeof point.loc === 'string')
  return [...new Set(unknownPoints.map(({ loc }) => String(loc)))]
}

/** Returns the annotation of unknown places. */
function createPlacesNote(places: readonly string[]): Attributes {
  const more = places.length - MAX_LISTED_PLACES
  const names = places.slice(0, MAX_LISTED_PLACES).map((place) => escapeMarkup(place))
  return {
    name: PLACES_NOTE_NAME,
    text: `not on the map: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    ...{ xref: 'paper', yref: 'paper', x: 1, y: 1, xanchor: 'right', yanchor: 'bottom', showarrow: false },
    ...{ opacity: 0.7, font: { size: 11 } },
  }
}

/** Returns the annotation of unknown places in a drawn map; undefined if there is nothing to add. */
export function findPlacesNote(chart: unknown, annotations: readonly Attributes[]): Attributes | undefined {
  const unknown = listUnknownPlaces(chart as { calcdata?: unknown })
  return unknown.length > 0 && !annotations.some(({ name }) => name === PLACES_NOTE_NAME)
    ? createPlacesNote(unknown)
    : undefined
}
