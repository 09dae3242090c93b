import { NO_LABEL } from '../../../charts/figure/names.ts'
import {
  type Attributes,
  arraysOf,
  copied,
  isObject,
  keyOf,
  rowsByKey,
  type Transform,
  takeRows,
  valueAt,
} from './attributes.ts'

/** Groups that begin with a number: `2024`, `50,000 to 74,999`. */
const NUMBERED = /^\s*-?\d/

const OTHER_COLOR = '#a0a0a0'

/** Looks of the groups of `style`, in order. */
const SYMBOLS = ['circle', 'diamond', 'square', 'cross', 'triangle-up', 'x']
const DASHES = ['solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot']

/** The groups that have looks, in order: those of all series. */
function stylesOf({ groups }: Transform): string[] {
  return Array.isArray(groups) ? [...rowsByKey(groups).keys()] : []
}

/** Gives the parts of a trace the symbols or dashes of their groups. */
function style(
  parts: readonly Attributes[],
  trace: Attributes,
  { style: kind, hue }: Transform,
  order: readonly string[],
): void {
  for (const part of parts) {
    const place = order.indexOf(keyOf(part.meta?.group))
    if (kind === 'symbol') part.marker = { symbol: SYMBOLS[place % SYMBOLS.length], ...part.marker }
    if (kind === 'dash') part.line = { dash: DASHES[place % DASHES.length], ...part.line }
    // Series that differ in their symbols or dashes alone have one color.
    if (hue !== undefined) part.meta = { hue: trace.name ?? '' }
    else delete part.meta
  }
}

/** Whether a trace has been divided into series before this transform. */
function hasOtherGroups({ transforms }: Attributes, path: string): boolean {
  const at = Number(path.split('.')[1])
  return (transforms as Transform[]).some(
    (one, k) => k < at && one?.type === 'groupby' && one.facet !== true && one.animate !== true,
  )
}

/**
 * A trace for each group of its points, in the order of their first points. `index` and `count`: of the traces. Adds the
 * traces of small charts to `facets`, and those of an animation to `frames`.
 */
export function expand(
  given: Attributes,
  index: number,
  count: number,
  facets: Map<Attributes, string[]> = new Map(),
  frames: Map<unknown, string> = new Map(),
): Attributes[] {
  let traces = [copied(given)]
  for (const k of (given.transforms as unknown[]).keys())
    traces = traces.flatMap((trace) => {
      const transform: unknown = trace.transforms[k]
      if (!isObject(transform) || transform.type !== 'groupby' || transform.enabled === false) return [trace]
      const parts = grouped(trace, transform, `transforms.${k}.groups`, index, count)
      if (transform.style !== undefined) style(parts, trace, transform, stylesOf(given.transforms[k]))
      // The parts of a facet are in it too.
      const [facet, frame] = [facets.get(trace), frames.get(trace)]
      facets.delete(trace)
      frames.delete(trace)
      for (const part of parts) {
        if (transform.facet === true) {
          facets.set(part, [...(facet ?? []), part.name])
          // The name of a small chart is its title: in it, series have their own.
          part.name = count > 1 ? trace.name : ''
        } else if (facet !== undefined) facets.set(part, facet)
        const isEmpty = part === trace
        if (transform.animate === true && !isEmpty) frames.set(part, part.name)
        else if (frame !== undefined) frames.set(part, frame)
        // Series of several frames are the same one.
        if (transform.animate === true && !isEmpty) part.name = trace.name
      }
      return parts
    })
  if (traces.length > 1 && given.uid !== undefined)
    for (const [k, trace] of traces.entries()) trace.uid = `${keyOf(given.uid)}${k}`
  return traces
}

/** The most traces that the groups of a trace can give: there is one for each combination that occurs. */
export function groupsOf(trace: Attributes): number {
  const combinations = new Set<string>()
  const lists = (trace.transforms as unknown[]).flatMap((one) =>
    isObject(one) && one.type === 'groupby' && one.enabled !== false && Array.isArray(one.groups)
      ? [one.groups as unknown[]]
      : [],
  )
  const rows = Math.max(0, ...lists.map(({ length }) => length))
  for (let row = 0; row < rows; row++) combinations.add(JSON.stringify(lists.map((list) => keyOf(list[row]))))
  return combinations.size
}

