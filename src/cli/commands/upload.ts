import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { typeName, yearNames } from '../../charts/spec/column-names.ts'
import { chartOptions, explainOption, flagOf, optionNames, wordsOf } from '../../charts/spec/options.ts'
import { type AUTO, type ChartType, chartChoices } from '../../charts/spec/types.ts'
import { type Client, lookupIfThere } from '../../client/index.ts'
import { counted } from '../../contract/closest.ts'
import { errorCodes, Problem } from '../../contract/errors.ts'
import { formatFid, parseFid } from '../../contract/fid.ts'
import { gridName, isNotice, sentName } from '../../contract/formats.ts'
import { conflictRules } from '../../contract/headers.ts'
import { limitsFrom } from '../../contract/limits.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { filetypeName } from '../../contract/resources/index.ts'
import { chartFor, checkChart } from '../charts/charts.ts'
import { assertOwnNames } from '../charts/create.ts'
import { createOrUpdateChart, presentOptions } from '../charts/update.ts'
import { annotated, provenanceOf, provenanceText } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import { defineCommand, type Option, type OptionsOf, type ShortHelp } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { runEach } from '../files/batch.ts'
import { checksHeaders, readChecksFile } from '../files/checks-file.ts'
import { checkDraftName } from '../files/drafts.ts'
import { tablesOf } from '../files/head.ts'
import { openInput, spooled } from '../files/input.ts'
import { reportOfFile } from '../files/local-checks.ts'
import { gridOfFile } from '../files/local-data.ts'
import {
  allowTypeChange,
  checksOption,
  keyOptions,
  percent,
  readingHeaders,
  readingOptions,
  readingOptionsOf,
  strict,
} from '../files/parse-options.ts'
import { unpivoted } from '../files/unpivot.ts'
import { Progress } from '../output/progress.ts'
import { chartView, type TableView } from '../output/view.ts'
import { type Made, uploadedView, uploadFields, uploadOf } from '../upload/done.ts'
import { expand, type LocalFile } from '../upload/expand.ts'
import { writePlan } from '../upload/plan.ts'
import { noDataFiles, type Removal, removalsOf } from '../upload/removals.ts'
import { destinationOf, placeOf, ruleOf, Sender, type SendOptions } from '../upload/send.ts'

const options = [
  { flags: '--name <name>', description: 'name of the grid (default: file name without its extension)' },
  { flags: '--folder <path|id>', description: 'destination folder; missing folders are created' },
  { flags: '--public', description: 'make the grid public (readable by anyone)' },
  {
    flags: '--on-conflict <rule>',
    description: 'if the name is taken: fail (default), rename, replace (keeps the id and link) or append',
    choices: conflictRules,
  },
  ...keyOptions,
  ...readingOptions,
  {
    flags: '--unpivot <columns>',
    description: 'columns that become rows, as a range or pattern: 2019-2023, temp_*; with --into',
  },
  {
    flags: '--into <name,value>',
    description:
      'with --unpivot: the column for their names and the one for their values, such as year,value',
  },
  allowTypeChange,
  {
    flags: '--plot <type>',
    description: 'also make a chart of the grid, and print its link; auto chooses the type from the columns',
    choices: chartChoices,
  },
  ...chartOptions.filter(({ flags }) => flags !== '--locale <tag>'),
  explainOption,
  {
    flags: '-y, --yes',
    description: 'replace a grid without confirmation, even if columns or most rows are lost',
  },
  {
    flags: '--max-shrink <percent>',
    description:
      'refuse to replace a grid that would lose more of its rows, such as 10% (default: ask beyond 50%)',
  },
  strict,
  checksOption,
  {
    flags: '--include <pattern>',
    description: 'with directories or patterns: upload only matching files (repeatable)',
    repeatable: true,
  },
  {
    flags: '--exclude <pattern>',
    description: 'with directories or patterns: skip matching files (repeatable)',
    repeatable: true,
  },
  {
    flags: '--draft <name>',
    description:
      'leave the grid as it is, and store the file as a draft that only those who may change it see, for 14 days',
    completes: undefined,
  },
  {
    flags: '--delete',
    description:
      'with directories: move grids that no file makes to the trash, and replace the others (--on-conflict replace)',
  },
  {
    flags: '--max-delete <limit>',
    description:
      'with --delete: refuse to move more grids to the trash, such as 10% or 5 (default: ask beyond 50%)',
  },
  {
    flags: '--plan <file>',
    description: 'change nothing, and write what would be done to a file; then: gridline apply FILE',
    completes: 'local',
  },
  { flags: '--jobs <n>', integer: { max: 64 }, description: 'number of parallel uploads (default: 4)' },
  {
    flags: '--provenance',
    description: 'record commit, branch and run of the CI job in the metadata of the grids',
  },
  {
    flags: '--dry-run',
    description: 'show names, types, row counts and assumptions without changing anything',
  },
] as const satisfies readonly Option[]

