// `gridline diff`: compares grids, plots, folders, versions and data files.
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { columnNames } from '../../charts/spec/column-names.ts'
import { resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridName } from '../../contract/formats.ts'
import type { GridDiff } from '../../contract/resources/index.ts'
import { type AttributeChange, changedAttributes } from '../charts/differences.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionsOf } from '../core/define.ts'
import { object } from '../core/prints.ts'
import { nameOfInput } from '../files/input.ts'
import { isDataFileHere, isDirectoryHere, readHere } from '../files/local-data.ts'
import { localOptions, refuseReadingOptions } from '../files/parse-options.ts'
import { onOneService, type Side } from '../files/sides.ts'
import { hasColor } from '../output/color.ts'
import { attributesText, diffFormats, diffText, howCompared } from '../output/diff.ts'
import { pixelsOf, pngOf, sideBySide } from '../output/png.ts'
import type { TableView } from '../output/view.ts'
import { diffOfFolders } from './diff.folders.ts'

/** Exit code of --exit-code for differences. */
const DIFFERS = 10
/** Default number of listed rows, for tables. */
const LISTED = 100
/** Default number of listed rows for programs, and maximum of --limit. */
const MAX_LISTED = 10_000

const options = [
  {
    flags: '--key <columns>',
    description: 'match rows by these key columns, comma-separated (default: by order)',
    completes: 'column',
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
    completes: 'column',
  },
  { flags: '--tolerance <number>', description: 'treat numbers as equal up to this difference' },
  { flags: '--stat', description: 'print only totals, and the names of changed columns' },
  {
    flags: '--limit <rows>',
    integer: { max: MAX_LISTED },
    description: `maximum number of rows to list (default: ${LISTED}; csv and ndjson: ${MAX_LISTED})`,
  },
  {
    flags: '--format <format>',
    description: 'table (default), csv (one line per cell), ndjson (one object per row), md or html',
    choices: diffFormats,
  },
  { flags: '--exit-code', description: `exit with ${DIFFERS} if the files differ` },
  { flags: '--image <file>', description: 'for plots: save a PNG with both, side by side' },
  ...localOptions,
] as const satisfies readonly Option[]

type Options = OptionsOf<typeof options>

export const command = defineCommand({
  prints: object('Grid diff', {
    attributes: 'For plots: attributes that differ, with both values',
    path: 'For folders: path of a grid that differs',
    change: 'For folders: added, removed or changed',
    diff: 'For folders: differences of a changed grid',
  }),
  arguments: '<before> [after]',
  usage: '<before> <after> | <file>',
  options,
  completes: [
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
        ? await lastChange(context, first)
        : await sidesOf(context, [first, second], options)
    if (!sides.some(({ isLocal }) => isLocal)) refuseReadingOptions(options)
    refuseSenseless(options)
    const types = await Promise.all(sides.map(typeOf))
    if (types.every((type) => type === 'folder'))
      return diffOfFolders(context, sides, options, (pair) => diffOf(context, pair, options))
    if (types.every((type) => type === 'plot')) return diffOfPlots(context, sides, options)
    const at = types.findIndex((type) => type !== 'grid')
    if (at >= 0)
      throw new Problem('usage', `cannot compare a ${types[0]} with a ${types[1]}`, {
        hint: 'Compare two grids, two plots or two folders.',
      })
    if (options.image !== undefined) throw new Problem('usage', '--image is for plots')
    return diffOfGrids(context, await onOneService(context, sides), options)
  },
})

