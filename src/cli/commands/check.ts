import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { resolve, resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { CheckReport, ChecksDocument } from '../../contract/resources/index.ts'
import { annotateReport, summarize } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionsOf } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { CHECKS_FILE, readChecksFile } from '../files/checks-file.ts'
import { initialChecks } from '../files/checks-init.ts'
import { nameOfInput } from '../files/input.ts'
import { reportOfFile } from '../files/local-checks.ts'
import { isDataFileHere, isDirectoryHere, readableGrid } from '../files/local-data.ts'
import { localOptions, refuseReadingOptions } from '../files/parse-options.ts'
import { type CheckFormat, checkFormats, checksText, type NamedReport } from '../output/checks.ts'
import { hasColor } from '../output/color.ts'
import type { TableView } from '../output/view.ts'
import { expand } from '../upload/expand.ts'

/** Exit code of data that fails checks. */
const FAILED = 7

const options = [
  {
    flags: '--checks <file>',
    description: `checks file (default: the rules of the grid, or ${CHECKS_FILE}); also a Frictionless Table Schema`,
    completes: 'local',
  },
  {
    flags: '--set <file>',
    description: 'make a checks file the rules of a grid, for every write from then on ("" removes them)',
    completes: 'local',
  },
  {
    flags: '--init',
    description: `write ${CHECKS_FILE}, or the file of --checks, with rules that the data passes`,
  },
  {
    flags: '--format <format>',
    description: 'table (default), md, or junit (XML for CI systems)',
    choices: checkFormats,
  },
  { flags: '--output <file>', description: 'write the report to a file, in this format' },
  ...localOptions,
] as const satisfies readonly Option[]

type Options = OptionsOf<typeof options>

export const command = defineCommand({
  prints: array('Check report', { file: 'the data file or grid' }),
  arguments: '<file...>',
  usage: '<file|grid|directory...>',
  options,
  writes: true,
  completes: [['local', 'grid']],
  examples: [
    'gridline check sales.csv --init                 # write rules from the data',
    'gridline check sales.csv',
    'gridline check data/*.csv --checks sales.checks.yml --format junit --output report.xml',
    'gridline check sales --set gridline.checks.yml  # for every write from now on',
    'gridline check sales',
    'gridline check data.csv --checks schema.json    # a Frictionless Table Schema',
  ],
  async run(context, given, options) {
    const { set, init } = options
    if (set !== undefined && init) throw new Problem('usage', '--set and --init cannot be used together')
    if (init || set !== undefined) {
      if (given.length > 1)
        throw new Problem('usage', `${init ? '--init' : '--set'} can only be used with one file`)
      return init ? writeChecks(context, given[0], options) : setChecks(context, given[0], set!, options)
    }
    const checks = options.checks === undefined ? undefined : await readChecksFile(options.checks)
    const reports: NamedReport[] = []
    const files = given.flatMap(dataFilesOf)
    if (given.filter((file) => file === '-').length > 1)
      throw new Problem('usage', 'standard input can be checked only once')
    for (const file of files) {
      const name = nameOfInput(file)
      try {
        reports.push({ file: name, ...(await reportOn(context, file, checks, options)) })
      } catch (error) {
        // A file that cannot be checked has failed.
        if (!(error instanceof Problem) || (files.length === 1 && options.format !== 'junit')) throw error
        reports.push({ file: name, ...notChecked(error) })
      }
    }
    tellCi(context, reports)
    return shown(context, reports, options)
  },
})

/** The data files of a directory of this machine; any other word stands for itself. */
function dataFilesOf(given: string): string[] {
  const files = isDirectoryHere(given) ? expand([given], {}).files.map(({ file }) => file) : []
  return files.length > 0 ? files : [given]
}

