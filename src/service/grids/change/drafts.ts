// Stores uploads as drafts: unpublished content of a grid (docs/drafts.md).

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import type { CheckReport, CheckResult } from '../../../contract/resources/index.ts'
import { authorize } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
import { checkDraftLimit, findDraftFile, formatDraftFolder } from '../../files/drafts.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { encodeTypes } from '../../store/schema/column-types.ts'
import { primaryKeyNamesOf } from '../../store/schema/primary-key.ts'
import type { Writers } from '../../store/store.ts'
import { enforceChecksOnGrid, parseChecksHeader } from '../checks/enforce.ts'
import { takeVersionSnapshot } from '../column/snapshot.ts'
import { warnOfTypeChanges } from '../input/match-columns.ts'
import type { DataCall } from '../input/reading-options.ts'
import type { Table } from '../input/tables.ts'
import { createTableSnapshot } from '../input/tables.ts'
import { checkKey } from '../keys/primary-key.ts'
import type { GridService } from '../service.ts'
import { createUid } from './create.ts'
import { notAGridError, saveGrid, type UploadResult, type UploadTarget } from './save-grid.ts'
import { checkNoDeleteMissing } from './upsert.ts'
import { usernameOf } from './versions.ts'

type DraftTarget = UploadTarget & { draft: string }

/**
 * Stores a table as a draft of `existing`. Without an existing grid, creates a private grid in the folder of
 * drafts. A draft is stored even if it fails checks or the key of the grid; the result contains the failures.
 */
export async function saveDraft(
  service: GridService,
  call: DataCall,
  table: Table,
  target: DraftTarget,
  existing: FileRow | undefined,
): Promise<UploadResult> {
  const owner = call.caller!.username
  await checkDraftLimit(service, owner, target.draft)
  if (!existing) return saveNewGrid(service, call, table, target)
  if (existing.filetype !== 'grid') throw notAGridError(existing)
  const report = await checkDraft(service, call, table, existing)
  return service.store.writeOnce(call.writeKey(owner), async (writers): Promise<UploadResult> => {
    await writeDraft(writers, call, table, target, existing)
    return { idlocal: existing.idlocal, action: 'drafted', ...report }
  })
}

/** Stores a draft without a published grid as a private grid in the folder of drafts. */
async function saveNewGrid(
  service: GridService,
  call: DataCall,
  table: Table,
  target: DraftTarget,
): Promise<UploadResult> {
  const owner = call.caller!.username
  const path = formatDraftFolder(target.draft, target.parent_path)
  await service.store.read((readers) =>
    findDraftFile(readers, service.limits, owner, `${path}/${target.filename}`, target.draft),
  )
  const place = { parent: undefined, parent_path: path, world_readable: false }
  const saved = await saveGrid(service, call, table, { ...target, ...place, onConflict: 'replace' })
  return { ...saved, action: 'drafted' }
}

/** Runs the key and the checks of a grid on its draft. Returns failures as a report and as warnings. */
async function checkDraft(
  service: GridService,
  call: DataCall,
  table: Table,
  { owner, idlocal }: FileRow,
): Promise<{ warnings: string[]; checks?: CheckReport }> {
  const { store } = service
  const fid = { owner, idlocal }
  const { before, grid, columns } = await store.read(async (readers) => ({
    before: await takeVersionSnapshot(store, readers, fid, undefined),
    grid: await readers.grids.get(owner, idlocal),
    columns: await readers.grids.listColumns(owner, idlocal),
  }))
  checkNoDeleteMissing(call)
  const snap = createTableSnapshot(store, table)
  const naming = { source: call.fileName ?? 'the upload', lineOf: table.lineOf }
  const names = primaryKeyNamesOf(grid, columns)
  const fault = await checkKey(snap, names, naming).then(() => undefined, toKeyFault(names))
  const checked = await enforceChecksOnGrid(
    service,
    fid,
    { grid, columns, slices: new Map() },
    { snap, before, ...naming, mayFail: true, ...(fault && { key: [] }) },
    parseChecksHeader(call),
  )
  const failures = fault ? [`check: ${fault.message}`, ...checked.warnings] : checked.warnings
  return {
    warnings: [...table.warnings, ...failures, ...warnOfTypeChanges(table.columns, columns)],
    checks: fault ? prependFault(checked.report, fault, table.rows) : checked.report,
  }
}

/** Writes a draft, and removes the former one of the same name. */
async function writeDraft(
  writers: Writers,
  call: DataCall,
  table: Table,
  { draft: name, provenance, source_tag }: DraftTarget,
  { owner, idlocal, filename }: FileRow,
): Promise<void> {
  const file = await writers.files.get(owner, idlocal)
  const access = await authorize(writers, file, call, { access: 'write', filetype: 'grid' })
  checkIfMatch(access.file, call.ifMatch)
  if (await writers.versions.findByKeptName(owner, idlocal, name))
    throw new Problem('conflict', `a kept version of '${filename}' is named ${name}`, {
      hint: 'Choose another name for the draft.',
    })
  const formerDraft = await writers.drafts.get(owner, idlocal, name)
  if (formerDraft && formerDraft.version !== null)
    await writers.versions.remove(owner, idlocal, [formerDraft.version])
  // Columns get the uids of the grid's columns by name, so that plots can show the draft.
  const uids = new Map((await writers.grids.listColumns(owner, idlocal)).map((one) => [one.name, one.uid]))
  for (const removedColumn of await writers.grids.listRemovedColumns(owner, idlocal))
    if (!uids.has(removedColumn.name)) uids.set(removedColumn.name, removedColumn.uid)
  const taken = new Set(uids.values())
  const made_by = usernameOf(call)
  const version = await writers.versions.addDraft(
    {
      owner,
      idlocal,
      made_by,
      operation: 'replace',
      source: provenance ?? source_tag ?? null,
      row_count: table.rows,
      ragged: 0,
      types: encodeTypes(table.columns.map(({ type }) => type)),
    },
    table.columns.map((column) => ({ ...column, uid: uids.get(column.name) ?? createUid(taken) })),
  )
  await writers.drafts.put({ owner, idlocal, name, version, made_at: Date.now(), made_by })
}

/** Returns a function that converts an error of a key to a failed check. It throws other errors again. */
function toKeyFault(names: readonly string[]): (error: unknown) => CheckResult {
  return (error) => {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return {
      column: null,
      rule: 'key',
      expected: `the key tells rows apart: ${formatList(names)}`,
      severity: 'error',
      passed: false,
      count: null,
      message: error.message,
      rows: [],
    }
  }
}

/** Returns a report with `fault` as its first result. */
function prependFault(report: CheckReport | undefined, fault: CheckResult, row_count: number): CheckReport {
  const { errors, warnings, results } = report ?? { errors: 0, warnings: 0, results: [] }
  return { passed: false, row_count, errors: errors + 1, warnings, results: [fault, ...results] }
}
