// Makes derived grids, charts and boards of definition files. See docs/definitions.md.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import type { Board, DashboardMeta, Derivation, FileMeta, GridMeta } from '../../contract/resources/index.ts'
import { parseChartFile } from '../charts/chart-file.ts'
import { assertChart, createThemedChart } from '../charts/charts.ts'
import { createFigureBody } from '../charts/create.ts'
import { loadFigure } from '../charts/update-figure.ts'
import type { Context } from '../core/context.ts'
import { notePrivateItems, resolveBoard } from '../files/board-file.ts'
import {
  DEFINITION_KEY,
  type Definition,
  definedTypeOf,
  definitionPathOf,
  parseMarker,
  readDefinition,
} from '../files/definitions.ts'
import { DefinitionNames, NotMade, type PlannedFile, removedProblem } from './definition-names.ts'
import { describeBoardChange, describeChartChange } from './describe-change.ts'
import { resolveDestination, resolveDestinationHeaders } from './destination.ts'
import type { LocalFile } from './expand.ts'

/** A definition file to make. */
export type DefinitionFile = LocalFile & { definition: Definition }

export interface MakeOptions {
  /** Destination folder, as path or id. */
  folder?: string
  public?: boolean
  /** Whether files of these names are replaced. */
  isReplacing: boolean
  /** Ids of files that the upload moves to the trash: definitions cannot name them. */
  removed?: ReadonlySet<string>
  /** Replaces grids also if they lose columns. */
  yes?: boolean
  /** Name of the draft to make. */
  draft?: string
}

/** Result of a definition. */
export type MadeFile = FileMeta & {
  action: 'created' | 'replaced' | 'unchanged' | 'drafted'
  warnings: readonly string[]
}

/** A file of an upload, with what was done with it. */
interface MadeAlready extends Pick<FileMeta, 'fid' | 'filetype'> {
  action?: string
}

/** A definition, compared with what exists: the draft, or the file that it does not change. */
export interface DraftedFile {
  state: 'new' | 'changed' | 'unchanged'
  file: FileMeta
  /** How it differs, or why although its file does not. */
  reason?: string
}

/** Effect that a definition would have. */
export type WouldMake = 'create' | 'replace' | 'nothing'

/** Makes definition files, one after the other. */
export class DefinitionMaker {
  private readonly names: DefinitionNames
  /** Tables of queries of this upload, with the grids that they read. */
  private readonly inputs = new Map<LocalFile, NonNullable<Derivation['inputs']>>()
  /** Whether this upload has changed a file: queries of before may mean others now. */
  private hasChanged = false
  /** Files that do not exist yet, or will change, by their path in the directory. */
  private readonly planned = new Map<string, PlannedFile>()

  constructor(
    private readonly context: Context,
    private readonly options: MakeOptions,
  ) {
    this.names = new DefinitionNames(context, options)
  }

  /** Remembers a file of this upload: definitions find it by its name. */
  remember(local: LocalFile, { fid, filetype, action }: MadeAlready): void {
    this.names.add(local, { fid, filetype })
    this.hasChanged ||= action !== 'unchanged'
  }

  /** Returns whether a query has read another grid than that of this upload with the name. */
  hasReadOther(local: DefinitionFile): boolean {
    return (this.inputs.get(local) ?? []).some(({ table, fid }) => {
      const own = this.names.findMade(local.folders, table, 'grid')
      return own !== undefined && own !== fid
    })
  }

  /**
   * Makes the draft of a definition if it differs from what exists. `changed`: ids of files with drafts; a board that
   * shows one of them gets a draft, too.
   */
  async makeDraft(local: DefinitionFile, changed: ReadonlySet<string>): Promise<DraftedFile> {
    const target = await this.findTarget(local)
    const { kind } = local.definition
    // Only its result tells whether a query differs.
    const isSame = kind !== 'query' && (await this.isSameAs(local, target, changed))
    if (target && isSame) {
      this.remember(local, { ...target, action: 'unchanged' })
      return { state: 'unchanged', file: target }
    }
    if (!target) return { state: 'new', file: await this.make(local) }
    const isOwn = await this.hasSameText(local, target)
    const file = await this.make(local)
    const reason = isOwn ? 'shows other data' : await this.describeChange(kind, target, file)
    return { state: 'changed', file, ...(reason && { reason }) }
  }

  /** Says how the draft of a chart or board differs; undefined for a query, whose rows are compared. */
  private async describeChange(
    kind: Definition['kind'],
    target: FileMeta,
    draft: FileMeta,
  ): Promise<string | undefined> {
    if (kind === 'query') return undefined
    if (kind === 'board') {
      const [before, after] = [await this.loadBoard(target), await this.loadBoard(draft)]
      return before && after && describeBoardChange(before, after)
    }
    const client = await this.context.client()
    const { figure: before } = await loadFigure(client, target.fid)
    const { figure: after } = await loadFigure(client, draft.fid)
    return describeChartChange(before, after)
  }