type Options = OptionsOf<typeof options>

/** The options that most uploads need. */
const usual: ShortHelp = {
  options: {
    '--name': 'name of the grid (default: that of the file)',
    '--folder': 'destination folder; missing folders are created',
    '--public': 'make the grid public (readable by anyone)',
    '--on-conflict': 'if the name is taken: fail, rename, replace or append',
    '--key': 'update rows with equal values in these columns',
    '--delimiter': 'delimiter between cells (default: detected)',
    '--decimal': 'decimal separator of numbers: . or ,',
    '--null': 'text that marks a missing value, such as NA',
    '--column': 'type of a column: zip:text, day:date',
    '--sheet': 'sheet of a workbook (default: all)',
    '--plot': 'also make a chart, and print its link: auto, line, bar …',
    '--x': 'column of the x axis; labels of a pie',
    '--y': 'columns of the y axis: a,b or 2019-2023 or temp_*',
    '--by': 'draw one series per value of this column',
    '--title': 'title of the chart (default: from its columns)',
    '--checks': 'refuse data that fails these rules',
    '--draft': 'store a draft that readers do not see',
    '--delete': 'with directories: trash grids without a file',
    '--yes': 'do not ask before columns or most rows are lost',
    '--dry-run': 'show what would be stored, and change nothing',
  },
  topics: ['formats', 'charts'],
  examples: 4,
}

/** Charts of uploaded files, with the actions taken for grid and chart. */
const chartedView: TableView = {
  ...chartView,
  columns: [
    ...chartView.columns.slice(0, -2),
    { field: 'grid_action', title: 'DATA ACTION' },
    ...chartView.columns.slice(-2),
  ],
}

