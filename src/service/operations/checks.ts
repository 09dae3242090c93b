import { readChecks } from '../../checks/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { ChecksDocument } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { assertCanChange } from '../files/read.ts'
import { rowOfVersion, seesVersions } from '../files/versions.ts'
import { changeGrid } from '../grids/change/change.ts'
import { enforceOn, lostColumns } from '../grids/checks/enforce.ts'
import { runChecks } from '../grids/checks/run.ts'
import { snapshotOf, trimmed } from '../grids/column/content.ts'
import { snapshotOfLayout } from '../grids/column/layout.ts'
import { keyNames } from '../store/schema/primary-key.ts'
import type { Handlers } from './handler.ts'

/** Bytes of the rules that a grid has. */
const MAX_BYTES = 64 * 1024

export const checksHandlers = {
  'checks.run': async (service, call) => {
    const { store } = service
    const { fid } = call
    const given = await store.read(async (readers) => {
      const found = await authorizeCall(readers, call)
      const row = await rowOfVersion(readers, found, call.version)
      const grid = await readers.grids.get(fid.owner, fid.idlocal)
      const present = row?.version ?? found.file.content_version
      // The version before is for those who may write.
      const [last] = seesVersions(found)
        ? await readers.versions.list(fid.owner, fid.idlocal, present, 1)
        : []
      return {
        grid,
        snap: await snapshotOf(store, readers, fid, row),
        // What a draft changes is the present version.
        before:
          row && row.version < 0
            ? await snapshotOf(store, readers, fid, undefined)
            : last && (await snapshotOf(store, readers, fid, last)),
        columns: await readers.grids.columns(fid.owner, fid.idlocal),
      }
    })
    const document = (call.fields.checks ?? parsed(given.grid.checks)) as ChecksDocument | undefined
    if (!document)
      throw new Problem('bad_checks', 'no checks are given, and the grid has none', {
        hint: 'Name a checks file with --checks. To write one from the data: gridline check GRID --init',
      })
    const checks = readChecks(document)
    return {
      body: { passed: true, row_count: given.snap.rows, errors: 0, warnings: 0, results: [] },
      // All values may be read: a few at once, and only as long as the client waits.
      later: (user, work) =>
        service.describing.run(
          user,
          async () => {
            const snap = await trimmed(given.snap)
            const lost = await lostColumns(service, fid, [checks], given.columns, snap)
            const before = given.before && (await trimmed(given.before))
            const key = keyNames(given.grid, given.columns)
            return { body: await runChecks(checks, { snap, before, key, lostColumns: lost, work }) }
          },
          work.gone,
        ),
    }
  },

  'checks.get': (service, call) =>
    service.store.read(async (readers) => {
      await authorizeCall(readers, call)
      const { checks } = await readers.grids.get(call.fid.owner, call.fid.idlocal)
      return { body: { checks: parsed(checks) ?? null } }
    }),

  'checks.set': async (service, call) => {
    const { fid } = call
    const document = call.fields.checks
    const text = document === null ? null : JSON.stringify(document)
    if (text !== null && Buffer.byteLength(text) > MAX_BYTES)
      throw new Problem('too_large', `checks of ${Buffer.byteLength(text)} bytes; the limit is ${MAX_BYTES}`)
    if (document !== null) readChecks(document)
    await assertCanChange(service, call)
    await changeGrid(service, call, fid, async (layout) => {
      const snap = snapshotOfLayout(service.store, layout)
      const checked = { ...layout, grid: { ...layout.grid, checks: text } }
      // The content of now must pass, so that a later failure is new.
      await enforceOn(service, fid, checked, { snap, before: undefined, source: 'the grid' })
      return { checks: text, change: { operation: 'columns' }, result: () => null }
    })
    return { body: { checks: document } }
  },
} satisfies Partial<Handlers>

function parsed(checks: string | null): ChecksDocument | undefined {
  return checks === null ? undefined : (JSON.parse(checks) as ChecksDocument)
}
