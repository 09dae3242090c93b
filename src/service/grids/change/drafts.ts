/** Uploads of drafts: the content of a grid changes for nobody but those who look at the draft. See docs/drafts.md. */

import { Problem } from '../../../contract/errors.ts'
import { ROOT } from '../../../contract/fid.ts'
import { formatList } from '../../../contract/message-texts.ts'
import type { CheckReport, CheckResult } from '../../../contract/resources/index.ts'
import { isVersionName } from '../../../contract/version-ref.ts'
import { authorize } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
import { findByPath, splitPath } from '../../files/names.ts'
import { DRAFTS_FOLDER } from '../../store/aggregates/drafts.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { encodeTypes } from '../../store/schema/column-types.ts'
import { primaryKeyNamesOf } from '../../store/schema/primary-key.ts'
import { enforceOn, givenChecks } from '../checks/enforce.ts'
import { snapshotOf } from '../column/content.ts'
import { typesChanged } from '../given/match-columns.ts'
import type { DataCall } from '../given/reading-options.ts'
import type { Table } from '../given/tables.ts'
import { snapshotOfTable } from '../given/tables.ts'
import { checkKey } from '../keys/key.ts'
import type { GridService } from '../service.ts'
import { newUid } from './create.ts'
import { createOrUpdateGrid, notAGrid, type Target, type Written } from './place.ts'
import { refuseDeleteMissing } from './upsert.ts'
import { userOf } from './versions.ts'

/** The draft that an upload is; undefined for any other. Throws `invalid_request` for what can be no name. */
export function givenDraft({ headers }: Pick<DataCall, 'headers'>): string | undefined {
  const name = headers.Draft
  if (name === undefined) return undefined
  if (!isVersionName(name))
    throw new Problem(
      'invalid_request',
      `Draft: ${JSON.stringify(name.slice(0, 80))} cannot be the name of a draft`,
      {
        field: 'Draft',
        hint: 'A name begins with a letter; then letters, digits, . _ and - may follow.',
      },
    )
  const rule = headers['On-Conflict']
  if (rule === 'append' || rule === 'rename')
    throw new Problem('invalid_request', `Draft: On-Conflict ${rule} is not possible; a draft replaces`, {
      field: 'Draft',
      hint: 'Use --on-conflict replace.',
    })
  return name
}

/**
 * Stores a table as a draft of the grid that it would replace. Where there is none, the draft is a private grid in the
 * folder of drafts. Neither checks nor the key of the grid refuse it: what they found is in the result.
 */
export async function placeDraft(
  service: GridService,
  call: DataCall,
  table: Table,
  target: Target & { draft: string },
  existing: FileRow | undefined,
): Promise<Written> {
  const { store, limits } = service
  const owner = call.caller!.username
  const { draft: name } = target
  const { drafts, isKnown } = await store.read(async (readers) => ({
    drafts: await readers.drafts.countDrafts(owner),
    isKnown: (await readers.drafts.list(owner, name)).length > 0,
  }))
  if (drafts >= limits.drafts && !isKnown)
    throw new Problem('too_large', `you have ${drafts} drafts (limit drafts)`, {
      hint: 'Delete those that are not needed: gridline draft list',
    })
  if (!existing) {
    const path = [DRAFTS_FOLDER, name, ...(target.parent_path ? [target.parent_path] : [])].join('/')
    const place = { ...target, parent: undefined, parent_path: path, world_readable: false }
    await store.read(async (readers) => {
      const there = await findByPath(
        readers.files,
        owner,
        ROOT,
        splitPath(`${path}/${target.filename}`, limits),
      )
      const known = there && (await readers.drafts.get(owner, there.idlocal, name))
      if (there && known?.version !== null)
        throw new Problem('conflict', `${path}/${target.filename} exists, and is no draft`, {
          hint: 'Move it out of the folder Drafts.',
        })
    })
    const done = await createOrUpdateGrid(service, call, table, { ...place, onConflict: 'replace' })
    return { ...done, action: 'drafted' }
  }
  if (existing.filetype !== 'grid') throw notAGrid(existing)
  const { idlocal } = existing
  const fid = { owner, idlocal }
  const { before, grid, columns } = await store.read(async (readers) => ({
    before: await snapshotOf(store, readers, fid, undefined),
    grid: await readers.grids.get(owner, idlocal),
    columns: await readers.grids.listColumns(owner, idlocal),
  }))
  refuseDeleteMissing(call)
  const snap = snapshotOfTable(store, table)
  const told = { source: call.fileName ?? 'the upload', lineOf: table.lineOf }
  const names = primaryKeyNamesOf(grid, columns)
  const fault = await checkKey(snap, names, told).then(() => undefined, faultOfKey(names))
  const layout = { grid, columns, slices: new Map() }
  const checked = await enforceOn(
    service,
    fid,
    layout,
    { snap, before, ...told, mayFail: true, ...(fault && { key: [] }) },
    givenChecks(call),
  )
  const checks = fault ? withFault(checked.report, fault, table.rows) : checked.report
  const said = fault ? [`check: ${fault.message}`, ...checked.warnings] : checked.warnings
  const warnings = [...table.warnings, ...said, ...typesChanged(table.columns, columns)]
  return store.writeOnce(call.writeKey(owner), async (writers) => {
    const file = await writers.files.get(owner, idlocal)
    const found = await authorize(writers, file, call, { access: 'write', filetype: 'grid' })
    checkIfMatch(found.file, call.ifMatch)
    if (await writers.versions.findByKeptName(owner, idlocal, name))
      throw new Problem('conflict', `a kept version of '${existing.filename}' is named ${name}`, {
        hint: 'Choose another name for the draft.',
      })
    const former = await writers.drafts.get(owner, idlocal, name)
    if (former && former.version !== null) await writers.versions.remove(owner, idlocal, [former.version])
    // Columns are those of the grid by their names, so that plots show the draft.
    const uids = new Map((await writers.grids.listColumns(owner, idlocal)).map((one) => [one.name, one.uid]))
    for (const lost of await writers.grids.listRemovedColumns(owner, idlocal))
      if (!uids.has(lost.name)) uids.set(lost.name, lost.uid)
    const taken = new Set(uids.values())
    const made_by = userOf(call)
    const version = await writers.versions.addDraft(
      {
        owner,
        idlocal,
        made_by,
        operation: 'replace',
        source: target.provenance ?? target.source_tag ?? null,
        row_count: table.rows,
        ragged: 0,
        types: encodeTypes(table.columns.map(({ type }) => type)),
      },
      table.columns.map((column) => ({ ...column, uid: uids.get(column.name) ?? newUid(taken) })),
    )
    await writers.drafts.put({ owner, idlocal, name, version, made_at: Date.now(), made_by })
    return { idlocal, action: 'drafted' as const, warnings, checks }
  })
}

/** What is wrong with the key of a draft, as a rule that it fails: the upload will be refused for it. */
function faultOfKey(names: readonly string[]): (error: unknown) => CheckResult {
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

function withFault(report: CheckReport | undefined, fault: CheckResult, row_count: number): CheckReport {
  const { errors, warnings, results } = report ?? { errors: 0, warnings: 0, results: [] }
  return { passed: false, row_count, errors: errors + 1, warnings, results: [fault, ...results] }
}