export const command = defineCommand({
  prints: array(['Grid', 'Folder', 'Plot'], {
    ...uploadFields,
    action: 'created, replaced, appended, updated (rows by key), unchanged or trashed (--delete)',
    grid_fid: 'with --plot: the grid of the chart',
    grid_action: 'with --plot: what was done with the grid; action is then that of the chart',
  }),
  arguments: '<file...>',
  usage: '<file|directory|pattern...>',
  completes: ['local'],
  options,
  usual,
  writes: true,
  versions: true,
  reports: true,
  examples: [
    'gridline upload sales.csv',
    'gridline upload 2024/*.csv.gz --folder Reports/2024 --public',
    "gridline upload data --exclude '*.tmp.csv' --on-conflict replace --jobs 8",
    "mysql -B -e 'select …' | gridline upload - --name orders --on-conflict replace",
    'gridline upload customers.csv --key id            # update rows with the same id, append others',
    'gridline upload sales.csv --plot line --x date --y price --on-conflict replace',
    'gridline upload population.csv --unpivot 2019-2023 --into year,people',
    'gridline upload sales.csv --on-conflict replace --checks gridline.checks.yml',
    'gridline upload data --delete --plan plan.json    # then: gridline apply plan.json',
    'gridline upload sales.csv --draft pr-123           # readers see nothing of it',
    'gridline upload data.txt --dry-run --column zip:text',
    'gridline upload https://example.com/sales.csv      # if the server allows URL imports',
  ],
  async run(context, given, given_) {
    if (given_.delete !== true && given_.maxDelete !== undefined)
      throw new Problem('usage', '--max-delete can only be used with --delete')
    const options: Options = given_.delete ? { onConflict: 'replace', ...given_ } : given_
    const { name, plot, plan } = options
    if (plan !== undefined && plot !== undefined)
      throw new Problem('usage', '--plan and --plot cannot be used together')
    checkDraftName(options.draft)
    refuseWithDraft(options)
    refuseWithDelete(given_)
    const dryRun = options.dryRun || plan !== undefined
    if (name !== undefined && (name.trim() === '' || /[/\\]/.test(name))) {
      throw new Problem('usage', `--name ${JSON.stringify(name)}: must not be empty or contain / or \\`, {
        hint: 'Use --folder to set the folder.',
      })
    }
    const expanded = expand(given, options)
    const { skipped, several } = expanded
    let { files } = expanded
    if (name !== undefined && (several || files.length > 1))
      throw new Problem('usage', '--name can only be used with one file')
    if (files.length === 0 && options.delete) throw noDataFiles(given.join(', '))
    if (files.length === 0)
      throw new Problem('no_such_file', 'no files to upload', {
        hint: skipped.length > 0 ? `Not data files: ${someOf(skipped)}. Use --include.` : 'Check the names.',
      })
    assertOwnNames(
      files.map(({ file, folders }) => ({ file, name: [...folders, gridName(basename(file))].join('/') })),
      options.onConflict,
    )
    if (files.some(({ file }) => file === '-') && name === undefined && !dryRun) {
      throw new Problem('usage', 'standard input has no name', { hint: 'Set one with --name.' })
    }
    const lost = plot === undefined && optionNames.find((name) => name !== 'locale' && name in options)
    if (lost) throw new Problem('usage', `${flagOf(lost)} can only be used with --plot`)
    if (skipped.length > 0)
      context.messages.note(
        `${counted(skipped.length, 'file')} ${skipped.length === 1 ? 'was' : 'were'} skipped, not data: ${someOf(skipped)}`,
      )
    const names = new Map<LocalFile, string>()
    if (options.unpivot !== undefined || options.into !== undefined) {
      const before = files
      files = await asRows(context, files, options)
      for (const [k, local] of files.entries()) names.set(local, before[k].file)
    }
    const provenance = options.provenance ? provenanceOf(context.environment) : undefined
    // What was unpivoted is CSV, with the types that are given.
    const reading = {
      ...readingHeaders(options.unpivot === undefined ? options : { column: options.column }),
      ...(await checksHeaders(options.checks)),
    }
    const maxShrink = options.maxShrink === undefined ? undefined : percent('--max-shrink', options.maxShrink)
    const isBatch = several || files.length > 1
    const total = isBatch && !dryRun ? totalOf(context, files) : undefined
    // With --dry-run, `yes` is always set. What a plan would lose is seen in it.
    const confirmed = plan !== undefined || (options as { confirmed?: boolean }).confirmed === true
    const sending: SendOptions = {
      ...options,
      yes: dryRun ? confirmed : options.yes,
      maxShrink,
      reading,
      whole: plot !== undefined || context.environment.GITHUB_STEP_SUMMARY !== undefined,
      provenance: provenance && provenanceText(provenance),
    }
    const removals = options.delete
      ? await removalsOf(await context.client(), given, expanded, { ...options, isDry: dryRun })
      : []
    const sender = new Sender(context, sending, several || options.onConflict === 'replace', total)
    const work = async (local: LocalFile): Promise<object[]> => {
      if (plot !== undefined && !dryRun) await refuseChart(context, local, plot, options)
      if (dryRun) {
        return preview(context, local, { ...options, dryRun: true }, sender)
      }
      const made = isAddress(local.file)
        ? await importFrom(context, local.file, options)
        : uploadOf(context, local.file, await sent(context, sender, local, options))
      if (provenance && made.action !== 'unchanged') await recordProvenance(context, made, provenance)
      const result = plot === undefined ? made : await plotOf(context, made, plot, options)
      if (provenance && plot !== undefined) await recordProvenance(context, result as Made, provenance)
      const { filename } = result as Made
      noteYears(context, result as Partial<Made>, options)
      return [
        { ...result, file: names.get(local) ?? local.file, path: pathOf(local, options.folder, filename) },
      ]
    }
    const view = dryRun ? previewView : plot === undefined ? uploadedView : chartedView
    const isFirst = !isBatch
    if (isFirst) {
      const [local] = files
      const many = await annotated(context, local.file, () => work(local))
      if (plan !== undefined) await savePlan(context, plan, sending, files, many as Preview[], [])
      if (!dryRun) await context.noteLinks(openedBy(many[0] as Partial<Made>))
      return { many, view, alone: many.length === 1, exit: exitOf(many) }
    }
    const { client, server } = await context.connect()
    client.several = true
    const jobs = options.jobs ?? (server === undefined ? 1 : JOBS)
    const items = files.map((local) => ({ ...local, of: local.file }))
    const done = await runEach(items, (local) => annotated(context, local.of, () => work(local)), jobs)
    total?.end()
    if (dryRun) {
      const rows = [...done.many, ...removals.map(previewOfRemoval)]
      if (plan !== undefined && done.failures.length > 0) context.messages.note('no plan was written')
      if (plan === undefined || done.failures.length > 0) return { ...done, many: rows, view }
      await savePlan(context, plan, sending, files, done.many as Preview[], removals)
      return { many: rows, view }
    }
    if (done.failures.length > 0 && removals.length > 0)
      context.messages.note('nothing was moved to the trash, since an upload failed')
    const removed = done.failures.length > 0 ? [] : await removeAll(client, removals)
    if (done.many.length > 0) await context.noteLinks()
    return { many: [...done.many, ...removed], failures: done.failures, view, exit: exitOf(done.many) }
  },
})

