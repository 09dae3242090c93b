// Makes an exported account again: its files with their numbers, contents and access.
import { createHash } from 'node:crypto'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { formatFid, parseFid, ROOT } from '../../contract/fid.ts'
import { type FileMeta, filetypeLabel } from '../../contract/resources/index.ts'
import { createFigureBody, createJsonBody } from '../charts/create.ts'
import type { Manifest, ManifestCollaborator, ManifestContent } from '../export/manifest.ts'
import { runEach } from '../files/batch.ts'
import { replaceBoardFiles } from '../files/board-file.ts'
import { stringifyExact } from '../files/exact-json.ts'
import { PAGE_ITEMS } from '../files/pages.ts'
import { listReferences, replaceReferences } from '../files/references.ts'
import type { Failure } from '../output/failure.ts'
import { AccountContents } from './account-contents.ts'
import { GridSender } from './account-grids.ts'
import {
  type AccountItem,
  messageHeaders,
  progressMark,
  stateOf,
  stepOf,
  temporaryName,
} from './account-item.ts'
import type { ImportRow } from './importer.ts'

/** Number of files that are completed at once. */
const JOBS = 4

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
  private readonly contents: AccountContents
  private readonly grids: GridSender

  constructor(
    private readonly client: Client,
    private readonly directory: string,
    private readonly manifest: Manifest,
    private readonly options: AccountOptions,
  ) {
    this.contents = new AccountContents(directory)
    this.grids = new GridSender(client, this.contents, manifest.username)
    for (const entry of manifest.files) {
      // The same account can be imported into several folders.
      const mark = createHash('sha256')
        .update(JSON.stringify([entry, ...this.options.base]))
        .digest('hex')
      const subject = `${formatFid({ owner: manifest.username, idlocal: entry.id })} ${entry.name}`
      const item: AccountItem = {
        ...{ subject, entry, mark, path: '', state: 'new', step: 0 },
        references: [],
        notes: [],
      }
      this.items.set(entry.id, item)
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
    } else if (
      named &&
      filetypeLabel(named.filetype) === entry.type &&
      (await this.hasSameContent(item, named))
    )
      Object.assign(item, { file: named, state: 'reused', step: entry.contents.length })
    else if (named)
      throw new Problem('already_exists', `a file named ${path} already exists, and is another one`, {
        hint: 'Choose another --folder, or rename the file.',
      })
    if (item.state === 'complete' || item.state === 'reused') return
    if (!file && numbered) item.notes.push(`the number ${entry.id} is taken by ${numbered.filename}`)
    for (const content of entry.contents) {
      if (entry.type !== 'plot') {
        await this.contents.check(content)
        continue
      }
      const references = listReferences((await this.contents.readJson(content)).value)
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
      if (entry.type === 'extra' || entry.type === 'board')
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
        case 'board': {
          // What it shows has its numbers when all files are created.
          const json = { filename, content: {}, idlocal }
          item.file = (await this.client.call('dashboards.create', { json })).file
          break
        }
        case 'extra':
          item.file = await this.createExtra(item, filename, idlocal)
          break
        case 'grid':
          item.file = await this.grids.send(item, entry.contents[0], {
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
    const referencers = (item.entry.referencers ?? []).flatMap((id) => this.items.get(id)?.file?.fid ?? [])
    const json = {
      filename,
      content: content.path.endsWith('.json')
        ? (await this.contents.readJson(content)).value
        : await this.contents.readText(content),
      referencers,
      idlocal,
    }
    const body = createJsonBody(stringifyExact(json))
    return (await this.client.call('extras.create', { body })).file
  }

  /** Reads the content of a board, with the ids that its files have now. */
  private async readBoard(content: ManifestContent): Promise<string> {
    const own = (text: string): string | undefined => {
      const fid = parseFid(text)
      return fid?.owner === this.manifest.username ? this.items.get(fid.idlocal)?.file?.fid : undefined
    }
    return replaceBoardFiles(await this.contents.readText(content), own)
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
    if (entry.type === 'grid') await this.grids.resume(item)
    if (item.step > 0) await this.keepOnce(item, entry.contents[item.step - 1])
    for (const content of entry.contents.slice(entry.type === 'extra' ? 1 : item.step)) {
      item.step++
      if (entry.type === 'grid') await this.grids.send(item, content, { 'On-Conflict': 'replace' })
      else if (entry.type === 'board')
        await this.client.call('dashboards.update', { fid, json: { content: await this.readBoard(content) } })
      else {
        const figure = await this.readFigure(item, content)
        if (figure === undefined)
          throw new Problem('bad_data', `${content.path}: its grids were not imported`)
        await this.trashCopies(item)
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
    if (entry.type === 'plot' && last?.kept && last.has_data) await this.trashCopies(item)
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
        ...(entry.share_items && { share_items: true }),
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

  /** Moves the grids that a kept figure was made with to the trash: it has a copy of its data. */
  private async trashCopies({ file }: AccountItem): Promise<void> {
    const { references } = await this.client.call('files.get', { fid: file!.fid })
    const known = new Set([...this.items.values()].map((item) => item.file?.fid))
    for (const fid of references) if (!known.has(fid)) await this.client.call('files.trash', { fid })
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

  /** Reads a figure with references to the files here; undefined if some of them are not complete yet. */
  private async readFigure(item: AccountItem, content: ManifestContent): Promise<string | undefined> {
    const { text, value: figure } = await this.contents.readJson(content)
    const { username } = this.manifest
    const newFidOf = (grid: string): string | undefined => {
      const fid = parseFid(grid)
      const source = fid?.owner === username ? this.items.get(fid.idlocal) : undefined
      return source?.step === source?.entry.contents.length ? source?.file?.fid : undefined
    }
    const references = listReferences(figure)
    if (references.some(({ grid }) => newFidOf(grid) === undefined)) return undefined
    if (references.every(({ grid }) => newFidOf(grid) === grid)) return text
    replaceReferences(figure, ({ grid, uids }) => `${newFidOf(grid)}:${uids.join(',')}`)
    item.notes.push('its grids have other numbers')
    return stringifyExact(figure)
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
