import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import { isNotice } from '../../contract/formats.ts'
import type { CheckReport } from '../../contract/resources/index.ts'
import { placeOf, titleOf } from '../output/check-rows.ts'
import type { Failure } from '../output/failure.ts'
import type { Warned } from '../output/messages.ts'
import { rowsByKey } from '../output/row-counts.ts'
import type { Context } from './context.ts'

/** What is reported about a file that was made or changed. */
export interface Reported {
  fid?: string
  filename?: string
  /** Path of the grid. */
  path?: string
  web_url?: string
  action?: string
  /** What was done with the grid of a chart. */
  grid_action?: string
  row_count?: number
  file?: string
  /** What became of rows that were found by a key. */
  rows_added?: number
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
}

/** Commit, branch and run of a CI job, where the system says them. */
export function provenanceOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  const e = environment
  const github = e.GITHUB_REPOSITORY && `${e.GITHUB_SERVER_URL}/${e.GITHUB_REPOSITORY}`
  const found: Record<string, string | undefined> = {
    repository: github || e.CI_PROJECT_URL || e.CIRCLE_REPOSITORY_URL || e.BUILDKITE_REPO,
    commit: e.GITHUB_SHA || e.CI_COMMIT_SHA || e.CIRCLE_SHA1 || e.BUILDKITE_COMMIT,
    branch:
      e.GITHUB_HEAD_REF || e.GITHUB_REF_NAME || e.CI_COMMIT_REF_NAME || e.CIRCLE_BRANCH || e.BUILDKITE_BRANCH,
    run:
      (github && e.GITHUB_RUN_ID && `${github}/actions/runs/${e.GITHUB_RUN_ID}`) ||
      e.CI_JOB_URL ||
      e.CIRCLE_BUILD_URL ||
      e.BUILDKITE_BUILD_URL,
  }
  const known = Object.entries(found).filter((entry): entry is [string, string] => Boolean(entry[1]))
  if (known.length === 0)
    throw new Problem('usage', '--provenance: no commit, branch or run is known', {
      hint: 'It works in jobs of GitHub Actions, GitLab CI, CircleCI and Buildkite.',
    })
  return Object.fromEntries(known)
}

/** The same as one text, for the history of a grid: `github.com/o/r@abc1234 main, run 7`. */
export function provenanceText({ repository, commit, branch, run }: Record<string, string>): string {
  const short = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\.git$/, '')
  const parts = [
    [repository && short(repository), commit?.slice(0, 12)].filter(Boolean).join('@'),
    branch,
    run && short(run),
  ]
  return parts.filter(Boolean).join(' ').slice(0, 500)
}

/**
 * In a job of GitHub Actions: writes outputs of the step, a table of what was done and the warnings to its summary, and
 * an annotation for each warning. In GitLab CI, warnings go into the code quality report.
 */
export async function reportToCi(
  context: Context,
  done: readonly Reported[],
  failures: readonly Failure[] = [],
): Promise<void> {
  const { GITHUB_ACTIONS, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = context.environment
  const made = await named(
    context,
    done.filter(({ fid }) => fid !== undefined),
  )
  const { warned } = context.messages
  for (const warning of warned) annotateWarning(context, warning)
  for (const { of, problem } of failures) annotate(context, of, problem)
  if (GITHUB_ACTIONS !== 'true' || made.length + failures.length === 0) return
  const first = made[0]
  if (GITHUB_OUTPUT && first) {
    const outputs = {
      fid: first.fid,
      url: first.web_url,
      action: first.action,
      grid_action: first.grid_action,
      warnings: String(warned.length),
      files: JSON.stringify(
        made.map(({ fid, filename, path, web_url, action, grid_action }) => ({
          fid,
          filename,
          path,
          url: web_url,
          action,
          grid_action,
        })),
      ),
    }
    append(
      GITHUB_OUTPUT,
      Object.entries(outputs)
        .map(([name, value]) => `${name}=${oneLine(value ?? '')}\n`)
        .join(''),
    )
  }
  if (GITHUB_STEP_SUMMARY) {
    const rows = made.map(
      ({
        fid = '',
        filename = fid,
        path = filename,
        web_url,
        action = '',
        grid_action,
        row_count,
        ...more
      }) => {
        const name = web_url === undefined ? cell(path) : `[${cell(path)}](${address(web_url)})`
        const done = rowsByKey(more) ?? action
        const said = grid_action === undefined ? done : `chart ${action}, data ${grid_action}`
        return `| ${name} | ${row_count ?? ''} | ${cell(said)} |\n`
      },
    )
    const failed = failures.map(({ of, problem }) => `| ${cell(of)} | | failed: ${cell(problem.message)} |\n`)
    append(
      GITHUB_STEP_SUMMARY,
      `| file | rows | action |\n|---|---:|---|\n${rows.join('')}${failed.join('')}\n${warningList(warned)}`,
    )
  }
}

/** Results with the name and link of their file, also of commands that print neither. */
async function named(context: Context, made: readonly Reported[]): Promise<readonly Reported[]> {
  if (context.environment.GITHUB_ACTIONS !== 'true' || made.every(({ filename }) => filename)) return made
  const client = await context.client()
  return Promise.all(
    made.map(async (one) => {
      if (one.filename || one.fid === undefined) return one
      const file = await client.call('files.get', { fid: one.fid }).catch(() => undefined)
      return file ? { ...one, filename: file.filename, web_url: file.web_url } : one
    }),
  )
}

/** Warnings that the summary lists. */
const MAX_WARNINGS = 50

function warningList(warned: readonly Warned[]): string {
  if (warned.length === 0) return ''
  const lines = warned
    .slice(0, MAX_WARNINGS)
    .map(({ of, text }) => `- ${cell(of === undefined || text.includes(of) ? text : `${of}: ${text}`)}\n`)
  const more = warned.length > MAX_WARNINGS ? `- and ${warned.length - MAX_WARNINGS} more\n` : ''
  return `${warned.length === 1 ? '1 warning' : `${warned.length} warnings`}:\n\n${lines.join('')}${more}\n`
}

function annotateWarning({ environment, messages }: Context, { of, text }: Warned): void {
  // What is so in each run.
  if (isNotice(text)) return
  const line = Number(/\bline (\d+)/.exec(text)?.[1] ?? 1)
  if (environment.GITHUB_ACTIONS === 'true') {
    const place = of === undefined ? '' : `file=${property(of)},line=${line},`
    messages.line(`::warning ${place}title=gridline::${data(text)}`)
  } else if (environment.GITLAB_CI && of !== undefined) {
    codeQuality(of, { check: 'gridline warning', severity: 'minor', message: text, line })
  }
}

/** Runs `work`; if data is wrong, marks the line in the way of the CI system, and throws on. */
export async function annotated<T>(context: Context, file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem && error.checks) {
      if (error.code !== 'checks_failed') annotate(context, file, error)
      annotateReport(context, file, error.checks as CheckReport)
      marked.add(error)
    } else if (error instanceof Problem && (error.exit === 7 || error.line !== undefined))
      annotate(context, file, error)
    throw error
  }
}

