// Handlers of checks: rules that the data of a grid must pass.
import { parseChecks } from '../../checks/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { ChecksDocument } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { checkCanChange } from '../files/read.ts'
import { canSeeVersions, loadVersionRow } from '../files/versions.ts'
import { changeGrid } from '../grids/change/change.ts'
import { enforceChecksOnGrid, listLostColumns } from '../grids/checks/enforce.ts'
import { runChecks } from '../grids/checks/run.ts'
import { createLayoutSnapshot } from '../grids/column/layout.ts'
import { takeVersionSnapshot, trimSnapshot } from '../grids/column/snapshot.ts'
import { primaryKeyNamesOf } from '../store/schema/primary-key.ts'
import { analyze, type Handlers } from './handler.ts'

/** Maximum size of the checks of a grid, in bytes. */
const MAX_CHECKS_BYTES = 64 * 1024

export const checksHandlers = {
  'checks.run': async (service, call) => {
    const { store } = service
    const { fid } = call
    const loaded = await store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const row = await loadVersionRow(readers, access, call.version)
      const grid = await readers.grids.get(fid.owner, fid.idlocal)
      const version = row?.version ?? access.file.content_version
      // Only callers with write access may see the previous version.
      const [last] = canSeeVersions(access)
        ? await readers.versions.list(fid.owner, fid.idlocal, version, 1)
        : []
      return {
        grid,
        snap: await takeVersionSnapshot(store, readers, fid, row),
        // A draft is compared with the current version.
        before:
          row && row.version < 0
            ? await takeVersionSnapshot(store, readers, fid, undefined)
            : last && (await takeVersionSnapshot(store, readers, fid, last)),
        columns: await readers.grids.listColumns(fid.owner, fid.idlocal),
      }
    })
    const document = call.fields.checks ?? parseStoredChecks(loaded.grid.checks)
    if (!document)
      throw new Problem('bad_checks', 'the request contains no checks, and the grid has none', {
        hint: 'Name a checks file with --checks. To write one from the data: gridline check GRID --init',
      })
    const checks = parseChecks(document)
    return {
      body: { passed: true, row_count: loaded.snap.rows, errors: 0, warnings: 0, results: [] },
      createBody: analyze(service, async (work) => {
        const snap = await trimSnapshot(loaded.snap)
        const lostColumns = await listLostColumns(service, fid, [checks], loaded.columns, snap)
        const before = loaded.before && (await trimSnapshot(loaded.before))
        const key = primaryKeyNamesOf(loaded.grid, loaded.columns)
        return { body: await runChecks(checks, { snap, before, key, lostColumns, work }) }
      }),
    }
  },

  'checks.get': (service, call) =>
    service.store.read(async (readers) => {
      await authorizeCall(readers, call)
      const { checks } = await readers.grids.get(call.fid.owner, call.fid.idlocal)
      return { body: { checks: parseStoredChecks(checks) ?? null } }
    }),

  'checks.set': async (service, call) => {
    const { fid } = call
    const document = call.fields.checks
    const text = document === null ? null : JSON.stringify(document)
    if (text !== null && Buffer.byteLength(text) > MAX_CHECKS_BYTES)
      throw new Problem(
        'too_large',
        `checks of ${Buffer.byteLength(text)} bytes; the limit is ${MAX_CHECKS_BYTES}`,
      )
    if (document !== null) parseChecks(document)
    await checkCanChange(service, call)
    await changeGrid(service, call, fid, async (layout) => {
      const snap = createLayoutSnapshot(service.store, layout)
      const checked = { ...layout, grid: { ...layout.grid, checks: text } }
      // The content of now must pass, so that a later failure is new.
      await enforceChecksOnGrid(service, fid, checked, { snap, before: undefined, source: 'the grid' })
      return { checks: text, change: { operation: 'columns' }, createResult: () => null }
    })
    return { body: { checks: document } }
  },
} satisfies Partial<Handlers>

/** Parses the stored checks of a grid; undefined for null. */
function parseStoredChecks(checks: string | null): ChecksDocument | undefined {
  return checks === null ? undefined : JSON.parse(checks)
}
