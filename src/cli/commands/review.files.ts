// Reviews of data files: as drafts, or locally without write access.
import { basename } from 'node:path'
import type { Client } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { CheckReport, GridMeta } from '../../contract/resources/index.ts'
import { annotate } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import type { Option, OptionValues } from '../core/define.ts'
import { readChecksFile } from '../files/checks-file.ts'
import { definitionKindOf } from '../files/definitions.ts'
import { diffWithFile, parseKey } from '../files/diff-inputs.ts'
import { checkLocalFile } from '../files/local-checks.ts'
import { loadLocalGrid } from '../files/local-data.ts'
import { checksOption, readingOptions } from '../files/parse-options.ts'
import type { FileReview } from '../output/review.ts'
import { resolveDestination } from '../upload/destination.ts'
import type { LocalFile } from '../upload/expand.ts'
import { excludeOption } from '../upload/options.ts'
import { toUploadRow } from '../upload/result.ts'
import type { Sender } from '../upload/send.ts'

/** Maximum number of rows of a diff to load: more than fit into a comment. */
const MAX_DIFF_ROWS = 2000

export const options = [
  {
    flags: '--draft <name>',
    description:
      'name of the drafts (default in jobs of pull and merge requests: pr-NUMBER-OWNER_REPOSITORY)',
    completion: undefined,
  },
  { flags: '--folder <path|id>', description: 'folder of the grids' },
  {
    flags: '--key <columns>',
    description: 'match rows by these key columns, comma-separated (default: key of the grid)',
    completion: 'column',
  },
  checksOption,
  ...readingOptions,
  {
    flags: '--include <pattern>',
    description: 'with directories or patterns: only matching files (repeatable)',
    repeatable: true,
  },
  excludeOption,
  {
    flags: '--owner <user>',
    description: "without a key: compare with this user's public grids",
    completion: 'user',
  },
  { flags: '--no-post', description: 'do not comment on the pull or merge request' },
  { flags: '--format <format>', description: 'table (default) or md', choices: ['table', 'md'] },
] as const satisfies readonly Option[]

export type ReviewOptions = OptionValues<typeof options>

/** A review, with the id of the file that was reviewed. */
export type Reviewed = FileReview & { fid?: string; cols?: { name: string }[] }

/** Returns the review of a file that failed. */
export function toFailure(context: Context, file: string, error: unknown): Reviewed {
  if (!(error instanceof Problem)) throw error
  context.messages.error(error, file)
  annotate(context, file, error)
  const message = error.message.startsWith(`${file}: `) ? error.message.slice(file.length + 2) : error.message
  const text = error.hint === undefined ? message : `${message}. ${error.hint}`
  return { file, state: 'failed', error: text, kind: definitionKindOf(file) }
}

/** Returns whether an error means missing write access. */
export function isAccessError(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'unauthenticated' || error.code === 'forbidden')
}

/**
 * Uploads a file as draft, and compares the draft with the grid, unless it is new or unchanged. `sender` uploads
 * to the same draft.
 */
export async function reviewAsDraft(
  context: Context,
  sender: Sender,
  local: LocalFile,
  options: ReviewOptions,
  draft: string,
): Promise<Reviewed> {
  const { file } = local
  const { action, checks, ...grid } = toUploadRow(context, file, await sender.send(local))
  const { fid, web_url: url } = grid
  const { cols } = grid
  if (action === 'unchanged') return { file, fid, url, cols, state: 'unchanged' }
  return { cols, ...(await compareDraft(context, { file, grid, url, checks }, options, draft)) }
}

/** Compares the draft of a grid with the grid. */
export async function compareDraft(
  context: Context,
  { file, grid, url, checks }: { file: string; grid: GridMeta; url: string; checks?: CheckReport },
  options: ReviewOptions,
  draft: string,
): Promise<Reviewed> {
  const { fid, row_count: rows, cols } = grid
  const columns = cols.length
  const page = new URL(url)
  const isNew = page.searchParams.get('version') === null
  if (isNew) return { file, fid, url, state: 'new', rows, columns, checks }
  // If the key has duplicates, a check reports that: compare rows in order.
  const hasKey = !checks?.results.some(({ rule, passed }) => rule === 'key' && !passed)
  const key = hasKey ? parseKey(options, grid) : ['']
  const client = await context.client()
  const diff = await client.call('grids.diff', {
    fid,
    version: draft,
    query: { base_version: '-0', limit: MAX_DIFF_ROWS, removed_first: true, context: true, key },
  })
  const target = `${fid}@${draft}`
  if (!diff.is_same) return { file, fid, url, target, state: 'changed', rows, columns, diff, checks }
  // The draft is deleted.
  page.search = ''
  return { file, fid, url: page.href, state: 'unchanged', rows, columns, checks }
}

/** Without write access: checks the file locally, and compares it with the grid if readable. */
export async function reviewLocally(
  context: Context,
  client: Client,
  local: LocalFile,
  options: ReviewOptions,
): Promise<Reviewed> {
  const { file } = local
  const checks =
    options.checks === undefined
      ? undefined
      : await checkLocalFile(context, file, await readChecksFile(options.checks), options)
  const localGrid = await loadLocalGrid(context, file, options)
  const { row_count: rows, cols } = await localGrid.client.call('grids.get', { fid: localGrid.fid })
  const review = { file, rows, columns: cols.length, checks }
  const user = options.owner ?? (await context.settings()).user.value
  const folder = options.folder
  const { path } = await resolveDestination(client, { folder }, local).catch(() => ({
    path: [folder, ...local.folders, gridNameOf(basename(file))].filter(Boolean).join('/'),
  }))
  const storedGrid = await undefinedIfNotFound(client.call('grids.lookup', { query: { path, user } })).catch(
    (error) => {
      if (isAccessError(error)) return undefined
      throw error
    },
  )
  if (!storedGrid) return { ...review, state: 'new' }
  const key = parseKey(options, storedGrid) ?? storedGrid.primary_key ?? undefined
  const query = { limit: MAX_DIFF_ROWS, removed_first: true, context: true, key }
  const diff = await diffWithFile(context, { client, fid: storedGrid.fid }, localGrid, query)
  return { ...review, fid: storedGrid.fid, state: diff.is_same ? 'unchanged' : 'changed', diff }
}
