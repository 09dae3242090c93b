// `gridline review`: reviews data files as drafts, and comments on pull requests.
import { basename } from 'node:path'
import { parseColumnNames } from '../../charts/spec/column-names.ts'
import type { Client } from '../../client/index.ts'
import { errorCodes, Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { CheckReport, DraftChart, GridDiff, GridMeta } from '../../contract/resources/index.ts'
import { assertDistinctNames } from '../charts/create.ts'
import { annotate, annotateReport, appendStepSummary } from '../core/ci.ts'
import { detectRequestNumber, isPullRequestClosed, writeComment } from '../core/comment.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionValues } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { readChecksFile, readChecksHeaders } from '../files/checks-file.ts'
import { type Definition, definitionKindOf, readDefinition } from '../files/definitions.ts'
import { diffWithFile } from '../files/diff-inputs.ts'
import { assertDraftName } from '../files/drafts.ts'
import { checkLocalFile } from '../files/local-checks.ts'
import { isLocalDirectory, loadLocalGrid } from '../files/local-data.ts'
import { checksOption, readingOptions, toReadingHeaders } from '../files/parse-options.ts'
import {
  type FileReview,
  formatReview,
  MAX_COMMENT_CHARACTERS,
  MAX_SUMMARY_CHARACTERS,
} from '../output/review.ts'
import type { TableView } from '../output/view.ts'
import { resolveDestination, resolveDestinationHeaders } from '../upload/destination.ts'
import { type Expanded, expandFiles, type LocalFile } from '../upload/expand.ts'
import { listMirrored, storedPathOf } from '../upload/mirror.ts'
import { excludeOption } from '../upload/options.ts'
import { toUploadRow } from '../upload/result.ts'
import { Sender, type SendOptions } from '../upload/send.ts'

/** Maximum number of rows of a diff to load: more than fit into a comment. */
const MAX_DIFF_ROWS = 2000

const options = [
  {
    flags: '--draft <name>',
    description: 'name of the drafts (default in jobs of pull and merge requests: pr-NUMBER or mr-NUMBER)',
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

type ReviewOptions = OptionValues<typeof options>

const view: TableView = {
  id: 'file',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'state', title: 'STATE' },
    {
      field: 'diff',
      title: 'CHANGED',
      format: (diff: GridDiff | undefined) => (diff ? formatCounts(diff) : ''),
    },
    {
      field: 'checks',
      title: 'CHECKS',
      format: (checks: CheckReport | undefined) => (checks ? (checks.passed ? 'passed' : 'failed') : ''),
    },
    { field: 'web_url', title: 'LINK' },
  ],
}

function formatCounts({ rows_added, rows_removed, rows_changed }: GridDiff): string {
  return `+${rows_added} −${rows_removed} ~${rows_changed} rows`
}

export const command = defineCommand({
  output: arrayOf([], {
    file: 'path of the local file',
    kind: 'query, chart or board, for a definition file',
    state: 'new, changed, unchanged, removed (a chart or board without a file), failed or skipped',
    reason: 'why a chart or board differs, if its file does not',
    fid: 'id of the grid',
    web_url: 'link to the draft',
    diff: 'changes of the draft; see gridline diff',
    checks: 'results of the rules',
    error: 'reason of the failure',
  }),
  arguments: '<file...>',
  usage: '<file|directory|pattern...>',
  completion: ['local'],
  options,
  writes: true,
  examples: [
    'gridline review data --draft pr-12',
    'gridline review sales.csv --draft try --checks gridline.checks.yml --format md',
  ],
  async run(context, words, options) {
    assertDraftName(options.draft)
    const draft = options.draft ?? detectDraftName(context.environment)
    if (isPullRequestClosed(context.environment) && options.draft === undefined)
      return deleteDrafts(context, draft)
    const isDefinition = (file: string): boolean => definitionKindOf(file) !== undefined
    const expanded = expandFiles(words, { ...options, isDefinition })
    const files = expanded.files.filter(({ file }) => !isDefinition(file))
    const definitions = expanded.files.filter(({ file }) => isDefinition(file))
    if (expanded.files.length === 0)
      throw new Problem('no_such_file', 'no data files to review', { hint: 'Check the names.' })
    const reading = { ...toReadingHeaders(options), ...(await readChecksHeaders(options.checks)) }
    const { client } = await context.connect()
    client.isMultiple = true
    const folder = await toFolderPath(client, options.folder)
    const sending: SendOptions = { folder, draft, onConflict: 'replace', yes: true, reading }
    const sender = new Sender(context, sending, true)
    const reviews: Reviewed[] = []
    let mayWrite = true
    for (const local of files) {
      const work = async (): Promise<Reviewed> => {
        if (mayWrite)
          try {
            return await reviewAsDraft(context, sender, local, options, draft)
          } catch (error) {
            if (!isAccessError(error)) throw error
            mayWrite = false
            context.messages.note(
              'no drafts: the job has no key with write access, as in pull requests from forks',
            )
          }
        return reviewLocally(context, client, local, options)
      }
      reviews.push(await work().catch((error) => toFailure(context, local.file, error)))
    }
    // Queries must not read drafts of before.
    if (mayWrite) await deleteStaleDrafts(client, draft, reviews, definitions.length > 0)
    if (definitions.length > 0) {
      const place = { ...options, folder, draft }
      const directories = words.filter(isLocalDirectory)
      const given = { files, definitions, directories, excluded: expanded.excluded }
      reviews.push(...(await reviewDefinitions(context, given, reviews, place, mayWrite)))
      mayWrite &&= !reviews.some(({ error }) => error === NO_ACCESS)
      if (mayWrite) await deleteStaleDrafts(client, draft, reviews)
    }
    const isDrafted = reviews.some(
      ({ state, url, kind }) =>
        url !== undefined &&
        (state === 'changed' || (state === 'new' && (kind === 'chart' || kind === 'board'))),
    )
    const charts = isDrafted ? (await client.call('drafts.charts', { name: draft })).charts : []
    await reportReviewToCi(context, draft, reviews, charts, options)
    return printReview(reviews, charts, options)
  },
})

/** A review, with the id of the file that was reviewed. */
type Reviewed = FileReview & { fid?: string }

/** Returns the review of a file that failed. */
function toFailure(context: Context, file: string, error: unknown): Reviewed {
  if (!(error instanceof Problem)) throw error
  context.messages.error(error, file)
  annotate(context, file, error)
  const message = error.message.startsWith(`${file}: `) ? error.message.slice(file.length + 2) : error.message
  const text = error.hint === undefined ? message : `${message}. ${error.hint}`
  return { file, state: 'failed', error: text, kind: definitionKindOf(file) }
}

/** Returns the path of a folder that is given by its id: that of new drafts begins with it. */
async function toFolderPath(client: Client, folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined) return undefined
  // Without access, files are compared as they are named.
  const place = await resolveDestinationHeaders(client, folder, ['-']).catch(() => undefined)
  return place?.['Parent-Path']?.replace(/\/?-$/, '') ?? folder
}

