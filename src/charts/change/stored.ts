// Reads the spec of a figure.
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
 * Returns the spec of a figure, from its layout or from its attributes. `options` use the current column
 * names, `spec` those at the time. Throws `usage` for a figure that is not a chart of the grid.
 */
export function specOf(figure: Figure, grid: ChartGrid): { spec: Spec; options: ChartOptions } {
  const spec = storedSpec(figure)
  if (spec) return { spec, options: renamed(spec, grid) }
  const { type, options } = optionsOf(figure, grid)
  const [trace] = tracesOf(figure, grid.fid)
  const transforms: { type?: unknown }[] = Array.isArray(trace.transforms) ? trace.transforms : []
  const facts: Facts = {
    isUnsorted: transforms.some((transform) => transform?.type === 'sort'),
    sizeRef: trace.marker?.sizeref,
    places: trace.locationmode,
  }
  return { spec: { type, options, columns: [...grid.cols], facts }, options }
}

/** Returns the stored spec, without invalid members: anyone can write one. Undefined if it is invalid. */
function storedSpec({ layout }: Figure): Spec | undefined {
  const { type, options, columns, facts }: Record<string, unknown> = objectIn(layout.meta?.spec)
  if (!(chartTypes as readonly unknown[]).includes(type) || !Array.isArray(columns)) return undefined
  const isColumn = (value: unknown): value is Column =>
    ['name', 'uid', 'type'].every((key) => typeof objectIn(value)[key] === 'string')
  if (!columns.every(isColumn) || JSON.stringify([options, columns, facts]).length > MAX_CHARACTERS)
    return undefined
  const valid = Object.entries(objectIn(options)).filter(([key, value]) => {
    const kind = kindOfOption(key)
    return kind !== undefined && holds[kind](value)
  })
  return {
    type: type as ChartType,
    options: Object.fromEntries(valid) as ChartOptions,
    columns: columns.map(({ name, uid, type: kind, date_order, zoned }) => ({
      ...{ name, uid, type: kind, date_order },
      ...(zoned === true && { zoned }),
    })),
    facts: factsIn(objectIn(facts)),
  }
}

/** Maximum size of a stored spec. One of 10,000 columns is smaller. */
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

/** Checks of option values, by kind. */
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

/** Returns the options with the current names of their columns. */
function renamed({ options, columns }: Spec, { cols }: ChartGrid): ChartOptions {
  const names = new Map<string, string>()
  for (const { name, uid } of columns) {
    const currentName = cols.find((column) => column.uid === uid)?.name
    if (currentName !== undefined && currentName !== name) names.set(name, currentName)
  }
  if (names.size === 0) return options
  const currentNameOf = (name: string): string => names.get(name) ?? name
  const specNames = columns.map(({ name }) => name)
  const rename: Partial<Record<OptionKind, (text: string) => string>> = {
    column: currentNameOf,
    columns: (text) =>
      columnNames(text, specNames)
        .map((name) => nameInList(currentNameOf(name)))
        .join(','),
    where: (text) => renamedWhere(text, names),
    sort: (text) =>
      parseSort(text)
        .map(({ name, descending }) => sortText({ name: currentNameOf(name), descending }))
        .join(','),
  }
  return Object.fromEntries(
    Object.entries(options).flatMap(([key, value]) => {
      try {
        return [[key, rename[kindOfOption(key)!]?.(value as string) ?? value]]
      } catch (error) {
        // Drop a condition that cannot be parsed.
        if (error instanceof Problem) return []
        throw error
      }
    }),
  ) as ChartOptions
}