/** Throws `usage` for contradicting options. */
function refuseSenseless({ columns, ignore, stat, format, image }: Options): void {
  const names = (option: readonly string[] | undefined): string[] => columnNames(option ?? []).filter(Boolean)
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
async function lastChange(context: Context, file: string): Promise<readonly [Side, Side]> {
  const client = await context.clientFor(file)
  const { fid, version } = await resolveVersion(client, file)
  const { version: latest, draft } = (await client.call('files.get', { fid, version })) as {
    version?: number
    draft?: string
  }
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
  const side = (number: number): Side => ({
    name: `${name}@${number}`,
    client,
    fid,
    version: String(number),
    isLocal: false,
  })
  return [side(versions[0].version), side(latest)]
}

/** Returns both sides. A word is a local directory if written as a path, or if both words are directories. */
async function sidesOf(
  context: Context,
  words: readonly [string, string],
  options: Options,
): Promise<readonly [Side, Side]> {
  const isPath = (word: string): boolean => /^\.{0,2}[/\\]|[/\\]$|^\.\.?$/.test(word)
  const areBoth = words.every(isDirectoryHere)
  const side = async (word: string): Promise<Side> => {
    if (!isDirectoryHere(word) || !(areBoth || isPath(word))) return sideOf(context, word, options)
    const client = await context.temporaryClient()
    return { name: word, client, fid: '', version: undefined, isLocal: true, filetype: 'fold' }
  }
  return [await side(words[0]), await side(words[1])]
}

/** Resolves a word to a side: a local data file, or a stored file. */
async function sideOf(context: Context, word: string, reading: Options): Promise<Side> {
  if (await isDataFileHere(word)) {
    const { client, made } = await readHere(context, word, reading)
    const { fid, filetype } = made.file as { fid: string; filetype: 'grid' | 'fold' }
    const name = basename(nameOfInput(word))
    return { name, client, fid, version: undefined, isLocal: true, filetype }
  }
  const client = await context.clientFor(word)
  return { name: word, client, ...(await resolveVersion(client, word)), isLocal: false }
}

/** Returns `grid`, `plot` or `folder`. */
async function typeOf({ client, fid, filetype: knownType }: Side): Promise<string> {
  if (knownType !== undefined) return knownType === 'fold' ? 'folder' : 'grid'
  const { filetype } = await client.call('files.get', { fid })
  return filetype === 'fold' ? 'folder' : filetype
}

async function diffOfGrids(
  context: Context,
  sides: readonly [Side, Side],
  options: Options,
): Promise<CommandResult> {
  const [before, after] = sides
  const diff = await diffOf(context, sides, options)
  return shown(context, diff, { before: before.name, after: after.name }, options)
}

/** Loads the differences of two grids, with names of local files. */
async function diffOf(
  context: Context,
  [before, after]: readonly [Side, Side],
  options: Options,
): Promise<GridDiff> {
  const { client } = after
  const [oldNames, newNames] = await Promise.all([before, after].map(namesOf))
  const available = [...oldNames, ...newNames]
  const areShared = (key: readonly string[]): boolean =>
    key.every((name) => oldNames.includes(name) && newNames.includes(name))
  const keys = [before, after].flatMap(({ copyOf }) => (copyOf?.primary_key ? [copyOf.primary_key] : []))
  const names = (option: string | readonly string[] | undefined): string[] | undefined =>
    option === undefined ? undefined : columnNames(option, available).filter((name) => name !== '')
  const { format = 'table', stat, limit } = options
  const isTable = format === 'table' || format === 'md'
  const hasContext = (isTable || format === 'html') && !isForPrograms(context)
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
        tolerance: toleranceOf(options.tolerance),
        context: hasContext ? true : undefined,
        limit: stat ? 0 : (limit ?? (isTable ? LISTED : MAX_LISTED)),
      },
    })
    .catch((error) => {
      throw error instanceof Problem ? aboutFiles(error, [before, after]) : error
    })
  diff.before = { ...diff.before, ...aboutOf(before) }
  diff.after = { ...diff.after, ...aboutOf(after) }
  return diff
}

/** Returns id and name to print. Local files have no id. Copies show the original grid. */
function aboutOf({ isLocal, name, copyOf }: Side): Partial<GridDiff['before']> {
  if (isLocal) return { fid: '', filename: name }
  return copyOf ? { fid: copyOf.fid, filename: copyOf.filename, version: copyOf.version } : {}
}

