// Uploads data files: finds them, sends them, and makes their charts.
import { statSync } from 'node:fs'
import { filterYearNames } from '../../charts/spec/column-names.ts'
import type { Client } from '../../client/index.ts'
import { errorCodes, Problem } from '../../contract/errors.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { annotateErrors, detectProvenance, formatProvenance } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { readChecksFile, readChecksHeaders } from '../files/checks-file.ts'
import { checkLocalFile } from '../files/local-checks.ts'
import { readTables } from '../files/local-columns.ts'
import { parsePercent, toParseOptions, toReadingHeaders } from '../files/parse-options.ts'
import { Progress } from '../output/progress.ts'
import { chartView, type TableView } from '../output/view.ts'
import { resolveDestinationHeaders, toFolderPath } from '../upload/destination.ts'
import { isAddress, type LocalFile } from '../upload/expand.ts'
import type { DefinitionMaker } from '../upload/make-definitions.ts'
import { listRemovals, type Removal } from '../upload/mirror.ts'
import { type UploadOptions, uploadOptions, usualOptions } from '../upload/options.ts'
import {
  type Preview,
  preview,
  previewDefinition,
  previewOfRemoval,
  previewView,
  savePlan,
} from '../upload/preview.ts'
import type { DefinitionFile } from '../upload/read-definitions.ts'
import { readRequest, type UploadRequest } from '../upload/request.ts'
import {
  toUploadRow,
  UPLOAD_FIELDS,
  type UploadedGrid,
  uploadedView,
  warnOfUnknownColumns,
} from '../upload/result.ts'
import { Sender, type SendOptions } from '../upload/send.ts'

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
  output: arrayOf(['Grid', 'Folder', 'Plot'], {
    ...UPLOAD_FIELDS,
    action: 'created, replaced, appended, updated (rows by key), unchanged or trashed (--delete)',
    grid_fid: 'with --plot: the grid of the chart',
    grid_action: 'with --plot: what was done with the grid; action is then that of the chart',
  }),
  arguments: '<file...>',
  usage: '<file|directory|pattern...>',
  completion: ['local'],
  options: uploadOptions,
  shortHelp: usualOptions,
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  examples: [
    'gridline upload sales.csv',
    'gridline upload 2024/*.csv.gz --folder Reports/2024 --public',
    'gridline upload weather --on-conflict replace  # data, *.sql, *.chart.yml and board.yml of a directory',
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
  async run(context, words, given) {
    const request = await readRequest(context, words, given)
    const { options, isBatch, isDry } = request
    const upload = await prepareUpload(context, words, request)
    const view = isDry ? previewView : options.plot === undefined ? uploadedView : chartedView
    return { ...(await (isBatch ? uploadAll(context, upload) : uploadOne(context, upload))), view }
  },
})

/** The rows of a result, without their view. */
type Rows = Omit<Extract<CommandResult, { items: object[] }>, 'view'>

/** An upload whose options are read: what each file needs. */
interface Upload extends UploadRequest {
  /** Undefined without definition files. */
  maker: DefinitionMaker | undefined
  sending: SendOptions
  sender: Sender
  /** With --delete: grids without a file. */
  removals: readonly Removal[]
  /** With --provenance: what the metadata of grids record. */
  provenance: ReturnType<typeof detectProvenance> | undefined
  /** The progress of all files. */
  total: Progress | undefined
}

/**
 * Creates what all files of an upload share: options, sender, progress and, with --delete, the grids to
 * remove. Throws `row_loss` if too many grids would be removed.
 */
async function prepareUpload(
  context: Context,
  words: readonly string[],
  request: UploadRequest,
): Promise<Upload> {
  const { files, definitions, expanded, isBatch, isDry } = request
  // New drafts are in a folder of the same path.
  const folder =
    request.options.draft === undefined
      ? request.options.folder
      : await toFolderPath(await context.client(), request.options.folder)
  // Of several files, each has some of the columns.
  const options = { ...request.options, folder, areTypesOptional: isBatch }
  const provenance = options.provenance ? detectProvenance(context.environment) : undefined
  const { unpivot, into } = options
  const reading = {
    ...toReadingHeaders(options),
    ...(unpivot !== undefined && { Unpivot: encodeURIComponent(unpivot) }),
    ...(into !== undefined && { Into: encodeURIComponent(into) }),
    ...(await readChecksHeaders(options.checks)),
  }
  // What a plan would lose is seen in it.
  const confirmed = options.plan !== undefined || options.confirmed === true
  const sending: SendOptions = {
    ...options,
    yes: isDry ? confirmed : options.yes,
    confirmed: options.dryRun ? options.confirmed : options.yes,
    maxShrink: options.maxShrink === undefined ? undefined : parsePercent('--max-shrink', options.maxShrink),
    reading,
    needsDetails:
      options.plot !== undefined ||
      options.column !== undefined ||
      context.environment.GITHUB_STEP_SUMMARY !== undefined,
    provenance: provenance && formatProvenance(provenance),
  }
  const total = isBatch && !isDry ? totalOf(context, files) : undefined
  const removals = options.delete
    ? await listRemovals(await context.client(), words, expanded, { ...options, isDry })
    : []
  const maker =
    definitions.length > 0
      ? await createMaker(context, { ...options, yes: sending.confirmed }, removals)
      : undefined
  const sender = new Sender(context, sending, expanded.isMultiple || options.onConflict === 'replace', total)
  return { ...request, options, maker, sending, sender, removals, provenance, total }
}

