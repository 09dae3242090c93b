/** Looks up which attributes of a trace type hold data. */
import { COMMON_DATA_ATTRIBUTES, DATA_ATTRIBUTES_BY_TYPE } from './attributes.ts'

const pathsByType = new Map<string, ReadonlySet<string>>()
let allPaths: ReadonlySet<string> | undefined

/** Returns paths (`marker.color`) of data attributes of a trace type; those of all types if it is unknown. */
export function listDataAttributes(type: string): ReadonlySet<string> {
  if (!Object.hasOwn(DATA_ATTRIBUTES_BY_TYPE, type)) {
    allPaths ??= new Set(
      Object.keys(DATA_ATTRIBUTES_BY_TYPE).flatMap((paths) => [...listDataAttributes(paths)]),
    )
    return allPaths
  }
  let paths = pathsByType.get(type)
  if (!paths) {
    const words = DATA_ATTRIBUTES_BY_TYPE[type].split(' ').filter((word) => word !== '')
    const removed = new Set(words.filter((word) => word[0] === '-').map((word) => word.slice(1)))
    paths = new Set([
      ...COMMON_DATA_ATTRIBUTES.split(' ').filter((path) => !removed.has(path)),
      ...words.filter((word) => word[0] !== '-'),
    ])
    pathsByType.set(type, paths)
  }
  return paths
}

/** Trace types whose `z` is a matrix. Several grid columns are transposed to its rows. */
const MATRIX_TYPES = new Set([
  'carpet',
  'contour',
  'contourcarpet',
  'contourgl',
  'heatmap',
  'heatmapgl',
  'surface',
])

/** Returns whether several columns of an attribute are transposed to rows. Otherwise they are an array of columns. */
export function isTransposed(type: string, path: string): boolean {
  return MATRIX_TYPES.has(type) && (path === 'z' || path === 'surfacecolor')
}
