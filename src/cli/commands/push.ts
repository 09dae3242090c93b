// `gridline push`: copies files, and the grids of plots, to another server.
import { type Client, encodeHeader, lookupOrUndefined, uploadInParts } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import { type FileMeta, filetypeLabel } from '../../contract/resources/index.ts'
import { createFigureBody } from '../charts/create.ts'
import { defineCommand } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import { arrayOf } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import { runEach } from '../files/batch.ts'
import { listTree, type TreeEntry } from '../files/list-tree.ts'
import { resolveTargets } from '../files/targets.ts'
import type { TableView } from '../output/view.ts'
import { acceptLossHeaders, MAX_SHRINK_PERCENT } from '../upload/send.ts'

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'fid', title: 'FID' },
    { field: 'web_url', title: 'LINK' },
    { field: 'action', title: 'ACTION' },
  ],
}

const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const

export const command = defineCommand({
  output: arrayOf([], {
    file: 'path of the file',
    from: 'id on the source server',
    fid: 'id on the destination server',
    web_url: 'link on the destination server',
    action: 'created, replaced or skipped; unchanged for folders',
  }),
  writes: true,
  createsVersions: true,
  arguments: '<file...>',
  options: [
    {
      flags: '--to <profile>',
      description: 'profile of the destination server; see: gridline profile list',
      completion: 'profile',
    },
    { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the copies public (readable by anyone)' },
    {
      flags: '--on-conflict <rule>',
      description:
        'if a name is taken: fail (default), skip (use the existing file), or replace its content (keeps id and link)',
      choices: CONFLICT_RULES,
    },
    { flags: '-y, --yes', description: 'replace grids without confirmation, even if columns are lost' },
  ],
  examples: [
    'gridline push sales --local --to work',
    'gridline push Reports --local --to work --on-conflict replace',
  ],
  async run(context, names, options) {
    if (options.to === undefined)
      throw new Problem('usage', '--to is missing', {
        hint: 'Use --to PROFILE; see: gridline profile list',
      })
    const { client: source, server: from } = await context.connect()
    const { client: target, server: to } = await context.connectTo(options.to)
    if (from === to)
      throw new Problem('usage', `source and destination are the same: ${to ?? 'this machine'}`, {
        hint: 'Name the source with --profile or --local.',
      })
    const { files, failures } = await resolveTargets(source, names)
    const entries = await addGridsOfPlots(
      source,
      await listWithDescendants(
        source,
        files.map(({ fid }) => fid),
      ),
    )
    const base = (options.folder ?? '').split('/').filter((name) => name !== '')
    const push = new Push(source, target, {
      base,
      isPublic: options.public === true,
      rule: options.onConflict ?? 'fail',
      warn: (text) => context.messages.warning(text),
      confirm: (question) => confirm(question, options.yes === true || context.flags.dryRun === true),
    })
    // Grids before plots that reference them.
    const order = ['fold', 'grid', 'plot', 'dashboard', 'extra']
    const sorted = [...entries].sort(
      (a, b) => order.indexOf(a.file.filetype) - order.indexOf(b.file.filetype),
    )
    const items = sorted.map((entry) => ({
      ...entry,
      subject: [...entry.folders, entry.file.filename].join('/'),
    }))
    target.isMultiple = true
    const result = await runEach(items, async (entry) => ({
      file: entry.subject,
      ...(await push.copyFile(entry)),
    }))
    const allFailures = [...failures, ...result.failures]
    if (result.items.length === 0 && allFailures.length === 1) throw allFailures[0].problem
    return { items: result.items, view, failures: allFailures }
  },
})

/** Lists files and everything below folders. */
async function listWithDescendants(client: Client, fids: readonly string[]): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  for (const fid of fids) entries.push(...(await listTree(client, await client.call('files.get', { fid }))))
  return entries
}

