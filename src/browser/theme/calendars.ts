// Theme of calendars.
import { listOf } from '../../charts/figure/lists.ts'
import { WEEKDAYS } from '../../charts/figure/shared-names.ts'
import { type Draft, isNarrow } from './arrangement.ts'
import { localeOf } from './numbers.ts'

/** Maximum number of weeks that begin or end in a year. */
const MAX_YEAR_WEEKS = 54
/** Average number of weeks per month. */
const MONTH_WEEKS = 365.25 / 12 / 7
/** Height of a year, and of the space around all years, in pixels. */
const YEAR_PIXELS = 130
const MARGIN_PIXELS = 130

/** Lays out one row per weekday of each year, with month names below. */
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
  // Add an empty cell to each row and week: otherwise plotly.js draws cells of different sizes.
  for (const [k, trace] of data.entries()) {
    const [x, y, z] = [trace.x, trace.y, trace.z].map((list) => [...listOf(list)])
    const [weeks, days] = [new Set(x), new Set(y)]
    const fillers = [
      ...Array.from({ length: MAX_YEAR_WEEKS }, (_, week) => [week, rows[0]]).filter(
        ([week]) => !weeks.has(week),
      ),
      ...rows.filter((row) => !days.has(row)).map((row) => [0, row]),
    ]
    data[k] = {
      ...trace,
      ...{ x: [...x, ...fillers.map(([week]) => week)], y: [...y, ...fillers.map(([, row]) => row)] },
      z: [...z, ...fillers.map(() => null)],
    }
  }
  const isOneYear = years.length === 1
  const tickvals = isOneYear ? rows : years.map((year) => `${year} Thursday`)
  const step = isNarrow(view) ? 2 : 1
  const months = Array.from({ length: 12 / step }, (_, k) => k * step)
  const formatDate = (part: Intl.DateTimeFormatOptions, month: number, day: number): string =>
    new Intl.DateTimeFormat(localeOf(layout.meta), { ...part, timeZone: 'UTC' }).format(
      Date.UTC(2023, month, day),
    )
  // 2023-01-02 was a Monday.
  const weekdays = WEEKDAYS.map((_, k) =>
    formatDate({ weekday: isNarrow(view) ? 'short' : 'long' }, 0, k + 2),
  )
  layout.yaxis = {
    ...{ categoryorder: 'array', categoryarray: rows, range: [rows.length - 0.5, -0.5], autorange: false },
    ...{ tickmode: 'array', tickvals, ticktext: isOneYear ? weekdays : years, showgrid: false },
    ...layout.yaxis,
  }
  if (layout.yaxis.autorange === 'reversed') layout.yaxis.autorange = false
  layout.xaxis = {
    ...{ tickmode: 'array', tickvals: months.map((k) => (k + 0.5) * MONTH_WEEKS), ticks: '' },
    ...{ ticktext: months.map((k) => formatDate({ month: 'short' }, k, 1)) },
    ...layout.xaxis,
  }
  draft.height = Math.max(draft.height, years.length * YEAR_PIXELS + MARGIN_PIXELS)
}
