// Exports all files of an account: grids, figures, their kept versions, and who may see them.
import { buffer } from 'node:stream/consumers'
import type { Client } from '../../client/index.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import {
  type ColumnMeta,
  FILETYPES,
  type FileMeta,
  filetypeLabel,
  type Version,
} from '../../contract/resources/index.ts'
import { runEach } from '../files/batch.ts'
import { checkCsv, fitsCsv, InexactCsv, typeForUpload } from '../files/exact-csv.ts'
import { parseExact, stringifyExact } from '../files/exact-json.ts'
import { loadPages, PAGE_ITEMS } from '../files/pages.ts'
import { listReferences, type Reference, replaceReferences } from '../files/references.ts'
import type { Failure } from '../output/failure.ts'
import { type ExportFolder, LocalPaths } from './export-folder.ts'
import {
  formatManifest,
  MANIFEST_FILE,
  type ManifestCollaborator,
  type ManifestColumn,
  type ManifestContent,
  type ManifestFile,
} from './manifest.ts'

/** A figure as it is exported. */
interface Figure {
  text: Buffer
  /** Whether the figure contains data, and whether it refers to exported grids. */
  hasData: boolean
  hasGrids: boolean
  /** Number of references whose data is gone. */
  missing: number
}

/** Number of files that are downloaded at once. */
const JOBS = 4

/** Extensions that the files of each type can have. */
const EXTENSIONS: Record<FileMeta['filetype'], readonly string[]> = {
  fold: [''],
  grid: ['.csv', '.ndjson'],
  plot: ['.json'],
  extra: ['.json', '.txt'],
  dashboard: ['.json'],
}

/** Metadata by which an import knows its files; it is not part of an export. */
const IMPORT_MARKS: ReadonlySet<string> = new Set([
  'imported_sha256',
  'imported_references',
  'imported_step',
  'imported_empty',
])

/** Exports an account into a folder. `note` receives what the export lacks. */
export class AccountExport {
  private readonly paths = new LocalPaths()
  /** Path of each folder, and of each other file without its extension. */
  private readonly pathById = new Map<number, string>()
  private readonly fileById = new Map<number, FileMeta>()
  /** Uids of the current columns of each exported grid, by fid. */
  private readonly uids = new Map<string, ReadonlySet<string>>()

  constructor(
    private readonly client: Client,
    private readonly username: string,
    private readonly folder: ExportFolder,
    private readonly note: (text: string) => void,
  ) {}

  async run(): Promise<{ files: number; failures: Failure[] }> {
    const all = await listAll(this.client, this.username)
    for (const file of all) this.fileById.set(idOf(file), file)
    for (const file of all) this.pathOf(file)
    const entries: ManifestFile[] = []
    const failures: Failure[] = []
    // The columns of grids are known before the figures that refer to them.
    for (const isPlot of [false, true]) {
      const items = all
        .filter(({ filetype }) => (filetype === 'plot') === isPlot)
        .map((file) => ({ file, subject: `${file.fid} ${file.filename}` }))
      const result = await runEach(items, ({ file }) => this.exportFile(file), JOBS)
      const made = result.items as ManifestFile[]
      entries.push(...made.filter(({ type, contents }) => type !== 'extra' || contents.length > 0))
      failures.push(...result.failures)
    }
    if (failures.length > 0) return { files: entries.length, failures }
    entries.sort((a, b) => a.id - b.id)
    const manifest = formatManifest({ username: this.username, files: entries })
    await this.folder.write(MANIFEST_FILE, Buffer.from(manifest))
    this.folder.finish()
    return { files: entries.length, failures }
  }

  /** Chooses the path of a file below those of its folders. */
  private pathOf(file: FileMeta): string {
    const id = idOf(file)
    const known = this.pathById.get(id)
    if (known !== undefined) return known
    const parent = this.fileById.get(file.parent)
    const above = parent ? this.pathOf(parent) : ''
    const path = this.paths.choose(above, file.filename, EXTENSIONS[file.filetype], id)
    this.pathById.set(id, path)
    return path
  }

