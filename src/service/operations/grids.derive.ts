// Handlers of derived grids.
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, ROOT } from '../../contract/fid.ts'
import type { Derivation, GridMeta } from '../../contract/resources/index.ts'
import { authorizeCall, ownerPrincipal } from '../access/access.ts'
import type { OperationCall } from '../core/call.ts'
import { checkIfMatch } from '../core/etag.ts'
import { assertNoCircle } from '../derivations/inputs.ts'
import { type DerivedContent, planContent, runDerivation } from '../derivations/result.ts'
import { loadDerivation, loadListed } from '../derivations/state.ts'
import { formatDraftFolder, parseDraftName } from '../files/drafts.ts'
import { checkFilename, findByPath, nameTaken, resolveDestination, splitPath } from '../files/names.ts'
import { getFile } from '../files/read.ts'
import { addGrid } from '../grids/change/create.ts'
import { saveDraft } from '../grids/change/drafts.ts'
import { changeLayout } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import { findExisting, notAGridError } from '../grids/change/save-grid.ts'
import { checkColumnLoss } from '../grids/input/match-columns.ts'
import type { DataCall } from '../grids/input/reading-options.ts'
import { getQueries } from '../queries/allowed.ts'
import type { NameScope } from '../queries/query-tables.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers, Writers } from '../store/store.ts'
import { formatDraftResponse } from './grids.upload.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

const TAKEN_HINT = 'Choose another name, or replace its content and query: --on-conflict replace'

type DeriveCall = OperationCall<'grids.derive'>

/** Another request has made a file of the name while the query ran. */
class TakenMeanwhile extends Error {}

/** A derived grid that was created or changed. */
interface Outcome {
  idlocal: number
  action: 'created' | 'replaced' | 'unchanged' | 'drafted'
}