/** Creates what makes definitions. Loaded only if there are some. */
async function createMaker(
  context: Context,
  options: UploadOptions,
  removals: readonly Removal[],
): Promise<DefinitionMaker> {
  const { DefinitionMaker } = await import('../upload/make-definitions.ts')
  const { onConflict } = options
  return new DefinitionMaker(context, {
    ...options,
    isReplacing: onConflict === 'replace' || onConflict === 'append',
    removed: new Set(removals.map(({ file }) => file.fid)),
  })
}

async function uploadOne(context: Context, upload: Upload): Promise<Rows> {
  const { options, definitions, isDry, sending } = upload
  const files = [...upload.files, ...definitions]
  const [local] = files
  const many = await annotateErrors(context, local.file, () =>
    definitions.length > 0
      ? makeDefinition(context, upload, definitions[0])
      : uploadFile(context, upload, local),
  )
  const plan = { files, previews: many as Preview[], removals: [] }
  if (options.plan !== undefined) await savePlan(context, options.plan, sending, plan)
  if (!isDry) await context.noteLinksNeedServer(openedBy(many[0] as Partial<UploadedGrid>))
  return { items: many, isDetail: many.length === 1, exit: exitOf(many) }
}

async function uploadAll(context: Context, upload: Upload): Promise<Rows> {
  const { options, files, definitions, broken, isDry, sending, removals, total } = upload
  const { client, server } = await context.connect()
  client.isMultiple = true
  const jobs = options.jobs ?? (server === undefined ? 1 : JOBS)
  const items = files.map((local) => ({ ...local, subject: local.file }))
  const data = await runEach(
    items,
    (local) => annotateErrors(context, local.subject, () => uploadFile(context, upload, local)),
    jobs,
  )
  total?.end()
  if (data.failures.length === 0) warnOfUnknownColumns(context, data.items as Partial<Preview>[], options)
  const failed = new Set(data.failures.map(({ subject }) => subject))
  for (const local of files) if (failed.has(local.file)) upload.maker?.fail(local)
  const made = await makeDefinitions(context, upload)
  const many = [...data.items, ...made.items]
  const failures = [...broken, ...data.failures, ...made.failures]
  const isFailed = failures.length > 0
  if (isDry) {
    const rows = [...many, ...removals.map(previewOfRemoval)]
    if (options.plan !== undefined && isFailed) context.messages.note('no plan was written')
    if (options.plan === undefined || isFailed) return { items: rows, failures }
    const planned = [...files, ...definitions]
    await savePlan(context, options.plan, sending, { files: planned, previews: many as Preview[], removals })
    return { items: rows }
  }
  if (isFailed && removals.length > 0)
    context.messages.note('nothing was moved to the trash, since an upload failed')
  const removed = isFailed ? [] : await removeAll(client, removals)
  if (many.length > 0) await context.noteLinksNeedServer()
  return { items: [...many, ...removed], failures, exit: exitOf(many) }
}

/** Makes the definitions of an upload, one after the other, since one can name what another makes. */
async function makeDefinitions(context: Context, upload: Upload) {
  const { maker, definitions } = upload
  if (!maker) return { items: [], failures: [] }
  const { makeAll } = await import('../upload/definition-order.ts')
  return makeAll(maker, definitions, (local) =>
    annotateErrors(context, local.file, () => makeDefinition(context, upload, local)),
  )
}

/** Makes a derived grid, a chart or a board; in a dry run, says what would become of it. */
async function makeDefinition(context: Context, upload: Upload, local: DefinitionFile): Promise<object[]> {
  const { maker, isDry, provenance, options } = upload
  if (isDry) return [await previewDefinition(maker!, local)]
  const made = await maker!.make(local)
  if (provenance && made.action !== 'unchanged') await recordProvenance(context, made, provenance)
  return [{ ...made, file: local.file, path: pathOf(local, options.folder, made.filename) }]
}

