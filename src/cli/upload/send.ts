import { statSync } from 'node:fs'
import { basename } from 'node:path'
import {
  type Client,
  headerText,
  isTransient,
  lookupIfThere,
  type PartsEvents,
  startOf,
  uploadInParts,
} from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { gridName, sentName } from '../../contract/formats.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { confirm } from '../core/prompt.ts'
import { bodyOf, type Input, openInput, spooled } from '../files/input.ts'
import { childrenOf } from '../files/lists.ts'
import { keyHeaders } from '../files/parse-options.ts'
import { idOfFolder } from '../files/targets.ts'
import { Meter, Progress } from '../output/progress.ts'
import type { LocalFile } from './expand.ts'

/** Files larger than this are sent in parts, in bytes. */
const PARTS_FROM_BYTES = 64 * 1024 * 1024

type Headers = HeadersOf<'grids.upload'>
type Place = Pick<Headers, 'Parent' | 'Parent-Path'>

export interface SendOptions {
  name?: string
  /** Destination folder: path or id. */
  folder?: string
  public?: boolean
  onConflict?: NonNullable<Headers['On-Conflict']>
  allowTypeChange?: boolean
  yes?: boolean
  /** Percent of rows that a replaced grid may lose, as given. Without it, losing more than half is asked about. */
  maxShrink?: number
  strict?: boolean
  /** The columns of the key, as given. */
  key?: string
  /** Where the data is from, for the history. */
  provenance?: string
  /** Name of the draft that is made. */
  draft?: string
  deleteMissing?: boolean
  /** Whether files that are left out are described as a whole, with their columns and rows. */
  whole?: boolean
  /** How the file is read. */
  reading: Partial<Headers>
}

/** What is done if the name is taken. */
export function ruleOf({
  onConflict,
  key,
  draft,
}: Pick<SendOptions, 'onConflict' | 'key' | 'draft'>): NonNullable<Headers['On-Conflict']> {
  return onConflict ?? (draft !== undefined ? 'replace' : key !== undefined ? 'append' : 'fail')
}

/** Percent of its rows that a grid may lose without a question. */
export const MAX_SHRINK = 50

/** Headers that accept a loss, if the user can be asked about it. A limit that was given is not asked about. */
export function acceptedLoss(
  { code }: Problem,
  maxShrink?: number,
  deleteMissing?: boolean,
): Headers | undefined {
  if (code === 'column_loss') return { 'Allow-Column-Loss': true }
  if (code !== 'row_loss' || maxShrink !== undefined) return undefined
  return { 'Max-Shrink': deleteMissing ? 100 : undefined }
}

/** Sends local files to a server, or to the service of this process. */
export class Sender {
  /** The files of each destination folder, as they were before. */
  private readonly before = new Map<string, Promise<Map<string, FileMeta>>>()

  constructor(
    private readonly context: Context,
    private readonly options: SendOptions,
    /** Whether files that are on the server unchanged are left out. */
    private readonly skipsUnchanged: boolean,
    private readonly total?: Progress,
  ) {}

  /** Uploads a file, unless the grid of its name was made from the same content. `ifMatch`: the entity tag that the grid has. */
  async send({ file, folders }: LocalFile, ifMatch?: string): Promise<ResultOf<'grids.upload'>> {
    const opened = await openInput(file)
    const { client, server } = await this.context.connect()
    const input = server === undefined ? opened : await spooled(opened)
    const place = await placeOf(client, this.options.folder, folders)
    const before = stateOf(file)
    const tag =
      this.skipsUnchanged && input.size !== undefined ? await tagOf(input, this.options.reading) : undefined
    // What is wrong with a file is wrong with an unchanged one, too, and its dates get older: the service says it.
    const isChecked = this.options.strict === true || this.options.reading.Checks !== undefined
    const listed =
      tag === undefined || isChecked ? undefined : await this.unchanged(client, file, folders, tag)
    // A list of files has no columns and rows, which a chart and a report of one file need.
    const known =
      listed &&
      (this.total && !this.options.whole ? listed : await client.call('grids.get', { fid: listed.fid }))
    if (known) {
      this.total?.add(input.size ?? 0)
      this.total?.next()
      return { file: known as ResultOf<'grids.upload'>['file'], warnings: [], action: 'unchanged' }
    }
    const progress = this.total ?? new Progress(this.context.messages, input.name, input.size)
    const meter = new Meter(progress)
    try {
      const headers: Headers = { ...this.headers(), ...place, 'Source-Tag': tag }
      let made = await this.sendOnce(client, server !== undefined, input, file, headers, meter, ifMatch)
      // It changed after its hash was computed, so the hash is not that of what was sent.
      if (tag !== undefined && stateOf(file) !== before) {
        // What was appended stays; with a key, rows are found again.
        const rule = headers['On-Conflict'] === 'append' ? ('append' as const) : ('replace' as const)
        const again = { ...headers, 'On-Conflict': rule, 'Source-Tag': undefined }
        meter.restart()
        if (rule === 'replace' || this.options.key !== undefined)
          made = await this.sendOnce(client, server !== undefined, await openInput(file), file, again, meter)
      }
      if (this.total) this.total.next()
      return made
    } finally {
      if (!this.total) progress.end()
    }
  }

