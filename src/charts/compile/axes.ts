import { Problem } from '../../contract/errors.ts'
import { instantOf } from '../../json/index.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'

// biome-ignore lint/suspicious/noExplicitAny: an axis can have any attribute
type Axis = Record<string, any>

/** What the options say of the axes of a chart. Throws `usage`. */
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

/** Units that stand before a number in English. */
const BEFORE = /^(?:[A-Z]{0,3}\$|£|¥|₹|₩)$/
/** Units that follow a number without a space. */
const CLOSE: ReadonlySet<string> = new Set(['%', '°', '‰'])

/** A unit as it stands before or behind a number. */
export function unitParts(unit: string | undefined): { prefix?: string; suffix?: string } {
  if (unit === undefined) return {}
  if (BEFORE.test(unit)) return { prefix: unit }
  return { suffix: CLOSE.has(unit) ? unit : ` ${unit}` }
}

/** The unit of the numbers of an axis. */
function tickUnit(unit: string | undefined): Axis {
  const { prefix, suffix } = unitParts(unit)
  return { ...(prefix && { tickprefix: prefix }), ...(suffix && { ticksuffix: suffix }) }
}

/** The unit that parts of numbers are; undefined without one. */
export function unitIn(prefix: unknown, suffix: unknown): string | undefined {
  if (typeof prefix === 'string' && prefix !== '') return prefix
  return typeof suffix === 'string' ? suffix.trim() : undefined
}

/** How the numbers of a scale of colors are written. */
export function barFormat({ unit, formatY }: ChartOptions): Axis {
  return { ...(formatY !== undefined && { tickformat: formatY }), ...tickUnit(unit) }
}

/** The options that say the same. */
export function barOptions({
  tickformat,
  tickprefix,
  ticksuffix,
}: Axis = {}): Pick<ChartOptions, 'unit' | 'formatY'> {
  return { unit: unitIn(tickprefix, ticksuffix), formatY: tickformat }
}

/** The ends of an axis. That of a logarithmic axis is written in powers of ten. */
function rangeOf(flag: string, given: string, isLog: boolean): (number | string)[] {
  const ends = given.split(',').map((end) => end.trim())
  const read = ends.map((end) => (end !== '' && Number.isFinite(Number(end)) ? Number(end) : end))
  const isValid = read.every((end) =>
    typeof end === 'number' ? !isLog || end > 0 : !isLog && !Number.isNaN(instantOf(end)),
  )
  if (ends.length !== 2 || !isValid || typeof read[0] !== typeof read[1])
    throw new Problem(
      'usage',
      `${flag} ${given}: expected two ${isLog ? 'numbers above 0' : 'numbers or dates'}`,
      {
        hint: 'For example: 0,100 or 2024-01-01,2024-12-31',
      },
    )
  return isLog ? read.map((end) => Math.log10(end as number)) : read
}

/** The options that say the same of two axes. */
export function axisOptions(x: Axis = {}, y: Axis = {}): ChartOptions {
  const rangeText = ({ range, type }: Axis): string | undefined =>
    Array.isArray(range)
      ? range.map((end) => (type === 'log' ? Number((10 ** end).toPrecision(12)) : end)).join(',')
      : undefined
  return {
    logX: x.type === 'log' || undefined,
    logY: y.type === 'log' || undefined,
    rangeX: rangeText(x),
    rangeY: rangeText(y),
    formatY: y.tickformat,
    unit: unitIn(y.tickprefix, y.ticksuffix),
  }
}