function grouped(
  trace: Attributes,
  {
    nameformat,
    styles,
    otherGroup,
    other,
    top,
    facet,
    animate,
    style: styled,
    hue,
    drop,
    order,
    sides,
  }: Transform,
  path: string,
  index: number,
  count: number,
): Attributes[] {
  const groups = valueAt(trace, path)
  if (!Array.isArray(groups) || groups.length === 0) return [trace]
  const isNamed = count > 1 || (hue !== undefined && hasOtherGroups(trace, path))
  const usual = facet === true || animate === true || !isNamed ? '%{group}' : '%{group} (%{trace})'
  const format = typeof nameformat === 'string' ? nameformat : usual
  const paths = arraysOf(trace)
  const isStyled = styled !== undefined
  const isOurs = top !== undefined || facet === true || animate === true
  const rows = [...rowsByKey(groups)]
  // Years, classes and sizes are in their order.
  const isOrdered =
    isOurs && rows.every(([key]) => key === otherGroup || key === NO_LABEL || NUMBERED.test(key))
  const placeOf = (key: string): number =>
    key === otherGroup || key === NO_LABEL
      ? Number.POSITIVE_INFINITY
      : Number.parseFloat(key.replace(/(\d),(?=\d{3})/g, '$1'))
  if (isOrdered) rows.sort(([a], [b]) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
  if (Array.isArray(order)) {
    const at = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length)
    rows.sort(([a], [b]) => at(a) - at(b))
  }
  // What stands for all other groups is last.
  rows.sort(([a], [b]) => Number(a === otherGroup) - Number(b === otherGroup))
  const isLeftOut = (key: string): boolean =>
    key === otherGroup && (drop === true || trace.meta?.isBand === true)
  return rows
    .filter(([key]) => !isLeftOut(key))
    .map(([key, own]) => {
      const style = styleOf(styles, key)
      const name = isObject(style) ? style.name : undefined
      const part = merged(copied(trace), isObject(style) ? style : {})
      part.name =
        typeof name === 'string'
          ? name
          : format
              .replaceAll('%{group}', textOf(groups[own[0]]))
              .replaceAll('%{trace}', textOf(trace.name ?? `trace ${index}`))
      // Rows without a value are a series that can be named.
      if (isOurs && String(part.name).trim() === '') part.name = NO_LABEL
      takeRows(trace, own, part, paths)
      if (isStyled) part.meta = { group: key }
      // The first of two sides is on the other side of zero; both have their values for the pointer.
      if (sides === true) part.transforms.push({ type: key === rows[0][0] ? 'negate' : 'amounts' })
      if (key === otherGroup) {
        // What stands for many has no color of its own.
        part.line = { color: OTHER_COLOR, ...(isObject(part.line) ? part.line : {}) }
        part.marker = { color: OTHER_COLOR, ...(isObject(part.marker) ? part.marker : {}) }
      }
      if (key === otherGroup && typeof other === 'string') {
        // Points of many groups at the same x are one point.
        part.name = `${part.name}, ${other === 'avg' ? 'mean' : other}`
        part.transforms.push({
          type: 'aggregate',
          groups: 'x',
          aggregations: [{ target: 'y', func: other, empty: 'none' }],
        })
      }
      return part
    })
}

/** The attributes that one group has. */
function styleOf(styles: unknown, key: string): unknown {
  const list = Array.isArray(styles) ? styles.filter(isObject) : []
  return list.findLast((style) => keyOf(style.target) === key)?.value
}

function merged(trace: Attributes, style: Attributes): Attributes {
  for (const [name, value] of Object.entries(style)) {
    if (name === '__proto__') continue
    trace[name] = isObject(value) && isObject(trace[name]) ? merged(trace[name], value) : value
  }
  return trace
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : keyOf(value)
}