/** Says how columns that are years become rows. */
function noteYears(context: Context, { cols = [] }: Partial<Made>, { plot, onConflict }: Options): void {
  const years = yearNames(cols.map(({ name }) => name))
  if (years.length === 0 || plot !== undefined || onConflict !== undefined) return
  context.messages.note(
    `columns are years; to have a row for each, add --unpivot ${years[0]}-${years.at(-1)} --into year,value`,
  )
}

/** The files with columns as rows: see `--unpivot`. Throws `usage`. */
async function asRows(context: Context, files: readonly LocalFile[], options: Options): Promise<LocalFile[]> {
  const { unpivot, into, plan } = options
  if (unpivot === undefined || into === undefined)
    throw new Problem('usage', '--unpivot and --into belong together', {
      hint: 'For example: --unpivot 2019-2023 --into year,value',
    })
  if (plan !== undefined || options.delete)
    throw new Problem('usage', '--unpivot cannot be used with --plan or --delete')
  const made: LocalFile[] = []
  for (const local of files)
    made.push({
      ...local,
      file: await unpivoted(context, local.file, { columns: unpivot, into }, { ...options, column: [] }),
    })
  return made
}

async function savePlan(
  context: Context,
  plan: string,
  sending: SendOptions,
  files: readonly LocalFile[],
  previews: readonly Preview[],
  removals: readonly Removal[],
): Promise<void> {
  const would = new Map(previews.map((one) => [one.file, one.would]))
  const uploads = files.map((local) => ({ ...local, would: would.get(local.file) ?? 'create' }))
  const trash = removals.map(({ file: { fid }, path }) => ({ fid, path }))
  await writePlan(context, plan, sending, uploads, trash)
  context.messages.note(`wrote ${plan}; nothing was changed. To do it: gridline apply ${plan}`)
}

/** Options that have no meaning for a draft: it is of no use to others, and replaces the whole grid. */
function refuseWithDraft({
  draft,
  onConflict,
  key,
  plot,
  public: isPublic,
  delete: isMirror,
}: Options): void {
  if (draft === undefined) return
  const other =
    onConflict !== undefined && onConflict !== 'replace'
      ? `--on-conflict ${onConflict}`
      : key !== undefined
        ? '--key'
        : plot !== undefined
          ? '--plot'
          : isPublic
            ? '--public'
            : isMirror
              ? '--delete'
              : undefined
  if (other !== undefined) throw new Problem('usage', `--draft and ${other} cannot be used together`)
}

/** A mirror has what the directory has: it replaces. */
function refuseWithDelete({ delete: isMirror, onConflict, key }: Options): void {
  if (!isMirror) return
  if (onConflict !== undefined && onConflict !== 'replace')
    throw new Problem('usage', `--delete and --on-conflict ${onConflict} cannot be used together`)
  if (key !== undefined) throw new Problem('usage', '--delete and --key cannot be used together')
}

