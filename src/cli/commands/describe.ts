// `gridline describe`: shows statistics of columns.
import { typeName } from '../../charts/spec/column-names.ts'
import { counted } from '../../contract/closest.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'
import { whereOption } from '../../contract/row-options.ts'
import { chosenColumns } from '../charts/columns.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { readableGrid } from '../files/local-data.ts'
import { localOptions } from '../files/parse-options.ts'
import { sparkline } from '../output/picture.ts'
import type { TableView } from '../output/view.ts'

const WIDEST_CHARACTERS = 20
const SPARKLINE_CHARACTERS = 24

const quantiles = [
  { field: 'quantile_25', title: '25 %' },
  { field: 'median', title: 'MEDIAN' },
  { field: 'quantile_75', title: '75 %' },
]

const view: TableView = {
  id: 'name',
  namesLeft: true,
  columns: [
    { field: 'name', title: 'COLUMN', isCut: true },
    { field: 'type', title: 'TYPE', format: typeName },
    { field: 'nulls', title: 'NULLS', align: 'right' },
    {
      field: 'distinct',
      title: 'DISTINCT',
      align: 'right',
      format: (count: number, { distinct_is_exact }: ColumnDescription) =>
        distinct_is_exact ? String(count) : `> ${count - 1}`,
    },
    { field: 'min', title: 'MIN', align: 'right', isCut: true, format: extreme },
    ...quantiles.map(({ field, title }, k) => ({
      field,
      title,
      align: 'right' as const,
      isOptional: true as const,
      format: (_: unknown, row: ColumnDescription) => {
        if (!row.quantiles) return ''
        return `${row.quantiles_are_exact ? '' : '~'}${shortNumber(row.quantiles[k])}`
      },
    })),
    { field: 'max', title: 'MAX', align: 'right', isCut: true, format: extreme },
    {
      field: 'mean',
      title: 'MEAN',
      align: 'right',
      isOptional: true,
      format: (mean: number | null) => (mean === null ? '' : shortNumber(mean)),
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
  prints: array('Column description'),
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
    const { client, fid } = await readableGrid(context, grid, reading)
    const description = await client.call('grids.describe', {
      fid,
      query: { columns: await chosenColumns(client, fid, columns), where },
    })
    const rows = description.row_count
    context.messages.aside(`${description.filename}: ${counted(rows, 'row')}`)
    return { many: description.columns, view, empty: 'No columns.' }
  },
})

/** Formats a computed number, without rounding errors of floating point. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(15)))
}

/** Formats the minimum or maximum. Dates are not cut: that would remove their time zone. */
function extreme(value: unknown, { type }: { type: string }): string {
  return type === 'datetime' && value !== null ? String(value) : shortValue(value)
}

/** Formats a value exactly; long texts are cut. */
function shortValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  return text.length <= WIDEST_CHARACTERS ? text : `${text.slice(0, WIDEST_CHARACTERS - 1)}…`
}
