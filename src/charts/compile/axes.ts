// Axis settings from chart options, and back.

import { parseInstant } from '../../json/index.ts'
import { createUsageError } from '../spec/errors.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'

// biome-ignore lint/suspicious/noExplicitAny: an axis can have any attribute
type Axis = Record<string, any>

/** Returns the axis attributes that options set. Throws `usage`. */
export function createAxisSettings(
  type: ChartType,
  options: ChartOptions,
  x: Column | undefined,
  y: Column | undefined,
): { x: Axis; y: Axis } {
  const { logX, logY, rangeX, rangeY, formatY, unit } = options
  const hasUnit = !hasTrait(type, 'axis y') && !hasTrait(type, 'cells')
  const areNumbers =
    !x || x.type === 'number' || x.type === 'empty' || type === 'histogram' || type === 'indicator'
  if (logX && !areNumbers) throw createUsageError('--log-x needs a column of numbers')
  if (logY && y && y.type !== 'number' && y.type !== 'empty' && !options.aggregate)
    throw createUsageError('--log-y needs a column of numbers')
  return {
    x: {
      ...(logX && { type: 'log' }),
      ...(rangeX !== undefined && { range: parseRange('--range-x', rangeX, logX === true) }),
    },
    y: {
      ...(logY && { type: 'log' }),
      ...(rangeY !== undefined && { range: parseRange('--range-y', rangeY, logY === true) }),
      ...(formatY !== undefined && { tickformat: checkFormat(formatY), hoverformat: formatY }),
      ...(hasUnit && createUnitAttributes(unit)),
    },
  }
}

/** Formats of d3-format, and of d3-time-format for axes of dates: `%Y`. */
const NUMBER_FORMAT = /^(?:.?[<>=^])?[+\-( ]?[$#]?0?\d*,?(?:\.\d+)?~?[bcdefgnoprsxX%]?$/
const TIME_FORMAT = /%[a-zA-Z]/

/** Returns a format of numbers or dates. Throws `usage` for other texts, which plotly.js would ignore. */
function checkFormat(format: string): string {
  if (NUMBER_FORMAT.test(format) || TIME_FORMAT.test(format)) return format
  throw createUsageError(`--format-y ${format}: not a number format such as ,.2f or .1%`)
}

/** Units that precede a number in English. */
const PREFIX_UNITS = /^(?:[A-Z]{0,3}\$|£|¥|₹|₩)$/
/** Units that follow a number without a space. */
const UNSPACED_UNITS: ReadonlySet<string> = new Set(['%', '°', '‰'])

/** Returns a unit as prefix ($, £, ¥, ₹, ₩) or suffix (all others). */
export function splitUnit(unit: string | undefined): { prefix?: string; suffix?: string } {
  if (unit === undefined) return {}
  if (PREFIX_UNITS.test(unit)) return { prefix: unit }
  return { suffix: UNSPACED_UNITS.has(unit) ? unit : ` ${unit}` }
}

/** Returns the axis attributes for a unit. */
function createUnitAttributes(unit: string | undefined): Axis {
  const { prefix, suffix } = splitUnit(unit)
  return { ...(prefix && { tickprefix: prefix }), ...(suffix && { ticksuffix: suffix }) }
}

/** Returns the unit in a prefix or suffix; undefined if there is none. */
export function joinUnit(prefix: unknown, suffix: unknown): string | undefined {
  if (typeof prefix === 'string' && prefix !== '') return prefix
  return typeof suffix === 'string' ? suffix.trim() : undefined
}

/** Returns the number format of a color bar. */
export function createColorbarFormat({ unit, formatY }: ChartOptions): Axis {
  return {
    ...(formatY !== undefined && { tickformat: checkFormat(formatY) }),
    ...createUnitAttributes(unit),
  }
}

/** Returns the options that `createColorbarFormat` was created from. */
export function readColorbarOptions({
  tickformat,
  tickprefix,
  ticksuffix,
}: Axis = {}): Pick<ChartOptions, 'unit' | 'formatY'> {
  return { unit: joinUnit(tickprefix, ticksuffix), formatY: tickformat }
}

/** Returns the limits of an axis. A logarithmic axis needs the exponents. Throws `usage`. */
function parseRange(flag: string, input: string, isLog: boolean): (number | string)[] {
  const ends = input.split(',').map((end) => end.trim())
  const values = ends.map((end) => (end !== '' && Number.isFinite(Number(end)) ? Number(end) : end))
  const isValid = values.every((end) =>
    typeof end === 'number' ? !isLog || end > 0 : !isLog && !Number.isNaN(parseInstant(end)),
  )
  if (ends.length !== 2 || !isValid || typeof values[0] !== typeof values[1])
    throw createUsageError(
      `${flag} ${input}: expected two ${isLog ? 'numbers above 0' : 'numbers or dates'}`,
      'For example: 0,100 or 2024-01-01,2024-12-31',
    )
  return isLog ? values.map((end) => Math.log10(Number(end))) : values
}

/** Returns the options that two axes were created from. */
export function readAxisOptions(x: Axis = {}, y: Axis = {}): ChartOptions {
  const formatRange = ({ range, type }: Axis): string | undefined =>
    Array.isArray(range)
      ? range.map((end) => (type === 'log' ? Number((10 ** end).toPrecision(12)) : end)).join(',')
      : undefined
  return {
    logX: x.type === 'log' || undefined,
    logY: y.type === 'log' || undefined,
    rangeX: formatRange(x),
    rangeY: formatRange(y),
    formatY: y.tickformat,
    unit: joinUnit(y.tickprefix, y.ticksuffix),
  }
}