/** Uploads one file, and makes its chart; in a dry run, says what would become of it. */
async function uploadFile(context: Context, upload: Upload, local: LocalFile): Promise<object[]> {
  const { options, sender, provenance, isDry } = upload
  const { plot } = options
  if (isDry) {
    const previews = await preview(context, local, { ...options, dryRun: true }, sender)
    const [first] = previews
    if (previews.length === 1 && first.would !== 'nothing') {
      const { columns, target } = first
      upload.maker?.expect(local, { columns, isNew: target === null })
    }
    return previews
  }
  // Charts are loaded only if they are asked for.
  const chart = plot === undefined ? undefined : { type: plot, ...(await import('../upload/chart.ts')) }
  if (chart) await chart.refuseChart(context, local, chart.type, options)
  const made = isAddress(local.file)
    ? await importFrom(context, local.file, options)
    : toUploadRow(context, local.file, await sendFile(context, sender, local, options))
  upload.maker?.remember(local, made)
  if (provenance && made.action !== 'unchanged') await recordProvenance(context, made, provenance)
  const result = chart ? await chart.createUploadChart(context, made, chart.type, options) : made
  if (provenance && chart) await recordProvenance(context, result as UploadedGrid, provenance)
  noteYears(context, result as Partial<UploadedGrid>, options)
  const { file } = local
  return [{ ...result, file, path: pathOf(local, options.folder, (result as UploadedGrid).filename) }]
}

/** Says how columns that are years become rows. */
function noteYears(
  context: Context,
  { cols = [] }: Partial<UploadedGrid>,
  { plot, onConflict }: UploadOptions,
): void {
  const years = filterYearNames(cols.map(({ name }) => name))
  if (years.length === 0 || plot !== undefined || onConflict !== undefined) return
  context.messages.note(
    `columns are years; to have a row for each, add --unpivot ${years[0]}-${years.at(-1)} --into year,value`,
  )
}

/** A draft is stored also if it fails its checks: the exit code says so. */
function exitOf(made: readonly object[]): number {
  const isFailed = made.some((one) => (one as Partial<UploadedGrid>).checks?.passed === false)
  return isFailed ? errorCodes.checks_failed.exit : 0
}

/** Returns the file or draft that `gridline open` shows after an upload. */
function openedBy({ filename, fid, draft, version }: Partial<UploadedGrid>): string | undefined {
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

/** The path of a grid; without the destination folder if that is given by its id. */
function pathOf({ folders }: LocalFile, folder: string | undefined, filename: string): string {
  const isPath = folder !== undefined && !/^-?\d+$/.test(folder) && !folder.includes(':')
  const inside = isPath ? folder.split('/').filter((name) => name !== '') : []
  return [...inside, ...folders, filename].join('/')
}

/** Files that are sent at once. */
const JOBS = 4
function totalOf(context: Context, files: readonly LocalFile[]): Progress {
  const sizes = files.map(({ file }) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return new Progress(context.messages, `${files.length} files`, total, files.length)
}

/** Records in the metadata of a grid what it was made from: only with --provenance. */
async function recordProvenance(
  context: Context,
  { fid }: { fid: string },
  provenance: object,
): Promise<void> {
  const client = await context.client()
  const { metadata } = await client.call('files.get', { fid })
  await client.call('files.update', { fid, json: { metadata: { ...metadata, provenance } } })
}

/**
 * Uploads a file. That its name is taken is said before the file is read; a sheet that does not exist is the better
 * answer then, since it would be the next one.
 */
async function sendFile(
  context: Context,
  sender: Sender,
  local: LocalFile,
  options: UploadOptions,
): ReturnType<Sender['send']> {
  try {
    return await sender.send(local)
  } catch (error) {
    const isTaken = error instanceof Problem && error.code === 'already_exists'
    if (isTaken && options.sheet !== undefined && local.file !== '-')
      await readTables(local.file, toParseOptions(options, local.file), context.environment)
    throw await withChecks(context, local.file, options, error)
  }
}

/** Errors that end an upload before its checks are run. */
const BEFORE_CHECKS: readonly unknown[] = ['bad_data', 'type_change']

/** An error with what the checks find as well: a job learns all that is wrong with a file at once. */
async function withChecks(
  context: Context,
  file: string,
  options: UploadOptions,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Problem) || !BEFORE_CHECKS.includes(error.code)) return error
  if (options.checks === undefined || file === '-') return error
  const document = await readChecksFile(options.checks)
  const report = await checkLocalFile(context, file, document, options).catch(() => undefined)
  if (!report || report.passed) return error
  const { code, message, field, path, line, column, hint } = error
  const also = `${message}; it fails ${formatCount(report.errors, 'check')} as well`
  return new Problem(code, also, { field, path, line, column, hint, checks: report })
}

/** Imports from a URL, which the server fetches. Its operator must have enabled this. */
async function importFrom(
  context: Context,
  source_url: string,
  { name, folder, public: isPublic, onConflict }: UploadOptions,
): Promise<UploadedGrid> {
  if (onConflict === 'replace' || onConflict === 'append')
    throw new Problem('usage', `--on-conflict ${onConflict} cannot be used with a URL`, {
      hint: `Download the file first: curl ${source_url} | gridline upload - --name NAME --on-conflict ${onConflict}`,
    })
  const client = await context.client()
  const place = await resolveDestinationHeaders(client, folder)
  const json = {
    source_url,
    filename: name,
    world_readable: isPublic === true,
    parent: place.Parent,
    parent_path: place['Parent-Path'],
  }
  const { file: made, warnings } = await client.call('grids.create', { json })
  context.messages.warnAll(warnings, source_url)
  return { ...(made as GridMeta), action: 'created', warnings }
}