  /** Says what an upload would do, and throws what it would be refused for. Nothing is changed. */
  async try({ file, folders }: LocalFile, input: Input): Promise<ResultOf<'grids.upload'>> {
    const { client } = await this.context.connect()
    const name = sentName(this.options.name, file === '-' ? undefined : basename(file)) ?? basename(file)
    const progress = new Progress(this.context.messages, input.name, input.size)
    const meter = new Meter(progress)
    try {
      return await client.tryCall('grids.upload', {
        headers: { ...this.headers(), ...(await placeOf(client, this.options.folder, folders)) },
        plainHeaders: { [FILE_NAME_HEADER]: headerText(name) },
        body: bodyOf(
          input,
          'application/octet-stream',
          (bytes) => meter.add(bytes),
          () => meter.restart(),
        ),
      })
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown
      const error = this.refused(thrown, name, input.name)
      if (!acceptedLoss(error, this.options.maxShrink, this.options.deleteMissing)) throw error
      throw new Problem('usage', `confirmation required: ${input.name}: ${error.message}`, {
        hint: 'Use --yes to confirm.',
      })
    } finally {
      progress.end()
    }
  }

  /** What the service refused a file for, as people read it. */
  private refused(thrown: Problem, name: string, file: string): Problem {
    const error = aboutFile(thrown, name, file)
    const { maxShrink, deleteMissing } = this.options
    if (error.code !== 'row_loss' || acceptedLoss(error, maxShrink, deleteMissing)) return error
    return new Problem(error.code, `${file}: ${error.message} (--max-shrink ${maxShrink}%)`, {
      hint: 'If that is right, give a higher --max-shrink.',
    })
  }

  /** Whether the grid of a file's name was made from the same content. */
  async isUnchanged({ file, folders }: LocalFile): Promise<boolean> {
    const input = await openInput(file)
    if (!this.skipsUnchanged || input.size === undefined) return false
    const { client } = await this.context.connect()
    return (
      (await this.unchanged(client, file, folders, await tagOf(input, this.options.reading))) !== undefined
    )
  }

  private headers(): Headers {
    const {
      public: isPublic,
      onConflict = ruleOf(this.options),
      allowTypeChange,
      reading,
      yes,
      maxShrink,
      strict,
    } = this.options
    return {
      'World-Readable': isPublic ? true : undefined,
      'On-Conflict': onConflict,
      'Allow-Type-Change': allowTypeChange ? true : undefined,
      'Allow-Column-Loss': yes === true,
      'Max-Shrink': maxShrink ?? (yes ? undefined : MAX_SHRINK),
      Strict: strict ? true : undefined,
      Draft: this.options.draft,
      Provenance: this.options.provenance && encodeURIComponent(this.options.provenance),
      ...keyHeaders(this.options),
      ...(this.options.deleteMissing && maxShrink !== undefined && { 'Max-Shrink': maxShrink }),
      ...reading,
    }
  }

  private async sendOnce(
    client: Client,
    isRemote: boolean,
    input: Input,
    file: string,
    headers: Headers,
    meter: Meter,
    ifMatch?: string,
  ): Promise<ResultOf<'grids.upload'>> {
    const name = sentName(this.options.name, file === '-' ? undefined : basename(file)) ?? basename(file)
    const plainHeaders = { [FILE_NAME_HEADER]: headerText(name), ...(ifMatch && { 'if-match': ifMatch }) }
    const inParts =
      isRemote &&
      (input.size ?? Number.POSITIVE_INFINITY) > PARTS_FROM_BYTES &&
      input.name !== 'standard input'
    const send = (given: Headers): Promise<ResultOf<'grids.upload'>> =>
      inParts
        ? this.sendInParts(client, input, file, given, plainHeaders, meter)
        : client.call('grids.upload', {
            headers: given,
            plainHeaders,
            body: bodyOf(
              input,
              'application/octet-stream',
              (bytes) => meter.add(bytes),
              () => meter.restart(),
            ),
          })
    try {
      return await send(headers)
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown
      const error = this.refused(thrown, name, input.name)
      const accepted = acceptedLoss(error, this.options.maxShrink, this.options.deleteMissing)
      if (!accepted) throw error
      const question = this.options.deleteMissing ? 'Remove them?' : 'Replace it?'
      await confirm(`${input.name}: ${error.message}. ${question}`, false)
      return this.sendOnce(client, isRemote, input, file, { ...headers, ...accepted }, meter, ifMatch)
    }
  }