/** Adds the grids of plots, in the folders of the plots. */
async function addGridsOfPlots(client: Client, entries: readonly TreeEntry[]): Promise<TreeEntry[]> {
  const entryByFid = new Map(entries.map((entry) => [entry.file.fid, entry]))
  for (const { file, folders } of entries) {
    if (file.filetype !== 'plot') continue
    const { references } = await client.call('files.get', { fid: file.fid })
    for (const fid of references) {
      if (entryByFid.has(fid)) continue
      const grid = await client.call('files.get', { fid })
      if (grid.filetype === 'grid') entryByFid.set(fid, { file: grid, folders })
    }
  }
  return [...entryByFid.values()]
}

/** Destination of a copy. */
interface CopyDestination {
  filename: string
  parent_path: string | undefined
  world_readable: boolean
}

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
class Push {
  /** New fid of each copied grid, by source fid. */
  private readonly copiedGrids = new Map<string, string>()
  /** Destination paths of grids that could not be copied, by source fid. */
  private readonly failedGrids = new Map<string, string>()
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
          if (error instanceof Planned) throw this.plannedFor(error, file, existing)
          this.failedGrids.set(file.fid, path)
          throw error
        })
    this.usedFids.add(copy.fid)
    if (file.filetype === 'grid') this.copiedGrids.set(file.fid, copy.fid)
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
    const creates = { fold: 'folders.create', grid: 'grids.create', plot: 'plots.create' } as const
    const operation = creates[filetype as keyof typeof creates]
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
      case 'grid':
        return isReplacement
          ? this.copyGridAsFile(file.fid, destination, 'replace')
          : this.copyGrid(file, destination)
      case 'plot':
        return this.copyPlot(file, { ...destination, on_conflict: isReplacement ? 'replace' : undefined })
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

  /**
   * Copies a grid as CSV, or one with mixed types as lines of JSON, in parts. Columns get new uids; replaced grids keep
   * theirs, by name.
   */
  private async copyGridAsFile(
    fid: string,
    { filename, parent_path, world_readable }: CopyDestination,
    rule: 'fail' | 'replace',
  ): Promise<FileMeta> {
    const { cols } = await this.source.call('grids.get', { fid })
    const types = {
      number: 'number',
      text: 'text',
      boolean: 'boolean',
      date: 'date',
      datetime: 'datetime',
      empty: 'text',
      json: undefined,
    } as const
    const format = cols.some(({ type }) => types[type] === undefined) ? 'ndjson' : 'csv'
    const columns = Object.fromEntries(cols.map(({ name, type }) => [name, types[type]]))
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
      Header: format === 'csv' || undefined,
      Columns: encodeURIComponent(JSON.stringify(columns)),
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

  /** Copies a plot; its references point to the copied grids. */
  private async copyPlot({ fid, filename }: FileMeta, destination: object): Promise<FileMeta> {
    const { references } = await this.source.call('files.get', { fid })
    const failedGrids = references.flatMap((grid) => this.failedGrids.get(grid) ?? [])
    if (failedGrids.length > 0)
      throw new Problem(
        'already_exists',
        `${filename}: not copied, because a grid could not be copied: ${failedGrids.join(', ')}`,
      )
    const uids = new Map<string, ReadonlyMap<string, string>>()
    for (const grid of references) {
      const moved = this.copiedGrids.get(grid)
      if (moved !== undefined) uids.set(grid, await this.mapUids(grid, moved))
    }
    const response = await this.source.response('plots.content', { fid, query: {} })
    const figure = (await response.text()).replace(
      /("\w+src"\s*:\s*")([^":]+:\d+):([^"]*)/g,
      (match, start: string, grid: string, columns: string) => {
        const moved = this.copiedGrids.get(grid)
        if (moved === undefined) return match
        const targetUids = columns.split(',').map((uid) => uids.get(grid)?.get(uid) ?? uid)
        return `${start}${moved}:${targetUids.join(',')}`
      },
    )
    const { file } = await this.target.call('plots.create', { body: createFigureBody(figure, destination) })
    return file
  }
}
