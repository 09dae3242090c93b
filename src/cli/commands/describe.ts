// `gridline describe`: shows statistics of columns.
import { formatColumnType } from '../../charts/spec/column-names.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'
import { whereOption } from '../../contract/row-options.ts'
import { splitColumnNames } from '../charts/columns.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { openGridOrFile } from '../files/local-data.ts'
import { localOptions } from '../files/parse-options.ts'
import { sparkline } from '../output/terminal-image.ts'
import type { TableView } from '../output/view.ts'

const MAX_VALUE_CHARACTERS = 20
const SPARKLINE_CHARACTERS = 24

const QUANTILES = [
  { field: 'quantile_25', title: '25 %' },
  { field: 'median', title: 'MEDIAN' },
  { field: 'quantile_75', title: '75 %' },
]

const view: TableView = {
  id: 'name',
  namesOmitted: true,
  columns: [
    { field: 'name', title: 'COLUMN', isCut: true },
    { field: 'type', title: 'TYPE', format: formatColumnType },
    { field: 'nulls', title: 'NULLS', align: 'right' },
    {
      field: 'distinct',
      title: 'DISTINCT',
      align: 'right',
      format: (count: number, { distinct_is_exact }: ColumnDescription) =>
        distinct_is_exact ? String(count) : `> ${count - 1}`,
    },
    { field: 'min', title: 'MIN', align: 'right', isCut: true, format: formatExtreme },
    ...QUANTILES.map(({ field, title }, k) => ({
      field,
      title,
      align: 'right' as const,
      isOptional: true as const,
      format: (_: unknown, row: ColumnDescription) => {
        if (!row.quantiles) return ''
        return `${row.quantiles_are_exact ? '' : '~'}${formatStatistic(row.quantiles[k])}`
      },
    })),
    { field: 'max', title: 'MAX', align: 'right', isCut: true, format: formatExtreme },
    {
      field: 'mean',
      title: 'MEAN',
      align: 'right',
      isOptional: true,
      format: (mean: number | null) => (mean === null ? '' : formatStatistic(mean)),
    },
    {
      field: 'trend',
      title: 'TREND',
      isOptional: true,
      format: (trend: (number | null)[]) =>
        sparkline(
          trend.filter((value) => value !== null),
          SPARKLINE_CHARACTERS,
        ),
    },
  ],
}

export const command = defineCommand({
  output: arrayOf('Column description'),
  arguments: '<grid>',
  usage: '<grid|file>',
  options: [
    {
      flags: '--columns <names>',
      description: 'describe only these columns, comma-separated (repeatable)',
      repeatable: true,
    },
    whereOption,
    ...localOptions,
  ],
  examples: [
    'gridline describe sales',
    'gridline describe sales.csv',
    'gridline describe sales --where "city = \'Oslo\'"',
    "gridline describe sales --columns price --jq '.[0].quantiles'",
  ],
  async run(context, [grid], { columns, where, ...reading }) {
    const { client, fid } = await openGridOrFile(context, grid, reading)
    const description = await client.call('grids.describe', {
      fid,
      query: { columns: await splitColumnNames(client, fid, columns), where },
    })
    const rows = description.row_count
    context.messages.aside(`${description.filename}: ${formatCount(rows, 'row')}`)
    return { items: description.columns, view, empty: 'No columns.' }
  },
})

/** Formats a computed number, without rounding errors of floating point. */
function formatStatistic(value: number): string {
  return String(Number(value.toPrecision(15)))
}

/** Formats the minimum or maximum. Dates are not cut: that would remove their time zone. */
function formatExtreme(value: unknown, { type }: { type: string }): string {
  return type === 'datetime' && value !== null ? String(value) : formatValue(value)
}

/** Formats a value exactly; long texts are cut, and null is empty. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  return text.length <= MAX_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_VALUE_CHARACTERS - 1)}…`
}
