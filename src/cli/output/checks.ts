/** Formats check reports as table, Markdown or JUnit XML. See docs/checks.md. */
import { Chalk } from 'chalk'
import { formatCount } from '../../contract/message-texts.ts'
import type { CheckReport, CheckResult } from '../../contract/resources/index.ts'
import { formatFailedRows, formatFailedValue, rowLocation, ruleTitle } from './check-rows.ts'
import { escapeTerminal } from './escape-terminal.ts'
import { escapeMarkdown } from './markdown.ts'

export const CHECK_FORMATS = ['table', 'md', 'junit'] as const
export type CheckFormat = (typeof CHECK_FORMATS)[number]

/** Report with the name of its file or grid. */
export type NamedReport = CheckReport & { file: string }

/** Writers by format. */
const writers: Record<CheckFormat, (reports: readonly NamedReport[], color: boolean) => string> = {
  table: formatTable,
  md: formatMarkdown,
  junit: formatJunit,
}

/** Formats reports in the given format. */
export function formatChecks(reports: readonly NamedReport[], format: CheckFormat, color: boolean): string {
  return writers[format](reports, color)
}

/** Summarizes a report: `8 rules: 1 failed, 2 warnings, 5 passed`. */
function summarizeReport({ results, errors, warnings }: CheckReport): string {
  const passed = results.length - errors - warnings
  const parts = [
    errors > 0 && `${errors} failed`,
    warnings > 0 && formatCount(warnings, 'warning'),
    passed > 0 && `${passed} passed`,
  ]
  return `${formatCount(results.length, 'rule')}: ${parts.filter(Boolean).join(', ')}`
}

function isFailed({ passed }: CheckResult): boolean {
  return !passed
}

function formatTable(reports: readonly NamedReport[], color: boolean): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const lines: string[] = []
  for (const report of reports) {
    const { file, row_count, results } = report
    const sign =
      report.errors > 0 ? chalk.red('✗') : report.warnings > 0 ? chalk.yellow('!') : chalk.green('✓')
    lines.push(
      `${sign} ${chalk.bold(escapeTerminal(file))}: ${formatCount(row_count, 'row')}, ${summarizeReport(report)}`,
    )
    for (const result of results.filter(isFailed)) {
      const paint = result.severity === 'error' ? chalk.red : chalk.yellow
      const severity = result.severity === 'error' ? 'failed ' : 'warning'
      lines.push(
        `  ${paint(severity)}  ${escapeTerminal(ruleTitle(result))}: ${escapeTerminal(result.message ?? '')}`,
      )
      lines.push(...formatFailedRows(result).map((line) => chalk.dim(escapeTerminal(line))))
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

/** Maximum number of rows per rule in Markdown. */
const MAX_MARKDOWN_ROWS = 5

function formatMarkdown(reports: readonly NamedReport[]): string {
  const lines: string[] = []
  for (const report of reports) {
    const sign = report.errors > 0 ? '❌' : report.warnings > 0 ? '⚠️' : '✅'
    lines.push(
      `${sign} **${escapeMarkdown(report.file)}**: ${formatCount(report.row_count, 'row')}, ${summarizeReport(report)}`,
      '',
    )
    const failed = report.results.filter(isFailed)
    if (failed.length === 0) continue
    lines.push('| | rule | found | first rows |', '|---|---|---|---|')
    for (const result of failed) {
      const rows = result.rows
        .slice(0, MAX_MARKDOWN_ROWS)
        .map((row) => `${rowLocation(row)}: ${formatFailedValue(row)}`)
      const more = (result.count ?? 0) - rows.length
      if (rows.length > 0 && more > 0) rows.push(`… ${more} more`)
      lines.push(
        `| ${result.severity === 'error' ? 'failed' : 'warning'} | ${escapeMarkdown(ruleTitle(result))} | ${escapeMarkdown(result.message ?? '')} | ${rows.map(escapeMarkdown).join('<br>')} |`,
      )
    }
    lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n`
}

/** Characters that XML 1.0 cannot represent. */
const INVALID_XML_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu

/** Escapes text for XML. */
function escapeXml(text: string): string {
  return text
    .replace(INVALID_XML_CHARACTERS, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\r\n]/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** Formats reports as JUnit: one suite per file, one case per rule. Rules with severity warn do not fail. */
function formatJunit(reports: readonly NamedReport[]): string {
  const total = reports.reduce((sum, { results }) => sum + results.length, 0)
  const failures = reports.reduce((sum, { errors }) => sum + errors, 0)
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gridline check" tests="${total}" failures="${failures}">`,
  ]
  for (const { file, results, errors } of reports) {
    lines.push(
      `  <testsuite name="${escapeXml(file)}" tests="${results.length}" failures="${errors}" errors="0" skipped="0">`,
    )
    for (const result of results) {
      const head = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(ruleTitle(result))}"`
      if (result.passed) {
        lines.push(`${head}/>`)
        continue
      }
      const message = result.message ?? ''
      const text = [message, ...formatFailedRows(result)].map((line) => escapeXml(line)).join('\n')
      lines.push(
        `${head}>`,
        result.severity === 'error'
          ? `      <failure type="${escapeXml(result.rule)}" message="${escapeXml(message)}">${text}</failure>`
          : `      <system-out>warning: ${text}</system-out>`,
        '    </testcase>',
      )
    }
    lines.push('  </testsuite>')
  }
  lines.push('</testsuites>')
  return `${lines.join('\n')}\n`
}
