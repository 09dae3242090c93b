// `gridline review`: reviews data files as drafts, and comments on pull requests.
import { createHash } from 'node:crypto'
import type { Client } from '../../client/index.ts'
import { errorCodes, Problem } from '../../contract/errors.ts'
import { formatList } from '../../contract/message-texts.ts'
import type { CheckReport, DraftChart, GridDiff } from '../../contract/resources/index.ts'
import { annotateReport, appendStepSummary } from '../core/ci.ts'
import { detectRequestNumber, isPullRequestClosed, writeComment } from '../core/comment.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { readChecksHeaders } from '../files/checks-file.ts'
import { definitionKindOf } from '../files/definitions.ts'
import { assertDraftName } from '../files/drafts.ts'
import { isLocalDirectory } from '../files/local-data.ts'
import { toReadingHeaders } from '../files/parse-options.ts'
import {
  type FileReview,
  formatReview,
  MAX_COMMENT_CHARACTERS,
  MAX_SUMMARY_CHARACTERS,
} from '../output/review.ts'
import type { TableView } from '../output/view.ts'
import { toFolderPath } from '../upload/destination.ts'
import { expandFiles, noteLinks } from '../upload/expand.ts'
import { warnOfUnknownColumns } from '../upload/result.ts'
import { Sender, type SendOptions } from '../upload/send.ts'
import { NO_ACCESS, reviewDefinitions } from './review.definitions.ts'
import {
  isAccessError,
  options,
  type Reviewed,
  type ReviewOptions,
  reviewAsDraft,
  reviewLocally,
  toFailure,
} from './review.files.ts'

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
    reason: 'how a chart or board differs',
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
  async run(context, words, given) {
    assertDraftName(given.draft)
    const draft = given.draft ?? detectDraftName(context.environment)
    if (isPullRequestClosed(context.environment)) return deleteDrafts(context, draft)
    const isDefinition = (file: string): boolean => definitionKindOf(file) !== undefined
    const expanded = expandFiles(words, { ...given, isDefinition })
    noteLinks(context.messages, expanded)
    const files = expanded.files.filter(({ file }) => !isDefinition(file))
    const definitions = expanded.files.filter(({ file }) => isDefinition(file))
    if (expanded.files.length === 0)
      throw new Problem('no_such_file', 'no data files to review', { hint: 'Check the names.' })
    // As in an upload, --column applies to the files that have the column.
    const options = { ...given, areTypesOptional: files.length > 1 }
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
              'no drafts: the job has no key with write access, as in pull requests from forks; grids that it cannot read count as new',
            )
          }
        return reviewLocally(context, client, local, options)
      }
      reviews.push(await work().catch((error) => toFailure(context, local.file, error)))
    }
    if (options.areTypesOptional) warnOfUnknownColumns(context, reviews, options)
    // Queries must not read drafts of before.
    if (mayWrite) await deleteStaleDrafts(context, client, draft, reviews, definitions.length > 0)
    if (definitions.length > 0) {
      const place = { ...options, folder, draft }
      const directories = words.filter(isLocalDirectory)
      const listed = { files, definitions, directories, excluded: expanded.excluded }
      reviews.push(...(await reviewDefinitions(context, listed, reviews, place, mayWrite)))
      mayWrite &&= !reviews.some(({ error }) => error === NO_ACCESS)
      if (mayWrite) await deleteStaleDrafts(context, client, draft, reviews)
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

/** Deletes drafts of an earlier review whose files are missing or no longer differ. */
async function deleteStaleDrafts(
  { messages }: Context,
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
  const stale = drafts.filter(
    ({ filetype, fid }) => !current.has(fid) && (filetype === 'grid' || !isOnlyGrids),
  )
  if (stale.length === 0) return
  await client.call('drafts.delete', { name: draft, query: { fid: stale.map(({ fid }) => fid) } })
  const known = new Set(reviews.map(({ fid }) => fid))
  const others = stale.filter(({ fid }) => !known.has(fid)).map(({ filename }) => filename)
  if (others.length > 0)
    messages.note(`deleted drafts ${draft} of files that are not in this review: ${formatList(others, 5)}`)
}

/** Deletes the drafts of a closed pull request. */
async function deleteDrafts(context: Context, draft: string): Promise<CommandResult> {
  const client = await context.client()
  const outcome = await client
    .call('drafts.delete', { name: draft })
    .then(() => 'deleted its drafts')
    .catch((error) => {
      if (error instanceof Problem && error.code === 'not_found') return 'it has no drafts'
      if (!isAccessError(error)) throw error
      return 'its drafts stay until they expire, since the job has no key with write access'
    })
  context.messages.note(`the pull request is closed; ${outcome} (${draft})`)
  return { text: '' }
}

/**
 * Returns the draft name of a pull or merge request job, such as `pr-12-acme_data` for the repository `acme/data`: one user
 * can review several repositories. Throws `usage` in other jobs.
 */
function detectDraftName(environment: NodeJS.ProcessEnv): string {
  const number = detectRequestNumber(environment)
  if (number === undefined)
    throw new Problem('usage', '--draft is missing, and this is not a job of a pull or merge request', {
      hint: 'Use --draft NAME.',
    })
  const isGitlab = Boolean(environment.CI_MERGE_REQUEST_IID)
  const repository = isGitlab ? environment.CI_PROJECT_PATH : environment.GITHUB_REPOSITORY
  const parts = [isGitlab ? 'mr' : 'pr', String(number), ...(repository ? [toNamePart(repository)] : [])]
  return parts.join('-')
}

/** Maximum length of a repository in the name of a draft, in characters. */
const MAX_REPOSITORY_CHARACTERS = 40

/**
 * Returns a repository as a part of a draft name. One that is long, has other characters, or whose slash can be mistaken,
 * gets a part of its hash.
 */
function toNamePart(repository: string): string {
  const part = repository.replaceAll('/', '_')
  const isPlain = /^[A-Za-z\d.-]+\/[\w.-]+$/.test(repository)
  if (isPlain && part.length <= MAX_REPOSITORY_CHARACTERS) return part
  const hash = createHash('sha256').update(repository).digest('hex').slice(0, 8)
  return `${part.replace(/[^\w.-]/g, '-').slice(0, MAX_REPOSITORY_CHARACTERS)}-${hash}`
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
  const rows = reviews.map(
    ({ url, target: _target, rows: _rows, columns: _columns, cols: _cols, ...review }) => ({
      ...review,
      web_url: url,
    }),
  )
  return { items: rows, view, exit }
}
