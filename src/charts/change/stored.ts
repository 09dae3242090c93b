import { Problem } from '../../contract/errors.ts'
import { parseSort, renamedWhere, sortText } from '../../query/index.ts'
import { type Figure, tracesOf } from '../figure/figure.ts'
import { columnNames, nameInList } from '../spec/column-names.ts'
import {
  type ChartGrid,
  type ChartOptions,
  type Column,
  kindOfOption,
  type OptionKind,
} from '../spec/options.ts'
import type { Facts, Spec } from '../spec/spec.ts'
import { type ChartType, chartTypes } from '../spec/types.ts'
import { optionsOf } from './older.ts'

/**
 * What makes the chart that a figure is. A figure that does not say it is read by its attributes. Options name columns as they
 * are named now, and `spec.columns` as they were. Throws `usage` for a figure that is no chart of the grid.
 */
export function specOf(figure: Figure, grid: ChartGrid): { spec: Spec; options: ChartOptions } {
  const spec = storedSpec(figure)
  if (spec) return { spec, options: renamed(spec, grid) }
  const { type, options } = optionsOf(figure, grid)
  const [trace] = tracesOf(figure, grid.fid)
  const transforms: { type?: unknown }[] = Array.isArray(trace.transforms) ? trace.transforms : []
  const facts: Facts = {
    isUnsorted: transforms.some((one) => one?.type === 'sort'),
    sizeRef: trace.marker?.sizeref,
    places: trace.locationmode,
  }
  return { spec: { type, options, columns: [...grid.cols], facts }, options }
}

/** The spec of a figure, as far as it is one of ours: anybody can write one. */
function storedSpec({ layout }: Figure): Spec | undefined {
  const { type, options, columns, facts }: Record<string, unknown> = objectIn(layout.meta?.spec)
  if (!(chartTypes as readonly unknown[]).includes(type) || !Array.isArray(columns)) return undefined
  const isColumn = (one: unknown): one is Column =>
    ['name', 'uid', 'type'].every((key) => typeof objectIn(one)[key] === 'string')
  if (!columns.every(isColumn) || JSON.stringify([options, columns, facts]).length > MAX_CHARACTERS)
    return undefined
  const given = Object.entries(objectIn(options)).filter(([key, value]) => {
    const kind = kindOfOption(key)
    return kind !== undefined && holds[kind](value)
  })
  return {
    type: type as ChartType,
    options: Object.fromEntries(given) as ChartOptions,
    columns: columns.map(({ name, uid, type: kind, date_order, zoned }) => ({
      ...{ name, uid, type: kind, date_order },
      ...(zoned === true && { zoned }),
    })),
    facts: factsIn(objectIn(facts)),
  }
}

/** Characters of a spec that is read: one of 10,000 columns has fewer. */
const MAX_CHARACTERS = 1_000_000

function factsIn({ isUnsorted, sizeRef, places }: Record<string, unknown>): Facts {
  return {
    ...(isUnsorted === true && { isUnsorted }),
    ...(typeof sizeRef === 'number' && sizeRef > 0 && { sizeRef }),
    ...(PLACES.has(places) && { places: places as Facts['places'] }),
  }
}

const PLACES: ReadonlySet<unknown> = new Set(['ISO-3', 'USA-states', 'country names'])

const isText = (value: unknown): boolean => typeof value === 'string'

/** Whether a value is one of an option. */
const holds: Readonly<Record<OptionKind, (value: unknown) => boolean>> = {
  column: isText,
  columns: isText,
  where: isText,
  sort: isText,
  text: isText,
  texts: (value) => Array.isArray(value) && value.every(isText),
  flag: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The options with the present names of their columns. */
function renamed({ options, columns }: Spec, { cols }: ChartGrid): ChartOptions {
  const names = new Map<string, string>()
  for (const { name, uid } of columns) {
    const now = cols.find((column) => column.uid === uid)?.name
    if (now !== undefined && now !== name) names.set(name, now)
  }
  if (names.size === 0) return options
  const nameOf = (name: string): string => names.get(name) ?? name
  const known = columns.map(({ name }) => name)
  const rename: Partial<Record<OptionKind, (text: string) => string>> = {
    column: nameOf,
    columns: (text) =>
      columnNames(text, known)
        .map((name) => nameInList(nameOf(name)))
        .join(','),
    where: (text) => renamedWhere(text, names),
    sort: (text) =>
      parseSort(text)
        .map(({ name, descending }) => sortText({ name: nameOf(name), descending }))
        .join(','),
  }
  return Object.fromEntries(
    Object.entries(options).flatMap(([key, value]) => {
      try {
        return [[key, rename[kindOfOption(key)!]?.(value as string) ?? value]]
      } catch (error) {
        // A condition that cannot be read says nothing.
        if (error instanceof Problem) return []
        throw error
      }
    }),
  ) as ChartOptions
}
