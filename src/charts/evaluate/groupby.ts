/** Transform `groupby`: splits a trace by group. */

import { type Attributes, isObject } from '../figure/figure.ts'
import { NO_LABEL } from '../figure/shared-names.ts'
import {
  copyTrace,
  getArrayAt,
  groupRows,
  listPointArrays,
  listTransforms,
  selectRows,
  type Transform,
  toKey,
} from './attributes.ts'

/** Matches groups that begin with a number: `2024`, `50,000 to 74,999`. */
const STARTS_WITH_NUMBER = /^\s*-?\d/

const OTHER_COLOR = '#a0a0a0'

/** Symbols and dashes of groups with `style`, in order. */
const SYMBOLS = ['circle', 'diamond', 'square', 'cross', 'triangle-up', 'x']
const DASHES = ['solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot']

/** Lists the groups of all series, in order, to assign symbols or dashes. */
function listStyledGroups({ groups }: Transform): string[] {
  return Array.isArray(groups) ? [...groupRows(groups).keys()] : []
}

/** Sets the symbols or dashes of the parts of a trace. */
function applyGroupStyle(
  parts: readonly Attributes[],
  trace: Attributes,
  { style: kind, hue }: Transform,
  order: readonly string[],
): void {
  for (const part of parts) {
    const index = order.indexOf(toKey(part.meta?.group))
    if (kind === 'symbol') part.marker = { symbol: SYMBOLS[index % SYMBOLS.length], ...part.marker }
    if (kind === 'dash') part.line = { dash: DASHES[index % DASHES.length], ...part.line }
    // Series that differ only in symbol or dash share a color.
    if (hue !== undefined) part.meta = { hue: trace.name ?? '' }
    else delete part.meta
  }
}

/** Returns whether an earlier transform splits the trace into series. */
function isSplitBefore({ transforms }: Attributes, path: string): boolean {
  const position = Number(path.split('.')[1])
  return listTransforms({ transforms: transforms.slice(0, position) }).some(
    ({ type, facet, animate }) => type === 'groupby' && facet !== true && animate !== true,
  )
}

/**
 * Splits a trace by its groups, in order of appearance. `index`: position of the trace; `count`: number of
 * traces. Adds the parts to `facets` and `frames`.
 */
export function applyGroupBy(
  original: Attributes,
  index: number,
  count: number,
  facets: Map<Attributes, string[]> = new Map(),
  frames: Map<unknown, string> = new Map(),
): Attributes[] {
  let traces = [copyTrace(original)]
  for (const k of original.transforms.keys())
    traces = traces.flatMap((trace) => {
      const transform: unknown = trace.transforms[k]
      if (!isObject(transform) || transform.type !== 'groupby' || transform.enabled === false) return [trace]
      const parts = splitTrace(trace, transform, `transforms.${k}.groups`, index, count)
      if (transform.style !== undefined)
        applyGroupStyle(parts, trace, transform, listStyledGroups(original.transforms[k]))
      // The parts of a trace stay in its facet and frame.
      const [facet, frame] = [facets.get(trace), frames.get(trace)]
      facets.delete(trace)
      frames.delete(trace)
      for (const part of parts) {
        if (transform.facet === true) {
          facets.set(part, [...(facet ?? []), part.name])
          // The facet is named in the title of its chart, so the series keeps the name of the trace.
          part.name = count > 1 ? trace.name : ''
        } else if (facet !== undefined) facets.set(part, facet)
        const isEmpty = part === trace
        if (transform.animate === true && !isEmpty) frames.set(part, part.name)
        else if (frame !== undefined) frames.set(part, frame)
        // A series has the same name in all frames.
        if (transform.animate === true && !isEmpty) part.name = trace.name
      }
      return parts
    })
  if (traces.length > 1 && original.uid !== undefined)
    for (const [k, trace] of traces.entries()) trace.uid = `${toKey(original.uid)}${k}`
  return traces
}

/** Counts the combinations of groups that occur: the maximum number of traces after splitting. */
export function countGroups(trace: Attributes): number {
  const combinations = new Set<string>()
  const lists = listTransforms(trace).flatMap(({ type, enabled, groups }): unknown[][] =>
    type === 'groupby' && enabled !== false && Array.isArray(groups) ? [groups] : [],
  )
  const rows = Math.max(0, ...lists.map(({ length }) => length))
  for (let row = 0; row < rows; row++) combinations.add(JSON.stringify(lists.map((list) => toKey(list[row]))))
  return combinations.size
}

