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

/**
 * Changes a chart that exists: see docs/guide.md#create-plots. What its options make takes the place of what they made before;
 * what was changed by hand since then stays: colors, names, titles, traces.
 */

/** Attributes of the layout, and of traces, that an option says: they are as it says, whatever is there. */
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

/** Attributes that no hand changes. */
const OURS = ['layout.meta.spec', 'layout.meta.chart', 'layout.meta.title', 'layout.meta.horizontal']

/** Names and titles: where one was written by hand, columns do not change it. */
const WORDS = /(?:\.title\.text|^data\.name)$/

/**
 * The figure `current` with what options make now (`made`) in the place of what they made before (`base`). `given`: the options
 * that are named. `names`: those of columns, which are no names that somebody wrote.
 */
export function merged(
  current: Figure,
  base: Figure,
  made: Figure,
  fid: string,
  given: ChartOptions,
  names: ReadonlySet<string>,
): Figure {
  const said = Object.entries(SAID).flatMap(([option, paths]) =>
    given[option as keyof ChartOptions] === undefined ? [] : paths,
  )
  const merge = new Merge([...OURS, ...said], names)
  return {
    ...current,
    data: merge.traces(current, base.data, made.data, fid),
    layout: merge.members('layout', withTitle(current.layout), base.layout, made.layout),
  }
}

class Merge {
  constructor(
    private readonly said: readonly string[],
    private readonly names: ReadonlySet<string>,
  ) {}

  private value(path: string, current: unknown, base: unknown, made: unknown): unknown {
    if (this.said.includes(path) || isSame(current, base)) return made
    if (path === 'layout.shapes') return ownLast(current, base, made, [MARK, BAND])
    if (path === 'layout.annotations') return ownLast(current, base, made, [NOTE, SOURCE])
    if (path === 'data.transforms') return this.transforms(current, base, made)
    if (isObject(current) && (isObject(made) || isObject(base))) {
      const next = this.members(path, current, objectOf(base), objectOf(made))
      return Object.keys(next).length > 0 ? next : undefined
    }
    if (isSame(base, made)) return current
    const isWritten = WORDS.test(path) && current !== undefined && !this.isDefault(current, base)
    return isWritten ? current : made
  }

  members(path: string, current: Attributes, base: Attributes, made: Attributes): Attributes {
    const next: Attributes = {}
    const of = (members: Attributes, key: string): unknown =>
      Object.hasOwn(members, key) ? members[key] : undefined
    for (const key of new Set([...Object.keys(current), ...Object.keys(made)]))
      if (key !== '__proto__')
        next[key] = this.value(`${path}.${key}`, of(current, key), of(base, key), of(made, key))
    // A column is drawn in place of values that were in the figure.
    for (const key of Object.keys(next))
      if (typeof next[`${key}src`] === 'string' && made[key] === undefined) delete next[key]
    return defined(next)
  }

  /** Whether a text looks like one that options wrote, also in earlier releases: the name of a column, or what is computed of it. */
  private isDefault(text: unknown, base: unknown): boolean {
    // Options write parentheses for time zones only: others were written by hand.
    if (typeof base === 'string' && /\(/.test(String(text)) && !/\(/.test(base)) return false
    return text === 'count' || this.names.has(String(text)) || this.names.has(withoutComputed(String(text)))
  }

  /** The traces in the order of the options, in the places of those that were there. Those that were added by hand stay. */
  traces(
    current: Figure,
    base: readonly Attributes[],
    made: readonly Attributes[],
    fid: string,
  ): Attributes[] {
    const ours = tracesOf(current, fid)
    const present = matched(base, ours, ours.length === base.length)
    const before = matched(made, base, true)
    const next = made.flatMap((trace, k) => {
      const old = before[k]
      const own = old && present[base.indexOf(old)]
      if (own) return [this.trace(own, old, trace)]
      // A series that was removed by hand stays so.
      return old && valuesOf(old) === valuesOf(trace) && ours.length > 0 ? [] : [trace]
    })
    return current.data
      .flatMap((trace) => (present.includes(trace) ? next.splice(0, 1) : [trace]))
      .concat(next)
  }

  private trace(current: Attributes, base: Attributes, made: Attributes): Attributes {
    const next = this.members('data', current, base, made)
    return typeOf(current) === typeOf(next) ? next : withColorOf(next, current)
  }

  /** The transforms that options make, with what was changed in them, and then those that were added by hand. */
  private transforms(current: unknown, base: unknown, made: unknown): Attributes[] | undefined {
    const [now, old, fresh] = [current, base, made].map(byKey)
    const next = [...fresh].map(([key, one]) => {
      const own = now.get(key)
      if (!own) return one
      // Colors are those of the series of one column.
      const { styles, ...rest } = own
      const kept = own.groupssrc === one.groupssrc ? own : rest
      return this.members('transform', kept, old.get(key) ?? {}, one)
    })
    for (const [key, one] of now) if (!old.has(key) && !fresh.has(key)) next.push(one)
    return next.length > 0 ? next : undefined
  }
}

/** A layout whose title is an object: a title was a text in earlier versions of plotly.js. */
function withTitle(layout: Attributes): Attributes {
  return typeof layout.title === 'string' ? { ...layout, title: { text: layout.title } } : layout
}

function objectOf(value: unknown): Attributes {
  return isObject(value) ? value : {}
}

/** A list with the members of these names that options make in the place of those before. */
function ownLast(current: unknown, base: unknown, made: unknown, names: readonly string[]): unknown {
  const isOurs = (one: unknown): boolean => isObject(one) && names.includes(one.name)
  const [all, old, fresh] = [current, base, made].map((list) => (Array.isArray(list) ? list : []))
  if (isSame(old.filter(isOurs), fresh.filter(isOurs))) return current
  const next = [...all.filter((one) => !isOurs(one)), ...fresh.filter(isOurs)]
  return next.length > 0 ? next : undefined
}

/** Which option a transform is, so that it takes the place of the one before. */
function byKey(list: unknown): Map<string, Attributes> {
  const found = new Map<string, Attributes>()
  for (const one of Array.isArray(list) ? list.filter(isObject) : []) {
    const { type, facet, animate, hue } = one
    const kind =
      facet === true ? 'facet' : animate === true ? 'animate' : hue !== undefined ? 'style' : String(type)
    let key = kind
    for (let k = 2; found.has(key); k++) key = `${kind} ${k}`
    found.set(key, one)
  }
  return found
}

/** The matching trace of the other list: the one with the same values, or, with `isNext`, the next one that is left. */
function matched(
  traces: readonly Attributes[],
  others: readonly Attributes[],
  isNext: boolean,
): (Attributes | undefined)[] {
  const free = new Set(others)
  const found: (Attributes | undefined)[] = traces.map(() => undefined)
  const take = (isIt: (one: Attributes, wanted: Attributes) => boolean): void => {
    for (const [k, wanted] of traces.entries()) {
      found[k] ??= [...free].find((one) => isIt(one, wanted))
      if (found[k]) free.delete(found[k])
    }
  }
  take((one, wanted) => valuesOf(one) === valuesOf(wanted) && typeOf(one) === typeOf(wanted))
  take((one, wanted) => valuesOf(one) === valuesOf(wanted))
  if (isNext) take(() => true)
  return found
}

/** The reference to the column that a trace shows. */
function valuesOf({ xsrc, ysrc, zsrc, valuessrc, orientation }: Attributes): unknown {
  return orientation === 'h' ? (xsrc ?? ysrc) : (zsrc ?? valuessrc ?? ysrc ?? xsrc)
}
