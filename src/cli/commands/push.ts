import { type Client, headerText, lookupIfThere, uploadInParts } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { figureBody } from '../charts/create.ts'
import { defineCommand } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import { array } from '../core/prints.ts'
import { confirm } from '../core/prompt.ts'
import { runEach } from '../files/batch.ts'
import { resolveTargets } from '../files/targets.ts'
import { type Found, filesBelow } from '../files/tree.ts'
import type { TableView } from '../output/view.ts'
import { acceptedLoss, MAX_SHRINK } from '../upload/send.ts'

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'fid', title: 'FID' },
    { field: 'web_url', title: 'LINK' },
    { field: 'action', title: 'ACTION' },
  ],
}

const rules = ['fail', 'skip', 'replace'] as const
type Rule = (typeof rules)[number]

export const command = defineCommand({
  prints: array([], {
    file: 'the path',
    from: 'the id here',
    fid: 'the id there',
    web_url: 'the link there',
    action: 'created, skipped, or unchanged for folders',
  }),
  writes: true,
  versions: true,
  arguments: '<file...>',
  options: [
    {
      flags: '--to <profile>',
      description: 'profile of the destination server; see: gridline profile list',
      completes: 'profile',
    },
    { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the copies public (readable by anyone)' },
    {
      flags: '--on-conflict <rule>',
      description:
        'if a name is taken: fail (default), skip to use the file that is there, or replace its content (keeps the id and link)',
      choices: rules,
    },
    { flags: '-y, --yes', description: 'replace grids without confirmation, even if columns are lost' },
  ],
  examples: [
    'gridline push sales --local --to work',
    'gridline push Reports --local --to work --on-conflict replace',
  ],
  async run(context, given, options) {
    if (options.to === undefined)
      throw new Problem('usage', 'no destination given', {
        hint: 'Use --to PROFILE; see: gridline profile list',
      })
    const { client: source, server: from } = await context.connect()
    const { client: target, server: to } = await context.connectTo(options.to)
    if (from === to)
      throw new Problem('usage', `both sides are ${to ?? 'this machine'}`, {
        hint: 'Name the source with --profile or --local.',
      })
    const { files, failures } = await resolveTargets(source, given)
    const found = await withGrids(
      source,
      await allBelow(
        source,
        files.map(({ fid }) => fid),
      ),
    )
    const base = (options.folder ?? '').split('/').filter((name) => name !== '')
    const push = new Push(source, target, base, options.public === true, options.onConflict ?? 'fail', {
      warn: (text) => context.messages.warning(text),
      confirm: (question) => confirm(question, options.yes === true || context.flags.dryRun === true),
    })
    // Grids before the plots that refer to them.
    const order = ['fold', 'grid', 'plot', 'extra']
    const sorted = [...found].sort((a, b) => order.indexOf(a.file.filetype) - order.indexOf(b.file.filetype))
    const items = sorted.map((one) => ({ ...one, of: [...one.folders, one.file.filename].join('/') }))
    target.several = true
    const done = await runEach(items, async (one) => ({ file: one.of, ...(await push.file(one)) }))
    const all = [...failures, ...done.failures]
    if (done.many.length === 0 && all.length === 1) throw all[0].problem
    return { many: done.many, view, failures: all }
  },
})

async function allBelow(client: Client, fids: readonly string[]): Promise<Found[]> {
  const found: Found[] = []
  for (const fid of fids) found.push(...(await filesBelow(client, await client.call('files.get', { fid }))))
  return found
}

/** Adds the grids of plots, next to their plots. */
async function withGrids(client: Client, found: readonly Found[]): Promise<Found[]> {
  const all = new Map(found.map((one) => [one.file.fid, one]))
  for (const { file, folders } of found) {
    if (file.filetype !== 'plot') continue
    const { references } = await client.call('files.get', { fid: file.fid })
    for (const fid of references) {
      if (all.has(fid)) continue
      const grid = await client.call('files.get', { fid })
      if (grid.filetype === 'grid') all.set(fid, { file: grid, folders })
    }
  }
  return [...all.values()]
}

interface Place {
  filename: string
  parent_path: string | undefined
  world_readable: boolean
}

/** Copies files from one server to another. */
class Push {
  /** The fid of each grid on the other server. */
  private readonly moved = new Map<string, string>()
  /** Grids that could not be copied, by fid. */
  private readonly failed = new Map<string, string>()
  /** Files on the other server that stand for one of this run. */
  private readonly made = new Set<string>()
  private renamed = 0

  constructor(
    private readonly source: Client,
    private readonly target: Client,
    private readonly base: readonly string[],
    private readonly isPublic: boolean,
    private readonly rule: Rule,
    private readonly user: {
      warn: (text: string) => void
      /** Asks. Throws if the answer is no, or nobody can be asked. */
      confirm: (question: string) => Promise<void>
    },
  ) {}

  async file({ file, folders }: Found): Promise<object> {
    const folder = [...this.base, ...folders].join('/')
    const path = [...this.base, ...folders, file.filename].join('/')
    const there = await lookupIfThere(this.target, path)
    // Another file of this run has that name: the grids of a plot can come from several folders.
    if (there && file.filetype !== 'fold' && this.made.has(there.fid))
      return this.file({ file: { ...file, filename: `${file.filename} (${++this.renamed})` }, folders })
    const isSame = there?.filetype === file.filetype
    if (there && !(isSame && (this.rule !== 'fail' || file.filetype === 'fold')))
      throw new Problem('already_exists', `a file named ${path} is there already`, {
        hint: 'Use --on-conflict skip or replace, or another --folder.',
      })
    const isKept = there !== undefined && (file.filetype === 'fold' || this.rule === 'skip')
    const made = isKept
      ? there
      : await this.make(file, folder, path, there).catch((error) => {
          if (error instanceof Planned) throw this.planned(error, file, there)
          this.failed.set(file.fid, path)
          throw error
        })
    this.made.add(made.fid)
    if (file.filetype === 'grid') this.moved.set(file.fid, made.fid)
    return {
      from: file.fid,
      fid: made.fid,
      web_url: made.web_url,
      action: !there ? 'created' : !isKept ? 'replaced' : file.filetype === 'fold' ? 'unchanged' : 'skipped',
    }
  }

  /** What would be done with a file, in terms of files. */
  private planned({ change }: Planned, { filetype }: FileMeta, there: FileMeta | undefined): Planned {
    const creates = { fold: 'folders.create', grid: 'grids.create', plot: 'plots.create' } as const
    const operation = creates[filetype as keyof typeof creates]
    return new Planned(operation, there?.fid, there ? { on_conflict: this.rule } : change)
  }

  private async make(
    file: FileMeta,
    folder: string,
    path: string,
    there: FileMeta | undefined,
  ): Promise<FileMeta> {
    const replaces = there !== undefined
    const place = {
      filename: file.filename,
      parent_path: folder === '' ? undefined : folder,
      world_readable: this.isPublic,
    }
    switch (file.filetype) {
      case 'fold':
        return (await this.target.call('folders.create', { json: { path, world_readable: this.isPublic } }))
          .file
      case 'grid':
        return replaces ? this.asCsv(file.fid, place, 'replace') : this.grid(file, place)
      case 'plot':
        return this.plot(file, { ...place, on_conflict: replaces ? 'replace' : undefined })
      default:
        throw new Problem('usage', `${path} is an extra; extras are not copied`)
    }
  }

  /** The uid that each column of a grid has on the other server: by the names of columns. */
  private async uids(from: string, to: string): Promise<ReadonlyMap<string, string>> {
    const { cols } = await this.source.call('grids.get', { fid: from })
    const { cols: others } = await this.target.call('grids.get', { fid: to })
    const byName = new Map(others.map(({ name, uid }) => [name, uid]))
    return new Map(cols.map(({ name, uid }) => [uid, byName.get(name) ?? uid]))
  }

  /** A grid with the uids of its columns. Its content is passed on as it arrives. */
  private async grid({ fid, metadata }: FileMeta, place: Place): Promise<FileMeta> {
    const content = (): Promise<AsyncIterable<Uint8Array>> =>
      this.source
        .response('grids.content', { fid, query: { format: 'json' } })
        .then((response) => response.bytes())
    const rest = JSON.stringify({ ...place, metadata })
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${rest.slice(0, -1)},"data":`)
      yield* await content()
      yield Buffer.from('}')
    }
    try {
      const json = { type: 'application/json', repeatable: true, open: body }
      return (await this.target.call('grids.create', { body: json })).file as FileMeta
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'too_large') throw error
      this.user.warn(`${place.filename}: copied as CSV, because it is large: its columns have new uids`)
      return this.asCsv(fid, place, 'fail')
    }
  }

  /** A grid as CSV, in parts. New columns get new uids; those of a grid that is replaced keep theirs, by name. */
  private async asCsv(
    fid: string,
    { filename, parent_path, world_readable }: Place,
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
    const mixed = cols.find(({ type }) => types[type] === undefined)
    if (mixed)
      throw new Problem(
        rule === 'replace' ? 'bad_data' : 'too_large',
        `${filename}: column ${mixed.name} has mixed values, which CSV does not keep`,
        { hint: 'Move the copy to the trash, then push again.' },
      )
    const columns = Object.fromEntries(cols.map(({ name, type }) => [name, types[type]]))
    const source = this.source
    async function* rows(from: number): AsyncGenerator<Uint8Array> {
      const response = await source.response('grids.content', { fid, query: { format: 'csv' } })
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
      'Max-Shrink': MAX_SHRINK as number | undefined,
      Header: true,
      Columns: encodeURIComponent(JSON.stringify(columns)),
    }
    const send = (given: typeof headers) =>
      uploadInParts(this.target, { size: undefined, open: rows }, given, {
        [FILE_NAME_HEADER]: headerText(`${filename}.csv`),
      })
    const sendAsked = async (given: typeof headers): Promise<Awaited<ReturnType<typeof send>>> =>
      send(given).catch(async (error) => {
        const accepted = error instanceof Problem ? acceptedLoss(error) : undefined
        if (!accepted) throw error
        await this.user.confirm(`${filename}: ${error.message}. Replace it?`)
        return sendAsked({ ...given, ...accepted } as typeof headers)
      })
    const made = await sendAsked(headers)
    return made.file as FileMeta
  }

  /** A plot, whose references lead to the grids on the other server. */
  private async plot({ fid, filename }: FileMeta, place: object): Promise<FileMeta> {
    const { references } = await this.source.call('files.get', { fid })
    const lost = references.flatMap((grid) => this.failed.get(grid) ?? [])
    if (lost.length > 0)
      throw new Problem(
        'already_exists',
        `${filename}: not copied, because its grid was not: ${lost.join(', ')}`,
      )
    const uids = new Map<string, ReadonlyMap<string, string>>()
    for (const grid of references) {
      const moved = this.moved.get(grid)
      if (moved !== undefined) uids.set(grid, await this.uids(grid, moved))
    }
    const response = await this.source.response('plots.content', { fid, query: {} })
    const figure = (await response.text()).replace(
      /("\w+src"\s*:\s*")([^":]+:\d+):([^"]*)/g,
      (found, start: string, grid: string, columns: string) => {
        const moved = this.moved.get(grid)
        if (moved === undefined) return found
        const there = columns.split(',').map((uid) => uids.get(grid)?.get(uid) ?? uid)
        return `${start}${moved}:${there.join(',')}`
      },
    )
    const { file } = await this.target.call('plots.create', { body: figureBody(figure, place) })
    return file
  }
}
