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

/** Exit code of --exit-code if the files differ. */
const DIFFERS = 10
/** Rows that are listed without --limit: for people, and for programs. */
const LISTED = 100
const MAX_LISTED = 10_000

const options = [
  {
    flags: '--key <columns>',
    description: 'find rows by these columns, comma-separated (default: compare rows in order)',
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
  { flags: '--tolerance <number>', description: 'numbers that differ by no more are the same' },
  { flags: '--stat', description: 'print only what changed in total, and in which columns' },
  {
    flags: '--limit <rows>',
    integer: { max: MAX_LISTED },
    description: `list at most this many rows (default: ${LISTED}; csv and ndjson: ${MAX_LISTED})`,
  },
  {
    flags: '--format <format>',
    description: 'table (default), csv (a line for each cell), ndjson (an object for each row), md or html',
    choices: diffFormats,
  },
  { flags: '--exit-code', description: `exit with ${DIFFERS} if the files differ` },
  { flags: '--image <file>', description: 'plots: save both as one PNG, before and after, side by side' },
  ...localOptions,
] as const satisfies readonly Option[]

type Options = OptionsOf<typeof options>

export const command = defineCommand({
  prints: object('Grid diff', {
    attributes: 'Of plots: the attributes that differ, with both values',
    path: 'Of folders: the path of a grid that differs',
    change: 'Of folders: added, removed or changed',
    diff: 'Of folders: what differs in a changed grid',
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
      throw new Problem('usage', 'only one of the two can be standard input')
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
      throw new Problem(
        'usage',
        `${sides[at].name} is a ${types[at]}, and the other one a ${types[1 - at]}`,
        {
          hint: 'Two grids can be compared, two plots, or two folders.',
        },
      )
    if (options.image !== undefined) throw new Problem('usage', '--image is for plots')
    return diffOfGrids(context, await onOneService(context, sides), options)
  },
})

/** Throws `usage` for options that contradict each other. */
function refuseSenseless({ columns, ignore, stat, format, image }: Options): void {
  const names = (given: readonly string[] | undefined): string[] => columnNames(given ?? []).filter(Boolean)
  const ignored = new Set(names(ignore))
  if (columns && names(columns).every((name) => ignored.has(name)))
    throw new Problem('usage', '--ignore names all of --columns: nothing would be compared')
  if (stat && (format === 'csv' || format === 'ndjson'))
    throw new Problem('usage', `--stat and --format ${format} cannot be used together`, {
      hint: 'For programs, use --json with the fields that are needed.',
    })
  if (image !== undefined && !/\.png$/i.test(image))
    throw new Problem('usage', `--image ${image}: the image is a PNG`, {
      hint: 'Name a file that ends with .png.',
    })
}

/** A version of a file, and the one before. */
async function lastChange(context: Context, file: string): Promise<readonly [Side, Side]> {
  const client = await context.clientFor(file)
  const { fid, version } = await resolveVersion(client, file)
  const { version: last, draft } = (await client.call('files.get', { fid, version })) as {
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
  if (last === undefined)
    throw new Problem('usage', `${file} has no versions: it is neither a grid nor a plot`)
  const { versions } = await client.call('versions.list', {
    fid,
    query: { before: last, page_size: 1 },
  })
  if (versions.length === 0)
    throw new Problem('not_found', `${file} has no version before version ${last}`, {
      hint: 'Name two files to compare: gridline diff BEFORE AFTER',
    })
  const name = version === undefined ? file : file.slice(0, file.lastIndexOf('@'))
  const side = (one: number): Side => ({
    name: `${name}@${one}`,
    client,
    fid,
    version: String(one),
    isLocal: false,
  })
  return [side(versions[0].version), side(last)]
}

/** Both sides. A directory of this machine is one if it is written as a path, or if both words name one. */
async function sidesOf(
  context: Context,
  given: readonly [string, string],
  options: Options,
): Promise<readonly [Side, Side]> {
  const isPath = (word: string): boolean => /^\.{0,2}[/\\]|[/\\]$|^\.\.?$/.test(word)
  const areBoth = given.every(isDirectoryHere)
  const side = async (word: string): Promise<Side> => {
    if (!isDirectoryHere(word) || !(areBoth || isPath(word))) return sideOf(context, word, options)
    const client = await context.temporaryClient()
    return { name: word, client, fid: '', version: undefined, isLocal: true, filetype: 'fold' }
  }
  return [await side(given[0]), await side(given[1])]
}

async function sideOf(context: Context, given: string, reading: Options): Promise<Side> {
  if (await isDataFileHere(given)) {
    const { client, made } = await readHere(context, given, reading)
    const { fid, filetype } = made.file as { fid: string; filetype: 'grid' | 'fold' }
    const name = basename(nameOfInput(given))
    return { name, client, fid, version: undefined, isLocal: true, filetype }
  }
  const client = await context.clientFor(given)
  return { name: given, client, ...(await resolveVersion(client, given)), isLocal: false }
}

async function typeOf({ client, fid, filetype: known }: Side): Promise<string> {
  if (known !== undefined) return known === 'fold' ? 'folder' : 'grid'
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

async function diffOf(
  context: Context,
  [before, after]: readonly [Side, Side],
  options: Options,
): Promise<GridDiff> {
  const { client } = after
  const [olds, news] = await Promise.all([before, after].map(namesOf))
  const known = [...olds, ...news]
  const areShared = (key: readonly string[]): boolean =>
    key.every((name) => olds.includes(name) && news.includes(name))
  const keys = [before, after].flatMap(({ copyOf }) => (copyOf?.primary_key ? [copyOf.primary_key] : []))
  const names = (given: string | readonly string[] | undefined): string[] | undefined =>
    given === undefined ? undefined : columnNames(given, known).filter((name) => name !== '')
  const { format = 'table', stat, limit } = options
  const forPeople = format === 'table' || format === 'md'
  const isShown = (forPeople || format === 'html') && !isForPrograms(context)
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
        context: isShown ? true : undefined,
        limit: stat ? 0 : (limit ?? (forPeople ? LISTED : MAX_LISTED)),
      },
    })
    .catch((error) => {
      throw error instanceof Problem ? aboutFiles(error, [before, after]) : error
    })
  diff.before = { ...diff.before, ...aboutOf(before) }
  diff.after = { ...diff.after, ...aboutOf(after) }
  return diff
}

/** The id and name to print for a side. Local files have no id. Copies print those of the original grid. */
function aboutOf({ isLocal, name, copyOf }: Side): Partial<GridDiff['before']> {
  if (isLocal) return { fid: '', filename: name }
  return copyOf ? { fid: copyOf.fid, filename: copyOf.filename, version: copyOf.version } : {}
}

/** Replaces `version 1 of 'sales'` in a message by the name of the file of this machine. */
function aboutFiles(problem: Problem, sides: readonly Side[]): Problem {
  let { message } = problem
  for (const { name, isLocal } of sides)
    if (isLocal) message = message.replace(`version 1 of '${gridName(name)}'`, name)
  const { code, hint, field } = problem
  return new Problem(code, message, { hint, field })
}

async function namesOf({ client, fid, version }: Side): Promise<string[]> {
  const { cols } = await client.call('grids.get', { fid, version })
  return cols.map(({ name }) => name)
}

function toleranceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const tolerance = Number(text)
  if (text.trim() === '' || !(tolerance >= 0) || !Number.isFinite(tolerance))
    throw new Problem('usage', `--tolerance ${text}: must be a number, 0 or greater`)
  return tolerance
}

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