  private async isSameAs(
    local: DefinitionFile,
    target: FileMeta | undefined,
    changed: ReadonlySet<string>,
  ): Promise<boolean> {
    const isSame = await this.isUnchanged(local, target).catch((error) => {
      // A chart can show a column that only the draft of its grid has.
      if (error instanceof Problem && error.status === 400 && local.definition.kind === 'chart') return false
      throw error
    })
    if (!isSame || local.definition.kind === 'chart') return isSame
    const client = await this.context.client()
    const board = await this.loadBoard(target!)
    for (const { plot, table, number } of (board?.rows ?? []).flatMap(({ items }) => items)) {
      const fid = plot ?? table ?? number
      if (fid === undefined) continue
      if (changed.has(fid)) return false
      const file =
        plot === undefined ? undefined : await undefinedIfNotFound(client.call('files.get', { fid }))
      if (file?.references.some((grid) => changed.has(grid))) return false
    }
    return true
  }

  /** Says that a dry run would create or change a file. */
  expect(local: LocalFile, planned: PlannedFile): void {
    this.names.expect(local, planned)
  }

  /** Makes a definition. `etag`: required state of the file. Throws `already_exists` unless files are replaced. */
  async make(local: DefinitionFile, etag?: string): Promise<MadeFile> {
    const made = await this.makeOne(local, etag)
    this.remember(local, made)
    for (const warning of made.warnings) this.context.messages.warning(warning, local.file)
    return made
  }

  private makeOne(local: DefinitionFile, etag: string | undefined): Promise<MadeFile> {
    switch (local.definition.kind) {
      case 'query':
        return this.makeQuery(local)
      case 'chart':
        return this.makeChart(local, etag)
      case 'board':
        return this.makeBoard(local, etag)
    }
  }

  /**
   * Returns what `make` would do, without changes. Throws its errors, as far as they do not depend on what is not made
   * yet.
   */
  async preview(local: DefinitionFile): Promise<{ would: WouldMake; target: FileMeta | undefined }> {
    const target = await this.findTarget(local)
    try {
      if (await this.isUnchanged(local, target)) return { would: 'nothing', target }
      await this.tryMake(local, target)
    } catch (error) {
      if (!(error instanceof NotMade)) throw error
      // With the same file, it follows its data.
      const isSame = target !== undefined && !error.planned.isNew && (await this.hasSameText(local, target))
      if (isSame) return { would: 'nothing', target }
    }
    this.expect(local, { isNew: target === undefined })
    return { would: target ? 'replace' : 'create', target }
  }

  /** Lets the service try what a dry run can know: boards, and queries if no grid of this upload changes before. */
  private async tryMake(local: DefinitionFile, target: FileMeta | undefined): Promise<void> {
    const client = await this.context.client()
    const { kind } = local.definition
    const work = async (): Promise<unknown> => {
      if (kind === 'query' && !this.names.hasPlanned)
        return client.tryCall('grids.derive', await this.queryRequestOf(local))
      if (kind !== 'board') return undefined
      const json = await this.boardRequestOf(local, target)
      return target
        ? client.tryCall('dashboards.update', { fid: target.fid, json })
        : client.tryCall('dashboards.create', { json })
    }
    await work().catch((error) => {
      throw error instanceof Problem ? inFile(error, local.file) : error
    })
  }

  private async queryRequestOf(local: DefinitionFile) {
    const { draft, yes, public: isPublic } = this.options
    const { text: sql, name: filename } = local.definition
    const json = { ...(await this.placeOf(local)), filename, sql, world_readable: isPublic }
    return {
      headers: { Draft: draft, 'Allow-Column-Loss': yes === true },
      json: { ...json, on_conflict: 'replace' as const },
    }
  }

  /** Returns the fields of a board; of a new one also its name and place. */
  private async boardRequestOf(local: DefinitionFile, existing: FileMeta | undefined) {
    const board = await resolveBoard(local.file, local.definition, this.names.finderOf(local))
    const metadata = this.metadataOf(local, existing)
    return {
      content: { version: 2, layout: null, settings: { board } },
      ...(this.options.public && { world_readable: true }),
      ...(metadata && { metadata }),
      ...(!existing && { ...(await this.placeOf(local)), filename: local.definition.name }),
    }
  }

  /** Returns whether a file was made from the same text. */
  private async hasSameText({ definition }: DefinitionFile, target: FileMeta): Promise<boolean> {
    if (definition.kind === 'board') return (await this.loadBoard(target))?.source === definition.text
    return parseMarker(target)?.sha256 === sha256Of(definition.text)
  }

