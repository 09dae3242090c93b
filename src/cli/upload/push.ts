// Copies files to another server.
import { type Client, encodeHeader, lookupOrUndefined, uploadInParts } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import { type FileMeta, filetypeLabel, type GridMeta } from '../../contract/resources/index.ts'
import { createFigureBody } from '../charts/create.ts'
import { Planned } from '../core/dry-run.ts'
import { listBoardFiles, replaceBoardFiles } from '../files/board-file.ts'
import { checkCsv, exactCsvHeaders, fitsCsv, InexactCsv } from '../files/exact-csv.ts'
import type { TreeEntry } from '../files/list-tree.ts'
import { setPrimaryKey } from '../files/primary-key.ts'
import { acceptLossHeaders, MAX_SHRINK_PERCENT } from './send.ts'

/** Rules for names that are taken. */
export const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const

/** Destination of a copy. */
interface CopyDestination {
  filename: string
  parent_path: string | undefined
  world_readable: boolean
}

/** Operations that create a copy, by type of file. */
const CREATE_OPERATIONS = {
  fold: 'folders.create',
  grid: 'grids.create',
  plot: 'plots.create',
  dashboard: 'dashboards.create',
} as const

/** Options of a push. */
interface PushOptions {
  /** Names of the destination folder and its ancestors. */
  base: readonly string[]
  isPublic: boolean
  rule: (typeof CONFLICT_RULES)[number]
  warn: (text: string) => void
  /** Asks for confirmation. Throws if declined, or without a terminal. */
  confirm: (question: string) => Promise<void>
}

/** Copies files from one server to another, in order. */
export class Push {
  /** New fid of each copied file, by source fid. */
  private readonly copied = new Map<string, string>()
  /** Destination paths of files that could not be copied, by source fid. */
  private readonly failed = new Map<string, string>()
  /** Source fids of files that a dry run would copy: nothing can refer to them yet. */
  private readonly planned = new Set<string>()
  /** Fids of destination files that this run has created or used. */
  private readonly usedFids = new Set<string>()
  private renameCount = 0

  constructor(
    private readonly source: Client,
    private readonly target: Client,
    private readonly options: PushOptions,
  ) {}

  /** Copies one file. Returns an output row. */
  async copyFile({ file, folders }: TreeEntry): Promise<object> {
    const folder = [...this.options.base, ...folders].join('/')
    const path = [...this.options.base, ...folders, file.filename].join('/')
    const existing = await lookupOrUndefined(this.target, path)
    // Another file of this run has that name: grids of a plot can come from several folders.
    if (existing && file.filetype !== 'fold' && this.usedFids.has(existing.fid))
      return this.copyFile({
        file: { ...file, filename: `${file.filename} (${++this.renameCount})` },
        folders,
      })
    const isSame = existing?.filetype === file.filetype
    if (existing && !(isSame && (this.options.rule !== 'fail' || file.filetype === 'fold')))
      throw new Problem('already_exists', `a file named ${path} already exists`, {
        hint: 'Use --on-conflict skip or replace, or another --folder.',
      })
    const isReused = existing !== undefined && (file.filetype === 'fold' || this.options.rule === 'skip')
    const copy = isReused
      ? existing
      : await this.createCopy(file, folder, path, existing).catch((error) => {
          if (error instanceof Planned) {
            this.planned.add(file.fid)
            throw this.plannedFor(error, file, existing)
          }
          this.failed.set(file.fid, path)
          throw error
        })
    this.usedFids.add(copy.fid)
    this.copied.set(file.fid, copy.fid)
    return {
      from: file.fid,
      fid: copy.fid,
      web_url: copy.web_url,
      action: !existing
        ? 'created'
        : !isReused
          ? 'replaced'
          : file.filetype === 'fold'
            ? 'unchanged'
            : 'skipped',
    }
  }