async function reportOn(
  context: Context,
  file: string,
  given: ChecksDocument | undefined,
  options: Options,
): Promise<CheckReport> {
  if (await isDataFileHere(file)) {
    const document = given ?? (await readChecksFile(CHECKS_FILE))
    return reportOfFile(context, file, document, options)
  }
  refuseReadingOptions(options)
  const client = await context.clientFor(file)
  const { fid, version } = await resolveVersion(client, file, 'grid')
  const checks = given ?? (await rulesOf(context, file, fid))
  return client.call('checks.run', { fid, version, json: { checks } })
}

/** The rules of a grid; of one without, the checks file of the directory. */
async function rulesOf(context: Context, file: string, fid: string): Promise<ChecksDocument | undefined> {
  const client = await context.clientFor(file)
  const { checks } = await client.call('checks.get', { fid })
  if (checks !== null || !existsSync(CHECKS_FILE)) return undefined
  context.messages.note(`${file} has no rules of its own: ${CHECKS_FILE} is used`)
  return readChecksFile(CHECKS_FILE)
}

function notChecked({ message }: Problem): CheckReport {
  const result = {
    column: null,
    rule: 'readable',
    expected: 'a table that can be read',
    severity: 'error' as const,
    passed: false,
    count: null,
    message,
    rows: [],
  }
  return { passed: false, row_count: 0, errors: 1, warnings: 0, results: [result] }
}

/** Marks lines in the way of the CI system, and adds the report to its summary. */
function tellCi(context: Context, reports: readonly NamedReport[]): void {
  for (const { file, ...report } of reports) annotateReport(context, file, report)
  summarize(context, checksText(reports, 'md', false))
}

async function shown(
  context: Context,
  reports: readonly NamedReport[],
  { format = 'table', output }: Options,
): Promise<CommandResult> {
  const exit = reports.every(({ passed }) => passed) ? 0 : FAILED
  const { flags, environment } = context
  if (output !== undefined) {
    await save(output, checksText(reports, format as CheckFormat, false))
    const failed = reports.filter(({ passed }) => !passed)
    const text = checksText(failed, 'table', hasColor(process.stdout, environment))
    return flags.json === undefined && flags.jq === undefined
      ? { text, exit }
      : { many: [...reports], view: NO_VIEW, exit }
  }
  if (flags.json !== undefined || flags.jq !== undefined) return { many: [...reports], view: NO_VIEW, exit }
  return { text: checksText(reports, format as CheckFormat, hasColor(process.stdout, environment)), exit }
}

/** Everything is printed as JSON. */
const NO_VIEW: TableView = { columns: [] }

async function save(file: string, text: string, flag?: 'wx'): Promise<void> {
  await writeFile(file, text, { flag }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new Problem('already_exists', `${file} already exists`, {
        hint: 'Name another file with --checks, or remove it.',
      })
    throw new Problem('failed', `cannot write ${file}: ${error.message}`)
  })
}

async function writeChecks(context: Context, given: string, options: Options): Promise<CommandResult> {
  const { client, fid } = await readableGrid(context, given, options)
  const file = options.checks ?? CHECKS_FILE
  const text = await initialChecks(client, fid, basename(given))
  if (context.flags.dryRun) return { text }
  await save(file, text, 'wx')
  const named = file === CHECKS_FILE ? '' : ` --checks ${file}`
  context.messages.note(`wrote ${file}; edit it, then: gridline check ${given}${named}`)
  return { text }
}

async function setChecks(
  context: Context,
  grid: string,
  file: string,
  options: Options,
): Promise<CommandResult> {
  const checks = file === '' ? null : await readChecksFile(file)
  const client = await context.clientFor(grid)
  const fid = await resolve(client, grid, 'grid')
  if (context.flags.dryRun && checks !== null) {
    const report = await client.call('checks.run', { fid, json: { checks } })
    if (!report.passed) return shown(context, [{ file: grid, ...report }], options)
  }
  await client.call('checks.set', { fid, json: { checks } })
  context.messages.note(
    checks === null ? `${grid} is not checked any more` : `every write to ${grid} is checked from now on`,
  )
  return undefined
}
