// Makes derived grids, charts and boards of definition files. See docs/definitions.md.
import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Client, lookupOrUndefined, resolveVersion } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { Board, DashboardMeta, Derivation, FileMeta, GridMeta } from '../../contract/resources/index.ts'
import { splitVersion } from '../../contract/version-ref.ts'
import { parseChartFile } from '../charts/chart-file.ts'
import { assertChart, createThemedChart } from '../charts/charts.ts'
import { createFigureBody } from '../charts/create.ts'
import type { Context } from '../core/context.ts'
import { notePrivateItems, resolveBoard } from '../files/board-file.ts'
import {
  DEFINITION_KEY,
  DEFINITION_KINDS,
  type Definition,
  definedTypeOf,
  definitionKindOf,
  definitionPathOf,
  parseMarker,
  removeComments,
  removeDefinitionExtension,
} from '../files/definitions.ts'
import type { Failure } from '../output/failure.ts'
import { resolveDestination, resolveDestinationHeaders } from './destination.ts'
import type { LocalFile } from './expand.ts'
import { storedPathOf } from './mirror.ts'

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
  /** Why it is changed, if its file is not. */
  reason?: string
}

/** Effect that a definition would have. */
export type WouldMake = 'create' | 'replace' | 'nothing'

/**
 * Returns definitions in the order in which they are made: queries after those whose grids they name, then charts, then
 * boards.
 */
export function sortDefinitions<F extends DefinitionFile>(files: readonly F[]): F[] {
  const queries = files.filter(({ definition }) => definition.kind === 'query')
  const sorted: F[] = []
  const seen = new Set<F>()
  const visit = (one: F): void => {
    if (seen.has(one)) return
    seen.add(one)
    for (const other of queries) if (namesTable(one.definition.text, other.definition.name)) visit(other)
    sorted.push(one)
  }
  for (const one of queries) visit(one)
  const rest = DEFINITION_KINDS.slice(1).flatMap((kind) =>
    files.filter(({ definition }) => definition.kind === kind),
  )
  return [...sorted, ...rest]
}

/** Returns whether a query has a name as a word: more often than it reads that table. `makeAll` corrects the order. */
function namesTable(sql: string, name: string): boolean {
  const words = removeComments(sql)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
  const wanted = name.toLowerCase().split(/[^\p{L}\p{N}_-]+/u)
  return words.some((_, k) => wanted.every((word, n) => words[k + n] === word))
}

/**
 * Makes definitions with `work`, in order. A query that read another grid than that of this upload, or found none, is
 * made again. Results and failures are in the order in which they were made.
 */
export async function makeAll<F extends DefinitionFile>(
  maker: DefinitionMaker,
  files: readonly F[],
  work: (file: F) => Promise<object[]>,
): Promise<{ items: object[]; failures: Failure[] }> {
  const sorted = sortDefinitions(files)
  const outcomes = new Map<F, object[] | Problem>()
  const make = async (one: F): Promise<void> => {
    const outcome = await work(one).catch((error) => {
      if (error instanceof Problem && error.code !== 'interrupted') return error
      throw error
    })
    outcomes.set(one, outcome)
  }
  const queries = sorted.filter(({ definition }) => definition.kind === 'query')
  for (const one of queries) await make(one)
  const isWrong = (one: F): boolean => {
    const outcome = outcomes.get(one)
    return (outcome instanceof Problem && outcome.code === 'unknown_table') || maker.hasReadOther(one)
  }
  for (let wrong = queries.filter(isWrong), round = 0; wrong.length > 0 && round < queries.length; round++) {
    for (const one of wrong) await make(one)
    const isStuck = wrong.every((one) => outcomes.get(one) instanceof Problem)
    wrong = isStuck ? [] : queries.filter(isWrong)
  }
  for (const one of sorted) if (!outcomes.has(one)) await make(one)
  const failures: Failure[] = []
  const items: object[] = []
  for (const [{ file }, outcome] of outcomes)
    if (outcome instanceof Problem) failures.push({ subject: file, problem: outcome })
    else items.push(...outcome)
  return { items, failures }
}

/** A file that a dry run would create or change. */
interface PlannedFile {
  isNew: boolean
  /** Columns that a grid would have. */
  columns?: readonly { name: string; type: string }[]
}