  /** Returns whether a definition would make the file that exists. Throws what is wrong with it, and `NotMade`. */
  private async isUnchanged(local: DefinitionFile, target: FileMeta | undefined): Promise<boolean> {
    const client = await this.context.client()
    const isPublished = target?.world_readable === true || !this.options.public
    switch (local.definition.kind) {
      case 'query':
        return target !== undefined && (await this.hasQuery(target, local)) !== undefined && isPublished
      case 'chart': {
        const { body } = await this.compile(local, target)
        return target !== undefined && (await client.tryCall('plots.create', { body })).action === 'unchanged'
      }
      case 'board': {
        const board = await resolveBoard(local.file, local.definition, this.names.finderOf(local))
        return target !== undefined && isDeepStrictEqual(await this.loadBoard(target), board) && isPublished
      }
    }
  }

  private async makeQuery(local: DefinitionFile): Promise<MadeFile> {
    const client = await this.context.client()
    const { draft, isReplacing } = this.options
    const existing = draft === undefined ? await this.findTarget(local) : undefined
    const state = existing && (await this.hasQuery(existing, local))
    const isPublished = existing?.world_readable === true || !this.options.public
    if (existing && state === 'current' && isPublished && !this.hasChanged)
      return toMade(existing, 'unchanged')
    if (existing && !isReplacing && state === undefined) throw takenProblem(local)
    const request = await this.queryRequestOf(local)
    const { file, action, derivation } = await client.call('grids.derive', request)
    if (derivation) {
      this.inputs.set(local, derivation.inputs ?? [])
      this.refuseRemoved(local, derivation)
    }
    if (!existing || isPublished) return toMade(file, action)
    return toMade(
      await client.call('files.update', { fid: file.fid, json: { world_readable: true } }),
      action,
    )
  }

  /** Returns the state of a derived grid that has the query of a definition; undefined for another grid or query. */
  private async hasQuery(grid: FileMeta, local: DefinitionFile): Promise<string | undefined> {
    if (grid.filetype !== 'grid') return undefined
    const client = await this.context.client()
    const derivation = await client.call('derivations.get', { fid: grid.fid }).catch((error) => {
      if (error instanceof Problem && error.code === 'invalid_request') return undefined
      throw error
    })
    if (derivation?.sql !== local.definition.text) return undefined
    this.refuseRemoved(local, derivation)
    return derivation.state
  }

  /** Throws `conflict` if a query reads a grid that this upload moves to the trash. */
  private refuseRemoved({ file }: LocalFile, { inputs = [] }: Pick<Derivation, 'inputs'>): void {
    const removed = inputs.find(({ fid }) => this.options.removed?.has(fid))
    if (removed) throw inFile(removedProblem(removed.table), file)
  }

  private async makeChart(local: DefinitionFile, etag: string | undefined): Promise<MadeFile> {
    const client = await this.context.client()
    const { draft, isReplacing } = this.options
    const existing = draft === undefined ? await this.findTarget(local) : undefined
    const { body } = await this.compile(local, existing)
    if (existing && !isReplacing) {
      if (existing.filetype === 'plot' && (await this.isUnchanged(local, existing)))
        return toMade(existing, 'unchanged')
      throw takenProblem(local)
    }
    const { file, action, warnings } = await client.call('plots.create', {
      headers: { Draft: draft },
      ...(existing && etag !== undefined && { plainHeaders: { 'if-match': etag } }),
      body,
    })
    return { ...file, action: draft === undefined ? (action ?? 'created') : 'drafted', warnings }
  }

  /** Compiles the figure of a chart, and returns it as the body of a request. */
  private async compile(local: DefinitionFile, existing: FileMeta | undefined) {
    const { file, definition } = local
    const { grid: gridName, type, options } = parseChartFile(file, definition.document!, rootOf(local))
    const client = await this.context.client()
    const fid = await this.names
      .finderOf(local)(gridName, 'grid')
      .catch(async (error) => {
        if (error instanceof NotMade && error.planned.columns)
          await assertChart(gridName, error.planned.columns, type, options).catch((fault) => {
            throw fault instanceof Problem ? inFile(fault, file) : fault
          })
        throw error instanceof Problem ? inFile(error, file) : error
      })
    const { reader, grid } = await this.openGrid(client, fid)
    const { figure } = await createThemedChart(reader, grid, type, options, () => {}).catch((error) => {
      throw error instanceof Problem ? inFile(error, file) : error
    })
    const metadata = this.metadataOf(local, existing)
    const fields = {
      ...(await this.placeOf(local)),
      ...{ filename: definition.name, world_readable: this.options.public === true, on_conflict: 'replace' },
      ...(metadata && { metadata }),
    }
    return { body: createFigureBody(JSON.stringify(figure), fields) }
  }

