import { Problem } from '../contract/errors.ts'
import { COLUMNS } from './columns.ts'
import { type ChartOptions, flagOf } from './options.ts'
import type { Drawn } from './traces.ts'
import { assertPeriods, assertZone, isWhole } from './transforms.ts'
import { type ChartType, hasTrait, takes, typedOptions, typesWith } from './types.ts'
import type { ChartValues } from './values.ts'

/** Throws `usage` for an option that the type of chart does not have. */
export function assertTaken(type: ChartType, options: ChartOptions): void {
  for (const name of typedOptions)
    if (options[name] !== undefined && options[name] !== false && !takes(type, name)) {
      if (hasTrait(type, 'no axes') && AXIS_OPTIONS.has(name))
        throw new Problem('usage', `a ${type} has no axes`)
      throw new Problem(
        'usage',
        `${flagOf(name)} can only be used with --type ${typesWith(name).join(' or ')}`,
      )
    }
}

const AXIS_OPTIONS: ReadonlySet<string> = new Set(['logX', 'logY', 'rangeX', 'rangeY', 'formatY', 'unit'])

/** Options that cannot be used together, and why. */
const CLASHES: readonly (readonly [keyof ChartOptions, keyof ChartOptions, string?])[] = [
  ['error', 'aggregate', 'error bars belong to single rows'],
  ['facet', 'horizontal'],
  ['horizontal', 'y2'],
  ['horizontal', 'animate'],
  ['facet', 'y2', 'small charts have one axis'],
  ['facet', 'animate'],
]

/** Throws `usage` for options that make no chart with each other, or with the columns that they name. */
export function assertTogether(
  type: ChartType,
  options: ChartOptions,
  { x, ys, by, facets, animate }: Drawn,
): void {
  const { aggregate, stack, top, trend, y2, zone, per } = options
  const isGiven = (name: keyof ChartOptions): boolean =>
    options[name] !== undefined && options[name] !== false
  for (const [one, other, why] of CLASHES)
    if (isGiven(one) && isGiven(other))
      throw new Problem(
        'usage',
        `${flagOf(one)} and ${flagOf(other)} cannot be used together${why === undefined ? '' : `: ${why}`}`,
      )
  if (facets.length > 2) throw new Problem('usage', '--facet has one column, or two: rows and columns')
  if (trend === 'linear' && (x?.type === 'text' || x?.type === 'boolean'))
    throw new Problem('usage', '--trend linear needs numbers or dates on the x axis', {
      hint: 'Labels have no distance from each other. --trend mean:3 follows the points in their order.',
    })
  if (y2 !== undefined && (stack === 'center' || x?.uid === ''))
    throw new Problem(
      'usage',
      `--y2 cannot be used with ${stack === 'center' ? '--stack center' : `--x ${COLUMNS}`}`,
    )
  if (stack === 'center' && (facets.length > 0 || animate))
    throw new Problem('usage', '--stack center cannot be used with --facet or --animate')
  if (aggregate && !x && type !== 'indicator')
    throw new Problem('usage', '--aggregate needs --x: rows with the same x become one point')
  if (zone !== undefined) assertZone(zone, x)
  if (per !== undefined) assertPeriods(x, options)
  if (top !== undefined && !by && type !== 'bar' && !hasTrait(type, 'slices'))
    throw new Problem('usage', '--top without --by can only be used with --type bar or pie or donut')
  if (top !== undefined && !by && (!x || ys.length > 1))
    throw new Problem('usage', '--top needs --x, and one column of --y')
  if (top === 0) throw new Problem('usage', '--top must be at least 1')
}

/** Throws if the chart would draw several rows as one, or more labels than anybody reads. */
export async function assertReadable(
  values: ChartValues,
  type: ChartType,
  { aggregate, stack, logX, logY }: ChartOptions,
  { x, ys, by, facets, dash, animate, id }: Drawn,
  isMap: boolean,
): Promise<void> {
  if (facets.length > 0) await values.assertFewFacets(facets)
  if (animate) await values.assertFewFrames(animate)
  if (by) await values.noteOthers(by)
  const hasAxis = !hasTrait(type, 'no axes') || hasTrait(type, 'slices') || type === 'radar'
  if (x && hasAxis && type !== 'scatter' && type !== 'histogram') await values.assertFewLabels(x)
  if (!aggregate && x && hasTrait(type, 'single')) await values.assertSingle(id ?? x, by, ...facets, animate)
  if (!aggregate && x && isMap) await values.assertSingle(x, ys[0])
  const isSeveral = by !== undefined || ys.length > 1
  const isStacked = stack === undefined ? type === 'area' && isSeveral : stack !== 'none'
  if (logY && hasTrait(type, 'from zero'))
    throw new Problem(
      'usage',
      `--log-y: a ${type} chart begins at zero, which a logarithmic axis does not have`,
      {
        hint: `Use --type ${type === 'area' ? 'line' : 'dot'}.`,
      },
    )
  if (!isWhole(aggregate) && (hasTrait(type, 'slices') || isStacked))
    throw new Problem(
      'usage',
      `--aggregate ${aggregate}: ${hasTrait(type, 'slices') ? 'slices' : 'stacked series'} are parts of a whole, and these do not add up`,
      {
        hint: hasTrait(type, 'slices')
          ? 'Use --type bar, or --aggregate sum or count.'
          : 'Use --stack none, or --aggregate sum or count.',
      },
    )
  if (!aggregate && isStacked && type === 'area') {
    await values.assertOneSign(ys)
    await values.noteMissing(ys)
  }
  if (!aggregate && hasTrait(type, 'whole')) await values.assertParts(ys, `a ${type}`)
  if (!aggregate && (stack === 'percent' || stack === 'center'))
    await values.assertParts(ys, `--stack ${stack}`)
  if (stack === 'percent' && !isSeveral && type !== 'histogram')
    throw new Problem('usage', '--stack percent: of one series, each part is the whole', {
      hint: 'Give several columns with --y, or the series with --by.',
    })
  if (!aggregate && x && hasTrait(type, 'joined') && facets.length === 0 && !dash)
    await values.noteRepeated(x, by)
  if (logX && x) await values.noteLogarithms([x], '--log-x')
  if (logY && !aggregate) await values.noteLogarithms(ys, '--log-y')
}
