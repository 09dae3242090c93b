// Reads the spec of a figure.
import { Problem } from '../../contract/errors.ts'
import { formatSortKey, parseSort, renameColumns } from '../../query/index.ts'
import { type Attributes, type Figure, listGridTraces, toObject } from '../figure/figure.ts'
import { quoteColumnName } from '../spec/column-names.ts'
import {
  type ChartGrid,
  type ChartOptions,
  type Column,
  type OptionKind,
  optionKindOf,
} from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import type { Facts, Spec } from '../spec/spec.ts'
import { isChartType } from '../spec/types.ts'
import { readOptions } from './read-options.ts'

/**
 * Returns the spec of a figure, from its layout or from its attributes. `options` use the current column
 * names, `spec` those at the time. Throws `usage` for a figure that is not a chart of the grid.
 */
export function readSpec(figure: Figure, grid: ChartGrid): { spec: Spec; options: ChartOptions } {
  const spec = readStoredSpec(figure)
  if (spec) return { spec, options: followRenamedColumns(spec, grid) }
  const { type, options } = readOptions(figure, grid)
  const [trace] = listGridTraces(figure, grid.fid)
  const transforms: { type?: unknown }[] = Array.isArray(trace.transforms) ? trace.transforms : []
  const facts: Facts = {
    isUnsorted: transforms.some((transform) => transform?.type === 'sort'),
    sizeRef: trace.marker?.sizeref,
    places: trace.locationmode,
  }
  return { spec: { type, options, columns: [...grid.cols], facts }, options }
}

/** Returns the stored spec, without invalid members: anyone can write one. Undefined if it is invalid. */
function readStoredSpec({ layout }: Figure): Spec | undefined {
  const { type, options, columns, facts } = toObject(layout.meta?.spec)
  if (!isChartType(type) || !Array.isArray(columns)) return undefined
  const isColumn = (value: unknown): value is Column =>
    ['name', 'uid', 'type'].every((key) => typeof toObject(value)[key] === 'string')
  if (!columns.every(isColumn) || JSON.stringify([options, columns, facts]).length > MAX_SPEC_CHARACTERS)
    return undefined
  const valid = Object.entries(toObject(options)).filter(([key, value]) => {
    const kind = optionKindOf(key)
    return kind !== undefined && VALIDATORS_BY_KIND[kind](value)
  })
  return {
    type,
    options: Object.fromEntries(valid),
    columns: columns.map(({ name, uid, type: kind, date_order, zoned }) => ({
      ...{ name, uid, type: kind, date_order },
      ...(zoned === true && { zoned }),
    })),
    facts: readFacts(toObject(facts)),
  }
}

/** Maximum size of a stored spec. One of 10,000 columns is smaller. */
const MAX_SPEC_CHARACTERS = 1_000_000

function readFacts({ isUnsorted, sizeRef, places: stored }: Attributes): Facts {
  const places = PLACE_KINDS.find((kind) => kind === stored)
  return {
    ...(isUnsorted === true && { isUnsorted }),
    ...(typeof sizeRef === 'number' && sizeRef > 0 && { sizeRef }),
    ...(places && { places }),
  }
}

const PLACE_KINDS = ['ISO-3', 'USA-states', 'country names'] as const

const isString = (value: unknown): boolean => typeof value === 'string'

/** Checks of option values, by kind. */
const VALIDATORS_BY_KIND: Readonly<Record<OptionKind, (value: unknown) => boolean>> = {
  column: isString,
  columns: isString,
  where: isString,
  sort: isString,
  text: isString,
  texts: (value) => Array.isArray(value) && value.every(isString),
  flag: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
}

/** Returns the options with the current names of their columns. */
function followRenamedColumns({ options, columns }: Spec, { cols }: ChartGrid): ChartOptions {
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
      parseColumnNames(text, specNames)
        .map((name) => quoteColumnName(currentNameOf(name)))
        .join(','),
    where: (text) => renameColumns(text, names),
    sort: (text) =>
      parseSort(text)
        .map(({ name, descending }) => formatSortKey({ name: currentNameOf(name), descending }))
        .join(','),
  }
  return Object.fromEntries(
    Object.entries(options).flatMap(([key, value]) => {
      try {
        const convert = rename[optionKindOf(key)!]
        return [[key, convert && typeof value === 'string' ? convert(value) : value]]
      } catch (error) {
        // Drop a condition that cannot be parsed.
        if (error instanceof Problem) return []
        throw error
      }
    }),
  )
}
