import { basename } from 'node:path'
import { columnNames } from '../../charts/spec/column-names.ts'
import type { Client } from '../../client/index.ts'
import { errorCodes, ifFound, Problem } from '../../contract/errors.ts'
import { gridName } from '../../contract/formats.ts'
import type { CheckReport, DraftChart, GridDiff, GridMeta } from '../../contract/resources/index.ts'
import { annotateReport, summarize } from '../core/ci.ts'
import { isClosed, requestNumber, writeComment } from '../core/comment.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionsOf } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { checksHeaders, readChecksFile } from '../files/checks-file.ts'
import { checkDraftName } from '../files/drafts.ts'
import { reportOfFile } from '../files/local-checks.ts'
import { gridOfFile } from '../files/local-data.ts'
import { checksOption, readingHeaders, readingOptions } from '../files/parse-options.ts'
import { diffWithFile } from '../files/sides.ts'
import { COMMENT_CHARACTERS, type Reviewed, reviewText, SUMMARY_CHARACTERS } from '../output/review.ts'
import type { TableView } from '../output/view.ts'
import { uploadOf } from '../upload/done.ts'
import { expand, type LocalFile } from '../upload/expand.ts'
import { destinationOf, Sender, type SendOptions } from '../upload/send.ts'

/** Rows of a diff that are read: more than a comment has room for. */
const MAX_ROWS = 2000

const options = [
  {
    flags: '--draft <name>',
    description: 'name of the drafts (default: in jobs of pull and merge requests, pr-NUMBER or mr-NUMBER)',
    completes: undefined,
  },
  { flags: '--folder <path|id>', description: 'folder of the grids' },
  {
    flags: '--key <columns>',
    description: 'find rows by these columns, comma-separated (default: the key of the grid)',
    completes: 'column',
  },
  checksOption,
  ...readingOptions,
  {
    flags: '--include <pattern>',
    description: 'with directories or patterns: only matching files (repeatable)',
    repeatable: true,
  },
  {
    flags: '--exclude <pattern>',
    description: 'with directories or patterns: skip matching files (repeatable)',
    repeatable: true,
  },
  {
    flags: '--owner <user>',
    description: 'whose grids files are compared with, in jobs without a key (default: your own)',
    completes: 'user',
  },
  { flags: '--no-post', description: 'do not comment on the pull or merge request' },
  { flags: '--format <format>', description: 'table (default) or md', choices: ['table', 'md'] },
] as const satisfies readonly Option[]

type Options = OptionsOf<typeof options>

const view: TableView = {
  id: 'file',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'state', title: 'STATE' },
    { field: 'diff', title: 'CHANGED', format: (diff: GridDiff | undefined) => (diff ? countsOf(diff) : '') },
    {
      field: 'checks',
      title: 'CHECKS',
      format: (checks: CheckReport | undefined) => (checks ? (checks.passed ? 'passed' : 'failed') : ''),
    },
    { field: 'web_url', title: 'LINK' },
  ],
}

function countsOf({ rows_added, rows_removed, rows_changed }: GridDiff): string {
  return `+${rows_added} −${rows_removed} ~${rows_changed} rows`
}

export const command = defineCommand({
  prints: array([], {
    file: 'the local file',
    state: 'new, changed, unchanged or failed',
    fid: 'the id of the grid',
    web_url: 'shows the draft',
    diff: 'what the draft changes; see gridline diff',
    checks: 'what became of each rule',
    error: 'why it failed',
  }),
  arguments: '<file...>',
  usage: '<file|directory|pattern...>',
  completes: ['local'],
  options,
  writes: true,
  examples: [
    'gridline review data --draft pr-12',
    'gridline review sales.csv --draft try --checks gridline.checks.yml --format md',
  ],
  async run(context, given, options) {
    checkDraftName(options.draft)
    const draft = options.draft ?? draftOfJob(context.environment)
    if (isClosed(context.environment) && options.draft === undefined) return closed(context, draft)
    const { files } = expand(given, options)
    if (files.length === 0)
      throw new Problem('no_such_file', 'no data files to review', { hint: 'Check the names.' })
    const reading = { ...readingHeaders(options), ...(await checksHeaders(options.checks)) }
    const { folder } = options
    const sending: SendOptions = { folder, draft, onConflict: 'replace', yes: true, reading }
    const { client } = await context.connect()
    client.several = true
    const sender = new Sender(context, sending, true)
    const reviews: (Reviewed & { fid?: string })[] = []
    let mayWrite = true
    for (const local of files) {
      const work = async (): Promise<Reviewed & { fid?: string }> => {
        if (mayWrite)
          try {
            return await reviewOfDraft(context, client, sender, local, options, draft)
          } catch (error) {
            if (!isRefused(error)) throw error
            mayWrite = false
            context.messages.note(
              'without a key that may write, as in pull requests from forks, there are no drafts',
            )
          }
        return reviewHere(context, client, local, options)
      }
      reviews.push(
        await work().catch((error) => {
          if (!(error instanceof Problem)) throw error
          context.messages.error(error, local.file)
          return { file: local.file, state: 'failed' as const, error: error.message }
        }),
      )
    }
    if (mayWrite) await forgetOthers(client, draft, reviews)
    const isDrafted = reviews.some(({ state, url }) => state === 'changed' && url !== undefined)
    const charts = isDrafted ? (await client.call('drafts.charts', { name: draft })).charts : []
    await tell(context, draft, reviews, charts, options)
    return shown(reviews, charts, options)
  },
})