  /** Converts a planned request to the operation on this file, for --dry-run. */
  private plannedFor({ change }: Planned, { filetype }: FileMeta, existing: FileMeta | undefined): Planned {
    const operation = CREATE_OPERATIONS[filetype as keyof typeof CREATE_OPERATIONS]
    return new Planned(operation, existing?.fid, existing ? { on_conflict: this.options.rule } : change)
  }

  /** Creates or replaces the destination file. */
  private async createCopy(
    file: FileMeta,
    folder: string,
    path: string,
    existing: FileMeta | undefined,
  ): Promise<FileMeta> {
    const isReplacement = existing !== undefined
    const destination = {
      filename: file.filename,
      parent_path: folder === '' ? undefined : folder,
      world_readable: this.options.isPublic,
    }
    switch (file.filetype) {
      case 'fold':
        return (
          await this.target.call('folders.create', { json: { path, world_readable: this.options.isPublic } })
        ).file
      case 'grid': {
        const copy = isReplacement
          ? await this.copyGridAsFile(file.fid, destination, 'replace')
          : await this.copyGrid(file, destination)
        await this.copyRules(file.fid, copy)
        return copy
      }
      case 'plot':
        return this.copyPlot(file, { ...destination, on_conflict: isReplacement ? 'replace' : undefined })
      case 'dashboard':
        return this.copyBoard(file, destination, existing)
      default:
        throw new Problem('usage', `push does not copy a ${filetypeLabel(file.filetype)}: ${path}`)
    }
  }

  /** Maps column uids of a grid to uids of its copy, by column name. */
  private async mapUids(from: string, to: string): Promise<ReadonlyMap<string, string>> {
    const { cols } = await this.source.call('grids.get', { fid: from })
    const { cols: targetColumns } = await this.target.call('grids.get', { fid: to })
    const byName = new Map(targetColumns.map(({ name, uid }) => [name, uid]))
    return new Map(cols.map(({ name, uid }) => [uid, byName.get(name) ?? uid]))
  }

