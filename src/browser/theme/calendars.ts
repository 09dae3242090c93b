import { listOf } from '../../charts/figure/lists.ts'
import { WEEKDAYS } from '../../charts/figure/names.ts'
import { type Draft, isNarrow } from './draft.ts'
import { localeIn } from './numbers.ts'

/** Weeks that begin or end in a year, at most. */
const YEAR_WEEKS = 54
/** Weeks of a month. */
const MONTH_WEEKS = 365.25 / 12 / 7
/** Height of the days of a year, and of what is around them, in pixels. */
const YEAR_PIXELS = 130
const AROUND_PIXELS = 130

/** A calendar has a row for each day of the week, of each year, and the names of months below. */
export function arrangeCalendar(draft: Draft): void {
  const { data, layout, view } = draft
  if (layout.meta.chart !== 'calendar') return
  const years = [
    ...new Set(data.flatMap(({ y }) => [...listOf(y)].map((row) => String(row).split(' ')[0]))),
  ].sort()
  const rows = years.flatMap((year, k) => [
    ...(k > 0 ? [`${year} `] : []),
    ...WEEKDAYS.map((weekday) => `${year} ${weekday}`),
  ])
  // plotly.js needs a cell in each row and each week, also where nothing is, for all of them to be of one size.
  for (const [k, trace] of data.entries()) {
    const [x, y, z] = [trace.x, trace.y, trace.z].map((list) => [...listOf(list)])
    const [weeks, days] = [new Set(x), new Set(y)]
    const more = [
      ...Array.from({ length: YEAR_WEEKS }, (_, week) => [week, rows[0]]).filter(
        ([week]) => !weeks.has(week),
      ),
      ...rows.filter((row) => !days.has(row)).map((row) => [0, row]),
    ]
    data[k] = {
      ...trace,
      ...{ x: [...x, ...more.map(([week]) => week)], y: [...y, ...more.map(([, row]) => row)] },
      z: [...z, ...more.map(() => null)],
    }
  }
  const isOne = years.length === 1
  const tickvals = isOne ? rows : years.map((year) => `${year} Thursday`)
  const step = isNarrow(view) ? 2 : 1
  const months = Array.from({ length: 12 / step }, (_, k) => k * step)
  const named = (part: Intl.DateTimeFormatOptions, month: number, day: number): string =>
    new Intl.DateTimeFormat(localeIn(layout.meta), { ...part, timeZone: 'UTC' }).format(
      Date.UTC(2023, month, day),
    )
  // 2023-01-02 was a Monday.
  const weekdays = WEEKDAYS.map((_, k) => named({ weekday: isNarrow(view) ? 'short' : 'long' }, 0, k + 2))
  layout.yaxis = {
    ...{ categoryorder: 'array', categoryarray: rows, range: [rows.length - 0.5, -0.5], autorange: false },
    ...{ tickmode: 'array', tickvals, ticktext: isOne ? weekdays : years, showgrid: false },
    ...layout.yaxis,
  }
  if (layout.yaxis.autorange === 'reversed') layout.yaxis.autorange = false
  layout.xaxis = {
    ...{ tickmode: 'array', tickvals: months.map((k) => (k + 0.5) * MONTH_WEEKS), ticks: '' },
    ...{ ticktext: months.map((k) => named({ month: 'short' }, k, 1)) },
    ...layout.xaxis,
  }
  draft.needed = Math.max(draft.needed, years.length * YEAR_PIXELS + AROUND_PIXELS)
}