/** A definition names a file that a dry run does not make. */
class NotMade extends Error {
  constructor(readonly planned: PlannedFile) {
    super('a file of the same upload')
  }
}

/** Makes definition files, one after the other. */
export class DefinitionMaker {
  /** Files of this upload, by their path in the directory. */
  private readonly made = new Map<string, Pick<FileMeta, 'fid' | 'filetype'>>()
  /** Tables of queries of this upload, with the grids that they read. */
  private readonly inputs = new Map<LocalFile, NonNullable<Derivation['inputs']>>()
  /** Whether this upload has changed a file: queries of before may mean others now. */
  private hasChanged = false
  /** Files that do not exist yet, or will change, by their path in the directory. */
  private readonly planned = new Map<string, PlannedFile>()

  constructor(
    private readonly context: Context,
    private readonly options: MakeOptions,
  ) {}

  /** Remembers a file of this upload: definitions find it by its name. */
  remember(local: LocalFile, { fid, filetype, action }: MadeAlready): void {
    this.made.set(storedPathOf(local), { fid, filetype })
    this.hasChanged ||= action !== 'unchanged'
  }

  /** Returns whether a query has read another grid than that of this upload with the name. */
  hasReadOther(local: DefinitionFile): boolean {
    return (this.inputs.get(local) ?? []).some(({ table, fid }) => {
      const own = this.findMade(local.folders, table, 'grid')
      return own !== undefined && own !== fid
    })
  }

