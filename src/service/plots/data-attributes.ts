/** Looks up which attributes of a trace type hold data. */
import { byType, common } from './attributes.ts'

const sets = new Map<string, ReadonlySet<string>>()
let anywhere: ReadonlySet<string> | undefined

/** Returns paths (`marker.color`) of data attributes of a trace type; those of all types if it is unknown. */
export function dataAttributes(type: string): ReadonlySet<string> {
  if (!Object.hasOwn(byType, type)) {
    anywhere ??= new Set(Object.keys(byType).flatMap((paths) => [...dataAttributes(paths)]))
    return anywhere
  }
  let paths = sets.get(type)
  if (!paths) {
    const words = byType[type].split(' ').filter((word) => word !== '')
    const removed = new Set(words.filter((word) => word[0] === '-').map((word) => word.slice(1)))
    paths = new Set([
      ...common.split(' ').filter((path) => !removed.has(path)),
      ...words.filter((word) => word[0] !== '-'),
    ])
    sets.set(type, paths)
  }
  return paths
}

/** Trace types whose `z` is a matrix. Several grid columns are transposed to its rows. */
const matrices = new Set([
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
  return matrices.has(type) && (path === 'z' || path === 'surfacecolor')
}