/** Everything is printed as JSON. */
const NO_VIEW: TableView = { columns: [] }

function isForPrograms({ flags }: Context): boolean {
  return flags.json !== undefined || flags.jq !== undefined
}

async function diffOfPlots(
  context: Context,
  [before, after]: readonly [Side, Side],
  { exitCode, image, stat, format }: Options,
): Promise<CommandResult> {
  const [old, now] = await Promise.all([before, after].map(figureOf))
  const attributes = changedAttributes(old, now)
  if (image !== undefined) {
    const [left, right] = await Promise.all([before, after].map(imageOf))
    await writeFile(image, pngOf(sideBySide(pixelsOf(left), pixelsOf(right)))).catch((error: Error) => {
      throw new Problem('failed', `cannot write ${image}: ${error.message}`)
    })
    context.messages.aside(`Saved ${image}`)
  }
  const exit = exitCode && attributes.length > 0 ? DIFFERS : 0
  if (isForPrograms(context)) {
    const about = ({ fid, name }: Side) => ({ fid, name })
    const one = { before: about(before), after: about(after), is_same: attributes.length === 0, attributes }
    return { one, view: NO_VIEW, exit }
  }
  if (attributes.length === 0 || stat) {
    const count = attributes.length
    const what =
      count === 0 ? 'no differences' : `${count} ${count === 1 ? 'attribute differs' : 'attributes differ'}`
    if (count === 0 && image === undefined)
      context.messages.note(
        'of plots, figures are compared, and not the data that they show; --image shows both',
      )
    return { text: `${before.name} → ${after.name}: ${what}\n`, exit }
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
