// `gridline diff`: compares grids, plots, folders, versions and data files.
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import { resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { FileMeta, GridDiff, GridMeta } from '../../contract/resources/index.ts'
import { type AttributeChange, listChangedAttributes } from '../charts/changed-attributes.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionValues } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { type DiffInput, moveToOneService } from '../files/diff-inputs.ts'
import { inputName } from '../files/input.ts'
import { isLocalDataFile, isLocalDirectory, loadLocalFile } from '../files/local-data.ts'
import { assertNoReadingOptions, localOptions } from '../files/parse-options.ts'
import { writeNamedFile } from '../files/write-file.ts'
import { hasColor } from '../output/color.ts'
import { DIFF_FORMATS, describeMatching, formatAttributes, formatDiff } from '../output/diff.ts'
import { pixelsOf, pngOf, sideBySide } from '../output/png.ts'
import type { TableView } from '../output/view.ts'
import { diffFolders } from './diff.folders.ts'

/** Exit code of --exit-code for differences. */
const DIFFERENCE_EXIT = 10
/** Default number of listed rows, for tables. */
const DEFAULT_LISTED_ROWS = 100
/** Default number of listed rows for programs, and maximum of --limit. */
const MAX_LISTED_ROWS = 10_000

const options = [
  {
    flags: '--key <columns>',
    description: 'match rows by these key columns, comma-separated (default: by order)',
    completion: 'column',
  },
  {
    flags: '--columns <names>',
    description: 'compare only these columns, comma-separated (repeatable)',
    repeatable: true,
  },
  {
    flags: '--ignore <names>',
    description: 'do not compare these columns, comma-separated (repeatable)',
    repeatable: true,
    completion: 'column',
  },
  { flags: '--tolerance <number>', description: 'treat numbers as equal up to this difference' },
  { flags: '--stat', description: 'print only totals, and the names of changed columns' },
  {
    flags: '--limit <rows>',
    integer: { max: MAX_LISTED_ROWS },
    description: `maximum number of rows to list (default: ${DEFAULT_LISTED_ROWS}; csv and ndjson: ${MAX_LISTED_ROWS})`,
  },
  {
    flags: '--format <format>',
    description: 'table (default), csv (one line per cell), ndjson (one object per row), md or html',
    choices: DIFF_FORMATS,
  },
  { flags: '--exit-code', description: `exit with ${DIFFERENCE_EXIT} if the files differ` },
  { flags: '--image <file>', description: 'for plots: save a PNG with both, side by side' },
  ...localOptions,
] as const satisfies readonly Option[]

type DiffOptions = OptionValues<typeof options>

export const command = defineCommand({
  output: objectOf('Grid diff', {
    attributes: 'For plots: attributes that differ, with both values',
    path: 'For folders: path of a grid that differs',
    change: 'For folders: added, removed or changed',
    diff: 'For folders: differences of a changed grid',
  }),
  arguments: '<before> [after]',
  usage: '<before> <after> | <file>',
  options,
  completion: [
    ['grid', 'plot', 'local'],
    ['grid', 'plot', 'local'],
  ],
  examples: [
    'gridline diff sales',
    'gridline diff sales@3 sales@5 --key id',
    'gridline diff sales sales.csv --key id --stat',
    'gridline diff old.parquet new.csv --exit-code',
    'git show main:sales.csv | gridline diff - sales.csv --key id',
    'gridline diff ./data alice:12 --stat              # a directory, and a folder',
    'gridline diff chart@1 chart --image before-after.png',
  ],
  async run(context, [first, second], options) {
    if (first === '-' && second === '-')
      throw new Problem('usage', 'only one of the files can be standard input')
    const sides =
      second === undefined
        ? await resolveLastChange(context, first)
        : await resolveSides(context, [first, second], options)
    if (!sides.some(({ isLocal }) => isLocal)) assertNoReadingOptions(options)
    assertNoContradiction(options)
    const types = await Promise.all(sides.map(sideType))
    if (types.every((type) => type === 'folder'))
      return diffFolders(context, sides, options, (pair) => loadGridDiff(context, pair, options))
    if (types.every((type) => type === 'plot')) return diffPlots(context, sides, options)
    const at = types.findIndex((type) => type !== 'grid')
    if (at >= 0)
      throw new Problem('usage', `cannot compare a ${types[0]} with a ${types[1]}`, {
        hint: 'Compare two grids, two plots or two folders.',
      })
    if (options.image !== undefined) throw new Problem('usage', '--image is for plots')
    return diffGrids(context, await moveToOneService(context, sides), options)
  },
})

/** Throws `usage` for contradicting options. */
function assertNoContradiction({ columns, ignore, stat, format, image }: DiffOptions): void {
  const names = (option: readonly string[] | undefined): string[] =>
    parseColumnNames(option ?? []).filter(Boolean)
  const ignored = new Set(names(ignore))
  if (columns && names(columns).every((name) => ignored.has(name)))
    throw new Problem('usage', '--ignore excludes all of --columns: nothing to compare')
  if (stat && (format === 'csv' || format === 'ndjson'))
    throw new Problem('usage', `--stat and --format ${format} cannot be used together`, {
      hint: 'For programs, use --json FIELDS.',
    })
  if (image !== undefined && !/\.png$/i.test(image))
    throw new Problem('usage', `--image ${image}: expected a name that ends with .png`, {
      hint: 'Images of diffs are PNG files.',
    })
}

/** Returns the version before and the given version of a file. For a draft: current version and draft. */
async function resolveLastChange(context: Context, file: string): Promise<readonly [DiffInput, DiffInput]> {
  const client = await context.clientFor(file)
  const { fid, version } = await resolveVersion(client, file)
  const { version: latest, draft }: FileMeta & Partial<Pick<GridMeta, 'version' | 'draft'>> =
    await client.call('files.get', { fid, version })
  if (draft !== undefined) {
    const name = file.slice(0, file.lastIndexOf('@'))
    return [
      { name, client, fid, version: undefined, isLocal: false },
      { name: file, client, fid, version, isLocal: false },
    ]
  }
  if (latest === undefined)
    throw new Problem('usage', `${file} has no versions: only grids and plots have versions`)
  const { versions } = await client.call('versions.list', {
    fid,
    query: { before: latest, page_size: 1 },
  })
  if (versions.length === 0)
    throw new Problem('not_found', `${file} has no version before version ${latest}`, {
      hint: 'Name two files to compare: gridline diff BEFORE AFTER',
    })
  const name = version === undefined ? file : file.slice(0, file.lastIndexOf('@'))
  const side = (number: number): DiffInput => ({
    name: `${name}@${number}`,
    client,
    fid,
    version: String(number),
    isLocal: false,
  })
  return [side(versions[0].version), side(latest)]
}

/** Returns both sides. A word is a local directory if written as a path, or if both words are directories. */
async function resolveSides(
  context: Context,
  words: readonly [string, string],
  options: DiffOptions,
): Promise<readonly [DiffInput, DiffInput]> {
  const isPath = (word: string): boolean => /^\.{0,2}[/\\]|[/\\]$|^\.\.?$/.test(word)
  const areBoth = words.every(isLocalDirectory)
  const side = async (word: string): Promise<DiffInput> => {
    if (!isLocalDirectory(word) || !(areBoth || isPath(word))) return resolveSide(context, word, options)
    const client = await context.temporaryClient()
    return { name: word, client, fid: '', version: undefined, isLocal: true, filetype: 'fold' }
  }
  return [await side(words[0]), await side(words[1])]
}

/** Resolves a word to a side: a local data file, or a stored file. */
async function resolveSide(context: Context, word: string, reading: DiffOptions): Promise<DiffInput> {
  if (await isLocalDataFile(word)) {
    const { client, uploaded } = await loadLocalFile(context, word, reading)
    const { fid, filetype } = uploaded.file as { fid: string; filetype: 'grid' | 'fold' }
    const name = basename(inputName(word))
    return { name, client, fid, version: undefined, isLocal: true, filetype }
  }
  const client = await context.clientFor(word)
  return { name: word, client, ...(await resolveVersion(client, word)), isLocal: false }
}

/** Returns `grid`, `plot` or `folder`. */
async function sideType({ client, fid, filetype: knownType }: DiffInput): Promise<string> {
  if (knownType !== undefined) return knownType === 'fold' ? 'folder' : 'grid'
  const { filetype } = await client.call('files.get', { fid })
  return filetype === 'fold' ? 'folder' : filetype
}

async function diffGrids(
  context: Context,
  sides: readonly [DiffInput, DiffInput],
  options: DiffOptions,
): Promise<CommandResult> {
  const [before, after] = sides
  const diff = await loadGridDiff(context, sides, options)
  return printDiff(context, diff, { before: before.name, after: after.name }, options)
}

/** Loads the differences of two grids, with names of local files. */
async function loadGridDiff(
  context: Context,
  [before, after]: readonly [DiffInput, DiffInput],
  options: DiffOptions,
): Promise<GridDiff> {
  const { client } = after
  const [oldNames, newNames] = await Promise.all([before, after].map(loadColumnNames))
  const available = [...oldNames, ...newNames]
  const areShared = (key: readonly string[]): boolean =>
    key.every((name) => oldNames.includes(name) && newNames.includes(name))
  const keys = [before, after].flatMap(({ copyOf }) => (copyOf?.primary_key ? [copyOf.primary_key] : []))
  const names = (option: string | readonly string[] | undefined): string[] | undefined =>
    option === undefined ? undefined : parseColumnNames(option, available).filter((name) => name !== '')
  const { format = 'table', stat, limit } = options
  const isTable = format === 'table' || format === 'md'
  const hasContext = (isTable || format === 'html') && !isJsonOutput(context)
  const diff = await client
    .call('grids.diff', {
      fid: after.fid,
      version: after.version,
      query: {
        base: before.fid,
        base_version: before.version ?? (before.fid === after.fid ? '-0' : undefined),
        key: names(options.key) ?? keys.find(areShared),
        columns: names(options.columns),
        ignore: names(options.ignore),
        tolerance: parseTolerance(options.tolerance),
        context: hasContext ? true : undefined,
        limit: stat ? 0 : (limit ?? (isTable ? DEFAULT_LISTED_ROWS : MAX_LISTED_ROWS)),
      },
    })
    .catch((error) => {
      throw error instanceof Problem ? withLocalNames(error, [before, after]) : error
    })
  diff.before = { ...diff.before, ...sideInfo(before) }
  diff.after = { ...diff.after, ...sideInfo(after) }
  return diff
}

/** Returns id and name to print. Local files have no id. Copies show the original grid. */
function sideInfo({ isLocal, name, copyOf }: DiffInput): Partial<GridDiff['before']> {
  if (isLocal) return { fid: '', filename: name }
  return copyOf ? { fid: copyOf.fid, filename: copyOf.filename, version: copyOf.version } : {}
}

/** Replaces `version 1 of 'sales'` in a message by the name of the local file. */
function withLocalNames(problem: Problem, sides: readonly DiffInput[]): Problem {
  let { message } = problem
  for (const { name, isLocal } of sides)
    if (isLocal) message = message.replace(`version 1 of '${gridNameOf(name)}'`, name)
  return new Problem(problem.code, message, problem)
}

/** Loads the column names of a grid. */
async function loadColumnNames({ client, fid, version }: DiffInput): Promise<string[]> {
  const { cols } = await client.call('grids.get', { fid, version })
  return cols.map(({ name }) => name)
}

/** Parses --tolerance. Throws `usage`. */
function parseTolerance(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const tolerance = Number(text)
  if (text.trim() === '' || !(tolerance >= 0) || !Number.isFinite(tolerance))
    throw new Problem('usage', `--tolerance ${text}: must be a number, 0 or greater`)
  return tolerance
}

/** Formats the differences of two grids as the result of the command. */
function printDiff(
  context: Context,
  diff: GridDiff,
  names: { before: string; after: string },
  { format = 'table', stat, exitCode }: DiffOptions,
): CommandResult {
  const exit = exitCode && !diff.is_same ? DIFFERENCE_EXIT : 0
  if (isJsonOutput(context)) return { item: diff, view: EMPTY_VIEW, exit }
  if (diff.key.length === 0 && !diff.is_same && (format === 'csv' || format === 'ndjson'))
    context.messages.note(describeMatching(diff))
  if (!diff.is_complete && !stat && format !== 'table' && format !== 'md')
    context.messages.note(`only ${diff.rows.length} rows are listed (--limit)`)
  const { isTTY, columns = 80 } = process.stdout
  const text = formatDiff(diff, format, {
    names,
    isStat: stat === true,
    color: hasColor(process.stdout, context.environment),
    width: isTTY ? columns : Number.POSITIVE_INFINITY,
  })
  return { text, exit }
}

/** View of results that are only printed as JSON. */
const EMPTY_VIEW: TableView = { columns: [] }

/** Returns whether the output is JSON. */
function isJsonOutput({ flags }: Context): boolean {
  return flags.json !== undefined || flags.jq !== undefined
}

/** Compares two plots: attributes of their figures, and optionally images. */
async function diffPlots(
  context: Context,
  [before, after]: readonly [DiffInput, DiffInput],
  { exitCode, image, stat, format }: DiffOptions,
): Promise<CommandResult> {
  const [oldFigure, newFigure] = await Promise.all([before, after].map(loadFigure))
  const attributes = listChangedAttributes(oldFigure, newFigure)
  if (image !== undefined) {
    const [left, right] = await Promise.all([before, after].map(loadImage))
    await writeNamedFile(image, pngOf(sideBySide(pixelsOf(left), pixelsOf(right))))
    context.messages.aside(`Saved ${image}`)
  }
  const exit = exitCode && attributes.length > 0 ? DIFFERENCE_EXIT : 0
  if (isJsonOutput(context)) {
    const summarize = ({ fid, name }: DiffInput) => ({ fid, name })
    const result = {
      before: summarize(before),
      after: summarize(after),
      is_same: attributes.length === 0,
      attributes,
    }
    return { item: result, view: EMPTY_VIEW, exit }
  }
  if (attributes.length === 0 || stat) {
    const count = attributes.length
    const summary =
      count === 0 ? 'no differences' : `${count} ${count === 1 ? 'attribute differs' : 'attributes differ'}`
    if (count === 0 && image === undefined)
      context.messages.note('only the figures were compared, not their data; to compare images, use --image')
    return { text: `${before.name} → ${after.name}: ${summary}\n`, exit }
  }
  if (format !== undefined && format !== 'table')
    return { text: formatAttributes(attributes, format, { before: before.name, after: after.name }), exit }
  return { items: attributes, view: attributesView, exit }
}

const attributesView: TableView = {
  id: 'attribute',
  columns: [
    { field: 'attribute', title: 'ATTRIBUTE' },
    {
      field: 'before',
      title: 'BEFORE',
      format: (_: unknown, { before }: AttributeChange) => truncateValue(before),
    },
    {
      field: 'after',
      title: 'AFTER',
      format: (_: unknown, { after }: AttributeChange) => truncateValue(after),
    },
  ],
}

/** Formats a value in at most 60 characters. */
function truncateValue(value: unknown): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

async function loadFigure({ client, fid, version }: DiffInput): Promise<unknown> {
  const response = await client.response('plots.content', { fid, version })
  return JSON.parse(await response.text())
}

async function loadImage({ client, fid, version }: DiffInput): Promise<Uint8Array> {
  const response = await client.response('files.image', { fid, version, query: { format: 'png' } })
  return buffer(response.bytes())
}
