// `gridline check`: checks files and grids against rules, or sets the rules of a grid.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { resolveFid, resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { CheckReport, ChecksDocument } from '../../contract/resources/index.ts'
import { annotateReport, appendStepSummary } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionValues } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { CHECKS_FILE, readChecksFile } from '../files/checks-file.ts'
import { generateChecks } from '../files/checks-init.ts'
import { inputName } from '../files/input.ts'
import { checkLocalFile } from '../files/local-checks.ts'
import { isLocalDataFile, isLocalDirectory, openGridOrFile } from '../files/local-data.ts'
import { assertNoReadingOptions, localOptions } from '../files/parse-options.ts'
import { toWriteProblem } from '../files/write-file.ts'
import { CHECK_FORMATS, formatChecks, type NamedReport } from '../output/checks.ts'
import { hasColor } from '../output/color.ts'
import type { TableView } from '../output/view.ts'
import { expandFiles, noteLinks } from '../upload/expand.ts'

/** Exit code if checks fail. */
const CHECKS_FAILED_EXIT = 7

const options = [
  {
    flags: '--checks <file>',
    description: `checks file (default: the rules of the grid, or ${CHECKS_FILE}); also a Frictionless Table Schema`,
    completion: 'local',
  },
  {
    flags: '--set <file>',
    description: 'store a checks file as the rules of a grid, for all later writes ("" removes them)',
    completion: 'local',
  },
  {
    flags: '--init',
    description: `write ${CHECKS_FILE} (or the --checks file) with rules that fit the data`,
  },
  {
    flags: '--format <format>',
    description: 'table (default), md, or junit (XML for CI systems)',
    choices: CHECK_FORMATS,
  },
  { flags: '--output <file>', description: 'write the report to a file, in the format of --format' },
  ...localOptions,
] as const satisfies readonly Option[]

type CheckOptions = OptionValues<typeof options>

export const command = defineCommand({
  output: arrayOf('Check report', { file: 'the data file or grid' }),
  arguments: '<file...>',
  usage: '<file|grid|directory...>',
  options,
  writes: true,
  completion: [['local', 'grid']],
  examples: [
    'gridline check sales.csv --init                 # write rules from the data',
    'gridline check sales.csv',
    'gridline check data/*.csv --checks sales.checks.yml --format junit --output report.xml',
    'gridline check sales --set gridline.checks.yml  # for all later writes',
    'gridline check sales',
    'gridline check data.csv --checks schema.json    # a Frictionless Table Schema',
  ],
  async run(context, targets, options) {
    const { set, init } = options
    if (set !== undefined && init) throw new Problem('usage', '--set and --init cannot be used together')
    if ((set !== undefined || init) && options.output !== undefined)
      throw new Problem(
        'usage',
        `--output is for the report, which ${init ? '--init' : '--set'} does not write`,
        {
          hint: init ? 'Name the file of the rules with --checks FILE.' : 'Leave it out.',
        },
      )
    if (init || set !== undefined) {
      if (targets.length > 1)
        throw new Problem('usage', `${init ? '--init' : '--set'} can only be used with one file`)
      return init ? writeChecks(context, targets[0], options) : setChecks(context, targets[0], set!, options)
    }
    const checks = options.checks === undefined ? undefined : await readChecksFile(options.checks)
    const reports: NamedReport[] = []
    const files = targets.flatMap((word) => expandDirectory(context, word))
    if (targets.filter((word) => word === '-').length > 1)
      throw new Problem('usage', 'standard input can be checked only once')
    for (const file of files) {
      const name = inputName(file)
      try {
        reports.push({ file: name, ...(await createReport(context, file, checks, options)) })
      } catch (error) {
        // Report an unreadable file as failed.
        if (!(error instanceof Problem) || (files.length === 1 && options.format !== 'junit')) throw error
        reports.push({ file: name, ...unreadableReport(error) })
      }
    }
    reportChecksToCi(context, reports)
    return printReports(context, reports, options)
  },
})

/** Returns the data files of a local directory, or the word itself if it is something else. */
function expandDirectory({ messages }: Context, word: string): string[] {
  if (!isLocalDirectory(word)) return [word]
  const expanded = expandFiles([word], {})
  noteLinks(messages, expanded)
  const files = expanded.files.map(({ file }) => file)
  return files.length > 0 ? files : [word]
}

