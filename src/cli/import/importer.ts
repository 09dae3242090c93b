// Imports figures and grids of documents: names them, joins figures with their grids, and creates files.
import { createHash } from 'node:crypto'
import { isObject } from '../../charts/figure/figure.ts'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { createFigureBody, createJsonBody } from '../charts/create.ts'
import { stringifyExact } from '../files/exact-json.ts'
import { hasData, listReferences, type Reference, replaceReferences } from '../files/references.ts'
import type { Document } from './documents.ts'
import type { Finding } from './finding.ts'
import { findInDocument } from './findings.ts'

/** A figure, grid or lost chart to import, without its content. */
export interface ImportItem {
  /** Document, for messages. */
  subject: string
  kind: Finding['kind']
  /** Path of the file to create. */
  path: string
  name: string
  folder: string
  old?: Fid
  /** SHA-256 of the content, by which a later run knows the file. */
  hash: string
  why?: string
  references: readonly Reference[]
  /** Uids of a grid. */
  uids: ReadonlySet<string>
  /** Reads the content again. */
  load(): Promise<Finding>
}

export interface ImportOptions {
  isPublic: boolean
  keepsIds: boolean
  isDryRun: boolean
  username: string
  /** Names of the signed-in user, here and on the former server. */
  formerNames: ReadonlySet<string>
}

/** A row of the output. */
export interface ImportRow {
  file: string
  kind: string
  action: string
  path: string
  fid: string | null
  web_url: string | null
  was: string | null
  note: string | null
}

/** Reads documents into items with distinct paths. */
export class ImportPlan {
  readonly items: ImportItem[] = []
  /** Number of items of each name, by path. */
  private readonly counts = new Map<string, number>()
  /** The document that was read last, and what it contains: its items follow each other. */
  private lastRead: { document: Document; findings: Promise<Finding[]> } | undefined

  constructor(private readonly base: readonly string[]) {}

  async add(document: Document): Promise<void> {
    const findings = await this.find(document)
    for (const [k, finding] of findings.entries()) {
      const { kind, old } = finding
      const folder = [...this.base, ...document.folders.map(toFileName)].join('/')
      const isFile = kind === 'plot' || kind === 'grid'
      const name = !isFile ? finding.name : this.takeName(folder, toFileName(finding.name))
      const content = kind === 'plot' ? finding.figure : kind === 'grid' ? finding.data : finding.why
      this.items.push({
        subject: document.path,
        kind,
        folder,
        name,
        path: folder === '' ? name : `${folder}/${name}`,
        old,
        hash: createHash('sha256').update(stringifyExact(content)).digest('hex'),
        why: isFile ? undefined : finding.why,
        references: kind === 'plot' ? listReferences(finding.figure) : [],
        uids: new Set(kind === 'grid' ? uidsOf(finding.data) : []),
        load: async () => (await this.find(document))[k],
      })
    }
  }

  private find(document: Document): Promise<Finding[]> {
    // Items that are imported at the same time share one reading.
    if (this.lastRead?.document !== document) this.lastRead = { document, findings: findInDocument(document) }
    return this.lastRead.findings
  }

  /** Returns a name that no other item of the folder has. */
  private takeName(folder: string, name: string): string {
    for (;;) {
      const count = (this.counts.get(`${folder}/${name}`) ?? 0) + 1
      this.counts.set(`${folder}/${name}`, count)
      if (count === 1) return name
      const unique = `${name} (${count})`
      if (!this.counts.has(`${folder}/${unique}`)) {
        this.counts.set(`${folder}/${unique}`, 1)
        return unique
      }
    }
  }
}

/** Maximum length of a file name, in characters. */
const MAX_NAME_CHARACTERS = 120

/** Returns a text as the name of a file. */
function toFileName(text: string): string {
  const name = text
    .replace(/[/\\]/g, '-')
    // Control characters.
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  const short = [...name].slice(0, MAX_NAME_CHARACTERS).join('').trim()
  return short === '' || short === '.' || short === '..' ? 'chart' : short.toWellFormed()
}

function uidsOf({ cols }: Record<string, unknown>): string[] {
  return Object.values(isObject(cols) ? cols : {}).flatMap((column) =>
    isObject(column) && typeof column.uid === 'string' ? [column.uid] : [],
  )
}

/** Metadata by which a later run knows an imported file: of its content, and of the references that were found. */
interface ImportMark {
  imported_sha256: string
  imported_references: number
}

/** References of a figure whose grid is known. */
interface Resolution {
  found: ReadonlyMap<Reference, string>
  notes: string[]
}

/** Creates the files of items: first grids, then the figures that refer to them. */
export class Importer {
  /** The new grid of each item. */
  private readonly gridByItem = new Map<ImportItem, string>()
  private readonly grids: readonly ImportItem[]
  /** Plots that were made empty, with their former numbers. */
  private readonly emptyPlots = new Map<ImportItem, CreatedFile>()
  private readonly takenNumbers = new Set<ImportItem>()