/** A draft is stored also if it fails its checks: the exit code says so. */
function exitOf(made: readonly object[]): number {
  const isFailed = made.some((one) => (one as Partial<Made>).checks?.passed === false)
  return isFailed ? errorCodes.checks_failed.exit : 0
}

/** What `gridline open` shows of an upload. */
function openedBy({ filename, fid, draft, version }: Partial<Made>): string | undefined {
  return draft !== undefined && version === 0 ? `${fid}@${draft}` : filename
}

/** Moves grids to the trash. */
async function removeAll(client: Client, removals: readonly Removal[]): Promise<object[]> {
  const removed: object[] = []
  for (const { file, path } of removals)
    removed.push({
      ...(await client.call('files.trash', { fid: file.fid })),
      path,
      action: 'trashed',
      warnings: [],
    })
  return removed
}

function previewOfRemoval({ file: { fid, filetype }, path }: Removal): Preview {
  return {
    file: '',
    name: path,
    rows: null,
    columns: [],
    warnings: [],
    would: 'trash',
    target: { fid, filetype },
  }
}

/** The path of a grid; without the destination folder if that is given by its id. */
function pathOf({ folders }: LocalFile, folder: string | undefined, filename: string): string {
  const isPath = folder !== undefined && !/^-?\d+$/.test(folder) && !folder.includes(':')
  const inside = isPath ? folder.split('/').filter((name) => name !== '') : []
  return [...inside, ...folders, filename].join('/')
}

/** Files that are sent at once. */
const JOBS = 4
/** Files that a message names. */
const MAX_NAMED = 3

function someOf(files: readonly string[]): string {
  return files.slice(0, MAX_NAMED).join(', ') + (files.length > MAX_NAMED ? ' …' : '')
}

function totalOf(context: Context, files: readonly LocalFile[]): Progress {
  const sizes = files.map(({ file }) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return new Progress(context.messages, `${files.length} files`, total, files.length)
}

/** Records in the metadata of a grid what it was made from: only with --provenance. */
async function recordProvenance(context: Context, { fid }: Made, provenance: object): Promise<void> {
  const client = await context.client()
  const { metadata } = await client.call('files.get', { fid })
  await client.call('files.update', { fid, json: { metadata: { ...metadata, provenance } } })
}

/** Maximum size of a file whose chart is tried before it is sent, in bytes: reading it twice takes longer than it is worth. */
const MAX_TRIED_BYTES = 4 * 1024 * 1024

/**
 * Throws what the chart would be refused with, before anything is sent: a file with several tables, a column that does
 * not exist or holds no numbers, several rows for one bar. Of a long text, the beginning is read; the whole file is
 * checked once it is a grid.
 */
async function refuseChart(
  context: Context,
  local: LocalFile,
  type: ChartType | typeof AUTO,
  options: Options,
): Promise<void> {
  const { file } = local
  if (file === '-' || isAddress(file)) return
  const tables = await tablesOf(file, readingOptionsOf(options, file), context.environment).catch((error) => {
    // What is wrong with the file is said by the upload.
    if (error instanceof Problem) return undefined
    throw error
  })
  if (!tables) return
  if (tables.length > 1) {
    const names = tables.slice(0, 10).map(({ path }) => path.join('/'))
    throw new Problem('usage', `--plot: ${file} contains ${tables.length} tables: ${names.join(', ')}`, {
      hint: 'Choose a sheet with --sheet NAME, or upload it without --plot and use: gridline plot create --grid',
    })
  }
  // Appended rows need not have all columns of the grid.
  if (options.onConflict === 'append') return
  await checkChart(gridName(options.name ?? basename(file)), tables[0].ingested.columns, type, options)
  // Of a chart that exists, other options stay: what it shows is known with its grid.
  const { path, parent } = await destinationOf(await context.client(), options, local)
  const isLong = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_TRIED_BYTES
  if (isLong || (await lookupIfThere(await context.client(), path, parent))) return
  const read = await gridOfFile(context, file, options, {}, true).catch((error) => {
    if (error instanceof Problem) return undefined
    throw error
  })
  if (read)
    await chartFor(
      read.client,
      await read.client.call('grids.get', { fid: read.fid }),
      type,
      options,
      () => {},
    )
}

/**
 * Uploads a file. That its name is taken is said before the file is read; a sheet that does not exist is the better
 * answer then, since it would be the next one.
 */
async function sent(
  context: Context,
  sender: Sender,
  local: LocalFile,
  options: Options,
): ReturnType<Sender['send']> {
  try {
    return await sender.send(local)
  } catch (error) {
    const isTaken = error instanceof Problem && error.code === 'already_exists'
    if (isTaken && options.sheet !== undefined && local.file !== '-')
      await tablesOf(local.file, readingOptionsOf(options, local.file), context.environment)
    throw await withChecks(context, local.file, options, error)
  }
}

/** Errors that end an upload before its checks are run. */
const BEFORE_CHECKS: readonly unknown[] = ['bad_data', 'type_change']

/** An error with what the checks find as well: a job learns all that is wrong with a file at once. */
async function withChecks(
  context: Context,
  file: string,
  options: Options,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Problem) || !BEFORE_CHECKS.includes(error.code)) return error
  if (options.checks === undefined || file === '-') return error
  const document = await readChecksFile(options.checks)
  const report = await reportOfFile(context, file, document, options).catch(() => undefined)
  if (!report || report.passed) return error
  const { code, message, field, path, line, column, hint } = error
  const also = `${message}; it fails ${counted(report.errors, 'check')} as well`
  return new Problem(code, also, { field, path, line, column, hint, checks: report })
}

