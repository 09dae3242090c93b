/** Formats check reports as table, Markdown or JUnit XML. See docs/checks.md. */
import { Chalk } from 'chalk'
import { counted } from '../../contract/closest.ts'
import type { CheckReport, CheckResult } from '../../contract/resources/index.ts'
import { placeOf, rowLines, titleOf, valueText } from './check-rows.ts'
import { markdown } from './markdown.ts'
import { visible } from './visible.ts'

export const checkFormats = ['table', 'md', 'junit'] as const
export type CheckFormat = (typeof checkFormats)[number]

/** Report with the name of its file or grid. */
export type NamedReport = CheckReport & { file: string }

/** Writers by format. */
const writers: Record<CheckFormat, (reports: readonly NamedReport[], color: boolean) => string> = {
  table: asTable,
  md: asMarkdown,
  junit: asJunit,
}

/** Formats reports in the given format. */
export function checksText(reports: readonly NamedReport[], format: CheckFormat, color: boolean): string {
  return writers[format](reports, color)
}

/** Summarizes a report: `8 rules: 1 failed, 2 warnings, 5 passed`. */
function summaryOf({ results, errors, warnings }: CheckReport): string {
  const passed = results.length - errors - warnings
  const parts = [
    errors > 0 && `${errors} failed`,
    warnings > 0 && counted(warnings, 'warning'),
    passed > 0 && `${passed} passed`,
  ]
  return `${counted(results.length, 'rule')}: ${parts.filter(Boolean).join(', ')}`
}

function isFailed({ passed }: CheckResult): boolean {
  return !passed
}

function asTable(reports: readonly NamedReport[], color: boolean): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const lines: string[] = []
  for (const report of reports) {
    const { file, row_count, results } = report
    const sign =
      report.errors > 0 ? chalk.red('✗') : report.warnings > 0 ? chalk.yellow('!') : chalk.green('✓')
    lines.push(`${sign} ${chalk.bold(visible(file))}: ${counted(row_count, 'row')}, ${summaryOf(report)}`)
    for (const result of results.filter(isFailed)) {
      const paint = result.severity === 'error' ? chalk.red : chalk.yellow
      const severity = result.severity === 'error' ? 'failed ' : 'warning'
      lines.push(`  ${paint(severity)}  ${visible(titleOf(result))}: ${visible(result.message ?? '')}`)
      lines.push(...rowLines(result).map((line) => chalk.dim(visible(line))))
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

/** Maximum number of rows per rule in Markdown. */
const FEW_ROWS = 5

function asMarkdown(reports: readonly NamedReport[]): string {
  const lines: string[] = []
  for (const report of reports) {
    const sign = report.errors > 0 ? '❌' : report.warnings > 0 ? '⚠️' : '✅'
    lines.push(
      `${sign} **${markdown(report.file)}**: ${counted(report.row_count, 'row')}, ${summaryOf(report)}`,
      '',
    )
    const failed = report.results.filter(isFailed)
    if (failed.length === 0) continue
    lines.push('| | rule | found | first rows |', '|---|---|---|---|')
    for (const result of failed) {
      const rows = result.rows.slice(0, FEW_ROWS).map((row) => `${placeOf(row)}: ${valueText(row)}`)
      const more = (result.count ?? 0) - rows.length
      if (rows.length > 0 && more > 0) rows.push(`… ${more} more`)
      lines.push(
        `| ${result.severity === 'error' ? 'failed' : 'warning'} | ${markdown(titleOf(result))} | ${markdown(result.message ?? '')} | ${rows.map(markdown).join('<br>')} |`,
      )
    }
    lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n`
}

/** Characters that XML 1.0 cannot represent. */
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu

/** Escapes text for XML. */
function xml(text: string): string {
  return text
    .replace(NOT_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\r\n]/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** Formats reports as JUnit: one suite per file, one case per rule. Rules with severity warn do not fail. */
function asJunit(reports: readonly NamedReport[]): string {
  const total = reports.reduce((sum, { results }) => sum + results.length, 0)
  const failures = reports.reduce((sum, { errors }) => sum + errors, 0)
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="gridline check" tests="${total}" failures="${failures}">`,
  ]
  for (const { file, results, errors } of reports) {
    lines.push(
      `  <testsuite name="${xml(file)}" tests="${results.length}" failures="${errors}" errors="0" skipped="0">`,
    )
    for (const result of results) {
      const head = `    <testcase classname="${xml(file)}" name="${xml(titleOf(result))}"`
      if (result.passed) {
        lines.push(`${head}/>`)
        continue
      }
      const message = result.message ?? ''
      const text = [message, ...rowLines(result)].map((line) => xml(line)).join('\n')
      lines.push(
        `${head}>`,
        result.severity === 'error'
          ? `      <failure type="${xml(result.rule)}" message="${xml(message)}">${text}</failure>`
          : `      <system-out>warning: ${text}</system-out>`,
        '    </testcase>',
      )
    }
    lines.push('  </testsuite>')
  }
  lines.push('</testsuites>')
  return `${lines.join('\n')}\n`
}