/** Deletes the drafts of files that an earlier review had and that do not differ any more, or are not there. */
async function forgetOthers(
  client: Client,
  draft: string,
  reviews: readonly (Reviewed & { fid?: string })[],
): Promise<void> {
  // What failed may have a draft that is right.
  if (reviews.some(({ state }) => state === 'failed')) return
  const current = new Set(reviews.flatMap(({ state, fid }) => (state === 'unchanged' ? [] : [fid])))
  const { drafts } = await client.call('drafts.list', { query: { name: draft } })
  const fid = drafts.map((one) => one.fid).filter((one) => !current.has(one))
  if (fid.length > 0) await client.call('drafts.delete', { name: draft, query: { fid } })
}

/** Deletes the drafts of a pull request that is closed. */
async function closed(context: Context, draft: string): Promise<CommandResult> {
  const client = await context.client()
  await client.call('drafts.delete', { name: draft }).catch((error) => {
    if (!(error instanceof Problem) || (error.code !== 'not_found' && !isRefused(error))) throw error
  })
  context.messages.note(`the pull request is closed: its drafts (${draft}) are deleted`)
  return { text: '' }
}

/** `pr-12`, in a job of a pull request. */
function draftOfJob(environment: NodeJS.ProcessEnv): string {
  const number = requestNumber(environment)
  if (number === undefined)
    throw new Problem('usage', 'no name for the drafts: this is not a job of a pull or merge request', {
      hint: 'Name them with --draft NAME.',
    })
  return `${environment.CI_MERGE_REQUEST_IID ? 'mr' : 'pr'}-${number}`
}

function isRefused(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'unauthenticated' || error.code === 'forbidden')
}

async function reviewOfDraft(
  context: Context,
  client: Client,
  sender: Sender,
  local: LocalFile,
  options: Options,
  draft: string,
): Promise<Reviewed & { fid?: string }> {
  const { file } = local
  const { action, checks, ...grid } = uploadOf(context, file, await sender.send(local))
  const { fid, web_url: url, row_count: rows, cols } = grid
  if (action === 'unchanged') return { file, fid, url, state: 'unchanged' }
  const columns = cols.length
  const isNew = new URL(url).searchParams.get('version') === null
  if (isNew) return { file, fid, url, state: 'new', rows, columns, checks }
  // Of a key that does not tell the rows apart, the report says so: they are compared in order.
  const hasKey = !checks?.results.some(({ rule, passed }) => rule === 'key' && !passed)
  const key = hasKey ? keyOf(options, grid) : ['']
  const diff = await client.call('grids.diff', {
    fid,
    version: draft,
    query: { base_version: '-0', limit: MAX_ROWS, removed_first: true, context: true, key },
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

function keyOf({ key }: Options, { cols }: Pick<GridMeta, 'cols'>): string[] | undefined {
  return key === undefined
    ? undefined
    : columnNames(
        key,
        cols.map(({ name }) => name),
      ).filter(Boolean)
}

/** Without writing: checks the file here, and compares it with the grid if that can be read. */
async function reviewHere(
  context: Context,
  client: Client,
  local: LocalFile,
  options: Options,
): Promise<Reviewed & { fid?: string }> {
  const { file } = local
  const checks =
    options.checks === undefined
      ? undefined
      : await reportOfFile(context, file, await readChecksFile(options.checks), options)
  const made = await gridOfFile(context, file, options)
  const { row_count: rows, cols } = await made.client.call('grids.get', { fid: made.fid })
  const now = { file, rows, columns: cols.length, checks }
  const user = options.owner ?? (await context.settings()).user.value
  const folder = options.folder
  const { path } = await destinationOf(client, { folder }, local).catch(() => ({
    path: [folder, ...local.folders, gridName(basename(file))].filter(Boolean).join('/'),
  }))
  const present = await ifFound(client.call('grids.lookup', { query: { path, user } })).catch((error) => {
    if (isRefused(error)) return undefined
    throw error
  })
  if (!present) return { ...now, state: 'new' }
  const key = options.key === undefined ? (present.primary_key ?? undefined) : keyOf(options, present)
  const query = { limit: MAX_ROWS, removed_first: true, context: true, key }
  const diff = await diffWithFile(context, { client, fid: present.fid }, made, query)
  return { ...now, fid: present.fid, state: diff.is_same ? 'unchanged' : 'changed', diff }
}

/** Tells the CI system: annotations of failed checks, the summary of the step, and one comment. */
async function tell(
  context: Context,
  draft: string,
  reviews: readonly Reviewed[],
  charts: readonly DraftChart[],
  { post }: { post?: boolean },
): Promise<void> {
  for (const { file, checks } of reviews) if (checks) annotateReport(context, file, checks)
  summarize(context, reviewText(reviews, charts, SUMMARY_CHARACTERS))
  if (post === false) return
  const marker = `<!-- gridline review ${draft} -->`
  await writeComment(context, marker, reviewText(reviews, charts, COMMENT_CHARACTERS - marker.length - 1))
}

function shown(
  reviews: readonly (Reviewed & { fid?: string })[],
  charts: readonly DraftChart[],
  { format }: Options,
): CommandResult {
  const isFailed = reviews.some(({ state, checks }) => state === 'failed' || checks?.passed === false)
  const exit = isFailed ? errorCodes.checks_failed.exit : 0
  if (format === 'md') return { text: reviewText(reviews, charts, COMMENT_CHARACTERS), exit }
  const many = reviews.map(({ url, target: _target, rows: _rows, columns: _columns, ...one }) => ({
    ...one,
    web_url: url,
  }))
  return { many, view, exit }
}