/** Files of a review. */
interface GivenFiles {
  files: readonly LocalFile[]
  definitions: readonly LocalFile[]
  directories: readonly string[]
  excluded: readonly LocalFile[]
}

/** Makes drafts of the derived grids, charts and boards that differ, and compares them. */
async function reviewDefinitions(
  context: Context,
  { files, definitions, directories, excluded }: GivenFiles,
  reviews: readonly Reviewed[],
  options: ReviewOptions & { draft: string },
  mayWrite: boolean,
): Promise<Reviewed[]> {
  const { DefinitionMaker, sortDefinitions } = await import('../upload/make-definitions.ts')
  const maker = new DefinitionMaker(context, { ...options, isReplacing: true, yes: true })
  for (const [k, local] of files.entries()) {
    const { fid, state } = reviews[k]
    if (fid) maker.remember(local, { fid, filetype: 'grid', action: state })
  }
  const changed = new Set(reviews.flatMap(({ fid, state }) => (fid && state !== 'unchanged' ? [fid] : [])))
  const made: Reviewed[] = []
  const hasFailed = reviews.some(({ state }) => state === 'failed')
  let mayStore = mayWrite
  const read: (LocalFile & { definition: Definition; name: string })[] = []
  for (const local of definitions) {
    const work = readDefinition(local.file, definitionKindOf(local.file)!)
    const definition = await work.catch((error) => {
      made.push(toFailure(context, local.file, error))
    })
    if (definition) read.push({ ...local, definition, name: definition.name })
  }
  const all = [...files, ...read]
  assertDistinctNames(
    all.map((local) => ({ file: local.file, name: storedPathOf(local) })),
    undefined,
  )
  for (const local of sortDefinitions(read)) {
    const { file, definition } = local
    const { kind } = definition
    const work = async (): Promise<Reviewed> => {
      if (!mayStore) return { file, kind, state: 'skipped', error: NO_ACCESS }
      if (hasFailed) return { file, kind, state: 'skipped', error: 'not compared, since a data file failed' }
      const drafted = await maker.makeDraft(local, changed)
      const { fid, web_url: url } = drafted.file
      const review =
        kind === 'query'
          ? await compareDraft(context, { file, grid: drafted.file as GridMeta, url }, options, options.draft)
          : { file, fid, url, state: drafted.state }
      if (review.state !== 'unchanged') changed.add(fid)
      return { ...review, kind, ...(drafted.reason && { reason: drafted.reason }) }
    }
    const refuse = (error: unknown): Reviewed => {
      if (!isAccessError(error)) return toFailure(context, file, error)
      mayStore = false
      return { file, kind, state: 'skipped', error: NO_ACCESS }
    }
    made.push(await work().catch(refuse))
  }
  if (mayStore && !made.some(({ state }) => state === 'failed'))
    made.push(...(await listGone(await context.client(), directories, { files: all, excluded }, options)))
  return made
}

