// Writes and checks plans: planned uploads in a file, applied by `apply`. See docs/mirroring.md.
import { readFile } from 'node:fs/promises'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { definitionKindOf } from '../files/definitions.ts'
import { openInput } from '../files/input.ts'
import { listTree } from '../files/list-tree.ts'
import { writeNamedFile } from '../files/write-file.ts'
import { resolveDestination } from './destination.ts'
import type { LocalFile } from './expand.ts'
import { computeSourceTag, type SendOptions } from './send.ts'

/** Version of the file format. */
const PLAN_FORMAT = 1

/** Existing file at the time of the plan, with its etag. */
interface Target {
  fid: string
  etag: string
  /** For folders: the files inside. */
  inside?: Target[]
}

export interface PlannedUpload extends LocalFile {
  /** Path on the server. */
  path: string
  /** Planned action, such as `create` or `nothing`. */
  would: string
  /** SHA-256 of the local file and its parse options. */
  tag: string
  target: Target | null
}

/** Grid that the plan moves to the trash. */
export interface PlannedRemoval extends Target {
  path: string
}

export interface Plan {
  gridline_plan: typeof PLAN_FORMAT
  made_at: string
  /** URL of the server; null for the database on this machine. */
  server: string | null
  user: string
  options: SendOptions
  uploads: PlannedUpload[]
  trash: PlannedRemoval[]
}

/** Writes a plan to a file. */
export async function writePlan(
  context: Context,
  file: string,
  options: SendOptions,
  uploads: readonly (LocalFile & { would: string })[],
  removals: readonly { fid: string; path: string }[],
): Promise<void> {
  const client = await context.client()
  const plan: Plan = {
    gridline_plan: PLAN_FORMAT,
    made_at: new Date().toISOString(),
    ...(await loadServerAndUser(context)),
    options: sendingOptionsOf(options),
    uploads: [],
    trash: [],
  }
  for (const { file: local, folders, name, would } of uploads) {
    const { path, parent } = await resolveDestination(client, options, { file: local, folders, name })
    const target = await lookupOrUndefined(client, path, parent)
    plan.uploads.push({
      file: local,
      folders,
      ...(name !== undefined && { name }),
      path,
      would,
      tag: await computeTag({ file: local, folders }, options.reading),
      target: target ? await loadTarget(client, target, local) : null,
    })
  }
  for (const { fid } of removals)
    plan.trash.push({ fid, path: await loadPath(client, fid), etag: await loadEtag(client, fid) })
  await writeNamedFile(file, `${JSON.stringify(plan, null, 2)}\n`)
}

/** Returns the SHA-256 of a local file and its parse options; for a chart, also of the files that it names. */
async function computeTag(local: LocalFile, reading: SendOptions['reading']): Promise<string> {
  const tag = await computeSourceTag(await openInput(local.file), reading)
  if (definitionKindOf(local.file) !== 'chart') return tag
  const { listChartFiles } = await import('./define-chart.ts')
  const tags = [tag]
  for (const file of await listChartFiles(local)) tags.push(await computeSourceTag(await openInput(file), {}))
  return tags.join(' ')
}

/** Returns the options that concern sending, for the plan. */
function sendingOptionsOf(options: SendOptions): SendOptions {
  const { name, folder, onConflict, allowTypeChange, yes, confirmed, maxShrink, strict, key } = options
  const { deleteMissing, reading } = options
  const rules = { onConflict, allowTypeChange, yes, confirmed, maxShrink, strict, key, deleteMissing }
  return { name, folder, public: options.public, ...rules, reading }
}

/** Reads a plan. Throws `usage` for other files. */
export async function readPlan(file: string): Promise<Plan> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new Problem('no_such_file', `${file}: no such file`)
      : new Problem('failed', `cannot read ${file}: ${error.message}`)
  })
  try {
    const plan = JSON.parse(text) as Plan
    if (plan.gridline_plan === PLAN_FORMAT && Array.isArray(plan.uploads) && Array.isArray(plan.trash))
      return plan
  } catch {
    // Not JSON.
  }
  throw new Problem('usage', `${file} is not a plan of this version of gridline`, {
    hint: 'Create one with: gridline upload DIRECTORY --delete --plan FILE',
  })
}