  constructor(
    private readonly client: Client,
    private readonly items: readonly ImportItem[],
    private readonly options: ImportOptions,
  ) {
    this.grids = items.filter(({ kind }) => kind === 'grid')
  }

  /**
   * Creates the plots that keep their numbers, still empty, and the grids that do, in ascending order: numbers can only
   * rise, and the data of a figure becomes a grid with the next number.
   */
  async takeNumbers(): Promise<void> {
    if (this.options.isDryRun) return
    const kept = this.items.filter((item) => this.keptIdOf(item) !== undefined)
    for (const item of kept.sort((a, b) => this.keptIdOf(a)! - this.keptIdOf(b)!)) {
      if (await lookupOrUndefined(this.client, item.path)) continue
      const idlocal = this.keptIdOf(item)
      try {
        if (item.kind === 'grid') this.gridByItem.set(item, (await this.createGrid(item, idlocal)).fid)
        else {
          const json = {
            ...this.fieldsOf(item, EMPTY_MARK),
            figure: { data: [], layout: {} } as never,
            idlocal,
          }
          this.emptyPlots.set(item, (await this.client.call('plots.create', { json })).file)
        }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        // Other errors come again when the item is imported.
        if (error.code === 'conflict' && error.field === 'idlocal') this.takenNumbers.add(item)
      }
    }
  }

  /** Imports one item. Returns an output row. */
  async importItem(item: ImportItem): Promise<ImportRow> {
    const { kind, path, why, hash } = item
    if (why !== undefined) return this.createRow(item, kind, undefined, [why])
    const resolution = this.resolve(item)
    const mark: ImportMark = { imported_sha256: hash, imported_references: resolution.found.size }
    const made = this.emptyPlots.get(item)
    const existing = made ? undefined : await lookupOrUndefined(this.client, path)
    const state = existing && compareMark(existing, kind, mark)
    if (existing && state === undefined)
      throw new Problem('already_exists', `a file named ${path} already exists`, {
        hint: 'Choose another --folder, or rename the file.',
      })
    if (existing && kind === 'grid') {
      const isNew = this.gridByItem.has(item)
      this.gridByItem.set(item, existing.fid)
      return this.createRow(item, isNew ? 'created' : 'unchanged', existing, this.notesOf(item))
    }
    if (existing && state === 'same') return this.createRow(item, 'unchanged', existing, resolution.notes)
    if (kind === 'grid') return this.importGrid(item)
    const content = await item.load()
    if (content.kind !== 'plot') throw new Problem('failed', `${item.subject} was changed meanwhile`)
    return this.importFigure(item, structuredClone(content.figure), resolution, mark, made ?? existing)
  }

  private async importGrid(item: ImportItem): Promise<ImportRow> {
    if (this.options.isDryRun) {
      // References of figures are known to be resolved.
      this.gridByItem.set(item, 'new:0')
      return this.createRow(item, 'would create', undefined, [
        ...this.notesOf(item),
        ...(await this.notesOnNumber(item)),
      ])
    }
    const file = await this.createGrid(item)
    this.gridByItem.set(item, file.fid)
    return this.createRow(item, 'created', file, this.notesOf(item))
  }

  private async createGrid(item: ImportItem, idlocal?: number): Promise<CreatedFile> {
    const content = await item.load()
    if (content.kind !== 'grid') throw new Problem('failed', `${item.subject} was changed meanwhile`)
    const mark = { imported_sha256: item.hash, imported_references: 0 }
    const body = createJsonBody(stringifyExact({ ...this.fieldsOf(item, mark), data: content.data, idlocal }))
    return (await this.client.call('grids.create', { body })).file
  }

  /** Creates a plot, or gives one that was made empty or incomplete its figure. */
  private async importFigure(
    item: ImportItem,
    figure: Record<string, unknown>,
    { found, notes }: Resolution,
    mark: ImportMark,
    made: CreatedFile | undefined,
  ): Promise<ImportRow> {
    const byKey = new Map([...found].map(([reference, fid]) => [keyOf(reference), fid]))
    const lost = replaceReferences(figure, (reference) => {
      const fid = byKey.get(keyOf(reference))
      return fid === undefined ? undefined : `${fid}:${reference.uids.join(',')}`
    })
    const missing = [...new Set(lost.map((reference) => this.describeMissing(reference, item)))].join('; ')
    if (!hasData(figure) && lost.length > 0) {
      // Only the number was kept.
      if (made && !this.options.isDryRun) await this.client.call('files.trash', { fid: made.fid })
      return this.createRow(item, 'lost', undefined, [missing])
    }
    const all = [...this.notesOf(item), ...notes, ...(lost.length > 0 ? [`incomplete: ${missing}`] : [])]
    if (this.options.isDryRun)
      return this.createRow(item, made ? 'would update' : 'would create', undefined, [
        ...all,
        ...(await this.notesOnNumber(item)),
      ])
    const text = stringifyExact(figure)
    if (made) {
      const body = createFigureBody(text, { metadata: mark })
      const file = await this.client.call('plots.update', { fid: made.fid, body })
      return this.createRow(item, this.emptyPlots.has(item) ? 'created' : 'updated', file, all)
    }
    const body = createFigureBody(text, this.fieldsOf(item, mark))
    const { file, warnings } = await this.client.call('plots.create', { body })
    return this.createRow(item, 'created', file, [...all, ...warnings])
  }