/**
 * The chart of an uploaded grid, next to it. If the name of the grid may be taken, so may that of the chart: it gets what
 * the options name, and keeps everything else.
 */
async function plotOf(
  context: Context,
  grid: Made,
  given: ChartType | typeof AUTO,
  options: Options,
): Promise<object> {
  if (grid.filetype !== 'grid')
    throw new Problem(
      'usage',
      `--plot: the file contains several tables; they are in the folder ${grid.filename}`,
      {
        hint: 'Make a chart of one of them with: gridline plot create --grid',
      },
    )
  const client = await context.client()
  const note = (text: string): void => context.messages.note(text)
  const before = await presentOptions(client, grid, given, options)
  const charted = async () => {
    const { type, figure } = await chartFor(client, grid, before.type, before.options, note)
    return createOrUpdateChart(context, grid, type, figure, options)
  }
  const plot = await charted().catch((error) => {
    if (!(error instanceof Problem)) throw error
    const { code, message, hint } = error
    const { fid, action = 'created' } = grid
    const command = ['gridline plot create --grid', fid, '--type', given, ...wordsOf(options)].join(' ')
    throw new Problem(code, `the grid is uploaded (${fid}, ${action}), but there is no chart: ${message}`, {
      hint: `${hint ? `${hint.replace(/[.?]?$/, (end) => end || '.')} ` : ''}To make the chart: ${command}`,
    })
  })
  if (process.stdout.isTTY && !context.messages.silent) await showChart(context, plot.fid)
  return {
    ...plot,
    grid_fid: grid.fid,
    grid_action: grid.action ?? 'created',
    row_count: grid.row_count,
    warnings: [...grid.warnings, ...plot.warnings],
  }
}

/** Shows a chart in the terminal. Without Chromium, there is only its link. */
async function showChart(context: Context, fid: string): Promise<void> {
  const client = await context.client()
  const response = await client.response('plots.content', { fid, query: { inline_data: true } })
  const { chartText } = await import('../output/chart.ts')
  const figure = JSON.parse(await response.text())
  const text = await chartText(figure, context.environment, process.stderr).catch(() => undefined)
  if (text !== undefined) context.messages.picture(text)
}

function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}

/** Imports from a URL, which the server fetches. Its operator must have enabled this. */
async function importFrom(
  context: Context,
  source_url: string,
  { name, folder, public: isPublic, onConflict }: Options,
): Promise<Made> {
  if (onConflict === 'replace' || onConflict === 'append')
    throw new Problem('usage', `--on-conflict ${onConflict} cannot be used with a URL`, {
      hint: `Download the file first: curl ${source_url} | gridline upload - --name NAME --on-conflict ${onConflict}`,
    })
  const client = await context.client()
  const place = await placeOf(client, folder)
  const json = {
    source_url,
    filename: name,
    world_readable: isPublic === true,
    parent: place.Parent,
    parent_path: place['Parent-Path'],
  }
  const { file: made, warnings } = await client.call('grids.create', { json })
  for (const warning of warnings) context.messages.warning(warning, source_url)
  return { ...(made as GridMeta), action: 'created', warnings }
}