/** Splits a trace by the groups at `path`. */
function splitTrace(
  trace: Attributes,
  transform: Transform,
  path: string,
  index: number,
  count: number,
): Attributes[] {
  const groups = getArrayAt(trace, path)
  if (groups.length === 0) return [trace]
  const { nameformat, otherGroup, facet, animate, hue, drop } = transform
  const isNamed = count > 1 || (hue !== undefined && isSplitBefore(trace, path))
  const defaultFormat = facet === true || animate === true || !isNamed ? '%{group}' : '%{group} (%{trace})'
  const format = typeof nameformat === 'string' ? nameformat : defaultFormat
  const paths = listPointArrays(trace)
  const rows = sortGroups([...groupRows(groups)], transform)
  const places = listPlaces(transform)
  const isLeftOut = (key: string): boolean =>
    key === otherGroup && (drop === true || trace.meta?.isBand === true)
  return rows
    .filter(([key]) => !isLeftOut(key))
    .map(([key, keyRows]) => {
      const style = findGroupStyle(transform.styles, key)
      const part = copyTrace(trace)
      selectRows(trace, keyRows, part, paths)
      // A style replaces values of single points.
      mergeStyle(part, style)
      part.name =
        typeof style.name === 'string'
          ? style.name
          : format
              .replaceAll('%{group}', labelOf(groups[keyRows[0]]))
              .replaceAll('%{trace}', labelOf(trace.name ?? `trace ${index}`))
      // Name the group of rows without a value.
      if (isExtended(transform) && String(part.name).trim() === '') part.name = NO_LABEL
      if (transform.style !== undefined) part.meta = { group: key }
      // Draw the first of two sides below zero; both show their values on hover.
      if (transform.sides === true) part.transforms.push({ type: key === rows[0][0] ? 'negate' : 'amounts' })
      if (key === otherGroup) formatOtherGroup(part, transform)
      if (places) part.meta = { ...part.meta, place: places.indexOf(key), places: places.length }
      return part
    })
}

/** Lists the groups of all rows in their order, also of those that a filter leaves out; undefined without a filter. */
function listPlaces(transform: Transform): string[] | undefined {
  const { allGroups } = transform
  if (!Array.isArray(allGroups)) return undefined
  return sortGroups([...groupRows(allGroups)], transform).map(([key]) => key)
}

/** Returns whether a `groupby` combines groups, or makes small charts or frames of them. */
function isExtended({ top, facet, animate }: Transform): boolean {
  return top !== undefined || facet === true || animate === true
}

/** Sorts groups with their rows, in place: numeric ones such as years by number, or by `order` if it is set. */
function sortGroups(rows: [string, number[]][], transform: Transform): [string, number[]][] {
  const { otherGroup, order } = transform
  const isNumbered = (key: string): boolean => key !== otherGroup && key !== NO_LABEL
  const numberOf = (key: string): number =>
    isNumbered(key) ? Number.parseFloat(key.replace(/(\d),(?=\d{3})/g, '$1')) : Number.POSITIVE_INFINITY
  if (isExtended(transform) && rows.every(([key]) => !isNumbered(key) || STARTS_WITH_NUMBER.test(key)))
    rows.sort(([a], [b]) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1))
  if (Array.isArray(order)) {
    const places = new Map<unknown, number>(order.map((key, k) => [key, k] as const).reverse())
    const orderOf = (key: string): number => places.get(key) ?? order.length
    rows.sort(([a], [b]) => orderOf(a) - orderOf(b))
  }
  // The group of all others is last.
  return rows.sort(([a], [b]) => Number(a === otherGroup) - Number(b === otherGroup))
}

/** Colors the group of all others gray. With `other`, combines its points at the same x. */
function formatOtherGroup(part: Attributes, { other }: Transform): void {
  part.line = { color: OTHER_COLOR, ...(isObject(part.line) ? part.line : {}) }
  part.marker = { color: OTHER_COLOR, ...(isObject(part.marker) ? part.marker : {}) }
  if (typeof other !== 'string') return
  part.name = `${part.name}, ${other === 'avg' ? 'mean' : other}`
  const aggregations = [{ target: 'y', func: other, empty: 'none' }]
  part.transforms.push({ type: 'aggregate', groups: 'x', aggregations })
}

/** Returns the style of a group; without attributes if it has none. */
function findGroupStyle(styles: unknown, key: string): Attributes {
  const list = Array.isArray(styles) ? styles.filter(isObject) : []
  const style: unknown = list.findLast(({ target }) => toKey(target) === key)?.value
  return isObject(style) ? style : {}
}

/** Merges a style into a trace, in place. */
function mergeStyle(trace: Attributes, style: Attributes): Attributes {
  for (const [name, value] of Object.entries(style)) {
    if (name === '__proto__') continue
    trace[name] = isObject(value) && isObject(trace[name]) ? mergeStyle(trace[name], value) : value
  }
  return trace
}

function labelOf(value: unknown): string {
  return value === null || value === undefined ? '' : toKey(value)
}
