/** A review of changed data files as Markdown, for a comment or a summary. See docs/drafts.md. */
import { counted } from '../../contract/closest.ts'
import type { CheckReport, DraftChart, GridDiff } from '../../contract/resources/index.ts'
import { checksText } from './checks.ts'
import { diffText, summaryOf } from './diff.ts'
import { markdown } from './markdown.ts'

/** Characters of a comment. GitHub takes 65,536. */
export const COMMENT_CHARACTERS = 60_000
/** Of the summary of a step, which may have 1 MiB. */
export const SUMMARY_CHARACTERS = 250_000

/** What became of one file. */
export interface Reviewed {
  file: string
  /** Shows the draft. */
  url?: string
  /** The name of the draft for commands: `sales@pr-12`. */
  target?: string
  state: 'new' | 'changed' | 'unchanged' | 'failed'
  rows?: number
  columns?: number
  diff?: GridDiff
  checks?: CheckReport
  error?: string
}

/** A review in at most `most` characters: what changed in each file, failed checks and charts, and then rows, removed ones first. */
export function reviewText(files: readonly Reviewed[], charts: readonly DraftChart[], most: number): string {
  const heads = files.map(headOf)
  const title = `### Gridline: ${titleOf(files)}\n\n`
  const pictures = picturesOf(charts)
  const room = most - title.length
  const fixed = fitting([...heads, pictures].filter(Boolean), room)
  const left = room - fixed.length
  const withRows = files.filter(({ diff }) => diff && !diff.is_same)
  const each = Math.floor(left / Math.max(1, withRows.length))
  const rows = withRows.map((one) => rowsOf(one, each)).join('')
  return title + fixed + rows
}

function titleOf(files: readonly Reviewed[]): string {
  const failed = files.filter(({ state, checks }) => state === 'failed' || checks?.passed === false).length
  const changed = files.filter(({ state }) => state === 'new' || state === 'changed').length
  const parts = [
    changed > 0 ? `${counted(changed, 'data file')} changed` : 'no data changed',
    failed > 0 && `${counted(failed, 'file')} ${failed === 1 ? 'fails' : 'fail'} checks`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Blocks as long as they fit. */
function fitting(blocks: readonly string[], most: number): string {
  let text = ''
  for (const [k, block] of blocks.entries()) {
    const more = `… and ${blocks.length - k} more parts\n\n`
    if (text.length + block.length + more.length > most) return text + more
    text += block
  }
  return text
}

function headOf({ file, url, state, rows, columns, diff, checks, error }: Reviewed): string {
  const name = url === undefined ? `**${markdown(file)}**` : `**[${markdown(file)}](${linkOf(url)})**`
  const what =
    state === 'failed'
      ? `❌ ${markdown(error ?? '')}`
      : state === 'unchanged'
        ? 'unchanged'
        : state === 'new'
          ? `new: ${counted(rows ?? 0, 'row')}, ${counted(columns ?? 0, 'column')}`
          : diff
            ? summaryOf(diff)
            : 'changed'
  const report =
    checks && (checks.errors > 0 || checks.warnings > 0) ? checksText([{ ...checks, file }], 'md', false) : ''
  const passed = checks && report === '' ? ` · ✅ ${counted(checks.results.length, 'rule')} passed` : ''
  return `${name}: ${what}${passed}\n\n${report && `${report}\n`}`
}

function picturesOf(charts: readonly DraftChart[]): string {
  if (charts.length === 0) return ''
  const rows = charts.map(
    ({ filename, web_url, before_url, after_url }) =>
      `| [${markdown(filename)}](${linkOf(web_url)}) | ![before](${linkOf(before_url)}) | ![after](${linkOf(after_url)}) |`,
  )
  return `| chart | before | after |\n|---|---|---|\n${rows.join('\n')}\n\n`
}

/** The rows of a diff, folded, as far as they fit. */
function rowsOf({ file, target, diff }: Reviewed, most: number): string {
  const whole = diffText(diff!, 'md', {
    names: { before: 'before', after: 'after' },
    isStat: false,
    color: false,
    width: Number.POSITIVE_INFINITY,
  })
  const open = `<details><summary>Rows of ${markdown(file)}</summary>\n\n`
  const command = target === undefined ? '' : `: \`gridline diff ${target.replaceAll('`', '')}\``
  const close = '\n</details>\n\n'
  const cut = `\n… and more${command}\n`
  const lines: string[] = []
  let size = open.length + close.length + cut.length
  let isCut = false
  for (const line of whole.split('\n')) {
    size += line.length + 1
    isCut = size > most
    if (isCut) break
    lines.push(line)
  }
  // A table without a row says nothing.
  return lines.length < 4 ? '' : `${open}${lines.join('\n')}${isCut ? cut : ''}${close}`
}

function linkOf(url: string): string {
  return url.replace(/[\s()<>\\|[\]]/g, (c) => encodeURIComponent(c).replace('(', '%28').replace(')', '%29'))
}