interface Preview {
  file: string
  name: string
  /** null: of what goes. */
  rows: number | null
  columns: { name: string; type: string }[]
  warnings: string[]
  /** What the upload would do. */
  would: 'create' | 'rename' | 'replace' | 'append' | 'nothing' | 'fail' | 'trash' | 'draft'
  /** The existing file with that name, or null. */
  target: { fid: string; filetype: string } | null
}

const previewView: TableView = {
  id: 'name',
  columns: [
    { field: 'name', title: 'NAME' },
    { field: 'rows', title: 'ROWS', align: 'right' },
    {
      field: 'columns',
      title: 'COLUMNS',
      format: (columns: Preview['columns']) =>
        columns.map(({ name, type }) => `${name}:${typeName(type)}`).join(' '),
    },
    {
      field: 'target',
      title: 'TAKEN BY',
      format: (target: Preview['target']) =>
        target ? `${target.fid} (${filetypeName(target.filetype)})` : '',
    },
    { field: 'would', title: 'WOULD' },
  ],
}

/**
 * Returns what an upload would do: the server performs it and rolls it back. An archive or workbook with several tables would become a folder of grids: each is listed.
 */
async function preview(
  context: Context,
  { file, folders }: LocalFile,
  options: Options,
  sender: Sender,
): Promise<Preview[]> {
  if (isAddress(file))
    throw new Problem('usage', '--dry-run cannot be used with a URL', {
      hint: `Download the file first: curl ${file} | gridline upload - --dry-run`,
    })
  const input = await spooled(await openInput(file))
  const { ingestFile } = await import('../../ingest/index.ts')
  const fileName = sentName(options.name, file === '-' ? undefined : basename(file))
  const reading = {
    ...readingOptionsOf(options, input.name),
    fileName,
    limits: limitsFrom(context.environment),
  }
  const { tables, warnings } = await ingestFile(input.open(), reading, () => ({ slice() {} }))
  const all = [
    ...warnings,
    ...tables.flatMap(({ path, ingested }) =>
      ingested.warnings.map((text) => (path.length > 0 ? `${path.join('/')}: ${text}` : text)),
    ),
  ]
  const name = gridName(fileName)
  if (options.plot !== undefined && tables.length === 1) {
    const { columns } = tables[0].ingested
    await checkChart(name, columns, options.plot, options)
  }
  const client = await context.client()
  const { path, parent } = await destinationOf(client, options, { file, folders })
  const target = await lookupIfThere(client, path, parent)
  const isSame = target !== undefined && (await sender.isUnchanged({ file, folders }))
  const isNameless = file === '-' && options.name === undefined
  // A new grid on this machine is as it is read here. Anything else depends on what is stored, and on quotas.
  const { server } = await context.connect()
  const { draft, key, checks } = options
  const isKnown =
    server === undefined && !target && draft === undefined && key === undefined && checks === undefined
  const isSettled = isSame || isNameless || isKnown
  const tried = isSettled ? undefined : await sender.try({ file, folders }, input)
  const doubts = all.filter((warning) => !isNotice(warning))
  if (!tried && options.strict && doubts.length > 0)
    throw new Problem('bad_data', `${input.name}: ${doubts.slice(0, 10).join('; ')}`, {
      hint: 'Warnings are errors with --strict.',
    })
  for (const warning of tried?.warnings ?? all) context.messages.warning(warning, input.name)
  const isNothing = isSame || tried?.action === 'unchanged'
  const rule = ruleOf(options)
  const would = isNothing ? 'nothing' : options.draft !== undefined ? 'draft' : target ? rule : 'create'
  return tables.map((table) => ({
    file: input.name,
    name: [...folders, name, ...table.path].join('/'),
    would,
    rows: table.ingested.rows,
    columns: table.ingested.columns.map(({ name: column, type }) => ({ name: column, type })),
    warnings: all,
    target: target ? { fid: formatFid(parseFid(target.fid)!), filetype: target.filetype } : null,
  }))
}