/** Checks a file or grid, and returns the report. */
async function createReport(
  context: Context,
  file: string,
  checksOption: ChecksDocument | undefined,
  options: CheckOptions,
): Promise<CheckReport> {
  if (await isLocalDataFile(file)) {
    const rules = checksOption ?? (await readChecksFile(CHECKS_FILE))
    return checkLocalFile(context, file, rules, options)
  }
  assertNoReadingOptions(options)
  const client = await context.clientFor(file)
  const { fid, version } = await resolveVersion(client, file, 'grid')
  const checks = checksOption ?? (await loadFallbackRules(context, file, fid))
  return client.call('checks.run', { fid, version, json: { checks } })
}

/** Returns the checks file of the directory if the grid has no rules; otherwise undefined. */
async function loadFallbackRules(
  context: Context,
  file: string,
  fid: string,
): Promise<ChecksDocument | undefined> {
  const client = await context.clientFor(file)
  const { checks } = await client.call('checks.get', { fid })
  if (checks !== null || !existsSync(CHECKS_FILE)) return undefined
  context.messages.note(`${file} has no rules; using ${CHECKS_FILE}`)
  return readChecksFile(CHECKS_FILE)
}

/** Report of a file that cannot be read. */
function unreadableReport({ message }: Problem): CheckReport {
  const result = {
    column: null,
    rule: 'readable',
    expected: 'a readable table',
    severity: 'error' as const,
    passed: false,
    count: null,
    message,
    rows: [],
  }
  return { passed: false, row_count: 0, errors: 1, warnings: 0, results: [result] }
}

/** Annotates failed rows, and adds the report to the summary of the CI job. */
function reportChecksToCi(context: Context, reports: readonly NamedReport[]): void {
  for (const { file, ...report } of reports) annotateReport(context, file, report)
  appendStepSummary(context, formatChecks(reports, 'md', false))
}

/** Prints the reports, or writes them to a file. */
async function printReports(
  context: Context,
  reports: readonly NamedReport[],
  { format = 'table', output }: CheckOptions,
): Promise<CommandResult> {
  const exit = reports.every(({ passed }) => passed) ? 0 : CHECKS_FAILED_EXIT
  const { flags, environment } = context
  if (output !== undefined) {
    await writeReport(output, formatChecks(reports, format, false))
    const failed = reports.filter(({ passed }) => !passed)
    const text = formatChecks(failed, 'table', hasColor(process.stdout, environment))
    return flags.json === undefined && flags.jq === undefined
      ? { text, exit }
      : { items: [...reports], view: EMPTY_VIEW, exit }
  }
  if (flags.json !== undefined || flags.jq !== undefined)
    return { items: [...reports], view: EMPTY_VIEW, exit }
  return { text: formatChecks(reports, format, hasColor(process.stdout, environment)), exit }
}

/** View of results that are only printed as JSON. */
const EMPTY_VIEW: TableView = { columns: [] }

/** Writes a file. Throws `already_exists` with flag `wx`, `failed` otherwise. */
async function writeReport(file: string, text: string, flag?: 'wx'): Promise<void> {
  await writeFile(file, text, { flag }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new Problem('already_exists', `${file} already exists`, {
        hint: 'Name another file with --checks, or remove it.',
      })
    throw toWriteProblem(file, error)
  })
}

/** Writes a checks file with rules that fit the data. */
async function writeChecks(context: Context, input: string, options: CheckOptions): Promise<CommandResult> {
  const { client, fid } = await openGridOrFile(context, input, options)
  const file = options.checks ?? CHECKS_FILE
  const text = await generateChecks(client, fid, basename(input))
  if (context.flags.dryRun) return { text }
  await writeReport(file, text, 'wx')
  const checksFlag = file === CHECKS_FILE ? '' : ` --checks ${file}`
  context.messages.note(`wrote ${file}; edit it, then: gridline check ${input}${checksFlag}`)
  return { text }
}

/** Stores the rules of a grid; with --dry-run, only runs them. */
async function setChecks(
  context: Context,
  grid: string,
  file: string,
  options: CheckOptions,
): Promise<CommandResult> {
  const checks = file === '' ? null : await readChecksFile(file)
  const client = await context.clientFor(grid)
  const fid = await resolveFid(client, grid, 'grid')
  if (context.flags.dryRun && checks !== null) {
    const report = await client.call('checks.run', { fid, json: { checks } })
    if (!report.passed) return printReports(context, [{ file: grid, ...report }], options)
  }
  await client.call('checks.set', { fid, json: { checks } })
  context.messages.note(
    checks === null ? `removed the rules of ${grid}` : `all later writes to ${grid} will be checked`,
  )
  return undefined
}
