// Makes an exported account again: its files with their numbers, contents and access.
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Client, encodeHeader, lookupOrUndefined, uploadInParts } from '../../client/index.ts'
import { errorMessageOf, Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { formatFid, parseFid, ROOT } from '../../contract/fid.ts'
import { FILE_NAME_HEADER, HEADER_PREFIXES, MESSAGE_HEADER } from '../../contract/headers.ts'
import type { ResultOf } from '../../contract/operations/index.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import { createFigureBody } from '../charts/create.ts'
import { hashFile } from '../export/export-folder.ts'
import type { Manifest, ManifestCollaborator, ManifestContent, ManifestFile } from '../export/manifest.ts'
import { runEach } from '../files/batch.ts'
import { PAGE_ITEMS } from '../files/pages.ts'
import { listReferences, replaceReferences } from '../files/references.ts'
import type { Failure } from '../output/failure.ts'
import type { ImportRow } from './importer.ts'

/** Number of files that are completed at once. */
const JOBS = 4
/** Size from which a file is uploaded in parts, in bytes. */
const MIN_PARTS_BYTES = 32 * 1024 * 1024

const FILETYPES = { folder: 'fold', grid: 'grid', plot: 'plot', extra: 'extra' } as const

/** A file of the manifest, and what is known of it here. */
interface AccountItem {
  subject: string
  entry: ManifestFile
  /** SHA-256 of its entry, by which a later run knows the file. */
  mark: string
  /** Path that the file gets. */
  path: string
  /** The file here; undefined until it is made. */
  file?: FileMeta
  state: 'new' | 'started' | 'complete' | 'reused'
  /** Number of contents that it has. */
  step: number
  /** Whether its first version is an empty figure, made for its number. */
  isEmptyFirst?: boolean
  /** Numbers of the grids that its figures show. */
  references: number[]
  notes: string[]
}

export interface AccountOptions {
  /** Names of the folder for all files, and of those above it. */
  base: readonly string[]
  username: string
  isDryRun: boolean
}

/** Imports the account of an export directory. A run that was interrupted is continued by the next one. */
export class AccountImporter {
  private readonly items = new Map<number, AccountItem>()
  /** Folder for all files. */
  private home = ROOT

  constructor(
    private readonly client: Client,
    private readonly directory: string,
    private readonly manifest: Manifest,
    private readonly options: AccountOptions,
  ) {
    for (const entry of manifest.files) {
      // The same account can be imported into several folders.
      const mark = createHash('sha256')
        .update(JSON.stringify([entry, ...this.options.base]))
        .digest('hex')
      const subject = `${formatFid({ owner: manifest.username, idlocal: entry.id })} ${entry.name}`
      const item = {
        subject,
        entry,
        mark,
        path: '',
        state: 'new',
        step: 0,
        references: [],
        notes: [],
      } as const
      this.items.set(entry.id, { ...item, references: [], notes: [] })
    }
    for (const item of this.items.values())
      item.path = [...this.options.base, ...this.namesOf(item)].join('/')
  }

  async run(): Promise<{ items: ImportRow[]; failures: Failure[] }> {
    const all = [...this.items.values()]
    const found = await runEach(all, (item) => this.find(item).then(() => [item]), JOBS)
    const failures = [...found.failures]
    let open = this.dropDependents(found.items as AccountItem[], failures)
    if (!this.options.isDryRun) {
      // Numbers can only rise. Files whose number is taken are made at the end.
      const taken: AccountItem[] = []
      for (const isLate of [false, true]) {
        const items = isLate ? taken : open.filter(({ state }) => state === 'new')
        const result = await runEach(items, async (item) => {
          if (!(await this.create(item, isLate ? undefined : item.entry.id))) taken.push(item)
          return []
        })
        failures.push(...result.failures)
      }
      open = open.filter(({ file }) => file)
      if (this.options.base.length > 0 && open.some(({ state }) => state === 'started'))
        this.home = await this.makeHome()
      // Figures refer to complete grids.
      for (const isPlot of [false, true]) {
        const items = open.filter(
          ({ entry, state }) => (entry.type === 'plot') === isPlot && state === 'started',
        )
        failures.push(...(await runEach(items, (item) => this.complete(item).then(() => []), JOBS)).failures)
      }
    }
    const failed = new Set(failures.map(({ subject }) => subject))
    return {
      items: open.filter(({ subject }) => !failed.has(subject)).map((item) => this.createRow(item)),
      failures,
    }
  }

  /** Returns the items whose folders and grids are imported, too. Adds the others to `failures`. */
  private dropDependents(items: AccountItem[], failures: Failure[]): AccountItem[] {
    const ids = new Set(items.map(({ entry }) => entry.id))
    const kept = items.filter((item) => {
      const { entry, references, state, subject } = item
      const missing = [entry.folder ?? [], references].flat().find((id) => !ids.has(id))
      if (missing === undefined || state === 'complete') return true
      const name = formatFid({ owner: this.manifest.username, idlocal: missing })
      const problem = new Problem('bad_data', `${subject}: needs ${name}, which is not imported`)
      failures.push({ subject, problem })
      return false
    })
    return kept.length === items.length ? kept : this.dropDependents(kept, failures)
  }

  /** Returns the names of the folders of a file, and its own. */
  private namesOf({ entry, subject }: AccountItem, depth = 0): string[] {
    if (entry.folder === null) return [entry.name]
    const parent = this.items.get(entry.folder)
    if (parent?.entry.type !== 'folder' || depth > this.items.size)
      throw new Problem('bad_data', `${this.directory}: ${subject}: there is no folder ${entry.folder}`)
    return [...this.namesOf(parent, depth + 1), entry.name]
  }

  /** Finds out what an earlier run has made of an item. Throws `already_exists` if its name is taken. */
  private async find(item: AccountItem): Promise<void> {
    const { entry, path } = item
    const fid = formatFid({ owner: this.options.username, idlocal: entry.id })
    const numbered = await undefinedIfNotFound(this.client.call('files.get', { fid }))
    const named = await lookupOrUndefined(this.client, path)
    // Of a file whose number was taken.
    const unfinished = await lookupOrUndefined(this.client, temporaryName(item))
    const file = [numbered, named, unfinished].find((one) => one && stateOf(item, one) !== undefined)
    if (file) {
      const state = stateOf(item, file)!
      const isEmptyFirst = file.metadata.imported_empty === true
      Object.assign(item, {
        file,
        state,
        isEmptyFirst,
        step: state === 'complete' ? entry.contents.length : stepOf(file),
      })
    } else if (named && named.filetype === FILETYPES[entry.type] && (await this.hasSameContent(item, named)))
      Object.assign(item, { file: named, state: 'reused', step: entry.contents.length })
    else if (named)
      throw new Problem('already_exists', `a file named ${path} already exists, and is another one`, {
        hint: 'Choose another --folder, or rename the file.',
      })
    if (item.state === 'complete' || item.state === 'reused') return
    if (!file && numbered) item.notes.push(`the number ${entry.id} is taken by ${numbered.filename}`)
    for (const content of entry.contents) {
      await this.checkContent(content)
      if (entry.type !== 'plot') continue
      const references = listReferences(await this.readJson(content))
      item.references.push(...references.flatMap(({ grid }) => parseFid(grid)?.idlocal ?? []))
    }
  }

  /** Returns whether a file has the current content of an item. */
  private async hasSameContent({ entry }: AccountItem, { fid }: FileMeta): Promise<boolean> {
    const content = entry.contents.at(-1)
    if (!content) return true
    const bytes = async (): Promise<AsyncIterable<Uint8Array>> => {
      if (entry.type === 'plot')
        return (await this.client.response('plots.content', { fid, query: {} })).bytes()
      if (entry.type === 'extra')
        return (await this.client.response('files.content', { fid, query: {} })).bytes()
      const format = content.path.endsWith('.csv') ? 'csv' : 'ndjson'
      return (await this.client.response('grids.content', { fid, query: { format } })).bytes()
    }
    if (entry.type === 'grid') {
      const { cols } = await this.client.call('grids.get', { fid })
      if (cols.map(({ uid }) => uid).join() !== content.columns?.map(({ uid }) => uid).join()) return false
    }
    const hash = createHash('sha256')
    for await (const chunk of await bytes()) hash.update(chunk)
    return hash.digest('hex') === content.sha256
  }

  /** Creates a file with a temporary name. Returns false if its number is taken. */
  private async create(item: AccountItem, idlocal: number | undefined): Promise<boolean> {
    const { entry } = item
    const filename = temporaryName(item)
    try {
      switch (entry.type) {
        case 'folder':
          item.file = (await this.client.call('folders.create', { json: { path: filename, idlocal } })).file
          break
        case 'extra':
          item.file = await this.createExtra(item, filename, idlocal)
          break
        case 'grid':
          item.file = await this.sendGrid(item, entry.contents[0], {
            'On-Conflict': 'fail',
            Idlocal: idlocal,
          })
          item.step = 1
          await this.keepOnce(item, entry.contents[0])
          break
        case 'plot':
          item.file = await this.createPlot(item, filename, idlocal)
      }
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'conflict' || error.field !== 'idlocal') throw error
      if (item.notes.length === 0) item.notes.push(`its number ${entry.id} was not free any more`)
      return false
    }
    item.state = 'started'
    return true
  }

  /** Creates a plot with its first figure, or empty if the grids of the figure are not complete yet. */
  private async createPlot(item: AccountItem, filename: string, idlocal?: number): Promise<FileMeta> {
    const [content] = item.entry.contents
    const figure = content.has_data ? undefined : await this.readFigure(item, content)
    item.step = figure === undefined ? 0 : 1
    item.isEmptyFirst = figure === undefined
    const metadata = progressMark(item)
    const fields = { filename, idlocal, metadata, raw_data: 'refuse' }
    const body = createFigureBody(figure ?? '{"data":[],"layout":{}}', fields)
    const { file } = await this.client.call('plots.create', { body })
    item.file = file
    if (item.step === 1) await this.keepOnce(item, content)
    return file
  }

  private async createExtra(item: AccountItem, filename: string, idlocal?: number): Promise<FileMeta> {
    const [content] = item.entry.contents
    const text = (await this.readContent(content)).toString('utf8')
    const referencers = (item.entry.referencers ?? []).flatMap((id) => this.items.get(id)?.file?.fid ?? [])
    const json = {
      filename,
      content: content.path.endsWith('.json') ? await this.readJson(content) : text,
      referencers,
      idlocal,
    }
    return (await this.client.call('extras.create', { json })).file
  }

  /** Gives a file its other contents, its name, folder and access. */
  private async complete(item: AccountItem): Promise<void> {
    const { entry, file } = item
    const fid = file!.fid
    const place = {
      filename: entry.name,
      parent: entry.folder === null ? this.home : parseFid(this.items.get(entry.folder)!.file!.fid)!.idlocal,
    }
    // The data of a figure becomes a grid beside it, with its name.
    if (entry.contents.some(({ has_data }) => has_data))
      await this.client.call('files.update', { fid, json: place })
    if (item.step > 0) await this.keepOnce(item, entry.contents[item.step - 1])
    for (const content of entry.contents.slice(entry.type === 'extra' ? 1 : item.step)) {
      item.step++
      if (entry.type === 'grid') await this.sendGrid(item, content, { 'On-Conflict': 'replace' })
      else {
        const figure = await this.readFigure(item, content)
        if (figure === undefined)
          throw new Problem('bad_data', `${content.path}: its grids were not imported`)
        await this.deleteCopies(item)
        const fields = { metadata: progressMark(item), raw_data: content.has_data ? 'grid' : 'refuse' }
        await this.client.call('plots.update', {
          fid,
          body: createFigureBody(figure, fields),
          plainHeaders: messageHeaders(content),
        })
      }
      await this.keepOnce(item, content)
    }
    const last = entry.contents.at(-1)
    if (entry.type === 'plot' && last?.kept && last.has_data) await this.deleteCopies(item)
    if (item.isEmptyFirst)
      await undefinedIfNotFound(this.client.call('versions.forget', { fid, query: { version: '1' } }))
    if (entry.secret_link) item.notes.push('its secret link is a new one')
    if (entry.checks !== undefined)
      await this.client.call('checks.set', { fid, json: { checks: entry.checks } })
    for (const collaborator of entry.collaborators) await this.share(item, collaborator)
    item.file = await this.client.call('files.update', {
      fid,
      json: {
        ...place,
        world_readable: entry.public,
        ...(entry.secret_link && { share_key_enabled: true }),
        metadata: { ...entry.metadata, imported_sha256: item.mark },
      },
    })
  }

  /** Keeps the current version of a file, unless an earlier run has done so. */
  private async keepOnce({ entry, file }: AccountItem, content: ManifestContent): Promise<void> {
    if (!content.kept) return
    const { fid } = file!
    const contents = entry.contents.slice(0, entry.contents.indexOf(content) + 1)
    const { versions } = await this.client.call('versions.list', { fid, query: { page_size: PAGE_ITEMS } })
    if (versions.filter(({ kept }) => kept).length >= contents.filter(({ kept }) => kept).length) return
    await this.client.call('versions.keep', { fid, json: { name: content.kept.name ?? undefined } })
  }

  /** Deletes the grids that a kept figure was made with: it has a copy of its data. */
  private async deleteCopies({ file }: AccountItem): Promise<void> {
    const { references } = await this.client.call('files.get', { fid: file!.fid })
    const known = new Set([...this.items.values()].map((item) => item.file?.fid))
    for (const fid of references) {
      if (known.has(fid)) continue
      await this.client.call('files.trash', { fid })
      await this.client.call('files.permanent_delete', { fid })
    }
  }

  /** Shares a file. People and teams that are not known here are noted. */
  private async share(
    item: AccountItem,
    { user, email, team, readonly }: ManifestCollaborator,
  ): Promise<void> {
    const name = user ?? email
    if (name === undefined && team === undefined) return
    const json = {
      ...(name === undefined ? { teams: [team!] } : { users: [name] }),
      readonly,
      send_email: false,
    }
    try {
      await this.client.call('collaborators.add', { fid: item.file!.fid, json })
    } catch (error) {
      if (!(error instanceof Problem) || (error.status !== 400 && error.status !== 404)) throw error
      item.notes.push(`not shared with ${name ?? `team ${team}`}: ${error.message}`)
    }
  }

  /** Gives a grid a content, as a new version, also if it is equal to the one before. */
  private async sendGrid(
    item: AccountItem,
    content: ManifestContent,
    headers: { 'On-Conflict': 'fail' | 'replace'; Idlocal?: number },
  ): Promise<FileMeta> {
    const { entry } = item
    const before = entry.contents[entry.contents.indexOf(content) - 1]
    const isEqual = before?.sha256 === content.sha256
    // Equal data makes no version.
    const between = isEqual ? await this.upload(item, undefined, headers) : undefined
    const { file } = await this.upload(item, content, headers)
    if (between?.version !== undefined)
      await this.client.call('versions.forget', {
        fid: file.fid,
        query: { version: String(between.version) },
      })
    const names = new Map(content.columns?.map(({ name, uid }) => [uid, name]))
    // Readers of files give columns without a visible name one.
    const renamed = (file as GridMeta).cols.filter(({ name, uid }) => names.get(uid) !== name)
    for (const { uid } of renamed) {
      const json = { cols: JSON.stringify([{ name: names.get(uid) }]) }
      await this.client.call('columns.update', { fid: file.fid, query: { uid }, json })
    }
    if (renamed.length > 0) {
      // The tag of the upload is gone.
      const metadata = progressMark({ ...item, step: entry.contents.indexOf(content) + 1 })
      await this.client.call('files.update', { fid: file.fid, json: { metadata } })
    }
    return file
  }

  /** Uploads a content of a grid; without one, a table that differs from all. */
  private async upload(
    item: AccountItem,
    content: ManifestContent | undefined,
    headers: { 'On-Conflict': 'fail' | 'replace'; Idlocal?: number },
  ): Promise<ResultOf<'grids.upload'>> {
    const { key, contents } = item.entry
    const columns = content?.columns ?? []
    const { size, open, isCsv } = content
      ? await this.openContent(content)
      : { size: 1, open: () => Readable.from([Buffer.from(`${item.mark}\n1\n`)]), isCsv: true }
    if (content && size === 0) {
      if (headers['On-Conflict'] === 'replace')
        throw new Problem('bad_data', `${content.path}: a version without rows cannot be imported`)
      const cols = Object.fromEntries(columns.map(({ name, uid }, order) => [name, { uid, order, data: [] }]))
      const json = { data: { cols }, filename: temporaryName(item), idlocal: headers.Idlocal }
      return this.client.call('grids.create', { json })
    }
    const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]))
    const step = item.step + (headers['On-Conflict'] === 'fail' ? 1 : 0)
    const allHeaders = {
      ...headers,
      Uids: columns.length > 0 ? columns.map(({ uid }) => uid).join(',') : undefined,
      ...(isCsv && {
        Columns: encodeURIComponent(JSON.stringify(types)),
        'As-Written': true,
        Header: true,
        Delimiter: 'comma',
        Encoding: 'utf-8',
        Quote: '%22',
        'Null-Text': ',',
      }),
      Key: content === contents.at(-1) && key ? key.map(encodeURIComponent).join(',') : undefined,
      'Allow-Type-Change': true,
      Provenance: encodeURIComponent(`exported account of ${this.manifest.username}`),
      // Tells a later run how far this one came.
      'Source-Tag': `import ${item.mark} ${content ? step : step - 1}`,
    } as const
    const fileName = `${temporaryName(item)}.${isCsv ? 'csv' : 'ndjson'}`
    const plainHeaders = {
      [FILE_NAME_HEADER]: encodeHeader(fileName),
      ...(content && messageHeaders(content)),
    }
    if (size > MIN_PARTS_BYTES)
      return uploadInParts(this.client, { size, open }, { headers: allHeaders, plainHeaders })
    const body = { type: 'application/octet-stream', repeatable: true, open: () => open(0) }
    return this.client.call('grids.upload', { headers: allHeaders, plainHeaders, body })
  }

  private async openContent(content: ManifestContent) {
    const file = await this.checkContent(content)
    const open = (start: number): AsyncIterable<Uint8Array> => createReadStream(file, { start })
    return { size: statSync(file).size, open, isCsv: content.path.endsWith('.csv') }
  }

  /** Returns the path of a content. Throws `bad_data` if it is missing or was changed. */
  private async checkContent({ path, sha256 }: ManifestContent): Promise<string> {
    const file = join(this.directory, ...path.split('/'))
    const hash = await hashFile(file)
    if (hash === sha256) return file
    throw new Problem(
      'bad_data',
      `${file} ${hash === undefined ? 'is missing' : 'was changed since the export'}`,
      { hint: 'Copy the export again; gridline export verify names all such files.' },
    )
  }

  /** Parses the JSON of a content. Throws `bad_data`. */
  private async readJson(content: ManifestContent): Promise<unknown> {
    try {
      return JSON.parse((await this.readContent(content)).toString('utf8'))
    } catch (error) {
      if (error instanceof Problem) throw error
      throw new Problem('bad_data', `${content.path}: not JSON: ${errorMessageOf(error)}`)
    }
  }

  private async readContent(content: ManifestContent): Promise<Buffer> {
    return readFileSync(await this.checkContent(content))
  }

  /** Reads a figure with references to the files here; undefined if some of them are not complete yet. */
  private async readFigure(item: AccountItem, content: ManifestContent): Promise<string | undefined> {
    const text = (await this.readContent(content)).toString('utf8')
    const figure = await this.readJson(content)
    const { username } = this.manifest
    const newFidOf = (grid: string): string | undefined => {
      const fid = parseFid(grid)
      const source = fid?.owner === username ? this.items.get(fid.idlocal) : undefined
      return source?.step === source?.entry.contents.length ? source?.file?.fid : undefined
    }
    const references = listReferences(figure)
    if (references.some(({ grid }) => newFidOf(grid) === undefined)) return undefined
    // Without a change, all digits of numbers stay.
    if (references.every(({ grid }) => newFidOf(grid) === grid)) return text
    replaceReferences(figure, ({ grid, uids }) => `${newFidOf(grid)}:${uids.join(',')}`)
    item.notes.push('its grids have other numbers')
    return JSON.stringify(figure)
  }

  /** Returns the number of the folder for all files. */
  private async makeHome(): Promise<number> {
    const path = this.options.base.join('/')
    const folder =
      (await lookupOrUndefined(this.client, path)) ??
      (await this.client.call('folders.create', { json: { path } })).file
    return parseFid(folder.fid)!.idlocal
  }

  private createRow({ entry, path, file, state, notes }: AccountItem): ImportRow {
    const wasMade = state === 'started' || state === 'new'
    return {
      file: entry.contents.at(-1)?.path ?? path,
      kind: entry.type,
      action: !wasMade ? 'unchanged' : this.options.isDryRun ? 'would create' : 'created',
      path,
      fid: file?.fid ?? null,
      web_url: file?.web_url ?? null,
      was: formatFid({ owner: this.manifest.username, idlocal: entry.id }),
      note: notes.length > 0 ? [...new Set(notes)].join('; ') : null,
    }
  }
}

