import { byType, common } from './attributes.ts'

const sets = new Map<string, ReadonlySet<string>>()
let anywhere: ReadonlySet<string> | undefined

/** Paths (`marker.color`) of data attributes of a trace type; those of all types if it is unknown. */
export function dataAttributes(type: string): ReadonlySet<string> {
  if (!Object.hasOwn(byType, type)) {
    anywhere ??= new Set(Object.keys(byType).flatMap((known) => [...dataAttributes(known)]))
    return anywhere
  }
  let known = sets.get(type)
  if (!known) {
    const words = byType[type].split(' ').filter((word) => word !== '')
    const without = new Set(words.filter((word) => word[0] === '-').map((word) => word.slice(1)))
    known = new Set([
      ...common.split(' ').filter((path) => !without.has(path)),
      ...words.filter((word) => word[0] !== '-'),
    ])
    sets.set(type, known)
  }
  return known
}

/** Trace types whose `z` is a matrix. Several columns are its columns: they are transposed to rows. */
const matrices = new Set([
  'carpet',
  'contour',
  'contourcarpet',
  'contourgl',
  'heatmap',
  'heatmapgl',
  'surface',
])

/** Whether several columns of an attribute are transposed to rows. Otherwise they are a list of columns. */
export function isTransposed(type: string, path: string): boolean {
  return matrices.has(type) && (path === 'z' || path === 'surfacecolor')
}
