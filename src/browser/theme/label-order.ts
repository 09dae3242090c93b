// Natural order of labels: months, days, quarters and classes of numbers.
import { listOf, selectRows } from '../../charts/figure/lists.ts'
import { NO_LABEL } from '../../charts/figure/shared-names.ts'
import { type Attributes, type Draft, listAxisLabels } from './arrangement.ts'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'mon tue wed thu fri sat sun'.split(' ')
/** Numbers in a label. */
const NUMBERS = /\d+(?:\.\d+)?/g
/** A number or a range, with a unit: `10-19 kg`, `80+`, `<5`. */
const NUMBER_OR_RANGE =
  /^([<>≤≥]?)\s*(-?\d[\d,]*(?:\.\d+)?)(?:\s*(?:-|–|to)\s*(\d[\d,]*(?:\.\d+)?))?\s*(\+?)\s*(\D*)$/
/** Maximum length of a label with a natural order. */
const MAX_RANKED_CHARACTERS = 100
/** Minimum number of labels for months or days to start in the middle of a cycle. */
const MIN_CYCLIC_LABELS = 5

/** Returns the kind of a label and its sort key; undefined for labels without a natural order. */
function parseLabelRank(label: string): { kind: string; places: number[] } | undefined {
  const text = label.trim().toLowerCase().replaceAll('&lt;', '<').replaceAll('&gt;', '>')
  if (text.length > MAX_RANKED_CHARACTERS) return undefined
  const numbers = (text.match(NUMBERS) ?? []).map(Number)
  const [word] = /^[a-z]+/.exec(text) ?? []
  const [month, day] = [MONTHS, DAYS].map((names) => names.indexOf(word?.slice(0, 3) ?? ''))
  const isName = word !== undefined && /^[a-z]+\.?\s*\d*$/.test(text)
  if (
    isName &&
    month >= 0 &&
    'january february march april may june july august september october november december'.includes(word)
  )
    return { kind: 'month', places: [numbers[0] ?? 0, month] }
  if (isName && day >= 0 && 'monday tuesday wednesday thursday friday saturday sunday'.includes(word))
    return { kind: 'day', places: [day] }
  if (/^[qh]\d(?:\s|$)/.test(text)) return { kind: 'part', places: [numbers[1] ?? 0, numbers[0]] }
  const match = NUMBER_OR_RANGE.exec(text)
  // Hours with a.m. and p.m. do not sort by number.
  if (!match || /^[ap]\.?m\b/.test(match[5])) return undefined
  const [, sign, from, to, plus, unit] = match
  const [first, last] = [from, to].map((number) => Number(number?.replaceAll(',', '')))
  const bound = /[<≤]/.test(sign)
    ? -1
    : sign !== '' || plus !== ''
      ? Number.POSITIVE_INFINITY
      : Number.isNaN(last)
        ? 0
        : last
  return { kind: `number ${unit.trim()}`, places: [first, bound] }
}

/** Returns the labels in natural order; undefined if they have none. */
function sortNaturally(labels: readonly string[]): string[] | undefined {
  const ranked = labels
    .filter((label) => label !== NO_LABEL)
    .map((label) => ({ label, rank: parseLabelRank(label) }))
  const [first] = ranked
  if (ranked.length < 2 || !first.rank || ranked.some(({ rank }) => rank?.kind !== first.rank?.kind))
    return undefined
  const sorted = [...ranked].sort((a, b) => {
    const [left, right] = [a.rank!.places, b.rank!.places]
    const at = left.findIndex((place, k) => place !== right[k])
    return at < 0 ? 0 : left[at] - (right[at] ?? 0)
  })
  return [...sorted.map(({ label }) => label), ...labels.filter((label) => label === NO_LABEL)]
}

/** Returns whether labels are in order, reversed, or rotated (months and days): a year can begin in July. */
function isInOrder(labels: readonly string[], order: readonly string[]): boolean {
  const isCyclic =
    labels.length >= MIN_CYCLIC_LABELS && labels.every((label) => label === NO_LABEL || !/\d/.test(label))
  const places = labels.filter((label) => label !== NO_LABEL).map((label) => order.indexOf(label))
  const breaks = places.filter((place, k) => k > 0 && place !== places[k - 1] + 1)
  const isBackwards = places.every((place, k) => k === 0 || place === places[k - 1] - 1)
  return (
    isBackwards ||
    breaks.length === 0 ||
    (isCyclic && breaks.length === 1 && breaks[0] === 0 && places[0] !== 0)
  )
}

/** Returns the natural order of labels that are not in it; otherwise undefined. */
export function findMissingOrder(labels: readonly string[] | undefined): string[] | undefined {
  const order = labels && sortNaturally(labels)
  return order && !isInOrder(labels, order) ? order : undefined
}

/** Sorts labels with a natural order, and the points of lines, whatever the order of rows. */
export function orderLabels({ data, layout }: Draft): void {
  for (const letter of ['x', 'y'] as const) {
    const axis = layout[`${letter}axis`]
    if (axis?.type !== 'category' || axis.categoryorder !== undefined) continue
    const order = findMissingOrder(listAxisLabels(data.map((trace) => trace[letter])))
    if (!order) continue
    for (const key of Object.keys(layout))
      if (key.replace(/\d+$/, '') === `${letter}axis` && layout[key]?.type === 'category')
        layout[key] = { ...layout[key], categoryorder: 'array', categoryarray: order }
    for (const [k, trace] of data.entries())
      if (/^scatter/.test(trace.type ?? 'scatter') && String(trace.mode).includes('lines'))
        data[k] = sortByLabels(trace, order, letter)
  }
}

/** Returns a trace whose points are sorted by label. */
export function sortByLabels(
  trace: Attributes,
  order: readonly string[],
  key: 'x' | 'y' | 'theta',
): Attributes {
  const labels = [...listOf(trace[key])].map((label) => order.indexOf(String(label)))
  const rows = [...labels.keys()].sort((a, b) => labels[a] - labels[b] || a - b)
  return selectRows(trace, rows, labels.length)
}
