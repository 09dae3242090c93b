// Adds the regions of --geojson to choropleths.
import { readFileSync, statSync } from 'node:fs'
import type { Feature, FeatureCollection, Position } from 'geojson'
import type { Topology } from 'topojson-specification'
import type { Figure } from '../../charts/figure/figure.ts'
import { errorCodeOf, Problem } from '../../contract/errors.ts'
import { formatList } from '../../contract/message-texts.ts'

/** Maximum size of a file of regions, in bytes: regions become part of the chart. */
const MAX_REGION_BYTES = 50 * 1024 * 1024
/** Decimal places of coordinates: 0.001° is 110 m. */
const COORDINATE_DIGITS = 3
const HINT = 'Use GeoJSON or TopoJSON whose features have a property with the values of the column.'

/**
 * Adds the regions of a file to a choropleth. `places`: values of the column with region names. `note`:
 * reports places without region. Throws `no_such_file` and `bad_data`.
 */
export async function addRegionsFromFile(
  { data, layout }: Figure,
  file: string,
  places: readonly string[],
  note: (text: string) => void,
): Promise<Figure> {
  const candidates = await readFeatures(file)
  let best: { features: Feature[]; names: string[]; matchCount: number } | undefined
  for (const features of candidates)
    for (const names of candidateNames(features)) {
      const regionNames = new Set(names)
      const matchCount = places.filter((place) => regionNames.has(normalizeName(place))).length
      if (matchCount > (best?.matchCount ?? 0)) best = { features, names, matchCount }
    }
  if (!best)
    throw new Problem(
      'bad_data',
      `--geojson ${file}: expected a property with the values ${formatList(places.slice(0, 3))}`,
      {
        hint: HINT,
      },
    )
  const { features, names } = best
  // Use the spelling of the column: `01001` is 1001.
  const placeByName = new Map(places.map((place) => [normalizeName(place), place]))
  const missing = places.filter((place) => !names.includes(normalizeName(place)))
  if (missing.length > 0) note(`--geojson ${file}: no region is named ${formatList(missing, 5)}; not drawn`)
  const drawnFeatures = features.flatMap(({ geometry }, k) => {
    if (geometry?.type !== 'Polygon' && geometry?.type !== 'MultiPolygon') return []
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    const coordinates = polygons.map((rings) =>
      rings.map((ring, n) => orientRing(ring.map(roundPosition), n === 0)),
    )
    const id = placeByName.get(names[k]) ?? names[k]
    return [{ type: 'Feature', id, properties: {}, geometry: { type: 'MultiPolygon', coordinates } }]
  })
  const extent = computeExtent(drawnFeatures.flatMap(({ geometry }) => geometry.coordinates.flat(2)))
  const [trace, ...rest] = data
  const regions = { geojson: { type: 'FeatureCollection', features: drawnFeatures }, featureidkey: 'id' }
  return { data: [{ ...trace, ...regions }, ...rest], layout: { ...layout, geo: createGeoLayout(extent) } }
}

/** Returns the lists of features of a file: one for GeoJSON, one per object for TopoJSON. */
async function readFeatures(file: string): Promise<Feature[][]> {
  const refuse = (reason: string): Problem =>
    new Problem('bad_data', `--geojson ${file}: ${reason}`, { hint: HINT })
  let parsed: FeatureCollection | Topology
  try {
    if (statSync(file).size > MAX_REGION_BYTES) throw refuse(`larger than ${MAX_REGION_BYTES} bytes`)
    parsed = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') throw new Problem('no_such_file', `no such file: ${file}`)
    throw error instanceof SyntaxError ? refuse(`not JSON: ${error.message}`) : error
  }
  if (parsed?.type === 'FeatureCollection' && Array.isArray(parsed.features)) return [parsed.features]
  if (parsed?.type !== 'Topology') throw refuse('neither a FeatureCollection nor a Topology')
  const { feature } = await import('topojson-client')
  const topology = parsed
  return Object.values(topology.objects).flatMap((object) => {
    const converted = feature(topology, object)
    return converted.type === 'FeatureCollection' ? [converted.features] : []
  })
}

/** Lists candidates for region names: the ids, and each property. */
function candidateNames(features: readonly Feature[]): string[][] {
  const keys = new Set(features.slice(0, 50).flatMap(({ properties }) => Object.keys(properties ?? {})))
  const lists = [
    features.map(({ id }) => id),
    ...[...keys].map((key) => features.map(({ properties }) => properties?.[key])),
  ]
  return lists.map((list) => list.map((name) => normalizeName(String(name ?? ''))))
}

/** Normalizes a name: lower case, without zeros before a code. */
function normalizeName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^0+(?=\d)/, '')
}

/** Rounds a coordinate. */
function roundPosition(position: Position): [number, number] {
  return [Number(position[0].toFixed(COORDINATE_DIGITS)), Number(position[1].toFixed(COORDINATE_DIGITS))]
}

/**
 * Orients a ring as maps require: outer rings clockwise, holes counter-clockwise. Otherwise the outside is
 * filled.
 */
function orientRing(ring: [number, number][], isOuter: boolean): [number, number][] {
  const area = ring.reduce((sum, [x, y], k) => {
    const [nextX, nextY] = ring[(k + 1) % ring.length]
    return sum + x * nextY - nextX * y
  }, 0)
  return area < 0 === isOuter ? ring : ring.toReversed()
}

/** Bounds in degrees. */
interface Extent {
  west: number
  east: number
  south: number
  north: number
}

/** Returns the bounds of positions. */
function computeExtent(positions: readonly [number, number][]): Extent {
  const extent = { west: 180, east: -180, south: 90, north: -90 }
  for (const [x, y] of positions) {
    extent.west = Math.min(extent.west, x)
    extent.east = Math.max(extent.east, x)
    extent.south = Math.min(extent.south, y)
    extent.north = Math.max(extent.north, y)
  }
  return extent
}

/**
 * Returns the layout of the map, without built-in borders. The USA has its own projection, with Alaska and
 * Hawaii as insets.
 */
function createGeoLayout({ west, east, south, north }: Extent): object {
  const isUsa = west < -150 && south > 10 && north < 73 && (east < -60 || east > 170)
  if (isUsa) return { visible: false, scope: 'usa', projection: { type: 'albers usa' } }
  const isWorld = east - west > 180
  return {
    visible: false,
    ...(isWorld
      ? { projection: { type: 'natural earth' } }
      : { fitbounds: 'geojson', projection: { type: 'mercator' } }),
  }
}
