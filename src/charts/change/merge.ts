// Changes columns and type of an existing chart, and keeps its design: see docs/guide.md#create-plots.
import { BAND, MARK } from '../compile/marks.ts'
import {
  type Attributes,
  defined,
  type Figure,
  isObject,
  isSame,
  tracesOf,
  typeOf,
} from '../figure/figure.ts'
import { NOTE, SOURCE } from '../figure/names.ts'
import { withColorOf } from '../figure/series-color.ts'
import type { ChartOptions } from '../spec/options.ts'
import { withoutComputed } from '../spec/words.ts'

/** Paths that an option sets: they override changes by hand. */
const SAID: Partial<Record<keyof ChartOptions, readonly string[]>> = {
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
const OURS = ['layout.meta.spec', 'layout.meta.chart', 'layout.meta.title', 'layout.meta.horizontal']

/** Paths of names and titles: columns do not replace those that were written by hand. */
const WORDS = /(?:\.title\.text|^data\.name)$/

/**
 * Merges three figures: applies the difference between `base` (from the previous options) and `generated`
 * (from the new options) to `current`, and keeps changes by hand. `input`: the options that the user named.
 * `names`: column names, to recognize generated names and titles.
 */
export function merged(
  current: Figure,
  base: Figure,
  generated: Figure,
  fid: string,
  input: ChartOptions,
  names: ReadonlySet<string>,
): Figure {
  const requestedPaths = Object.entries(SAID).flatMap(([option, paths]) =>
    input[option as keyof ChartOptions] === undefined ? [] : paths,
  )
  const merge = new Merge([...OURS, ...requestedPaths], names)
  return {
    ...current,
    data: merge.traces(current, base.data, generated.data, fid),
    layout: merge.members('layout', withTitle(current.layout), base.layout, generated.layout),
  }
}

/** Merges the members of three figures, path by path. */
class Merge {
  constructor(
    private readonly said: readonly string[],
    private readonly names: ReadonlySet<string>,
  ) {}

  private value(path: string, current: unknown, base: unknown, generated: unknown): unknown {
    if (this.said.includes(path) || isSame(current, base)) return generated
    if (path === 'layout.shapes') return ownLast(current, base, generated, [MARK, BAND])
    if (path === 'layout.annotations') return ownLast(current, base, generated, [NOTE, SOURCE])
    if (path === 'data.transforms') return this.transforms(current, base, generated)
    if (isObject(current) && (isObject(generated) || isObject(base))) {
      const next = this.members(path, current, objectOf(base), objectOf(generated))
      return Object.keys(next).length > 0 ? next : undefined
    }
    if (isSame(base, generated)) return current
    const isWritten = WORDS.test(path) && current !== undefined && !this.isDefault(current, base)
    return isWritten ? current : generated
  }

  members(path: string, current: Attributes, base: Attributes, generated: Attributes): Attributes {
    const next: Attributes = {}
    const memberOf = (members: Attributes, key: string): unknown =>
      Object.hasOwn(members, key) ? members[key] : undefined
    for (const key of new Set([...Object.keys(current), ...Object.keys(generated)]))
      if (key !== '__proto__')
        next[key] = this.value(
          `${path}.${key}`,
          memberOf(current, key),
          memberOf(base, key),
          memberOf(generated, key),
        )
    // A column reference replaces values in the figure.
    for (const key of Object.keys(next))
      if (typeof next[`${key}src`] === 'string' && generated[key] === undefined) delete next[key]
    return defined(next)
  }

  /** Returns whether a text was probably generated: a column name or an aggregate of it. */
  private isDefault(text: unknown, base: unknown): boolean {
    // Options generate parentheses only for time zones.
    if (typeof base === 'string' && /\(/.test(String(text)) && !/\(/.test(base)) return false
    return text === 'count' || this.names.has(String(text)) || this.names.has(withoutComputed(String(text)))
  }

  /** Merges traces by the data that they show. Traces that were added by hand stay. */
  traces(
    current: Figure,
    base: readonly Attributes[],
    generated: readonly Attributes[],
    fid: string,
  ): Attributes[] {
    const gridTraces = tracesOf(current, fid)
    const currentTraces = matched(base, gridTraces, gridTraces.length === base.length)
    const baseTraces = matched(generated, base, true)
    const next = generated.flatMap((trace, k) => {
      const baseTrace = baseTraces[k]
      const currentTrace = baseTrace && currentTraces[base.indexOf(baseTrace)]
      if (currentTrace) return [this.trace(currentTrace, baseTrace, trace)]
      // Do not restore a series that was removed by hand.
      return baseTrace && valuesOf(baseTrace) === valuesOf(trace) && gridTraces.length > 0 ? [] : [trace]
    })
    return current.data
      .flatMap((trace) => (currentTraces.includes(trace) ? next.splice(0, 1) : [trace]))
      .concat(next)
  }

  private trace(current: Attributes, base: Attributes, generated: Attributes): Attributes {
    const next = this.members('data', current, base, generated)
    return typeOf(current) === typeOf(next) ? next : withColorOf(next, current)
  }

  /** Merges transforms. Those that were added by hand come last. */
  private transforms(current: unknown, base: unknown, generated: unknown): Attributes[] | undefined {
    const [currentByKey, baseByKey, generatedByKey] = [current, base, generated].map(byKey)
    const next = [...generatedByKey].map(([key, transform]) => {
      const existing = currentByKey.get(key)
      if (!existing) return transform
      // The colors belong to the series of the old column.
      const { styles, ...rest } = existing
      const usable = existing.groupssrc === transform.groupssrc ? existing : rest
      return this.members('transform', usable, baseByKey.get(key) ?? {}, transform)
    })
    for (const [key, transform] of currentByKey)
      if (!baseByKey.has(key) && !generatedByKey.has(key)) next.push(transform)
    return next.length > 0 ? next : undefined
  }
}

/** Returns a layout whose title is an object: older versions of plotly.js had a string. */
function withTitle(layout: Attributes): Attributes {
  return typeof layout.title === 'string' ? { ...layout, title: { text: layout.title } } : layout
}

function objectOf(value: unknown): Attributes {
  return isObject(value) ? value : {}
}

/** Replaces the list items with these names by the generated ones, at the end of the list. */
function ownLast(current: unknown, base: unknown, generated: unknown, names: readonly string[]): unknown {
  const isGenerated = (item: unknown): boolean => isObject(item) && names.includes(item.name)
  const [all, baseItems, newItems] = [current, base, generated].map((list) =>
    Array.isArray(list) ? list : [],
  )
  if (isSame(baseItems.filter(isGenerated), newItems.filter(isGenerated))) return current
  const next = [...all.filter((item) => !isGenerated(item)), ...newItems.filter(isGenerated)]
  return next.length > 0 ? next : undefined
}

/** Returns the transforms by the option that they belong to. */
function byKey(list: unknown): Map<string, Attributes> {
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
function matched(
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
    (candidate, trace) => valuesOf(candidate) === valuesOf(trace) && typeOf(candidate) === typeOf(trace),
  )
  matchBy((candidate, trace) => valuesOf(candidate) === valuesOf(trace))
  if (isNext) matchBy(() => true)
  return matches
}

/** Returns the reference to the column that a trace shows. */
function valuesOf({ xsrc, ysrc, zsrc, valuessrc, orientation }: Attributes): unknown {
  return orientation === 'h' ? (xsrc ?? ysrc) : (zsrc ?? valuessrc ?? ysrc ?? xsrc)
}