  private async exportFile({ fid, filetype }: FileMeta): Promise<ManifestFile> {
    // Lists do not have all fields.
    const file = await this.client.call('files.get', { fid })
    const id = idOf(file)
    const entry: ManifestFile = {
      id,
      type: filetypeLabel(filetype) as ManifestFile['type'],
      name: file.filename,
      folder: file.parent === ROOT ? null : file.parent,
      public: file.world_readable,
      secret_link: file.share_key_enabled === true,
      ...(file.share_items && { share_items: true }),
      collaborators: file.collaborators.results.map(toCollaborator),
      metadata: Object.fromEntries(Object.entries(file.metadata).filter(([name]) => !IMPORT_MARKS.has(name))),
      contents: [],
    }
    if (filetype === 'grid') await this.exportGrid(fid, entry)
    else if (filetype === 'plot') await this.exportPlot(fid, entry)
    else if (filetype === 'extra') await this.exportExtra(file, entry)
    else if (filetype === 'dashboard') await this.exportBoard(fid, entry)
    return entry
  }

  /** Lists the kept versions of a file, oldest first, and the current one at the end. */
  private async listContents(fid: string): Promise<Version[]> {
    const found: Version[] = []
    for (let before: number | undefined; ; ) {
      const { versions, next } = await this.client.call('versions.list', {
        fid,
        query: { before, page_size: PAGE_ITEMS },
      })
      found.push(...versions.filter(({ kept, is_current }) => kept || is_current))
      if (next === null) return found.reverse()
      before = next
    }
  }

  private async exportGrid(fid: string, entry: ManifestFile): Promise<void> {
    for (const [k, version] of (await this.listContents(fid)).entries()) {
      const grid = await this.client.call('grids.get', { fid, version: String(version.version) })
      const load = async (format: 'csv' | 'ndjson'): Promise<AsyncIterable<Uint8Array>> => {
        const request = { fid, version: String(version.version), query: { format } }
        return (await this.client.response('grids.content', request)).bytes()
      }
      const paths = ['csv', 'ndjson'].map((extension) => this.contentPath(entry, version, k, extension))
      let [path] = paths
      let sha256: string | undefined
      if (fitsCsv(grid))
        sha256 = await this.folder
          .write(path, checkCsv(await load('csv'), grid.cols.length))
          .catch((error) => {
            if (error instanceof InexactCsv) return undefined
            throw error
          })
      if (sha256 === undefined) {
        path = paths[1]
        sha256 = await this.folder.write(path, await load('ndjson'))
      }
      entry.contents.push({ ...describe(version), path, sha256, columns: grid.cols.map(toColumn) })
      if (!version.is_current) continue
      this.uids.set(fid, new Set(grid.cols.map(({ uid }) => uid)))
      if (grid.primary_key !== null) entry.key = grid.primary_key
    }
    const { checks } = await this.client.call('checks.get', { fid })
    if (checks !== null) entry.checks = checks as Record<string, unknown>
  }

  /** Exports the figures of a plot. A kept version stores a copy of its data, which may differ from the grids. */
  private async exportPlot(fid: string, entry: ManifestFile): Promise<void> {
    const isOwn = ({ grid, uids }: Reference): boolean => uids.every((uid) => this.uids.get(grid)?.has(uid))
    const write = async (version: Version, k: number, { text, hasData }: Figure): Promise<void> => {
      const path = this.contentPath(entry, version, k, 'json')
      const sha256 = await this.folder.write(path, text)
      entry.contents.push({ ...describe(version), path, sha256, ...(hasData && { has_data: true }) })
    }
    for (const [k, version] of (await this.listContents(fid)).entries()) {
      const kept = version.kept ? await this.loadFigure(fid, version, () => false) : undefined
      const current = version.is_current ? await this.loadFigure(fid, version, isOwn) : undefined
      if (current && current.missing > 0)
        this.note(`${fid} ${entry.name}: some of its data is missing, as in the chart itself`)
      // A current figure without grids that are exported is the kept one.
      const isOne = kept && current && !current.hasGrids
      if (kept) await write({ ...version, is_current: isOne === true }, k, kept)
      if (current && !isOne) await write({ ...version, kept: false }, k, current)
    }
  }

