// Reports results, warnings and errors to CI systems: outputs, summaries and annotations.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { isNotice } from '../../contract/formats.ts'
import type { CheckReport } from '../../contract/resources/index.ts'
import { rowLocation, ruleTitle } from '../output/check-rows.ts'
import type { Failure } from '../output/failure.ts'
import type { Warning } from '../output/messages.ts'
import { formatUpsertCounts } from '../output/row-counts.ts'
import type { Context } from './context.ts'

/** Result of a command for one file, as reported to a CI system. */
export interface ReportedFile {
  fid?: string
  filename?: string
  /** Path of the grid. */
  path?: string
  web_url?: string
  action?: string
  /** Action on the grid of a chart: created, replaced … */
  grid_action?: string
  row_count?: number
  file?: string
  /** Counts of an upsert. Absent if rows were not matched by a key. */
  rows_added?: number
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
}

/** Returns repository, commit, branch and run of the CI job. Throws `usage` if none of them is set. */
export function detectProvenance(environment: NodeJS.ProcessEnv): Record<string, string> {
  const e = environment
  const github = e.GITHUB_REPOSITORY && `${e.GITHUB_SERVER_URL}/${e.GITHUB_REPOSITORY}`
  const values: Record<string, string | undefined> = {
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
  const entries = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]))
  if (entries.length === 0)
    throw new Problem('usage', '--provenance: found no commit, branch or run in the environment', {
      hint: 'It works in jobs of GitHub Actions, GitLab CI, CircleCI and Buildkite.',
    })
  return Object.fromEntries(entries)
}

/**
 * Formats provenance for the history of a grid: `github.com/o/r@abc1234 main, run 7`. At most 500 characters.
 */
export function formatProvenance({ repository, commit, branch, run }: Record<string, string>): string {
  const short = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\.git$/, '')
  const parts = [
    [repository && short(repository), commit?.slice(0, 12)].filter(Boolean).join('@'),
    branch,
    run && short(run),
  ]
  return parts.filter(Boolean).join(' ').slice(0, 500)
}

/**
 * In GitHub Actions, writes step outputs, a summary of results and warnings, and an annotation per warning.
 * In GitLab CI, adds warnings to the code quality report.
 */
export async function reportToCi(
  context: Context,
  results: readonly ReportedFile[],
  failures: readonly Failure[] = [],
): Promise<void> {
  const { GITHUB_ACTIONS, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = context.environment
  const files = await withFileNames(
    context,
    results.filter(({ fid }) => fid !== undefined),
  )
  const { warnings } = context.messages
  for (const warning of warnings) annotateWarning(context, warning)
  for (const { subject, problem } of failures) annotate(context, subject, problem)
  if (GITHUB_ACTIONS !== 'true' || files.length + failures.length === 0) return
  const first = files[0]
  if (GITHUB_OUTPUT && first) {
    const outputs = {
      fid: first.fid,
      url: first.web_url,
      action: first.action,
      grid_action: first.grid_action,
      warnings: String(warnings.length),
      files: JSON.stringify(
        files.map(({ fid, filename, path, web_url, action, grid_action }) => ({
          fid,
          filename,
          path,
          url: web_url,
          action,
          grid_action,
        })),
      ),
    }
    appendToFile(
      GITHUB_OUTPUT,
      Object.entries(outputs)
        .map(([name, value]) => `${name}=${joinLines(value ?? '')}\n`)
        .join(''),
    )
  }
  if (GITHUB_STEP_SUMMARY) {
    const rows = files.map(
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
        const name = web_url === undefined ? escapeCell(path) : `[${escapeCell(path)}](${escapeUrl(web_url)})`
        const outcome = formatUpsertCounts(more) ?? action
        const actionText = grid_action === undefined ? outcome : `chart ${action}, data ${grid_action}`
        return `| ${name} | ${row_count ?? ''} | ${escapeCell(actionText)} |\n`
      },
    )
    const failed = failures.map(
      ({ subject: of, problem }) => `| ${escapeCell(of)} | | failed: ${escapeCell(problem.message)} |\n`,
    )
    appendToFile(
      GITHUB_STEP_SUMMARY,
      `| file | rows | action |\n|---|---:|---|\n${rows.join('')}${failed.join('')}\n${formatWarnings(warnings)}`,
    )
  }
}

/** Adds missing file names and links to results, in GitHub Actions only. */
async function withFileNames(
  context: Context,
  files: readonly ReportedFile[],
): Promise<readonly ReportedFile[]> {
  if (context.environment.GITHUB_ACTIONS !== 'true' || files.every(({ filename }) => filename)) return files
  const client = await context.client()
  return Promise.all(
    files.map(async (result) => {
      if (result.filename || result.fid === undefined) return result
      const file = await client.call('files.get', { fid: result.fid }).catch(() => undefined)
      return file ? { ...result, filename: file.filename, web_url: file.web_url } : result
    }),
  )
}

/** Maximum number of warnings in the summary. */
const MAX_WARNINGS = 50

/** Formats warnings as a Markdown list, without those beyond `MAX_WARNINGS`. */
function formatWarnings(warnings: readonly Warning[]): string {
  if (warnings.length === 0) return ''
  const lines = warnings
    .slice(0, MAX_WARNINGS)
    .map(
      ({ subject, text }) =>
        `- ${escapeCell(subject === undefined || text.includes(subject) ? text : `${subject}: ${text}`)}\n`,
    )
  const more = warnings.length > MAX_WARNINGS ? `- and ${warnings.length - MAX_WARNINGS} more\n` : ''
  return `${warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}:\n\n${lines.join('')}${more}\n`
}