  /** Copies a grid with its column uids. Streams the content. */
  private async copyGrid({ fid, metadata }: FileMeta, destination: CopyDestination): Promise<FileMeta> {
    const content = (): Promise<AsyncIterable<Uint8Array>> =>
      this.source
        .response('grids.content', { fid, query: { format: 'json' } })
        .then((response) => response.bytes())
    const rest = JSON.stringify({ ...destination, metadata })
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${rest.slice(0, -1)},"data":`)
      yield* await content()
      yield Buffer.from('}')
    }
    try {
      const json = { type: 'application/json', repeatable: true, open: body }
      return (await this.target.call('grids.create', { body: json })).file
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'too_large') throw error
      this.options.warn(`${destination.filename}: too large to keep the column uids`)
      return this.copyGridAsFile(fid, destination, 'fail')
    }
  }

  /** Copies a grid as CSV or lines of JSON, in parts. Columns get new uids; replaced grids keep theirs, by name. */
  private async copyGridAsFile(
    fid: string,
    { filename, parent_path, world_readable }: CopyDestination,
    rule: 'fail' | 'replace',
  ): Promise<FileMeta> {
    const grid = await this.source.call('grids.get', { fid })
    const isCsv = await this.canBeCsv(grid)
    const format = isCsv ? 'csv' : 'ndjson'
    const source = this.source
    async function* rows(from: number): AsyncGenerator<Uint8Array> {
      const response = await source.response('grids.content', { fid, query: { format } })
      let skip = from
      for await (const chunk of response.bytes()) {
        const cut = Math.min(skip, chunk.length)
        skip -= cut
        if (cut < chunk.length) yield chunk.subarray(cut)
      }
    }
    const headers = {
      'Parent-Path': parent_path,
      'World-Readable': world_readable,
      'On-Conflict': rule,
      'Allow-Type-Change': rule === 'replace' || undefined,
      'Allow-Column-Loss': false,
      'Max-Shrink': MAX_SHRINK_PERCENT,
      ...(isCsv && exactCsvHeaders(grid.cols)),
    }
    const plainHeaders = { [FILE_NAME_HEADER]: encodeHeader(`${filename}.${format}`) }
    const send = (uploadHeaders: HeadersOf<'grids.upload'>): Promise<ResultOf<'grids.upload'>> =>
      uploadInParts(
        this.target,
        { size: undefined, open: rows },
        { headers: uploadHeaders, plainHeaders },
      ).catch(async (error) => {
        const acceptHeaders = error instanceof Problem ? acceptLossHeaders(error) : undefined
        if (!acceptHeaders) throw error
        await this.options.confirm(`${filename}: ${error.message}. Replace it?`)
        return send({ ...uploadHeaders, ...acceptHeaders })
      })
    return (await send(headers)).file
  }

  /** Returns whether the grid is the same after a way as CSV. Reads it. */
  private async canBeCsv(grid: GridMeta): Promise<boolean> {
    if (!fitsCsv(grid)) return false
    const response = await this.source.response('grids.content', { fid: grid.fid, query: { format: 'csv' } })
    try {
      for await (const _ of checkCsv(response.bytes(), grid.cols.length));
      return true
    } catch (error) {
      if (error instanceof InexactCsv) return false
      throw error
    }
  }

  /** Gives the copy of a grid its key and its checks. */
  private async copyRules(fid: string, copy: FileMeta): Promise<void> {
    const { primary_key: key } = await this.source.call('grids.get', { fid })
    if (key) {
      const before = await this.target.call('grids.get', { fid: copy.fid })
      if (before.primary_key?.join('\0') !== key.join('\0')) await setPrimaryKey(this.target, copy.fid, key)
    }
    const { checks } = await this.source.call('checks.get', { fid })
    if (checks !== null) await this.target.call('checks.set', { fid: copy.fid, json: { checks } })
  }

  /** Copies a plot; its references point to the copied grids. */
  private async copyPlot({ fid, filename }: FileMeta, destination: object): Promise<FileMeta> {
    const { references } = await this.source.call('files.get', { fid })
    this.assertCopied(references, filename)
    if (references.some((grid) => this.planned.has(grid)))
      throw new Planned('plots.create', undefined, destination)
    const uids = new Map<string, ReadonlyMap<string, string>>()
    for (const grid of references) {
      const moved = this.copied.get(grid)
      if (moved !== undefined) uids.set(grid, await this.mapUids(grid, moved))
    }
    const response = await this.source.response('plots.content', { fid, query: {} })
    const figure = (await response.text()).replace(
      /("\w+src"\s*:\s*")([^":]+:\d+):([^"]*)/g,
      (match, start: string, grid: string, columns: string) => {
        const moved = this.copied.get(grid)
        if (moved === undefined) return match
        const targetUids = columns.split(',').map((uid) => uids.get(grid)?.get(uid) ?? uid)
        return `${start}${moved}:${targetUids.join(',')}`
      },
    )
    const { file } = await this.target.call('plots.create', { body: createFigureBody(figure, destination) })
    return file
  }

  /** Copies a board; it shows the copies of its files. */
  private async copyBoard(
    { fid, filename }: FileMeta,
    destination: CopyDestination,
    existing: FileMeta | undefined,
  ): Promise<FileMeta> {
    const { content: original } = await this.source.call('dashboards.get', { fid })
    const shown = listBoardFiles(original)
    this.assertCopied(shown, filename)
    if (shown.some((one) => this.planned.has(one)))
      throw new Planned('dashboards.create', undefined, destination)
    const content = replaceBoardFiles(original, (one) => this.copied.get(one))
    if (!existing)
      return (await this.target.call('dashboards.create', { json: { ...destination, content } })).file
    return this.target.call('dashboards.update', { fid: existing.fid, json: { content } })
  }

  /** Throws `already_exists` if a file that `filename` shows could not be copied. */
  private assertCopied(shown: readonly string[], filename: string): void {
    const failed = shown.flatMap((fid) => this.failed.get(fid) ?? [])
    if (failed.length > 0)
      throw new Problem(
        'already_exists',
        `${filename}: not copied, because a file that it shows could not be copied: ${failed.join(', ')}`,
      )
  }
}
