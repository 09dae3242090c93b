/// <reference lib="dom" />
// The difference of new data to a grid, before it is stored.
import { call } from '../api.ts'
import { create, createAction, type OpenDialog, reloadSaying } from '../dom.ts'
import { createDifference, type Diff, loadDiff, MAX_LISTED_ROWS } from '../grid-difference.ts'
import type { UploadResult } from './send.ts'

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
  const act = (label: string, action: () => Promise<void>, isPrimary = false): HTMLButtonElement =>
    createAction(label, action, dialog.say, { class: isPrimary ? 'primary' : undefined }, buttons)
  const drop = async (): Promise<void> => {
    if (draft !== undefined)
      await call('drafts.delete', { path: { id: draft }, query: { fid: [fid] } as never })
  }
  // A draft that is neither stored nor kept goes with its dialog.
  let isDone = false
  dialog.element.addEventListener('close', () => {
    if (!isDone) drop().catch(() => {})
  })
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
          isDone = true
          await drop().catch(() => {})
          reloadSaying('Stored as a new version; History can restore the one before.')
        },
        true,
      ),
      draft !== undefined &&
        act('Keep it as a draft', async () => {
          isDone = true
          location.assign(`${location.pathname}?version=${encodeURIComponent(draft)}`)
        }),
      act('Drop it', async () => dialog.close()),
    ),
  )
  dialog.say('')
}

/** Loads the difference of a draft to the grid as it is. */
async function loadDifference(fid: string, draft: string): Promise<Diff> {
  const { version } = await call('grids.get', { path: { fid } })
  const query = { version: draft, base_version: String(version), limit: MAX_LISTED_ROWS, context: true }
  return loadDiff(fid, query)
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
    known.map(([what, count]) => `${what}: ${count!.toLocaleString('en')}`).join(', '),
  )
}