const NO_ACCESS = 'not compared: the job has no key with write access'

/** Lists charts and boards that were made from files which are gone. */
async function listGone(
  client: Client,
  directories: readonly string[],
  expanded: Pick<Expanded, 'files' | 'excluded'>,
  options: Pick<ReviewOptions, 'folder' | 'include' | 'exclude'>,
): Promise<Reviewed[]> {
  if (directories.length === 0) return []
  const { made } = await listMirrored(client, directories, expanded, options)
  return made.removals.map(({ file: { fid, filetype, web_url: url }, path }) => {
    return { file: path, kind: filetype === 'plot' ? 'chart' : 'board', fid, url, state: 'removed' }
  })
}

/** Deletes drafts of an earlier review whose files are missing or no longer differ. */
async function deleteStaleDrafts(
  client: Client,
  draft: string,
  reviews: readonly Reviewed[],
  isOnlyGrids = false,
): Promise<void> {
  // A failed file can have a correct draft from before.
  if (reviews.some(({ state }) => state === 'failed')) return
  const current = new Set(reviews.flatMap(({ state, fid }) => (state === 'unchanged' ? [] : [fid])))
  const { drafts } = await client.call('drafts.list', { query: { name: draft } }).catch((error) => {
    if (isAccessError(error)) return { drafts: [] }
    throw error
  })
  const fid = drafts
    .filter(({ filetype, fid: id }) => !current.has(id) && (filetype === 'grid' || !isOnlyGrids))
    .map(({ fid: id }) => id)
  if (fid.length > 0) await client.call('drafts.delete', { name: draft, query: { fid } })
}

/** Deletes the drafts of a closed pull request. */
async function deleteDrafts(context: Context, draft: string): Promise<CommandResult> {
  const client = await context.client()
  await client.call('drafts.delete', { name: draft }).catch((error) => {
    if (!(error instanceof Problem) || (error.code !== 'not_found' && !isAccessError(error))) throw error
  })
  context.messages.note(`the pull request is closed; deleted its drafts (${draft})`)
  return { text: '' }
}

