/// <reference lib="dom" />
// The difference of new data to a grid, before it is stored.
import type { ResultOf } from '../../contract/operations/index.ts'
import { call, formatError } from '../api.ts'
import { create, createButton, type OpenDialog, runOnce } from '../dom.ts'
import type { UploadResult } from './send.ts'

/** Number of changed rows that are listed. */
const MAX_ROWS = 50

type Diff = ResultOf<'grids.diff'>

/** New data of a grid that is not stored yet. */
export interface Proposal {
  fid: string
  /** Result of the upload as a draft, or as a dry run. */
  result: UploadResult
  /** Name of the draft; undefined for a dry run. */
  draft?: string
  /** Stores the data. */
  store(): Promise<void>
}

/** Shows what new data would change, and offers to store it, to keep it as a draft, or to drop it. */
export async function showDifference(
  dialog: OpenDialog,
  { fid, result, draft, store }: Proposal,
): Promise<void> {
  const { warnings, checks } = result
  const buttons: HTMLButtonElement[] = []
  const act = (label: string, action: () => Promise<void>, isPrimary = false): HTMLButtonElement => {
    const button = createButton(
      label,
      () => runOnce(buttons, () => action().catch((error) => dialog.say(formatError(error)))),
      { class: isPrimary ? 'primary' : undefined },
    )
    buttons.push(button)
    return button
  }
  const drop = async (): Promise<void> => {
    if (draft !== undefined) await call('drafts.delete', { path: { id: draft } })
  }
  dialog.body.replaceChildren(
    ...(draft === undefined ? [createCounts(result)] : createDifference(await loadDifference(fid, draft))),
    ...warnings.map((warning) => create('p', { class: 'note' }, warning)),
    ...(checks?.results.filter(({ passed }) => !passed) ?? []).map(({ message, rule, column }) =>
      create('p', { class: 'note' }, `${column ?? 'the table'}, ${rule}: ${message ?? 'not passed'}`),
    ),
    create(
      'div',
      { class: 'actions' },
      act(
        'Store this',
        async () => {
          dialog.say('Storing …')
          await store()
          await drop().catch(() => {})
          location.reload()
        },
        true,
      ),
      draft !== undefined &&
        act('Keep it as a draft', async () => {
          location.assign(`${location.pathname}?version=${encodeURIComponent(draft)}`)
        }),
      act('Drop it', async () => {
        await drop()
        dialog.close()
      }),
    ),
  )
  dialog.say('')
}

/** Loads the difference of a draft to the grid as it is. */
async function loadDifference(fid: string, draft: string): Promise<Diff> {
  const { version } = await call('grids.get', { path: { fid } })
  const query = { version: draft, base_version: String(version), limit: MAX_ROWS, context: true }
  return call('grids.diff', { path: { fid }, query: query as never })
}

/** Says how many rows an upload adds and updates. */
function createCounts({ file, rows_added, rows_updated, rows_unchanged }: UploadResult): HTMLElement {
  const counts: [string, number | undefined][] = [
    ['rows added', rows_added],
    ['updated', rows_updated],
    ['unchanged', rows_unchanged],
    ['rows then', 'row_count' in file ? file.row_count : undefined],
  ]
  const known = counts.filter(([, count]) => count !== undefined)
  return create(
    'p',
    { class: 'lead' },
    known.map(([what, count]) => `${what}: ${count!.toLocaleString()}`).join(', '),
  )
}

/** Returns the difference of two grids in words and as a table. */
export function createDifference(diff: Diff): HTMLElement[] {
  const { rows_added, rows_removed, rows_changed, cells_changed, columns, rows, is_same, is_complete } = diff
  if (is_same) return [create('p', {}, 'The data is the same.')]
  const parts = [
    `rows added: ${rows_added.toLocaleString()}`,
    `removed: ${rows_removed.toLocaleString()}`,
    `changed: ${rows_changed.toLocaleString()}`,
    `cells changed: ${cells_changed.toLocaleString()}`,
  ]
  const names = [...new Set(rows.flatMap(({ before, after }) => Object.keys({ ...before, ...after })))].slice(
    0,
    30,
  )
  const changedColumns = columns.filter(({ change }) => change !== 'values')
  return [
    create('p', { class: 'lead' }, parts.join(', ')),
    ...(changedColumns.length > 0
      ? [create('p', {}, `Columns: ${changedColumns.map(describeColumn).join(', ')}`)]
      : []),
    create(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Rows that differ' },
      create(
        'table',
        {},
        create(
          'thead',
          {},
          create('tr', {}, create('th', {}, ''), ...names.map((name) => create('th', {}, name))),
        ),
        create(
          'tbody',
          {},
          ...rows.map(({ change, before, after }) =>
            create(
              'tr',
              {},
              create('th', { scope: 'row' }, change),
              ...names.map((name) => createCell(name, before, after)),
            ),
          ),
        ),
      ),
    ),
    ...(is_complete ? [] : [create('p', {}, 'Only the first rows that differ are listed.')]),
  ]
}

function describeColumn({
  change,
  name_before,
  name_after,
  type_before,
  type_after,
}: Diff['columns'][number]): string {
  if (change === 'renamed') return `${name_before} is now ${name_after}`
  if (change === 'retyped') return `${name_after}: ${type_before} is now ${type_after}`
  return `${name_after ?? name_before} ${change}`
}

type Values = Readonly<Record<string, unknown>> | null

/** Returns the cell of a column in a row that differs: the value before and after. */
function createCell(name: string, before: Values, after: Values): HTMLTableCellElement {
  const [old, next] = [before, after].map((values) => textOf(values?.[name]))
  if (before && after && old === next) return create('td', {}, old)
  return create(
    'td',
    {},
    old !== '' && create('del', {}, old),
    old !== '' && next !== '' && ' ',
    next !== '' && create('ins', {}, next),
  )
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, 100)
}