/** Returns the header that gives the new version the message of a content. */
function messageHeaders({ message }: ManifestContent): Record<string, string> {
  return message === undefined ? {} : { [HEADER_PREFIXES[0] + MESSAGE_HEADER]: encodeURIComponent(message) }
}

/** Returns the name of a file that is not complete. */
function temporaryName({ mark }: AccountItem): string {
  return `import ${mark.slice(0, 16)}`
}

/** Returns the metadata of a plot that is not complete. */
function progressMark({ mark, step, isEmptyFirst = false }: AccountItem): Record<string, unknown> {
  return { imported_sha256: mark, imported_step: step, imported_empty: isEmptyFirst }
}

/** Returns what an earlier run has made of an item; undefined if a file is another one. */
function stateOf(
  item: AccountItem,
  { filetype, filename, metadata }: FileMeta,
): 'started' | 'complete' | undefined {
  if (filetype !== FILETYPES[item.entry.type]) return undefined
  if (filename === temporaryName(item)) return 'started'
  if (metadata.imported_sha256 !== item.mark) return undefined
  return 'imported_step' in metadata ? 'started' : 'complete'
}

/** Returns how many contents a file has that is not complete. */
function stepOf({ metadata, source_tag }: FileMeta): number {
  const tagged = Number(/^import [0-9a-f]{64} (\d+)$/.exec(source_tag ?? '')?.[1] ?? 0)
  const { imported_step = 0 } = metadata
  return typeof imported_step === 'number' ? Math.max(imported_step, tagged) : tagged
}