export const deriveHandlers = {
  'grids.derive': async (service, call) => {
    const owner = call.caller!.username
    const { idlocal, action } = await derive(service, call)
    const fid = { owner, idlocal }
    if (action === 'drafted') {
      const { body, etag } = await formatDraftResponse(service, toDraftCall(call), fid, { action })
      return { body: { ...body, file: body.file as GridMeta }, etag }
    }
    const { body: file, etag } = await getFile(service, call, fid, 'grid')
    const derivation = await service.store.read((readers) => loadDerivation(readers, fid, true))
    return { body: { file: file as GridMeta, action, derivation }, etag }
  },

  'derivations.list': (service, call) =>
    service.store.read(async (readers) => {
      const { username } = call.caller!
      const load = (fid: Fid): Promise<Derivation> => loadDerivation(readers, fid, true)
      return { body: { derivations: await loadListed(readers, username, [readers.derivations], load) } }
    }),

  'derivations.get': (service, call) =>
    service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      return { body: await loadDerivation(readers, call.fid, access.roles.has('owner')) }
    }),

  'derivations.delete': async (service, call) => {
    const { fid } = call
    await service.store.writeOnce(call.writeKey(fid.owner), async (writers) => {
      await authorizeCall(writers, call)
      await loadDerivation(writers, fid, false)
      await writers.derivations.remove(fid)
      await writers.files.change(fid.owner, fid.idlocal)
    })
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** Creates a derived grid, or gives an existing grid a query. */
async function derive(service: Service, call: DeriveCall): Promise<Outcome> {
  const { store, limits } = service
  const { sql, params = {}, filename, parent, on_conflict = 'fail', world_readable = false } = call.fields
  const owner = call.caller!.username
  const draft = parseDraftName(call)
  checkFilename(filename, limits)
  const target = {
    ...{ filename, world_readable, onConflict: on_conflict },
    ...{ parent: parent ?? undefined, parent_path: call.fields.parent_path },
  }
  const write = call.writeKey(owner)
  const done = await store.findResultOf<Outcome>(write)
  if (done) return done
  const find = async (readers: Readers) => {
    const file = await findExisting(service, readers, owner, target)
    if (file && on_conflict === 'fail' && draft === undefined) throw nameTaken(filename, TAKEN_HINT)
    if (file && file.filetype !== 'grid') throw notAGridError(file)
    return file
  }
  const { existing, scope } = await store.read(async (readers) => {
    const found = await find(readers)
    return { existing: found, scope: await findScope(service, readers, owner, target, found, draft) }
  })
  const queries = await getQueries(service).get()
  const principal = { ...ownerPrincipal(owner), isAborted: call.isAborted }
  const content = await runDerivation(service, queries, owner, principal, {
    sql,
    parameters: params,
    tables: {},
    scope,
  })
  if (draft !== undefined) {
    const { columns } = content
    const table = { rows: columns[0]?.rows ?? 0, columns, warnings: [], isNameless: false }
    const saved = await saveDraft(service, toDraftCall(call), table, { ...target, draft }, existing)
    return { idlocal: saved.idlocal, action: 'drafted' }
  }
  const query = { sql, parameters: JSON.stringify(params) }
  const owners = content.inputs.map((input) => input.to_owner)
  if (existing) return replace(service, call, existing, content, query)
  const create = async (writers: Writers): Promise<Outcome> => {
    const folder = await resolveDestination(writers, owner, target, limits)
    const taken = await writers.files.findByName(owner, folder, filename)
    if (taken && on_conflict === 'fail') throw nameTaken(filename, TAKEN_HINT)
    if (taken) throw new TakenMeanwhile()
    const file = await writers.files.add({
      ...{ owner, filetype: 'grid', filename, parent: folder },
      world_readable: world_readable ? 1 : 0,
    })
    await addGrid(writers, file, content.columns, { operation: 'create', by: owner })
    await putDerivation(writers, file, query, content)
    return { idlocal: file.idlocal, action: 'created' }
  }
  return store.writeOnce(write, create, { owners }).catch((error) => {
    if (error instanceof TakenMeanwhile) return derive(service, call)
    throw error
  })
}

/** Returns the call of an upload of the same draft. */
function toDraftCall({ headers: { Draft }, ...call }: DeriveCall): DataCall {
  return { ...call, headers: { Draft } }
}

/**
 * Returns where names of a query are looked up: in the folder of the new grid, and in those above it. With a draft, after
 * each in the folder of files that exist only in the draft.
 */
async function findScope(
  { limits }: Service,
  readers: Readers,
  owner: string,
  { parent, parent_path, filename }: { parent?: number; parent_path?: string; filename: string },
  existing: FileRow | undefined,
  draft: string | undefined,
): Promise<NameScope> {
  const { files, folders } = readers
  const except = new Set(existing ? [existing.idlocal] : [])
  if (parent_path === undefined && parent !== undefined && parent !== ROOT) {
    const folder = await files.get(owner, parent)
    const above = folder ? await folders.loadAncestors(folder) : []
    return { folders: [parent, ...above.map(({ idlocal }) => idlocal), ROOT], except }
  }
  const names = parent_path === undefined ? [] : splitPath(parent_path, limits)
  const found: number[] = []
  const draftFolders = new Set<number>()
  for (const place of [...names.map((_, k) => names.slice(0, names.length - k)), []]) {
    const folder = place.length === 0 ? { idlocal: ROOT } : await findByPath(files, owner, ROOT, place)
    if (folder) found.push(folder.idlocal)
    if (draft === undefined) continue
    const path = splitPath(formatDraftFolder(draft, place.join('/')), limits)
    const draftFolder = await findByPath(files, owner, ROOT, path)
    if (!draftFolder) continue
    found.push(draftFolder.idlocal)
    draftFolders.add(draftFolder.idlocal)
    const own =
      place.length === names.length && (await files.findByName(owner, draftFolder.idlocal, filename))
    if (own) except.add(own.idlocal)
  }
  return { folders: found, except, draft, draftFolders }
}

/** Stores the query, and schedules a comparison with the inputs: they may have changed while the query ran. */
async function putDerivation(
  writers: Writers,
  fid: Fid,
  query: { sql: string; parameters: string },
  { inputs }: DerivedContent,
): Promise<void> {
  await writers.derivations.put(fid, query, inputs)
  await writers.jobs.scheduleRefresh(fid)
}

/** Gives an existing grid a query and its result. */
function replace(
  service: Service,
  call: DeriveCall,
  file: FileRow,
  content: DerivedContent,
  query: { sql: string; parameters: string },
): Promise<Outcome> {
  const { owner, idlocal } = file
  const fid = { owner, idlocal }
  return changeLayout(
    service,
    fid,
    (layout) => {
      checkColumnLoss(call, file, content.columns, layout.columns, 'the result of the query')
      return planContent(service, fid, layout, content.columns)
    },
    (writers, plan, layout) =>
      writers.idempotency.runOnce(call.writeKey(owner), async () => {
        const current = await writers.files.get(owner, idlocal)
        if (!current) throw new Problem('not_found', `no grid ${formatFid(fid)}`)
        checkIfMatch(current, call.ifMatch)
        await assertNoCircle(writers, fid, content.inputs)
        await commitPlan(writers, current, layout, plan, owner)
        // Rows that a user adds must not join a version of before.
        await writers.grids.change(owner, idlocal, { appended_by: null, appended_since: null })
        await writers.urlRefreshes.remove(fid)
        await putDerivation(writers, fid, query, content)
        return { idlocal, action: plan.columns ? 'replaced' : 'unchanged' } as Outcome
      }),
    content.inputs.map((input) => input.to_owner),
  )
}
