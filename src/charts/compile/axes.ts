// Axis settings from chart options, and back.
import { Problem } from '../../contract/errors.ts'
import { instantOf } from '../../json/index.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'

// biome-ignore lint/suspicious/noExplicitAny: an axis can have any attribute
type Axis = Record<string, any>

/** Returns the axis attributes that options set. Throws `usage`. */
export function axisSettings(
  type: ChartType,
  options: ChartOptions,
  x: Column | undefined,
  y: Column | undefined,
): { x: Axis; y: Axis } {
  const { logX, logY, rangeX, rangeY, formatY, unit } = options
  const hasUnit = !hasTrait(type, 'axis y') && !hasTrait(type, 'cells')
  const areNumbers =
    !x || x.type === 'number' || x.type === 'empty' || type === 'histogram' || type === 'indicator'
  if (logX && !areNumbers) throw new Problem('usage', '--log-x needs a column of numbers')
  if (logY && y && y.type !== 'number' && y.type !== 'empty' && !options.aggregate)
    throw new Problem('usage', '--log-y needs a column of numbers')
  return {
    x: {
      ...(logX && { type: 'log' }),
      ...(rangeX !== undefined && { range: rangeOf('--range-x', rangeX, logX === true) }),
    },
    y: {
      ...(logY && { type: 'log' }),
      ...(rangeY !== undefined && { range: rangeOf('--range-y', rangeY, logY === true) }),
      ...(formatY !== undefined && { tickformat: formatY, hoverformat: formatY }),
      ...(hasUnit && tickUnit(unit)),
    },
  }
}

/** Units that precede a number in English. */
const BEFORE = /^(?:[A-Z]{0,3}\$|£|¥|₹|₩)$/
/** Units that follow a number without a space. */
const CLOSE: ReadonlySet<string> = new Set(['%', '°', '‰'])

/** Returns a unit as prefix ($, £, ¥, ₹, ₩) or suffix (all others). */
export function unitParts(unit: string | undefined): { prefix?: string; suffix?: string } {
  if (unit === undefined) return {}
  if (BEFORE.test(unit)) return { prefix: unit }
  return { suffix: CLOSE.has(unit) ? unit : ` ${unit}` }
}

/** Returns the axis attributes for a unit. */
function tickUnit(unit: string | undefined): Axis {
  const { prefix, suffix } = unitParts(unit)
  return { ...(prefix && { tickprefix: prefix }), ...(suffix && { ticksuffix: suffix }) }
}

/** Returns the unit in a prefix or suffix; undefined if there is none. */
export function unitIn(prefix: unknown, suffix: unknown): string | undefined {
  if (typeof prefix === 'string' && prefix !== '') return prefix
  return typeof suffix === 'string' ? suffix.trim() : undefined
}

/** Returns the number format of a color bar. */
export function barFormat({ unit, formatY }: ChartOptions): Axis {
  return { ...(formatY !== undefined && { tickformat: formatY }), ...tickUnit(unit) }
}

/** Returns the options that `createColorbarFormat` was created from. */
export function barOptions({
  tickformat,
  tickprefix,
  ticksuffix,
}: Axis = {}): Pick<ChartOptions, 'unit' | 'formatY'> {
  return { unit: unitIn(tickprefix, ticksuffix), formatY: tickformat }
}

/** Returns the limits of an axis. A logarithmic axis needs the exponents. Throws `usage`. */
function rangeOf(flag: string, input: string, isLog: boolean): (number | string)[] {
  const ends = input.split(',').map((end) => end.trim())
  const values = ends.map((end) => (end !== '' && Number.isFinite(Number(end)) ? Number(end) : end))
  const isValid = values.every((end) =>
    typeof end === 'number' ? !isLog || end > 0 : !isLog && !Number.isNaN(instantOf(end)),
  )
  if (ends.length !== 2 || !isValid || typeof values[0] !== typeof values[1])
    throw new Problem(
      'usage',
      `${flag} ${input}: expected two ${isLog ? 'numbers above 0' : 'numbers or dates'}`,
      {
        hint: 'For example: 0,100 or 2024-01-01,2024-12-31',
      },
    )
  return isLog ? values.map((end) => Math.log10(end as number)) : values
}

/** Returns the options that two axes were created from. */
export function axisOptions(x: Axis = {}, y: Axis = {}): ChartOptions {
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
    unit: unitIn(y.tickprefix, y.ticksuffix),
  }
}