  /** Finds a file of this upload by its name in a definition. SQL ignores the case of letters. */
  private findMade(folders: readonly string[], name: string, filetype: string): string | undefined {
    for (let depth = folders.length; depth >= 0; depth--) {
      const wanted = joinPath(folders.slice(0, depth), name).toLowerCase()
      for (const [path, file] of this.made)
        if (path.toLowerCase() === wanted && file.filetype === filetype) return file.fid
    }
    return undefined
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
    const isOwn = target && (await this.hasSameText(local, target))
    const file = await this.make(local)
    return { state: target ? 'changed' : 'new', file, ...(isOwn && { reason: 'shows other data' }) }
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
    this.planned.set(storedPathOf(local), planned)
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
    const isSame = await this.isUnchanged(local, target).catch((error) => {
      // With the same file, it follows its data.
      if (error instanceof NotMade)
        return target !== undefined && !error.planned.isNew && this.hasSameText(local, target)
      throw error
    })
    if (isSame) return { would: 'nothing', target }
    this.expect(local, { isNew: target === undefined })
    return { would: target ? 'replace' : 'create', target }
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
        const board = await resolveBoard(local.file, local.definition, this.finderOf(local))
        return target !== undefined && isDeepStrictEqual(await this.loadBoard(target), board) && isPublished
      }
    }
  }

  private async makeQuery(local: DefinitionFile): Promise<MadeFile> {
    const client = await this.context.client()
    const { draft, isReplacing } = this.options
    const { text: sql, name } = local.definition
    const existing = draft === undefined ? await this.findTarget(local) : undefined
    const state = existing && (await this.hasQuery(existing, local))
    const isPublished = existing?.world_readable === true || !this.options.public
    if (existing && state === 'current' && isPublished && !this.hasChanged)
      return toMade(existing, 'unchanged')
    if (existing && !isReplacing && state === undefined) throw takenProblem(local, name)
    const { file, action, derivation } = await client.call('grids.derive', {
      headers: { Draft: draft, 'Allow-Column-Loss': this.options.yes === true },
      json: {
        ...(await this.placeOf(local)),
        ...{ filename: name, sql, world_readable: this.options.public, on_conflict: 'replace' },
      },
    })
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
      throw takenProblem(local, local.definition.name)
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
    const fid = await this.finderOf(local)(gridName, 'grid').catch(async (error) => {
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
    const { name } = local.definition
    const board = await resolveBoard(local.file, local.definition, this.finderOf(local))
    const content = { version: 2, layout: null, settings: { board } }
    const existing = draft === undefined ? await this.findTarget(local) : undefined
    if (existing && existing.filetype !== 'dashboard')
      throw new Problem('already_exists', `${local.file}: ${name} exists, and is not a board`)
    const isPublished = existing?.world_readable === true || !this.options.public
    if (existing && isPublished && isDeepStrictEqual(await this.loadBoard(existing), board))
      return toMade(existing, 'unchanged')
    if (existing && !isReplacing) throw takenProblem(local, name)
    const fields = { content, ...(this.options.public && { world_readable: true }) }
    const metadata = this.metadataOf(local, existing)
    const file: DashboardMeta = existing
      ? await client.call('dashboards.update', {
          fid: existing.fid,
          json: { ...fields, ...(metadata && { metadata }) },
          ...(etag !== undefined && { plainHeaders: { 'if-match': etag } }),
        })
      : (
          await client.call('dashboards.create', {
            headers: { Draft: draft },
            json: { ...fields, ...(await this.placeOf(local)), filename: name, metadata },
          })
        ).file
    if (file.world_readable) await notePrivateItems(this.context, client, file.fid, name)
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

  /**
   * Returns a function that finds the file of a name in a definition: beside it, in the directories above it, and then
   * as in a command. Files of this upload come first.
   */
  private finderOf({ folders }: LocalFile) {
    return async (name: string, filetype: 'plot' | 'grid'): Promise<string> => {
      const fid = await this.findFile(name, filetype, folders)
      if (this.options.removed?.has(fid)) throw removedProblem(name)
      return fid
    }
  }

  private async findFile(
    name: string,
    filetype: 'plot' | 'grid',
    folders: readonly string[],
  ): Promise<string> {
    const client = await this.context.client()
    const isPath = !/^https?:\/\//i.test(name) && !parseFid(name)
    const names = [...new Set([name, removeExtension(name)])]
    const place = await resolveDestinationHeaders(client, this.options.folder, folders)
    const above = place['Parent-Path']?.split('/') ?? []
    for (let up = 0; isPath && up <= Math.max(above.length, folders.length); up++)
      for (const one of names) {
        const local = up <= folders.length && joinPath(folders.slice(0, folders.length - up), one)
        const planned = local ? this.planned.get(local) : undefined
        if (planned) throw new NotMade(planned)
        const made = local ? this.made.get(local) : undefined
        if (made?.filetype === filetype) return made.fid
        if (up > above.length || (up === above.length && place.Parent === undefined)) continue
        const stored = joinPath(above.slice(0, above.length - up), one)
        const found = await lookupOrUndefined(client, stored, place.Parent)
        if (found?.filetype === filetype) return found.fid
      }
    const split = isPath ? splitVersion(name) : undefined
    const { fid, version } = split
      ? { fid: await this.findFile(split.file, filetype, folders), version: split.version }
      : await resolveVersion(client, name, filetype)
    if (version === undefined) return fid
    throw new Problem('bad_data', `${name}: a version cannot be used here`, {
      hint: 'Charts and boards follow their grids. For a version, derive a grid: select * from "sales@3"',
    })
  }
}

/** Returns the name of what a file makes: `data/sales.csv` → `data/sales`, `totals.sql` → `totals`. */
function removeExtension(name: string): string {
  const at = name.lastIndexOf('/') + 1
  const isDefinition = definitionKindOf(name) !== undefined
  return name.slice(0, at) + (isDefinition ? removeDefinitionExtension(name) : gridNameOf(name))
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the directory of an upload: files that a definition names are in it. */
function rootOf({ file, folders }: LocalFile): string {
  return resolve(dirname(file), ...folders.slice(1).map(() => '..'))
}

function removedProblem(name: string): Problem {
  return new Problem('conflict', `${name} has no file in the directory any more`, {
    hint: 'It would be moved to the trash: change this file, too, or keep the other.',
  })
}

/** Joins a path to folders. `..` leads to the folder above. */
function joinPath(folders: readonly string[], path: string): string {
  const names = [...folders]
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/')
}

function toMade(file: FileMeta, action: MadeFile['action']): MadeFile {
  return { ...file, action, warnings: [] }
}

function takenProblem({ file }: LocalFile, name: string): Problem {
  return new Problem('already_exists', `${file}: a file named '${name}' already exists`, {
    hint: 'Replace what has changed with: --on-conflict replace',
  })
}

function inFile({ code, message, hint }: Problem, file: string): Problem {
  return new Problem(code, message.startsWith(file) ? message : `${file}: ${message}`, { hint })
}
