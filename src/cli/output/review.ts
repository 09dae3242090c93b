/** Formats reviews of data files as Markdown, for comments and summaries. See docs/drafts.md. */
import { formatCount, formatList } from '../../contract/message-texts.ts'
import type { CheckReport, DraftChart, GridDiff } from '../../contract/resources/index.ts'
import { formatChecks } from './checks.ts'
import { formatDiff, summarizeDiff } from './diff.ts'
import { escapeMarkdown } from './markdown.ts'

/** Maximum length of a comment. GitHub allows 65,536 characters. */
export const MAX_COMMENT_CHARACTERS = 60_000
/** Maximum length of a step summary. GitHub allows 1 MiB. */
export const MAX_SUMMARY_CHARACTERS = 250_000

/** Review of one file. */
export interface FileReview {
  file: string
  /** Kind of a definition file; undefined for a data file. */
  kind?: 'query' | 'chart' | 'board'
  /** Link to the draft. */
  url?: string
  /** Reference to the draft in commands: `sales@pr-12`. */
  target?: string
  /** `removed`: without a file. `skipped`: not compared; `error` says why. */
  state: 'new' | 'changed' | 'unchanged' | 'removed' | 'failed' | 'skipped'
  /** How it differs, or why although its file does not. */
  reason?: string
  rows?: number
  columns?: number
  diff?: GridDiff
  checks?: CheckReport
  error?: string
}

/**
 * Formats a review in at most `most` characters: summary per file, failed checks and charts, then rows,
 * removed first.
 */
export function formatReview(
  files: readonly FileReview[],
  charts: readonly DraftChart[],
  maxCharacters: number,
): string {
  const heads = files.map(formatFileSummary)
  const title = `### Gridline: ${formatTitle(files)}\n\n`
  const pictures = formatCharts(charts)
  const available = maxCharacters - title.length
  const summary = joinFitting([...heads, pictures].filter(Boolean), available)
  const remaining = available - summary.length
  const withRows = files.filter(({ diff }) => diff && !diff.is_same)
  const perFile = Math.floor(remaining / Math.max(1, withRows.length))
  const rows = withRows.map((review) => formatRows(review, perFile)).join('')
  return title + summary + rows
}

/** Names of what is counted, by the kind of the file. */
const NOUNS = { data: 'data file', query: 'derived grid', chart: 'chart', board: 'board' }

/** Formats the title: numbers of changed and failed files. */
function formatTitle(files: readonly FileReview[]): string {
  const failed = files.filter(({ checks }) => checks?.passed === false).length
  const broken = files.filter(({ state }) => state === 'failed').length
  const gone = files.filter(({ state }) => state === 'removed').length
  const changed = files.filter(({ state }) => state === 'new' || state === 'changed')
  const counts = Object.entries(NOUNS).flatMap(([kind, noun]) => {
    const count = changed.filter((one) => (one.kind ?? 'data') === kind).length
    return count === 0 ? [] : formatCount(count, noun)
  })
  const nothing = files.some(({ kind }) => kind !== undefined) ? 'nothing changed' : 'no data changed'
  const parts = [
    counts.length > 0 ? `${formatList(counts)} changed` : nothing,
    broken > 0 && `${formatCount(broken, 'file')} ${broken === 1 ? 'has' : 'have'} errors`,
    failed > 0 && `${formatCount(failed, 'file')} ${failed === 1 ? 'fails' : 'fail'} checks`,
    gone > 0 && `${formatCount(gone, 'file')} removed`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Joins blocks while they fit. */
function joinFitting(blocks: readonly string[], maxCharacters: number): string {
  let text = ''
  for (const [k, block] of blocks.entries()) {
    const more = `… and ${blocks.length - k} more parts\n\n`
    if (text.length + block.length + more.length > maxCharacters) return text + more
    text += block
  }
  return text
}

/** Formats the summary of one file. */
function formatFileSummary(review: FileReview): string {
  const { file, kind, url, state, rows, columns, diff, checks, error } = review
  const name =
    url === undefined ? `**${escapeMarkdown(file)}**` : `**[${escapeMarkdown(file)}](${escapeLink(url)})**`
  const description =
    state === 'failed'
      ? `❌ ${escapeMarkdown(error ?? '')}`
      : state === 'unchanged'
        ? 'unchanged'
        : state === 'new'
          ? kind === 'chart' || kind === 'board'
            ? `new ${kind}`
            : `new: ${formatCount(rows ?? 0, 'row')}, ${formatCount(columns ?? 0, 'column')}`
          : state === 'skipped'
            ? (error ?? '')
            : state === 'removed'
              ? 'has no file any more'
              : diff
                ? summarizeDiff(diff)
                : escapeMarkdown(review.reason ?? 'changed')
  const report =
    checks && (checks.errors > 0 || checks.warnings > 0)
      ? formatChecks([{ ...checks, file }], 'md', false)
      : ''
  const passed = checks && report === '' ? ` · ✅ ${formatCount(checks.results.length, 'rule')} passed` : ''
  return `${name}: ${description}${passed}\n\n${report && `${report}\n`}`
}

/** Formats charts and boards as a table of images. */
function formatCharts(charts: readonly DraftChart[]): string {
  if (charts.length === 0) return ''
  const rows = charts.map(
    ({ filename, filetype, web_url, before_url, after_url }) =>
      `| [${escapeMarkdown(filename)}](${escapeLink(web_url)})${filetype === 'dashboard' ? ' (board)' : ''} | ${before_url === null ? 'new' : `![before](${escapeLink(before_url)})`} | ![after](${escapeLink(after_url)}) |`,
  )
  return `| chart | before | after |\n|---|---|---|\n${rows.join('\n')}\n\n`
}

/** Formats the rows of a diff in a collapsed section, as many as fit. */
function formatRows({ file, target, diff }: FileReview, maxCharacters: number): string {
  const whole = formatDiff(diff!, 'md', {
    names: { before: 'before', after: 'after' },
    isStat: false,
    color: false,
    width: Number.POSITIVE_INFINITY,
  })
  const open = `<details><summary>Rows of ${escapeMarkdown(file)}</summary>\n\n`
  const command = target === undefined ? '' : `: \`gridline diff ${target.replaceAll('`', '')}\``
  const close = '\n</details>\n\n'
  const cutNote = `\n… and more${command}\n`
  const lines: string[] = []
  let size = open.length + close.length + cutNote.length
  let isCut = false
  for (const line of whole.split('\n')) {
    size += line.length + 1
    isCut = size > maxCharacters
    if (isCut) break
    lines.push(line)
  }
  // Heading lines only: no rows fit.
  return lines.length < 4 ? '' : `${open}${lines.join('\n')}${isCut ? cutNote : ''}${close}`
}

/** Escapes a URL for a Markdown link. */
function escapeLink(url: string): string {
  return url.replace(/[\s()<>\\|[\]]/g, (c) => encodeURIComponent(c).replace('(', '%28').replace(')', '%29'))
}