/** Problems that are marked. */
const marked = new WeakSet<Problem>()

function annotate({ environment, messages }: Context, file: string, problem: Problem): void {
  if (marked.has(problem)) return
  marked.add(problem)
  const { column, message } = problem
  const at = /\bline (\d+)/.exec(message)?.[1]
  const line = problem.line ?? (at === undefined ? undefined : Number(at))
  if (environment.GITHUB_ACTIONS === 'true') {
    // Rows of the command line, and standard input, are no files.
    const isFile = !/^-|^standard input$/.test(file)
    const place = isFile ? [`file=${property(file)}`, ...(line === undefined ? [] : [`line=${line}`])] : []
    messages.line(`::error ${[...place, 'title=gridline'].join(',')}::${data(message)}`)
  } else if (environment.GITLAB_CI) {
    codeQuality(file, { check: `gridline ${problem.code}`, severity: 'major', message, line: line ?? 1 })
  } else if (environment.CI && line !== undefined && !messages.isJson) {
    messages.line(
      `${file}:${line}: error: ${oneLine(message)}${column === undefined ? '' : ` (column ${column})`}`,
    )
  }
}

/** Marks the first line of each failed rule in the way of the CI system. */
export function annotateReport(context: Context, file: string, { results }: CheckReport): void {
  for (const result of results) {
    if (result.passed) continue
    const [first] = result.rows
    const text = `${titleOf(result)}: ${result.message}${first ? ` (${placeOf(first)})` : ''}`
    if (result.severity === 'warn') annotateWarning(context, { of: file, text })
    else {
      const place = { line: first?.line ?? undefined, column: result.column ?? undefined }
      annotate(context, file, new Problem('checks_failed', text, place))
    }
  }
}

/** Adds Markdown to the summary of a step of GitHub Actions. */
export function summarize({ environment }: Context, markdown: string): void {
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY } = environment
  if (GITHUB_ACTIONS === 'true' && GITHUB_STEP_SUMMARY) append(GITHUB_STEP_SUMMARY, `${markdown}\n`)
}

const REPORT = 'gl-code-quality-report.json'

interface Finding {
  check: string
  severity: 'major' | 'minor'
  message: string
  line: number
}

/** Adds a finding to the code quality report of GitLab. */
function codeQuality(file: string, { check, severity, message, line }: Finding): void {
  const { createHash } = process.getBuiltinModule('node:crypto')
  let found: unknown[] = []
  try {
    const before: unknown = JSON.parse(readFileSync(REPORT, 'utf8'))
    if (Array.isArray(before)) found = before
  } catch {
    // The first finding.
  }
  found.push({
    description: message,
    check_name: check,
    fingerprint: createHash('sha256').update(`${file} ${line} ${message}`).digest('hex'),
    severity,
    location: { path: file, lines: { begin: line } },
  })
  try {
    writeFileSync(REPORT, `${JSON.stringify(found, null, 2)}\n`)
  } catch {
    // The report is an addition: what was done is done, also where nothing can be written.
  }
}

function append(file: string, text: string): void {
  try {
    appendFileSync(file, text)
  } catch (error) {
    process.stderr.write(`warning: cannot write ${file}: ${(error as Error).message}\n`)
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ')
}

function cell(text: string): string {
  return oneLine(text).replace(/[\\|[\]<>`*_]/g, '\\$&')
}

/** An address in Markdown: it comes from the server. */
function address(url: string): string {
  return oneLine(url).replace(/[\s()<>\\|]/g, encodeURIComponent)
}

/** Texts of workflow commands of GitHub. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