/**
 * Throws `conflict` if the plan is for another server or user, or if a local or stored file that it names has
 * changed since; the message names the first ones.
 */
export async function assertUnchanged(context: Context, file: string, plan: Plan): Promise<void> {
  const { server, user } = await loadServerAndUser(context)
  if (server !== plan.server || user !== plan.user)
    throw conflictProblem(file, [
      `the plan is for ${plan.user} on ${plan.server ?? 'this machine'}, not ${user} on ${server ?? 'this machine'}`,
    ])
  const client = await context.client()
  const changes: string[] = []
  for (const planned of plan.uploads) {
    const { file: local, tag, target, path } = planned
    const currentTag = await computeTag(planned, plan.options.reading).catch(() => undefined)
    if (currentTag !== tag)
      changes.push(currentTag === undefined ? `${local} can no longer be read` : `${local} has changed`)
    const { parent } = await resolveDestination(client, plan.options, planned)
    const existing = await lookupOrUndefined(client, path, parent)
    if (existing?.fid !== target?.fid)
      changes.push(existing ? `${path} is now ${existing.fid}` : `${path} no longer exists`)
    else if (existing && JSON.stringify(await loadTarget(client, existing, local)) !== JSON.stringify(target))
      changes.push(`${path} has changed on the server`)
  }
  for (const { fid, path, etag } of plan.trash) {
    const currentEtag = await undefinedIfNotFound(loadEtag(client, fid))
    const currentPath = currentEtag === undefined ? path : await loadPath(client, fid)
    if (currentPath !== path) {
      changes.push(`${path} is now at ${currentPath}`)
      continue
    }
    if (currentEtag !== etag)
      changes.push(
        currentEtag === undefined ? `${path} no longer exists` : `${path} has changed on the server`,
      )
  }
  if (changes.length > 0) throw conflictProblem(file, changes)
}

/** Maximum number of changes in a message. */
const MAX_LISTED_CHANGES = 3

function conflictProblem(file: string, changes: readonly string[]): Problem {
  const more = changes.length > MAX_LISTED_CHANGES ? `; and ${changes.length - MAX_LISTED_CHANGES} more` : ''
  return new Problem(
    'conflict',
    `${file} was not applied: ${changes.slice(0, MAX_LISTED_CHANGES).join('; ')}${more}`,
    {
      hint: 'Nothing was changed. Create a new plan and review it.',
    },
  )
}

/** Returns the server and user of the current connection. */
async function loadServerAndUser(context: Context): Promise<Pick<Plan, 'server' | 'user'>> {
  const { client, server } = await context.connect()
  return { server: server ?? null, user: (await client.call('users.current')).username }
}

/** Returns the file that `local` replaces, with its etag; for a folder, with the etags of its content. */
async function loadTarget(client: Client, file: FileMeta, local: string): Promise<Target> {
  // The content of a derived grid follows its inputs: its query is what a plan replaces.
  const query = definitionKindOf(local) === 'query' ? await loadQuery(client, file.fid) : undefined
  const target: Target = { fid: file.fid, etag: query ?? (await loadEtag(client, file.fid)) }
  if (file.filetype !== 'fold') return target
  const inside: Target[] = []
  for (const { file: child } of await listTree(client, file))
    if (child.fid !== file.fid) inside.push({ fid: child.fid, etag: await loadEtag(client, child.fid) })
  return { ...target, inside: inside.sort((a, b) => (a.fid < b.fid ? -1 : 1)) }
}

/** Returns a text that identifies the query of a derived grid; undefined for other grids. */
async function loadQuery(client: Client, fid: string): Promise<string | undefined> {
  const derivation = await client.call('derivations.get', { fid }).catch((error) => {
    if (error instanceof Problem && error.code === 'invalid_request') return undefined
    throw error
  })
  return derivation && JSON.stringify([derivation.sql, derivation.params])
}

async function loadPath(client: Client, fid: string): Promise<string> {
  return (await client.call('files.path', { fid })).path.replace(/^\/+/, '')
}

async function loadEtag(client: Client, fid: string): Promise<string> {
  const response = await client.response('files.get', { fid })
  // A connection is free again when the body is read.
  await response.text()
  const { headers } = response
  // The suffix describes the response, not the version.
  return (headers.etag ?? '').replace(/-[0-9a-f]{8}"$/, '"')
}