  /** Sends a file in parts. The same file, sent the same way, continues where an earlier command was stopped. */
  private async sendInParts(
    client: Client,
    input: Input,
    file: string,
    headers: Headers,
    plainHeaders: Record<string, string>,
    meter: Meter,
  ): Promise<ResultOf<'grids.upload'>> {
    const { environment, messages } = this.context
    const { UnfinishedUploads } = await import('./unfinished.ts')
    const unfinished = new UnfinishedUploads(environment)
    const { server } = await this.context.connect()
    const key = UnfinishedUploads.key(server ?? '', file, stateOf(file) ?? '', [headers, plainHeaders])
    const source = { size: input.size, open: (from: number) => input.open(from) }
    const events: PartsEvents = {
      begun: (id) => unfinished.set(key, id),
      count: (bytes) => meter.add(bytes),
      at: (offset) => meter.restart(offset),
      onRetry: (problem, wait) =>
        messages.note(`${input.name}: ${problem.message}; continuing in ${Math.ceil(wait / 1000)} s`),
    }
    try {
      const made = await uploadInParts(client, source, headers, plainHeaders, events, unfinished.get(key))
      unfinished.delete(key)
      return made
    } catch (error) {
      // The server was not reached or is busy: the same command continues later.
      if (error instanceof Problem && !isTransient(error)) unfinished.delete(key)
      throw error
    }
  }

  /** The grid that a file would become, if it was made from the same content. */
  private async unchanged(
    client: Client,
    file: string,
    folders: readonly string[],
    tag: string,
  ): Promise<FileMeta | undefined> {
    const { onConflict, key: rowKey } = this.options
    if (rowKey !== undefined && onConflict !== 'replace') return undefined
    if (onConflict === 'append' || onConflict === 'rename') return undefined
    const place = await placeOf(client, this.options.folder, folders)
    const key = `${place.Parent ?? ''}/${place['Parent-Path'] ?? ''}`
    if (!this.before.has(key)) this.before.set(key, filesIn(client, place).catch(unknown))
    const found = (await this.before.get(key)!).get(gridName(this.options.name ?? basename(file)))
    if (found?.source_tag !== tag) return undefined
    // Publishing it is a change.
    return this.options.public && !found.world_readable ? undefined : found
  }
}

/** Keys that may only write do not learn what is there: all files are sent. */
function unknown(error: unknown): Map<string, FileMeta> {
  if (error instanceof Problem && error.code === 'forbidden') return new Map()
  throw error
}

/** What tells whether a file has changed: its size and time. */
function stateOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.size} ${stats.mtimeNs}`
}

/** The files of a folder by name; none if it does not exist. */
async function filesIn(client: Client, place: Place): Promise<Map<string, FileMeta>> {
  let fid: string | undefined
  if (place['Parent-Path'] !== undefined) {
    const folder = await lookupIfThere(client, place['Parent-Path'])
    if (folder?.filetype !== 'fold') return new Map()
    fid = folder.fid
  } else if (place.Parent !== undefined && place.Parent !== -1) {
    const { username } = await client.call('users.current')
    fid = `${username}:${place.Parent}`
  }
  return new Map((await childrenOf(client, fid)).map((file) => [file.filename, file]))
}

/** Headers for --folder: a path, `alice:12`, `alice:12/sub`, or an id (12) if no folder has that name. */
export async function placeOf(
  client: Client,
  folder: string | undefined,
  inside: readonly string[] = [],
): Promise<Place> {
  if (folder === undefined) return inside.length > 0 ? { 'Parent-Path': inside.join('/') } : {}
  const isId =
    parseFid(folder) !== undefined ||
    startOf(folder).user !== undefined ||
    (/^-?\d+$/.test(folder) && !(await lookupIfThere(client, folder)))
  if (!isId) return { 'Parent-Path': [folder.replace(/\/+$/, ''), ...inside].join('/') }
  const parent = /^-?\d+$/.test(folder) ? Number(folder) : await idOfFolder(client, folder)
  if (inside.length === 0) return { Parent: parent }
  const { username } = await client.call('users.current')
  const { path } = await client.call('files.path', { fid: `${username}:${parent}` })
  return { 'Parent-Path': [path.replace(/^\/+|\/+$/g, ''), ...inside].join('/') }
}

/** Where the grid of a local file goes: its path, and the folder that the path begins in. */
export async function destinationOf(
  client: Client,
  { name, folder }: Pick<SendOptions, 'name' | 'folder'>,
  { file, folders }: LocalFile,
): Promise<{ path: string; parent?: number }> {
  const place = await placeOf(client, folder, folders)
  const filename = gridName(name ?? (file === '-' ? undefined : basename(file)))
  const inside = place['Parent-Path']
  return { path: inside === undefined ? filename : `${inside}/${filename}`, parent: place.Parent }
}

/** Identifies the content of a file, and how it is read. */
export async function tagOf(input: Input, reading: Partial<Headers>): Promise<string> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256')
  for await (const chunk of input.open()) hash.update(chunk)
  const given = Object.entries(reading).filter(([, value]) => value !== undefined)
  hash.update(JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1))))
  return `sha256:${hash.digest('hex')}`
}

/** Replaces the grid name in a message of the service by the name of the local file. */
function aboutFile(problem: Problem, name: string, file: string): Problem {
  const { code, message, field, path, line, column, hint } = problem
  if (name === file || ![', line', ':', ' fails '].some((next) => message.startsWith(name + next)))
    return problem
  return new Problem(code, file + message.slice(name.length), { field, path, line, column, hint })
}