  /** Returns a grid, and a client that reads it: with a draft, as in the draft. */
  private async openGrid(client: Client, fid: string): Promise<{ reader: Client; grid: GridMeta }> {
    const { draft } = this.options
    const drafted =
      draft === undefined
        ? undefined
        : await undefinedIfNotFound(client.call('grids.get', { fid, version: draft }))
    if (!drafted) return { reader: client, grid: await client.call('grids.get', { fid }) }
    const reader: Client = Object.create(client)
    reader.call = (name, options) => client.call(name, { ...options, version: draft })
    reader.response = (name, options) => client.response(name, { ...options, version: draft })
    return { reader, grid: drafted }
  }

  private async makeBoard(local: DefinitionFile, etag: string | undefined): Promise<MadeFile> {
    const client = await this.context.client()
    const { draft, isReplacing } = this.options
    const existing = draft === undefined ? await this.findTarget(local) : undefined
    const json = await this.boardRequestOf(local, existing)
    const { board } = json.content.settings
    const isPublished = existing?.world_readable === true || !this.options.public
    if (existing && isPublished && isDeepStrictEqual(await this.loadBoard(existing), board))
      return toMade(existing, 'unchanged')
    if (existing && !isReplacing) throw takenProblem(local)
    const file: DashboardMeta = existing
      ? await client.call('dashboards.update', {
          fid: existing.fid,
          json,
          ...(etag !== undefined && { plainHeaders: { 'if-match': etag } }),
        })
      : (await client.call('dashboards.create', { headers: { Draft: draft }, json })).file
    if (file.world_readable) await notePrivateItems(this.context, client, file.fid, local.definition.name)
    const { content: _, ...meta } = file
    return toMade(meta, draft !== undefined ? 'drafted' : existing ? 'replaced' : 'created')
  }

  /** Loads what a board was made from. */
  private async loadBoard({ fid }: FileMeta): Promise<Board | undefined> {
    const client = await this.context.client()
    const { content } = await client.call('dashboards.get', { fid })
    return (JSON.parse(content) as { settings?: { board?: Board } }).settings?.board
  }

  /** Metadata which say that a file is made from a definition; undefined if the existing file has them. */
  private metadataOf(
    local: DefinitionFile,
    existing: FileMeta | undefined,
  ): Record<string, unknown> | undefined {
    const { name, text } = local.definition
    const marker = { path: definitionPathOf(local), name, sha256: sha256Of(text) }
    if (isDeepStrictEqual(existing?.metadata[DEFINITION_KEY], marker)) return undefined
    return { ...existing?.metadata, [DEFINITION_KEY]: marker }
  }

  /** Returns the existing file with the name of a definition. Throws `already_exists` for one of another type. */
  private async findTarget(local: DefinitionFile): Promise<FileMeta | undefined> {
    const { path, parent } = await resolveDestination(await this.context.client(), this.options, local)
    const file = await lookupOrUndefined(await this.context.client(), path, parent)
    const filetype = definedTypeOf(local.definition.kind)
    if (file && file.filetype !== filetype)
      throw new Problem('already_exists', `${local.file}: ${path} exists, and is not a ${filetype}`, {
        hint: 'Rename one of them.',
      })
    return file
  }

  private async placeOf({ folders }: LocalFile): Promise<{ parent?: number; parent_path?: string }> {
    const client = await this.context.client()
    const place = await resolveDestinationHeaders(client, this.options.folder, folders)
    return { parent: place.Parent, parent_path: place['Parent-Path'] }
  }
}

/** Lists the files that a chart file names: a theme, regions. */
export async function listChartFiles(local: LocalFile): Promise<string[]> {
  const { document } = await readDefinition(local.file, 'chart')
  const { options } = parseChartFile(local.file, document!, rootOf(local))
  return [options.theme, options.geojson].flatMap((file) =>
    file !== undefined && existsSync(file) ? [file] : [],
  )
}

function toMade(file: FileMeta, action: MadeFile['action']): MadeFile {
  return { ...file, action, warnings: [] }
}

function takenProblem({ file, definition: { name } }: DefinitionFile): Problem {
  return new Problem('already_exists', `${file}: a file named '${name}' already exists`, {
    hint: 'Replace what has changed with: --on-conflict replace',
  })
}

function inFile({ code, message, hint }: Problem, file: string): Problem {
  return new Problem(code, message.startsWith(file) ? message : `${file}: ${message}`, { hint })
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the directory of an upload: files that a definition names are in it. */
function rootOf({ file, folders }: LocalFile): string {
  return resolve(dirname(file), ...folders.slice(1).map(() => '..'))
}
