// Uploads local files: skips unchanged ones, resumes interrupted uploads, asks about data loss.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import {
  type Client,
  encodeHeader,
  isTransient,
  lookupOrUndefined,
  type PartsEvents,
  uploadInParts,
} from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { confirm } from '../core/prompt.ts'
import { createBody, createBufferInput, type Input, makeRepeatable, openInput } from '../files/input.ts'
import { listChildren } from '../files/pages.ts'
import { toKeyHeaders } from '../files/parse-options.ts'
import { FileMeter, Progress } from '../output/progress.ts'
import { type DestinationHeaders, resolveDestinationHeaders, sentNameOf } from './destination.ts'
import type { LocalFile } from './expand.ts'

/** Size in bytes above which files are uploaded in parts. */
const MULTIPART_THRESHOLD_BYTES = 64 * 1024 * 1024

type Headers = HeadersOf<'grids.upload'>

export interface SendOptions {
  name?: string
  /** Destination folder, as path or id. */
  folder?: string
  public?: boolean
  onConflict?: NonNullable<Headers['On-Conflict']>
  allowTypeChange?: boolean
  yes?: boolean
  /** Whether the user gave --yes: plans confirm what they show, which is not what queries lose. */
  confirmed?: boolean
  /** Maximum percentage of rows that a replaced grid may lose. Default: ask above 50%. */
  maxShrink?: number
  strict?: boolean
  /** Comma-separated key columns. */
  key?: string
  /** Origin of the data, for the history. */
  provenance?: string
  /** Name of the draft to create. */
  draft?: string
  deleteMissing?: boolean
  /** True if unchanged grids are described with columns and rows. */
  needsDetails?: boolean
  /** Parse options as headers. */
  reading: Partial<Headers>
}

/** Returns what happens if the name is taken. A draft replaces, a key appends; the default is to fail. */
export function conflictRuleOf({
  onConflict,
  key,
  draft,
}: Pick<SendOptions, 'onConflict' | 'key' | 'draft'>): NonNullable<Headers['On-Conflict']> {
  return onConflict ?? (draft !== undefined ? 'replace' : key !== undefined ? 'append' : 'fail')
}

/** Percentage of rows that a grid may lose without confirmation. */
export const MAX_SHRINK_PERCENT = 50

/**
 * Returns headers that accept a loss, if the user can confirm it. A given limit is not confirmed but final.
 */
export function acceptLossHeaders(
  { code }: Problem,
  maxShrink?: number,
  deleteMissing?: boolean,
): Headers | undefined {
  if (code === 'column_loss') return { 'Allow-Column-Loss': true }
  if (code !== 'row_loss' || maxShrink !== undefined) return undefined
  return { 'Max-Shrink': deleteMissing ? 100 : undefined }
}

/** File that is being sent. */
interface Transfer {
  client: Client
  isRemote: boolean
  input: Input
  file: string
  meter: FileMeter
  /** Required etag of the grid. */
  ifMatch?: string
}

/** Uploads local files to a server, or to the in-process service. */
export class Sender {
  /** Files of each destination folder before the upload, by folder. */
  private readonly existingFiles = new Map<string, Promise<Map<string, FileMeta>>>()

  constructor(
    private readonly context: Context,
    private readonly options: SendOptions,
    /** True if files are skipped that are unchanged on the server. */
    private readonly skipsUnchanged: boolean,
    private readonly totalProgress?: Progress,
  ) {}

  /**
   * Uploads a file, unless its grid was made from the same content. `ifMatch`: required etag of the grid. `read`: the bytes
   * of the file that are uploaded, even if it changes meanwhile.
   */
  async send(
    { file, folders }: LocalFile,
    ifMatch?: string,
    read?: Buffer,
  ): Promise<ResultOf<'grids.upload'>> {
    const rawInput = read ? createBufferInput(file, read) : await openInput(file)
    const { client, server } = await this.context.connect()
    const input = server === undefined ? rawInput : await makeRepeatable(rawInput)
    const destination = await resolveDestinationHeaders(client, this.options.folder, folders)
    const stateBefore = fileStateOf(file)
    // A file that is always a new grid is never found again by its content.
    const tag =
      this.skipsUnchanged && input.size !== undefined && this.options.onConflict !== 'rename'
        ? await computeSourceTag(input, this.options.reading)
        : undefined
    // With checks, also send unchanged files: their faults persist, and their dates age.
    const isChecked = this.options.strict === true || this.options.reading.Checks !== undefined
    const listedGrid = tag === undefined ? undefined : await this.findUnchanged(client, file, folders, tag)
    const isTried = isChecked && conflictRuleOf(this.options) === 'fail'
    // File lists lack columns and rows, which charts and reports need.
    const unchangedGrid =
      listedGrid &&
      (!isChecked || isTried) &&
      (this.totalProgress && !this.options.needsDetails
        ? listedGrid
        : await client.call('grids.get', { fid: listedGrid.fid }))
    if (unchangedGrid) {
      // A name that exists would refuse it: as if the grid were replaced, it is only checked.
      const tried = isTried
        ? await this.dryRun({ file, folders }, input, { 'On-Conflict': 'replace' })
        : undefined
      if (!tried) this.totalProgress?.add(input.size ?? 0)
      this.totalProgress?.finishFile()
      const grid = unchangedGrid as ResultOf<'grids.upload'>['file']
      return { warnings: [], ...tried, file: grid, action: 'unchanged' }
    }
    const progress = this.totalProgress ?? new Progress(this.context.messages, input.name, input.size)
    const meter = new FileMeter(progress)
    try {
      const headers: Headers = { ...this.buildHeaders(), ...destination, 'Source-Tag': tag }
      const transfer = { client, isRemote: server !== undefined, input, file, meter }
      let result = await this.sendOnce({ ...transfer, ifMatch }, headers)
      // The file changed after its hash was computed: send it again without the hash.
      if (tag !== undefined && !read && fileStateOf(file) !== stateBefore) {
        // Appended rows stay. With a key, sending again updates them.
        const rule = headers['On-Conflict'] === 'append' ? ('append' as const) : ('replace' as const)
        const retryHeaders = { ...headers, 'On-Conflict': rule, 'Source-Tag': undefined }
        meter.restart()
        if (rule === 'replace' || this.options.key !== undefined)
          result = await this.sendOnce({ ...transfer, input: await openInput(file) }, retryHeaders)
      }
      if (this.totalProgress) this.totalProgress.finishFile()
      return result
    } finally {
      if (!this.totalProgress) progress.end()
    }
  }