  private fieldsOf({ name, folder }: ImportItem, mark: ImportMark) {
    return {
      filename: name,
      parent_path: folder === '' ? undefined : folder,
      world_readable: this.options.isPublic,
      metadata: { ...mark },
    }
  }

  private notesOf(item: ImportItem): string[] {
    return this.takenNumbers.has(item) ? [`the number ${item.old?.idlocal} was taken`] : []
  }

  /** Says that the number an item would keep is taken. Numbers of deleted files are not known here. */
  private async notesOnNumber(item: ImportItem): Promise<string[]> {
    const idlocal = this.keptIdOf(item)
    if (idlocal === undefined) return []
    const fid = formatFid({ owner: this.options.username, idlocal })
    const file = await undefinedIfNotFound(this.client.call('files.get', { fid }))
    return file ? [`the number ${idlocal} is taken by ${file.filename}`] : []
  }

  /** Returns the number that an item keeps; undefined for the next one. */
  private keptIdOf({ why, old }: ImportItem): number | undefined {
    const { keepsIds, formerNames } = this.options
    if (!keepsIds || !old || why !== undefined) return undefined
    return old.owner === '' || formerNames.has(old.owner) ? old.idlocal : undefined
  }

  /** Finds the new grids of an item's references. */
  private resolve(item: ImportItem): Resolution {
    const found = new Map<Reference, string>()
    const notes = new Set<string>()
    for (const reference of item.references) {
      const grid = this.findGrid(reference, item)
      const fid = grid && this.gridByItem.get(grid)
      if (!grid || fid === undefined || !reference.uids.every((uid) => grid.uids.has(uid))) continue
      found.set(reference, fid)
      if (!isNumbered(grid, reference))
        notes.add(`grid ${reference.grid} was recognized by its columns: ${grid.path}`)
    }
    return { found, notes: [...notes] }
  }

  /** Returns the grid that a reference means: the one with its number, or the only one of unknown number with its uids. */
  private findGrid(reference: Reference, { references }: ImportItem): ImportItem | undefined {
    const numbered = this.grids.find((item) => isNumbered(item, reference))
    if (numbered) return numbered
    const uids = references.filter(({ grid }) => grid === reference.grid).flatMap((one) => one.uids)
    const candidates = this.grids.filter((item) => !item.old && uids.every((uid) => item.uids.has(uid)))
    return candidates.length === 1 ? candidates[0] : undefined
  }

  /** Says why the data of a reference is missing. */
  private describeMissing(reference: Reference, item: ImportItem): string {
    const grid = this.findGrid(reference, item)
    if (!grid) return `its data is in grid ${reference.grid}, which is not among the files`
    const uids = reference.uids.filter((uid) => !grid.uids.has(uid))
    return uids.length > 0
      ? `grid ${reference.grid} has no column ${uids.join(', ')}`
      : `grid ${reference.grid} was not imported`
  }

  private createRow(
    { subject, kind, path, old, name }: ImportItem,
    action: string,
    file?: CreatedFile,
    notes: readonly string[] = [],
  ): ImportRow {
    const was = old ? (old.owner === '' ? String(old.idlocal) : formatFid(old)) : null
    return {
      file: subject,
      kind: kind === 'lost' ? 'chart' : kind === 'skipped' ? 'file' : kind,
      action,
      path: action === 'lost' || action === 'skipped' ? name : path,
      fid: file?.fid ?? null,
      web_url: file?.web_url ?? null,
      was,
      note: notes.length > 0 ? notes.join('; ') : null,
    }
  }
}

type CreatedFile = Pick<FileMeta, 'fid' | 'web_url'>

/** The mark of a plot that was made only to keep its number. */
const EMPTY_MARK: ImportMark = { imported_sha256: '', imported_references: 0 }

function keyOf({ grid, uids }: Reference): string {
  return `${grid}:${uids.join(',')}`
}

/** Returns whether a grid has the number that a reference names. */
function isNumbered({ old }: ImportItem, reference: Reference): boolean {
  const fid = parseFid(reference.grid)
  return old !== undefined && fid?.idlocal === old.idlocal && (old.owner === '' || old.owner === fid.owner)
}

/**
 * Compares a file with what would be imported: `same`, `incomplete` if its figure has to be completed; undefined if it
 * is another file.
 */
function compareMark(file: FileMeta, kind: string, mark: ImportMark): 'same' | 'incomplete' | undefined {
  const { metadata } = file as { metadata?: unknown }
  if (file.filetype !== kind || !isObject(metadata) || typeof metadata.imported_sha256 !== 'string')
    return undefined
  if (metadata.imported_sha256 === '') return 'incomplete'
  if (metadata.imported_sha256 !== mark.imported_sha256) return undefined
  return Number(metadata.imported_references) >= mark.imported_references ? 'same' : 'incomplete'
}