function annotateWarning({ environment, messages }: Context, { subject, text }: Warning): void {
  // A notice describes every run: no annotation.
  if (isNotice(text)) return
  const line = Number(/\bline (\d+)/.exec(text)?.[1] ?? 1)
  if (environment.GITHUB_ACTIONS === 'true') {
    const location = subject === undefined ? '' : `file=${escapeProperty(subject)},line=${line},`
    messages.line(`::warning ${location}title=gridline::${escapeMessage(text)}`)
  } else if (environment.GITLAB_CI && subject !== undefined) {
    addFinding(subject, { check: 'gridline warning', severity: 'minor', message: text, line })
  }
}

/** Runs `work`. On wrong data, annotates the line for the CI system. Rethrows all errors. */
export async function annotateErrors<T>(context: Context, file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem && error.checks) {
      if (error.code !== 'checks_failed') annotate(context, file, error)
      annotateReport(context, file, error.checks)
      annotatedProblems.add(error)
    } else if (error instanceof Problem && (error.exit === 7 || error.line !== undefined))
      annotate(context, file, error)
    throw error
  }
}

/** Problems that have an annotation. */
const annotatedProblems = new WeakSet<Problem>()

/** Annotates a problem, once: as GitHub error, GitLab finding, or `file:line: error` for other CI systems. */
export function annotate({ environment, messages }: Context, file: string, problem: Problem): void {
  if (annotatedProblems.has(problem)) return
  annotatedProblems.add(problem)
  const { column, message } = problem
  const at = /\bline (\d+)/.exec(message)?.[1]
  const line = problem.line ?? (at === undefined ? undefined : Number(at))
  if (environment.GITHUB_ACTIONS === 'true') {
    // Rows of the command line (-…) and standard input are not files.
    const isFile = !/^-|^standard input$/.test(file)
    const location = isFile
      ? [`file=${escapeProperty(file)}`, ...(line === undefined ? [] : [`line=${line}`])]
      : []
    messages.line(`::error ${[...location, 'title=gridline'].join(',')}::${escapeMessage(message)}`)
  } else if (environment.GITLAB_CI) {
    addFinding(file, { check: `gridline ${problem.code}`, severity: 'major', message, line: line ?? 1 })
  } else if (environment.CI && line !== undefined && !messages.isJson) {
    messages.line(
      `${file}:${line}: error: ${joinLines(message)}${column === undefined ? '' : ` (column ${column})`}`,
    )
  }
}

/** Annotates the first failed row of each failed rule. */
export function annotateReport(context: Context, file: string, { results }: CheckReport): void {
  for (const result of results) {
    if (result.passed) continue
    const [first] = result.rows
    const text = `${ruleTitle(result)}: ${result.message}${first ? ` (${rowLocation(first)})` : ''}`
    if (result.severity === 'warn') annotateWarning(context, { subject: file, text })
    else {
      const location = { line: first?.line ?? undefined, column: result.column ?? undefined }
      annotate(context, file, new Problem('checks_failed', text, location))
    }
  }
}

/** Appends Markdown to the step summary of GitHub Actions. Does nothing elsewhere. */
export function appendStepSummary({ environment }: Context, markdown: string): void {
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY } = environment
  if (GITHUB_ACTIONS === 'true' && GITHUB_STEP_SUMMARY) appendToFile(GITHUB_STEP_SUMMARY, `${markdown}\n`)
}

const CODE_QUALITY_FILE = 'gl-code-quality-report.json'

interface Finding {
  check: string
  severity: 'major' | 'minor'
  message: string
  line: number
}

/** Appends a finding to the code quality report of GitLab. */
function addFinding(file: string, { check, severity, message, line }: Finding): void {
  const { createHash } = process.getBuiltinModule('node:crypto')
  let findings: unknown[] = []
  try {
    const stored: unknown = JSON.parse(readFileSync(CODE_QUALITY_FILE, 'utf8'))
    if (Array.isArray(stored)) findings = stored
  } catch {
    // No report yet.
  }
  findings.push({
    description: message,
    check_name: check,
    fingerprint: createHash('sha256').update(`${file} ${line} ${message}`).digest('hex'),
    severity,
    location: { path: file, lines: { begin: line } },
  })
  try {
    writeFileSync(CODE_QUALITY_FILE, `${JSON.stringify(findings, null, 2)}\n`)
  } catch {
    // Reporting must not fail a command that succeeded.
  }
}

/** Appends to a file; warns if that fails. */
function appendToFile(file: string, text: string): void {
  try {
    appendFileSync(file, text)
  } catch (error) {
    process.stderr.write(`warning: cannot write ${file}: ${errorMessageOf(error)}\n`)
  }
}

function joinLines(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ')
}

/** Escapes a cell of a Markdown table. */
function escapeCell(text: string): string {
  return joinLines(text).replace(/[\\|[\]<>`*_]/g, '\\$&')
}

/** Escapes a URL from the server for Markdown. */
function escapeUrl(url: string): string {
  return joinLines(url).replace(/[\s()<>\\|]/g, encodeURIComponent)
}

/** Escapes the message of a GitHub workflow command. */
function escapeMessage(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Escapes a property of a GitHub workflow command. */
function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