  /** Tries an upload without changes. Returns what it would do; throws what would refuse it. */
  async dryRun(
    { file, folders }: LocalFile,
    input: Input,
    headers: Headers = {},
  ): Promise<ResultOf<'grids.upload'>> {
    const { client } = await this.context.connect()
    const name = sentNameOf(file, this.options.name) ?? basename(file)
    const progress = this.totalProgress ?? new Progress(this.context.messages, input.name, input.size)
    try {
      return await client.tryCall('grids.upload', {
        headers: {
          ...this.buildHeaders(),
          ...(await resolveDestinationHeaders(client, this.options.folder, folders)),
          ...headers,
        },
        plainHeaders: { [FILE_NAME_HEADER]: encodeHeader(name) },
        body: createBody(input, undefined, new FileMeter(progress)),
      })
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown
      const problem = this.toUserProblem(thrown, name, input.name)
      if (!acceptLossHeaders(problem, this.options.maxShrink, this.options.deleteMissing)) throw problem
      throw new Problem('usage', `confirmation required: ${input.name}: ${problem.message}`, {
        hint: 'Use --yes to confirm.',
      })
    } finally {
      if (!this.totalProgress) progress.end()
    }
  }

  /** Rewrites a refusal for the user: with the file name and option. */
  private toUserProblem(thrown: Problem, name: string, file: string): Problem {
    const problem = withLocalName(thrown, name, file)
    const { maxShrink, deleteMissing } = this.options
    if (problem.code !== 'row_loss' || acceptLossHeaders(problem, maxShrink, deleteMissing)) return problem
    return new Problem(problem.code, `${file}: ${problem.message} (--max-shrink ${maxShrink}%)`, {
      hint: 'If that is intended, use a higher --max-shrink.',
    })
  }

  /** Returns whether the grid of a file was made from the same content. */
  async isUnchanged({ file, folders }: LocalFile): Promise<boolean> {
    const input = await openInput(file)
    if (!this.skipsUnchanged || input.size === undefined) return false
    const { client } = await this.context.connect()
    const tag = await computeSourceTag(input, this.options.reading)
    return (await this.findUnchanged(client, file, folders, tag)) !== undefined
  }

  /** Returns the headers for all files of this run. */
  private buildHeaders(): Headers {
    const {
      public: isPublic,
      onConflict = conflictRuleOf(this.options),
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
      'Max-Shrink': maxShrink ?? (yes ? undefined : MAX_SHRINK_PERCENT),
      Strict: strict ? true : undefined,
      Draft: this.options.draft,
      Provenance: this.options.provenance && encodeURIComponent(this.options.provenance),
      ...toKeyHeaders(this.options),
      ...(this.options.deleteMissing && maxShrink !== undefined && { 'Max-Shrink': maxShrink }),
      ...reading,
    }
  }

