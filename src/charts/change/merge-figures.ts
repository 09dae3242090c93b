// Changes columns and type of an existing chart, and keeps its design: see docs/guide.md#create-plots.
import {
  type Attributes,
  type Figure,
  isDeepEqual,
  isObject,
  listGridTraces,
  omitUndefined,
  toObject,
  traceChartTypeOf,
} from '../figure/figure.ts'
import { copyColor } from '../figure/series-color.ts'
import { BAND_NAME, MARK_NAME, NOTE_NAME, SOURCE_NAME } from '../figure/shared-names.ts'
import { type ChartOptions, OPTION_NAMES } from '../spec/options.ts'
import { stripAggregate } from '../spec/words.ts'

/** Paths that an option sets: they override changes by hand. */
const PATHS_BY_OPTION: Partial<Record<keyof ChartOptions, readonly string[]>> = {
  title: ['layout.title.text'],
  subtitle: ['layout.title.subtitle'],
  horizontal: ['layout.meta.horizontal'],
  stack: ['layout.barmode', 'layout.barnorm'],
  labels: ['data.texttemplate', 'data.textposition', 'data.textangle'],
  logX: ['layout.xaxis.type', 'layout.xaxis.range'],
  logY: ['layout.yaxis.type', 'layout.yaxis.range'],
  rangeX: ['layout.xaxis.range'],
  rangeY: ['layout.yaxis.range'],
  formatY: ['layout.yaxis.tickformat', 'layout.yaxis.hoverformat'],
  unit: ['layout.yaxis.tickprefix', 'layout.yaxis.ticksuffix'],
}

/** Paths that are never changed by hand. */
const GENERATED_PATHS = [
  'layout.meta.spec',
  'layout.meta.chart',
  'layout.meta.title',
  'layout.meta.horizontal',
]

/** Paths of names and titles: columns do not replace those that were written by hand. */
const TEXT_PATHS = /(?:\.title\.text|^data\.name)$/

/** Versions of a figure that are merged. */
interface FigureVersions {
  /** With changes by hand. */
  current: Figure
  /** Generated from the previous options. */
  base: Figure
  /** Generated from the new options. */
  generated: Figure
}

/**
 * Applies the difference between `base` and `generated` to `current`, and keeps changes by hand. `input`: the
 * options that the user named. `names`: column names, to recognize generated names and titles.
 */
export function mergeFigures(
  { current, base, generated }: FigureVersions,
  fid: string,
  input: ChartOptions,
  names: ReadonlySet<string>,
): Figure {
  const requestedPaths = OPTION_NAMES.flatMap((option) =>
    input[option] === undefined ? [] : (PATHS_BY_OPTION[option] ?? []),
  )
  const merge = new FigureMerger([...GENERATED_PATHS, ...requestedPaths], names)
  return {
    ...current,
    data: merge.mergeTraces(current, base.data, generated.data, fid),
    layout: merge.mergeMembers('layout', withTitleObject(current.layout), base.layout, generated.layout),
  }
}

/** Merges the members of three figures, path by path. */
class FigureMerger {
  constructor(
    private readonly overridingPaths: readonly string[],
    private readonly columnNames: ReadonlySet<string>,
  ) {}

  private mergeValue(path: string, current: unknown, base: unknown, generated: unknown): unknown {
    if (this.overridingPaths.includes(path) || isDeepEqual(current, base)) return generated
    if (path === 'layout.shapes') return replaceGenerated(current, base, generated, [MARK_NAME, BAND_NAME])
    if (path === 'layout.annotations')
      return replaceGenerated(current, base, generated, [NOTE_NAME, SOURCE_NAME])
    if (path === 'data.transforms') return this.mergeTransforms(current, base, generated)
    if (isObject(current) && (isObject(generated) || isObject(base))) {
      const next = this.mergeMembers(path, current, toObject(base), toObject(generated))
      return Object.keys(next).length > 0 ? next : undefined
    }
    if (isDeepEqual(base, generated)) return current
    const isWritten = TEXT_PATHS.test(path) && current !== undefined && !this.isGeneratedText(current, base)
    return isWritten ? current : generated
  }

  mergeMembers(path: string, current: Attributes, base: Attributes, generated: Attributes): Attributes {
    const next: Attributes = {}
    const memberOf = (members: Attributes, key: string): unknown =>
      Object.hasOwn(members, key) ? members[key] : undefined
    for (const key of new Set([...Object.keys(current), ...Object.keys(generated)]))
      if (key !== '__proto__')
        next[key] = this.mergeValue(
          `${path}.${key}`,
          memberOf(current, key),
          memberOf(base, key),
          memberOf(generated, key),
        )
    // A column reference replaces values in the figure.
    for (const key of Object.keys(next))
      if (typeof next[`${key}src`] === 'string' && generated[key] === undefined) delete next[key]
    return omitUndefined(next)
  }

