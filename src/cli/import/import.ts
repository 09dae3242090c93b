// Imports figures and grids of documents: names them, joins figures with their grids, and creates files.
import { createHash } from 'node:crypto'
import { isObject } from '../../charts/figure/figure.ts'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Document } from './documents.ts'
import type { Finding } from './finding.ts'
import { findInDocument } from './findings.ts'
import { hasData, listReferences, type Reference, replaceReferences } from './references.ts'

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
  private readonly paths = new Set<string>()
  /** The document that was read last, and what it contains: its items follow each other. */
  private lastRead: { document: Document; findings: Finding[] } | undefined

  constructor(private readonly base: readonly string[]) {}

  async add(document: Document): Promise<void> {
    const findings = await this.find(document)
    for (const [k, finding] of findings.entries()) {
      const { kind, old } = finding
      const folder = [...this.base, ...document.folders].map(toFileName).join('/')
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
        hash: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
        why: isFile ? undefined : finding.why,
        references: kind === 'plot' ? listReferences(finding.figure) : [],
        uids: new Set(kind === 'grid' ? uidsOf(finding.data) : []),
        load: async () => (await this.find(document))[k],
      })
    }
  }

  private async find(document: Document): Promise<Finding[]> {
    if (this.lastRead?.document !== document)
      this.lastRead = { document, findings: await findInDocument(document) }
    return this.lastRead.findings
  }

  /** Returns a name that no other item of the folder has. */
  private takeName(folder: string, name: string): string {
    for (let k = 1; ; k++) {
      const unique = k === 1 ? name : `${name} (${k})`
      const path = `${folder}/${unique}`
      if (this.paths.has(path)) continue
      this.paths.add(path)
      return unique
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
    .slice(0, MAX_NAME_CHARACTERS)
    .trim()
  return name === '' || name === '.' || name === '..' ? 'chart' : name
}

function uidsOf({ cols }: Record<string, unknown>): string[] {
  return Object.values(isObject(cols) ? cols : {}).flatMap((column) =>
    isObject(column) && typeof column.uid === 'string' ? [column.uid] : [],
  )
}

/** Name of the metadata by which a later run knows an imported file. */
const HASH_FIELD = 'imported_sha256'

/** Creates the files of items: first grids, then the figures that refer to them. */
export class Importer {
  /** The new grid of each item. */
  private readonly gridByItem = new Map<ImportItem, string>()
  private readonly grids: readonly ImportItem[]

  constructor(
    private readonly client: Client,
    items: readonly ImportItem[],
    private readonly options: ImportOptions,
  ) {
    this.grids = items.filter(({ kind }) => kind === 'grid')
  }

  /**
   * Returns the items in the order in which they are imported. Kept numbers come in descending order: new numbers,
   * as of the data of a figure, are above all that were used.
   */
  sortItems(items: readonly ImportItem[]): ImportItem[] {
    const isKept = (item: ImportItem): boolean => this.keptIdOf(item) !== undefined
    const needsNewGrids = (item: ImportItem): boolean =>
      item.references.some((reference) => {
        const grid = this.findGrid(reference, item)
        return grid !== undefined && !isKept(grid)
      })
    const rank = (item: ImportItem): number => {
      if (item.why !== undefined) return 4
      if (item.kind === 'grid') return isKept(item) ? 0 : 2
      return isKept(item) && !needsNewGrids(item) ? 1 : 3
    }
    const number = (item: ImportItem): number => this.keptIdOf(item) ?? -1
    return [...items].sort((a, b) => rank(a) - rank(b) || number(b) - number(a))
  }

  /** Imports one item. Returns an output row. */
  async importItem(item: ImportItem): Promise<ImportRow> {
    const { kind, path, why, hash } = item
    if (why !== undefined) return this.createRow(item, kind, undefined, [why])
    const existing = await lookupOrUndefined(this.client, path)
    if (existing) {
      const { metadata } = existing as { metadata?: unknown }
      if (existing.filetype !== kind || !isObject(metadata) || metadata[HASH_FIELD] !== hash)
        throw new Problem('already_exists', `a file named ${path} already exists`, {
          hint: 'Choose another --folder, or rename the file.',
        })
      if (kind === 'grid') this.gridByItem.set(item, existing.fid)
      return this.createRow(item, 'unchanged', existing)
    }
    const content = await item.load()
    if (content.kind === 'grid') return this.importGrid(item, content.data)
    if (content.kind === 'plot') return this.importFigure(item, structuredClone(content.figure))
    throw new Problem('failed', `${item.subject} was changed meanwhile`)
  }

  private async importGrid(item: ImportItem, data: Record<string, unknown>): Promise<ImportRow> {
    const fields = { ...this.fieldsOf(item), data: data as never }
    const row = await this.create(item, [], async (idlocal) => {
      const { file } = await this.client.call('grids.create', { json: { ...fields, idlocal } })
      return { file, warnings: [] }
    })
    // In a dry run, references of figures are known to be resolved.
    this.gridByItem.set(item, row.fid ?? 'new:0')
    return row
  }

  private async importFigure(item: ImportItem, figure: Record<string, unknown>): Promise<ImportRow> {
    const lost = replaceReferences(figure, (reference) => {
      const grid = this.findGrid(reference, item)
      const fid = grid && this.gridByItem.get(grid)
      return fid === undefined ? undefined : `${fid}:${reference.uid}`
    })
    const missing = [...lost].map((fid) => `grid ${fid}`).join(', ')
    if (!hasData(figure) && lost.size > 0)
      return this.createRow(item, 'lost', undefined, [
        `its data is in ${missing}, which is not among the files`,
      ])
    const fields = { ...this.fieldsOf(item), figure: figure as never, raw_data: 'grid' as const }
    const notes = lost.size > 0 ? [`without the data of ${missing}, which is not among the files`] : []
    return this.create(item, notes, (idlocal) =>
      this.client.call('plots.create', { json: { ...fields, idlocal } }),
    )
  }

  /** Creates a file with its former number, or with another one if that is taken. Returns an output row. */
  private async create(
    item: ImportItem,
    notes: readonly string[],
    send: (idlocal?: number) => Promise<{ file: { fid: string; web_url: string }; warnings: string[] }>,
  ): Promise<ImportRow> {
    const idlocal = this.keptIdOf(item)
    if (this.options.isDryRun) {
      const taken = idlocal === undefined ? undefined : await this.findFile(idlocal)
      const takenNotes = taken ? [`the number ${idlocal} is taken by ${taken.filename}`] : []
      return this.createRow(item, 'would create', undefined, [...notes, ...takenNotes])
    }
    try {
      const { file, warnings } = await send(idlocal)
      return this.createRow(item, 'created', file, [...notes, ...warnings])
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'conflict' || error.field !== 'idlocal') throw error
      const { file, warnings } = await send()
      return this.createRow(item, 'created', file, [...notes, `the number ${idlocal} was taken`, ...warnings])
    }
  }

  private findFile(idlocal: number): Promise<FileMeta | undefined> {
    const fid = formatFid({ owner: this.options.username, idlocal })
    return undefinedIfNotFound(this.client.call('files.get', { fid }))
  }

  private fieldsOf({ name, folder, hash }: ImportItem) {
    return {
      filename: name,
      parent_path: folder === '' ? undefined : folder,
      world_readable: this.options.isPublic,
      metadata: { [HASH_FIELD]: hash },
    }
  }

  /** Returns the number that an item keeps; undefined for the next one. */
  private keptIdOf({ why, old }: ImportItem): number | undefined {
    const { keepsIds, formerNames } = this.options
    if (!keepsIds || !old || why !== undefined) return undefined
    return old.owner === '' || formerNames.has(old.owner) ? old.idlocal : undefined
  }

  /** Returns the grid that a reference means: the one with its number, or the only one with all uids of the figure. */
  private findGrid({ grid }: Reference, { references }: ImportItem): ImportItem | undefined {
    const fid = parseFid(grid)
    const uids = references.filter((reference) => reference.grid === grid).map(({ uid }) => uid)
    const candidates = this.grids.filter((item) => uids.every((uid) => item.uids.has(uid)))
    const numbered = candidates.filter(
      ({ old }) => old && fid && old.idlocal === fid.idlocal && (old.owner === '' || old.owner === fid.owner),
    )
    return numbered.length > 0 ? numbered[0] : candidates.length === 1 ? candidates[0] : undefined
  }

  private createRow(
    { subject, kind, path, old, name }: ImportItem,
    action: string,
    file?: { fid: string; web_url: string },
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