  /** Uploads a file, in one request or in parts. Asks about data loss, then sends again. */
  private async sendOnce(transfer: Transfer, headers: Headers): Promise<ResultOf<'grids.upload'>> {
    const { client, isRemote, input, file, meter, ifMatch } = transfer
    const name = sentNameOf(file, this.options.name) ?? basename(file)
    const plainHeaders = { [FILE_NAME_HEADER]: encodeHeader(name), ...(ifMatch && { 'if-match': ifMatch }) }
    const isInParts =
      isRemote &&
      (input.size ?? Number.POSITIVE_INFINITY) > MULTIPART_THRESHOLD_BYTES &&
      input.name !== 'standard input'
    const send = (uploadHeaders: Headers): Promise<ResultOf<'grids.upload'>> =>
      isInParts
        ? this.sendInParts(transfer, uploadHeaders, plainHeaders)
        : client.call('grids.upload', {
            headers: uploadHeaders,
            plainHeaders,
            body: createBody(input, undefined, meter),
          })
    try {
      return await send(headers)
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown
      const problem = this.toUserProblem(thrown, name, input.name)
      const acceptHeaders = acceptLossHeaders(problem, this.options.maxShrink, this.options.deleteMissing)
      if (!acceptHeaders) throw problem
      const question = this.options.deleteMissing ? 'Remove them?' : 'Replace it?'
      await confirm(`${input.name}: ${problem.message}. ${question}`, false)
      return this.sendOnce(transfer, { ...headers, ...acceptHeaders })
    }
  }

  /** Uploads a file in parts. Resumes an interrupted upload of the same file with the same options. */
  private async sendInParts(
    { client, input, file, meter }: Transfer,
    headers: Headers,
    plainHeaders: Record<string, string>,
  ): Promise<ResultOf<'grids.upload'>> {
    const { environment, messages } = this.context
    const { UnfinishedUploads } = await import('./resumable.ts')
    const unfinished = new UnfinishedUploads(environment)
    const { server } = await this.context.connect()
    const state = input.sha256 ?? fileStateOf(file) ?? ''
    const key = UnfinishedUploads.key(server ?? '', file, state, [headers, plainHeaders])
    const source = { size: input.size, open: (from: number) => input.open(from) }
    const events: PartsEvents = {
      onStart: (id) => unfinished.set(key, id),
      onBytes: (bytes) => meter.add(bytes),
      onResume: (offset) => meter.restart(offset),
      onRetry: (problem, wait) =>
        messages.note(`${input.name}: ${problem.message}; continuing in ${Math.ceil(wait / 1000)} s`),
    }
    try {
      const request = { headers, plainHeaders, unfinished: unfinished.get(key) }
      const result = await uploadInParts(client, source, request, events)
      unfinished.delete(key)
      return result
    } catch (error) {
      // Unreachable or busy: the same command can resume later.
      if (error instanceof Problem && !isTransient(error)) unfinished.delete(key)
      throw error
    }
  }

  /** Returns the grid of a file if it was made from the same content. */
  private async findUnchanged(
    client: Client,
    file: string,
    folders: readonly string[],
    tag: string,
  ): Promise<FileMeta | undefined> {
    const { onConflict, key: rowKey } = this.options
    if (rowKey !== undefined && onConflict !== 'replace') return undefined
    if (onConflict === 'append' || onConflict === 'rename') return undefined
    const destination = await resolveDestinationHeaders(client, this.options.folder, folders)
    const key = `${destination.Parent ?? ''}/${destination['Parent-Path'] ?? ''}`
    if (!this.existingFiles.has(key))
      this.existingFiles.set(key, listFilesIn(client, destination).catch(emptyIfForbidden))
    const existing = (await this.existingFiles.get(key)!).get(
      gridNameOf(sentNameOf(file, this.options.name) ?? basename(file)),
    )
    if (existing?.source_tag !== tag) return undefined
    // Making it public is a change.
    return this.options.public && !existing.world_readable ? undefined : existing
  }
}

/** Write-only keys cannot list files: send all files. */
function emptyIfForbidden(error: unknown): Map<string, FileMeta> {
  if (error instanceof Problem && error.code === 'forbidden') return new Map()
  throw error
}

/** Returns size and modification time, which identify a state of the file. */
function fileStateOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.size} ${stats.mtimeNs}`
}

/** Lists the files of a folder by name; none if it does not exist. */
async function listFilesIn(client: Client, destination: DestinationHeaders): Promise<Map<string, FileMeta>> {
  let fid: string | undefined
  if (destination['Parent-Path'] !== undefined) {
    const folder = await lookupOrUndefined(client, destination['Parent-Path'])
    if (folder?.filetype !== 'fold') return new Map()
    fid = folder.fid
  } else if (destination.Parent !== undefined && destination.Parent !== -1) {
    const { username } = await client.call('users.current')
    fid = `${username}:${destination.Parent}`
  }
  return new Map((await listChildren(client, fid)).map((file) => [file.filename, file]))
}

/** Returns the SHA-256 of a file's content and parse options. */
export async function computeSourceTag(input: Input, reading: Partial<Headers>): Promise<string> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256')
  for await (const chunk of input.open()) hash.update(chunk)
  const entries = Object.entries(reading).filter(([, value]) => value !== undefined)
  hash.update(JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1))))
  return `sha256:${hash.digest('hex')}`
}

/** Replaces the grid name at the start of a message by the name of the local file. */
function withLocalName(problem: Problem, name: string, file: string): Problem {
  const { code, message } = problem
  if (name === file || ![', line', ':', ' fails '].some((next) => message.startsWith(name + next)))
    return problem
  return new Problem(code, file + message.slice(name.length), problem)
}