  /** Returns whether a text was probably generated: a column name or an aggregate of it. */
  private isGeneratedText(text: unknown, base: unknown): boolean {
    // Options generate parentheses only for time zones.
    if (typeof base === 'string' && /\(/.test(String(text)) && !/\(/.test(base)) return false
    return (
      text === 'count' ||
      this.columnNames.has(String(text)) ||
      this.columnNames.has(stripAggregate(String(text)))
    )
  }

  /** Merges traces by the data that they show. Traces that were added by hand stay. */
  mergeTraces(
    current: Figure,
    base: readonly Attributes[],
    generated: readonly Attributes[],
    fid: string,
  ): Attributes[] {
    const gridTraces = listGridTraces(current, fid)
    const currentTraces = matchTraces(base, gridTraces, gridTraces.length === base.length)
    const baseTraces = matchTraces(generated, base, true)
    const next = generated.flatMap((trace, k) => {
      const baseTrace = baseTraces[k]
      const currentTrace = baseTrace && currentTraces[base.indexOf(baseTrace)]
      if (currentTrace) return [this.mergeTrace(currentTrace, baseTrace, trace)]
      // Do not restore a series that was removed by hand.
      return baseTrace && dataReferenceOf(baseTrace) === dataReferenceOf(trace) && gridTraces.length > 0
        ? []
        : [trace]
    })
    return current.data
      .flatMap((trace) => (currentTraces.includes(trace) ? next.splice(0, 1) : [trace]))
      .concat(next)
  }

  private mergeTrace(current: Attributes, base: Attributes, generated: Attributes): Attributes {
    const next = this.mergeMembers('data', current, base, generated)
    return traceChartTypeOf(current) === traceChartTypeOf(next) ? next : copyColor(next, current)
  }

  /** Merges transforms. Those that were added by hand come last. */
  private mergeTransforms(current: unknown, base: unknown, generated: unknown): Attributes[] | undefined {
    const [currentByKey, baseByKey, generatedByKey] = [current, base, generated].map(groupTransformsByOption)
    const next = [...generatedByKey].map(([key, transform]) => {
      const existing = currentByKey.get(key)
      if (!existing) return transform
      // The colors belong to the series of the old column.
      const { styles, ...rest } = existing
      const usable = existing.groupssrc === transform.groupssrc ? existing : rest
      return this.mergeMembers('transform', usable, baseByKey.get(key) ?? {}, transform)
    })
    for (const [key, transform] of currentByKey)
      if (!baseByKey.has(key) && !generatedByKey.has(key)) next.push(transform)
    return next.length > 0 ? next : undefined
  }
}

/** Returns a layout whose title is an object: older versions of plotly.js had a string. */
function withTitleObject(layout: Attributes): Attributes {
  return typeof layout.title === 'string' ? { ...layout, title: { text: layout.title } } : layout
}

/** Replaces the list items with these names by the generated ones, at the end of the list. */
function replaceGenerated(
  current: unknown,
  base: unknown,
  generated: unknown,
  names: readonly string[],
): unknown {
  const isGenerated = (item: unknown): boolean => isObject(item) && names.includes(item.name)
  const [all, baseItems, newItems] = [current, base, generated].map((list) =>
    Array.isArray(list) ? list : [],
  )
  if (isDeepEqual(baseItems.filter(isGenerated), newItems.filter(isGenerated))) return current
  const next = [...all.filter((item) => !isGenerated(item)), ...newItems.filter(isGenerated)]
  return next.length > 0 ? next : undefined
}

/** Returns the transforms by the option that they belong to. */
function groupTransformsByOption(list: unknown): Map<string, Attributes> {
  const transforms = new Map<string, Attributes>()
  for (const transform of Array.isArray(list) ? list.filter(isObject) : []) {
    const { type, facet, animate, hue } = transform
    const kind =
      facet === true ? 'facet' : animate === true ? 'animate' : hue !== undefined ? 'style' : String(type)
    let key = kind
    for (let k = 2; transforms.has(key); k++) key = `${kind} ${k}`
    transforms.set(key, transform)
  }
  return transforms
}

/**
 * Returns the match of each trace in `candidates`: one with the same data and type, else the same data, else,
 * with `isNext`, the next unused one.
 */
function matchTraces(
  traces: readonly Attributes[],
  candidates: readonly Attributes[],
  isNext: boolean,
): (Attributes | undefined)[] {
  const free = new Set(candidates)
  const matches: (Attributes | undefined)[] = traces.map(() => undefined)
  const matchBy = (isMatch: (candidate: Attributes, trace: Attributes) => boolean): void => {
    for (const [k, trace] of traces.entries()) {
      matches[k] ??= [...free].find((candidate) => isMatch(candidate, trace))
      if (matches[k]) free.delete(matches[k])
    }
  }
  matchBy(
    (candidate, trace) =>
      dataReferenceOf(candidate) === dataReferenceOf(trace) &&
      traceChartTypeOf(candidate) === traceChartTypeOf(trace),
  )
  matchBy((candidate, trace) => dataReferenceOf(candidate) === dataReferenceOf(trace))
  if (isNext) matchBy(() => true)
  return matches
}

/** Returns the reference to the column that a trace shows. */
function dataReferenceOf({ xsrc, ysrc, zsrc, valuessrc, orientation }: Attributes): unknown {
  return orientation === 'h' ? (xsrc ?? ysrc) : (zsrc ?? valuessrc ?? ysrc ?? xsrc)
}
