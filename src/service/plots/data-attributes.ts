import { byType, common } from './attributes.ts'

const sets = new Map<string, ReadonlySet<string>>()
let anywhere: ReadonlySet<string> | undefined

/** Paths (`marker.color`) of the attributes of a trace type that hold data; those of all types for one plotly.js does not know. */
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

/** Types whose `z` is a matrix: several columns are its columns, so each row has one value of each. */
const matrices = new Set([
  'carpet',
  'contour',
  'contourcarpet',
  'contourgl',
  'heatmap',
  'heatmapgl',
  'surface',
])

/** Whether several columns given for an attribute are turned into rows; elsewhere they are a list of columns. */
export function isTransposed(type: string, path: string): boolean {
  return matrices.has(type) && (path === 'z' || path === 'surfacecolor')
}
