/** Plans: what an upload would do, as a file, which `apply` does unless something has changed. See docs/mirroring.md. */
import { readFile, writeFile } from 'node:fs/promises'
import { type Client, lookupIfThere } from '../../client/index.ts'
import { ifFound, Problem } from '../../contract/errors.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { openInput } from '../files/input.ts'
import { filesBelow } from '../files/tree.ts'
import type { LocalFile } from './expand.ts'
import { destinationOf, type SendOptions, tagOf } from './send.ts'

/** The version of the format. */
const FORMAT = 1

/** A file that is there when a plan is made, with its entity tag. */
interface Target {
  fid: string
  etag: string
  /** Of a folder of grids: what is in it. */
  inside?: Target[]
}

export interface PlannedUpload extends LocalFile {
  /** The path on the server. */
  path: string
  would: string
  /** The content of the local file. */
  tag: string
  target: Target | null
}

export interface PlannedRemoval extends Target {
  path: string
}

export interface Plan {
  gridline_plan: typeof FORMAT
  made_at: string
  /** null: the database on this machine. */
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
    gridline_plan: FORMAT,
    made_at: new Date().toISOString(),
    ...(await whereOf(context)),
    options: kept(options),
    uploads: [],
    trash: [],
  }
  for (const { file: local, folders, would } of uploads) {
    const { path, parent } = await destinationOf(client, options, { file: local, folders })
    const target = await lookupIfThere(client, path, parent)
    plan.uploads.push({
      file: local,
      folders,
      path,
      would,
      tag: await tagOf(await openInput(local), options.reading),
      target: target ? await targetOf(client, target) : null,
    })
  }
  for (const { fid } of removals)
    plan.trash.push({ fid, path: await pathOf(client, fid), etag: await etagOf(client, fid) })
  await writeFile(file, `${JSON.stringify(plan, null, 2)}\n`).catch((error: Error) => {
    throw new Problem('failed', `cannot write ${file}: ${error.message}`)
  })
}

/** The options that say how files are sent. */
function kept(options: SendOptions): SendOptions {
  const { name, folder, onConflict, allowTypeChange, yes, maxShrink, strict, key, deleteMissing, reading } =
    options
  return {
    name,
    folder,
    public: options.public,
    onConflict,
    allowTypeChange,
    yes,
    maxShrink,
    strict,
    key,
    deleteMissing,
    reading,
  }
}

/** Reads a plan. Throws `usage` for any other file. */
export async function readPlan(file: string): Promise<Plan> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new Problem('no_such_file', `${file}: no such file`)
      : new Problem('failed', `cannot read ${file}: ${error.message}`)
  })
  try {
    const plan = JSON.parse(text) as Plan
    if (plan.gridline_plan === FORMAT && Array.isArray(plan.uploads) && Array.isArray(plan.trash)) return plan
  } catch {
    // It is no JSON.
  }
  throw new Problem('usage', `${file} is no plan of this version of gridline`, {
    hint: 'Make one with: gridline upload DIRECTORY --delete --plan FILE',
  })
}

/** Throws `conflict`, naming the files, if anything that a plan names has changed since. */
export async function assertUnchanged(context: Context, file: string, plan: Plan): Promise<void> {
  const { server, user } = await whereOf(context)
  if (server !== plan.server || user !== plan.user)
    throw changed(file, [
      `it is for ${plan.user} on ${plan.server ?? 'this machine'}, not ${user} on ${server ?? 'this machine'}`,
    ])
  const client = await context.client()
  const found: string[] = []
  for (const { file: local, folders, tag, target, path } of plan.uploads) {
    const now = await openInput(local).then(
      (input) => tagOf(input, plan.options.reading),
      () => undefined,
    )
    if (now !== tag)
      found.push(now === undefined ? `${local} cannot be read any more` : `${local} has changed`)
    const { parent } = await destinationOf(client, plan.options, { file: local, folders })
    const there = await lookupIfThere(client, path, parent)
    if (there?.fid !== target?.fid)
      found.push(there ? `${path} is now ${there.fid}` : `${path} does not exist any more`)
    else if (there && JSON.stringify(await targetOf(client, there)) !== JSON.stringify(target))
      found.push(`${path} has changed on the server`)
  }
  for (const { fid, path, etag } of plan.trash) {
    const now = await ifFound(etagOf(client, fid))
    const where = now === undefined ? path : await pathOf(client, fid)
    if (where !== path) {
      found.push(`${path} is now at ${where}`)
      continue
    }
    if (now !== etag)
      found.push(now === undefined ? `${path} does not exist any more` : `${path} has changed on the server`)
  }
  if (found.length > 0) throw changed(file, found)
}

/** Files that a message names. */
const MAX_NAMED = 3

function changed(file: string, what: readonly string[]): Problem {
  const more = what.length > MAX_NAMED ? `; and ${what.length - MAX_NAMED} more` : ''
  return new Problem('conflict', `${file} was not applied: ${what.slice(0, MAX_NAMED).join('; ')}${more}`, {
    hint: 'Nothing was changed. Make the plan again, and look at it.',
  })
}

async function whereOf(context: Context): Promise<Pick<Plan, 'server' | 'user'>> {
  const { client, server } = await context.connect()
  return { server: server ?? null, user: (await client.call('users.current')).username }
}

/** A file with its entity tag; of a folder, with those of everything in it. */
async function targetOf(client: Client, file: Pick<FileMeta, 'fid' | 'filetype'>): Promise<Target> {
  const target: Target = { fid: file.fid, etag: await etagOf(client, file.fid) }
  if (file.filetype !== 'fold') return target
  const inside: Target[] = []
  for (const { file: one } of await filesBelow(client, file as FileMeta))
    if (one.fid !== file.fid) inside.push({ fid: one.fid, etag: await etagOf(client, one.fid) })
  return { ...target, inside: inside.sort((a, b) => (a.fid < b.fid ? -1 : 1)) }
}

async function pathOf(client: Client, fid: string): Promise<string> {
  return (await client.call('files.path', { fid })).path.replace(/^\/+/, '')
}

async function etagOf(client: Client, fid: string): Promise<string> {
  const { headers } = await client.response('files.get', { fid })
  // The part after the version is of the answer.
  return (headers.etag ?? '').replace(/-[0-9a-f]{8}"$/, '"')
}