/** Returns the draft name of a pull or merge request job, such as `pr-12`. Throws `usage` in other jobs. */
function detectDraftName(environment: NodeJS.ProcessEnv): string {
  const number = detectRequestNumber(environment)
  if (number === undefined)
    throw new Problem('usage', '--draft is missing, and this is not a job of a pull or merge request', {
      hint: 'Use --draft NAME.',
    })
  return `${environment.CI_MERGE_REQUEST_IID ? 'mr' : 'pr'}-${number}`
}

/** Returns whether an error means missing write access. */
function isAccessError(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'unauthenticated' || error.code === 'forbidden')
}

/**
 * Uploads a file as draft, and compares the draft with the grid, unless it is new or unchanged. `sender` uploads
 * to the same draft.
 */
async function reviewAsDraft(
  context: Context,
  sender: Sender,
  local: LocalFile,
  options: ReviewOptions,
  draft: string,
): Promise<Reviewed> {
  const { file } = local
  const { action, checks, ...grid } = toUploadRow(context, file, await sender.send(local))
  const { fid, web_url: url } = grid
  if (action === 'unchanged') return { file, fid, url, state: 'unchanged' }
  return compareDraft(context, { file, grid, url, checks }, options, draft)
}

/** Compares the draft of a grid with the grid. */
async function compareDraft(
  context: Context,
  { file, grid, url, checks }: { file: string; grid: GridMeta; url: string; checks?: CheckReport },
  options: ReviewOptions,
  draft: string,
): Promise<Reviewed> {
  const { fid, row_count: rows, cols } = grid
  const columns = cols.length
  const isNew = new URL(url).searchParams.get('version') === null
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
  return {
    file,
    fid,
    url,
    target: `${fid}@${draft}`,
    state: diff.is_same ? 'unchanged' : 'changed',
    rows,
    columns,
    diff,
    checks,
  }
}

/** Returns the columns of --key; undefined without it. */
function parseKey({ key }: ReviewOptions, { cols }: Pick<GridMeta, 'cols'>): string[] | undefined {
  return key === undefined
    ? undefined
    : parseColumnNames(
        key,
        cols.map(({ name }) => name),
      ).filter(Boolean)
}

/** Without write access: checks the file locally, and compares it with the grid if readable. */
async function reviewLocally(
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
  const key =
    options.key === undefined ? (storedGrid.primary_key ?? undefined) : parseKey(options, storedGrid)
  const query = { limit: MAX_DIFF_ROWS, removed_first: true, context: true, key }
  const diff = await diffWithFile(context, { client, fid: storedGrid.fid }, localGrid, query)
  return { ...review, fid: storedGrid.fid, state: diff.is_same ? 'unchanged' : 'changed', diff }
}

/** Reports to the CI system: annotations, step summary and one comment. */
async function reportReviewToCi(
  context: Context,
  draft: string,
  reviews: readonly FileReview[],
  charts: readonly DraftChart[],
  { post }: { post?: boolean },
): Promise<void> {
  for (const { file, checks } of reviews) if (checks) annotateReport(context, file, checks)
  appendStepSummary(context, formatReview(reviews, charts, MAX_SUMMARY_CHARACTERS))
  if (post === false) return
  const marker = `<!-- gridline review ${draft} -->`
  await writeComment(
    context,
    marker,
    formatReview(reviews, charts, MAX_COMMENT_CHARACTERS - marker.length - 1),
  )
}

/** Returns the result of the command. Exit code 7 if a file or check failed. */
function printReview(
  reviews: readonly Reviewed[],
  charts: readonly DraftChart[],
  { format }: ReviewOptions,
): CommandResult {
  const isFailed = reviews.some(({ state, checks }) => state === 'failed' || checks?.passed === false)
  const exit = isFailed ? errorCodes.checks_failed.exit : 0
  if (format === 'md') return { text: formatReview(reviews, charts, MAX_COMMENT_CHARACTERS), exit }
  const rows = reviews.map(({ url, target: _target, rows: _rows, columns: _columns, ...review }) => ({
    ...review,
    web_url: url,
  }))
  return { items: rows, view, exit }
}