/** Replaces `version 1 of 'sales'` in a message by the name of the local file. */
function aboutFiles(problem: Problem, sides: readonly Side[]): Problem {
  let { message } = problem
  for (const { name, isLocal } of sides)
    if (isLocal) message = message.replace(`version 1 of '${gridName(name)}'`, name)
  const { code, hint, field } = problem
  return new Problem(code, message, { hint, field })
}

/** Loads the column names of a grid. */
async function namesOf({ client, fid, version }: Side): Promise<string[]> {
  const { cols } = await client.call('grids.get', { fid, version })
  return cols.map(({ name }) => name)
}

/** Parses --tolerance. Throws `usage`. */
function toleranceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const tolerance = Number(text)
  if (text.trim() === '' || !(tolerance >= 0) || !Number.isFinite(tolerance))
    throw new Problem('usage', `--tolerance ${text}: must be a number, 0 or greater`)
  return tolerance
}

/** Formats the differences of two grids as the result of the command. */
function shown(
  context: Context,
  diff: GridDiff,
  names: { before: string; after: string },
  { format = 'table', stat, exitCode }: Options,
): CommandResult {
  const exit = exitCode && !diff.is_same ? DIFFERS : 0
  if (isForPrograms(context)) return { one: diff, view: NO_VIEW, exit }
  if (diff.key.length === 0 && !diff.is_same && (format === 'csv' || format === 'ndjson'))
    context.messages.note(howCompared(diff))
  if (!diff.is_complete && !stat && format !== 'table' && format !== 'md')
    context.messages.note(`only ${diff.rows.length} rows are listed (--limit)`)
  const { isTTY, columns = 80 } = process.stdout
  const text = diffText(diff, format, {
    names,
    isStat: stat === true,
    color: hasColor(process.stdout, context.environment),
    width: isTTY ? columns : Number.POSITIVE_INFINITY,
  })
  return { text, exit }
}

/** View of results that are only printed as JSON. */
const NO_VIEW: TableView = { columns: [] }

/** Returns whether the output is JSON. */
function isForPrograms({ flags }: Context): boolean {
  return flags.json !== undefined || flags.jq !== undefined
}

/** Compares two plots: attributes of their figures, and optionally images. */
async function diffOfPlots(
  context: Context,
  [before, after]: readonly [Side, Side],
  { exitCode, image, stat, format }: Options,
): Promise<CommandResult> {
  const [oldFigure, newFigure] = await Promise.all([before, after].map(figureOf))
  const attributes = changedAttributes(oldFigure, newFigure)
  if (image !== undefined) {
    const [left, right] = await Promise.all([before, after].map(imageOf))
    await writeFile(image, pngOf(sideBySide(pixelsOf(left), pixelsOf(right)))).catch((error: Error) => {
      throw new Problem('failed', `cannot write ${image}: ${error.message}`)
    })
    context.messages.aside(`Saved ${image}`)
  }
  const exit = exitCode && attributes.length > 0 ? DIFFERS : 0
  if (isForPrograms(context)) {
    const summarize = ({ fid, name }: Side) => ({ fid, name })
    const result = {
      before: summarize(before),
      after: summarize(after),
      is_same: attributes.length === 0,
      attributes,
    }
    return { one: result, view: NO_VIEW, exit }
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
    return { text: attributesText(attributes, format, { before: before.name, after: after.name }), exit }
  return { many: attributes, view: attributesView, exit }
}

const attributesView: TableView = {
  id: 'attribute',
  columns: [
    { field: 'attribute', title: 'ATTRIBUTE' },
    { field: 'before', title: 'BEFORE', format: (_: unknown, { before }: AttributeChange) => short(before) },
    { field: 'after', title: 'AFTER', format: (_: unknown, { after }: AttributeChange) => short(after) },
  ],
}

/** Formats a value in at most 60 characters. */
function short(value: unknown): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

async function figureOf({ client, fid, version }: Side): Promise<unknown> {
  const response = await client.response('plots.content', { fid, version })
  return JSON.parse(await response.text())
}

async function imageOf({ client, fid, version }: Side): Promise<Uint8Array> {
  const response = await client.response('files.image', { fid, version, query: { format: 'png' } })
  return buffer(response.bytes())
}
