/// <reference lib="dom" />
// The summary of the columns of a grid: how many values, which, and between which ends.
import type { ColumnDescription } from '../contract/resources/index.ts'
import { call, formatError } from './api.ts'
import { createCommand, createTable, formatNumberOf, onAction, openDialog } from './dom.ts'

onAction({ summary: (button) => openSummary(button.dataset.fid ?? '', button.dataset.where) })

async function openSummary(fid: string, where: string | undefined): Promise<void> {
  const dialog = openDialog('Summary of the columns', { isWide: true })
  dialog.say('Reading …')
  try {
    const { columns, row_count } = await call('grids.describe', { path: { fid }, query: { where } })
    const names = ['Column', 'Type', 'Empty', 'Different', 'Min', 'Median', 'Max', 'Mean']
    dialog.body.append(
      createTable(
        'Columns',
        names.map((name, k) => ({ name, isNumber: k > 1 })),
        columns.map(toCells),
      ),
      createCommand(`gridline describe ${fid}${where ? ` --where '${where.replaceAll("'", "'\\''")}'` : ''}`),
    )
    const rows = where
      ? `${formatNumberOf(row_count, 'row')} where ${where}.`
      : `${formatNumberOf(row_count, 'row')}.`
    dialog.say(rows)
  } catch (error) {
    dialog.say(formatError(error))
  }
}

function toCells({
  name,
  type,
  nulls,
  distinct,
  distinct_is_exact,
  min,
  max,
  mean,
  quantiles,
  quantiles_are_exact,
}: ColumnDescription): string[] {
  const count = (number: number): string => number.toLocaleString('en')
  const median = quantiles === null ? '' : `${quantiles_are_exact ? '' : '~'}${formatStatistic(quantiles[1])}`
  return [
    ...[name, type, count(nulls)],
    distinct_is_exact ? count(distinct) : `more than ${count(distinct - 1)}`,
    ...[String(min ?? ''), median, String(max ?? ''), mean === null ? '' : formatStatistic(mean)],
  ].map((text) => text.slice(0, MAX_CHARACTERS))
}

/** Maximum length of a value. */
const MAX_CHARACTERS = 60

/** Formats a number that was computed, with few digits. */
function formatStatistic(value: number): string {
  return value.toLocaleString('en', {
    maximumSignificantDigits: Math.abs(value) >= 10_000 ? 8 : 5,
    useGrouping: false,
  })
}