  /** Loads a figure, with the data of references that `isOwn` does not accept. */
  private async loadFigure(
    fid: string,
    { version }: Version,
    isOwn: (reference: Reference) => boolean,
  ): Promise<Figure> {
    const load = async (inline_data: boolean): Promise<Buffer> => {
      const request = { fid, version: String(version), query: { inline_data } }
      return buffer((await this.client.response('plots.content', request)).bytes())
    }
    const text = await load(false)
    const references = listReferences(JSON.parse(text.toString('utf8')))
    const own = references.filter(isOwn)
    const hasGrids = own.length > 0
    if (own.length === references.length) return { text, hasData: false, hasGrids, missing: 0 }
    const figure = parseExact((await load(true)).toString('utf8'))
    const keep = (one: Reference): string | undefined =>
      isOwn(one) ? `${one.grid}:${one.uids.join(',')}` : undefined
    const { length: missing } = replaceReferences(figure, keep, { dropsValues: true })
    const hasData = missing < references.length - own.length
    return { text: Buffer.from(stringifyExact(figure)), hasData, hasGrids, missing }
  }

  private async exportExtra({ fid, referencers }: FileMeta, entry: ManifestFile): Promise<void> {
    const ids = referencers.map((text) => parseFid(text)!.idlocal).filter((id) => this.fileById.has(id))
    if (ids.length === 0) {
      this.note(`${fid} ${entry.name} is not exported: no exported file refers to it`)
      return
    }
    entry.referencers = ids.sort((a, b) => a - b)
    const response = await this.client.response('files.content', { fid, query: {} })
    const isJson = response.headers['content-type']?.startsWith('application/json') === true
    const path = `files/${this.pathById.get(entry.id)}${isJson ? '.json' : '.txt'}`
    entry.contents.push({ path, sha256: await this.folder.write(path, response.bytes()) })
  }

  private async exportBoard(fid: string, entry: ManifestFile): Promise<void> {
    const response = await this.client.response('files.content', { fid, query: {} })
    const path = `files/${this.pathById.get(entry.id)}.json`
    entry.contents.push({ path, sha256: await this.folder.write(path, response.bytes()) })
  }

  private contentPath({ id }: ManifestFile, { is_current }: Version, k: number, extension: string): string {
    const path = this.pathById.get(id)
    return is_current ? `files/${path}.${extension}` : `versions/${k + 1}/${path}.${extension}`
  }
}

function idOf({ fid }: Pick<FileMeta, 'fid'>): number {
  return parseFid(fid)!.idlocal
}

/** Lists all files of a user in ascending order of their numbers. */
async function listAll(client: Client, username: string): Promise<FileMeta[]> {
  const all = await loadPages(
    async (cursor) =>
      (
        await client.call('folders.all', {
          query: {
            user: username,
            page_size: PAGE_ITEMS,
            cursor,
            filetype: [...FILETYPES],
          },
        })
      ).children,
  )
  const distinct = new Map(all.map((file) => [file.fid, file]))
  return [...distinct.values()].sort((a, b) => idOf(a) - idOf(b))
}

function describe({ kept, name, message }: Version): Pick<ManifestContent, 'kept' | 'message'> {
  return { ...(kept && { kept: { name } }), ...(message !== null && { message }) }
}

function toCollaborator(one: unknown): ManifestCollaborator {
  const { type, username, name, email, readonly } = one as Record<string, never>
  if (type === 'team') return { team: name, readonly }
  return type === 'email' ? { email, readonly } : { user: username, readonly }
}

function toColumn({ name, uid, type }: ColumnMeta): ManifestColumn {
  return { name, uid, type: typeForUpload(type) }
}
