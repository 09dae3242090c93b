// Formats derived grids, charts and boards as the definition files that make them. See docs/definitions.md.
import { basename, dirname } from 'node:path'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Board, BoardItem, Derivation, FileMeta } from '../../contract/resources/index.ts'
import { resolveBoard } from '../files/board-file.ts'
import {
  definedTypeOf,
  definitionKindOf,
  parseMarker,
  removeDefinitionExtension,
} from '../files/definitions.ts'
import type { TreeEntry } from '../files/list-tree.ts'
import { toSafeFileName } from '../files/local-names.ts'
import { formatYaml, parseYaml } from '../files/yaml.ts'
import { formatChartFile } from './chart-file.ts'
import { readChart } from './read-chart.ts'

/** A definition file. `notes`: what it lacks. */
export interface FormattedDefinition {
  file: string
  text: string
  notes: string[]
}

/** Endings of the files of charts and boards. */
const ENDINGS: Readonly<Record<string, string>> = { plot: 'chart.yml', dashboard: 'board.yml' }

/** Formats files of a folder as definitions, if they can have one. They name each other by their paths. */
export class DefinitionFormatter {
  private readonly client: Client
  private readonly entries: ReadonlyMap<string, TreeEntry>
  private readonly queries: ReadonlyMap<string, Derivation>
  /** Names of the files of charts and boards, by id. */
  private readonly fileNames: ReadonlyMap<string, string>
  /** Ids by path in lower case: as SQL compares names, and since two names that differ only in case are rare. */
  private readonly paths = new Map<string, string>()

  private constructor(client: Client, entries: readonly TreeEntry[], derivations: readonly Derivation[]) {
    this.client = client
    this.entries = new Map(entries.map((entry) => [entry.file.fid, entry]))
    this.queries = new Map(derivations.map((one) => [one.fid, one]))
    this.fileNames = assignFileNames(entries)
    for (const { file, folders } of entries) {
      const name = this.fileNames.get(file.fid)
      if (name === undefined) continue
      // Definitions can name the file of a chart.
      for (const one of [name, removeDefinitionExtension(name)]) this.paths.set(keyOf(folders, one), file.fid)
    }
    for (const { file, folders } of entries) this.paths.set(keyOf(folders, file.filename), file.fid)
  }

  static async open(client: Client, entries: readonly TreeEntry[]): Promise<DefinitionFormatter> {
    const { derivations } = await client.call('derivations.list')
    return new DefinitionFormatter(client, entries, derivations)
  }

  /** Formats a file; undefined for one that no definition makes, such as a grid of data. Throws the reason if it cannot have one. */
  async format(entry: TreeEntry): Promise<FormattedDefinition | undefined> {
    const { filetype } = entry.file
    if (filetype === 'grid') return this.formatQuery(entry)
    if (filetype === 'plot') return this.formatChart(entry)
    return filetype === 'dashboard' ? this.formatBoard(entry) : undefined
  }

  private formatQuery({ file, folders }: TreeEntry): FormattedDefinition | undefined {
    const { sql, params = {}, inputs = [] } = this.queries.get(file.fid) ?? {}
    if (sql === undefined) return undefined
    if (Object.keys(params).length > 0)
      throw new Problem('usage', 'its query has parameters, which a file cannot have')
    const notes = inputs.flatMap(({ table, fid }) => {
      const name = table.replace(/@[^@/]*$/, '')
      if (isId(name) || !this.entries.has(fid) || this.find(name, folders) === fid) return []
      return [`its query reads ${table}, which is called ${this.pathOf(fid, folders)} now`]
    })
    return { file: `${file.filename}.sql`, text: sql, notes }
  }

  private async formatChart({ file, folders }: TreeEntry): Promise<FormattedDefinition> {
    const { chart, grid, ownTheme, hasOptions, isComplete } = await readChart(this.client, file.fid)
    if (!hasOptions && !isComplete.withColors)
      throw new Problem('usage', 'its figure has attributes that no option of a chart file sets')
    const name = this.fileNames.get(file.fid)!
    const isNamed = removeDefinitionExtension(name) === file.filename
    const notes: string[] = []
    if (ownTheme !== undefined) notes.push(`the theme ${ownTheme} is not in its file`)
    if (!isComplete.withColors) notes.push('its file lacks attributes of the figure that no option sets')
    const text = await formatChartFile(
      { ...chart, grid: this.pathOf(grid.fid, folders) },
      isNamed ? undefined : file.filename,
    )
    return { file: name, text, notes }
  }

  private async formatBoard({ file, folders }: TreeEntry): Promise<FormattedDefinition> {
    const { content } = await this.client.call('dashboards.get', { fid: file.fid })
    const { board } = (JSON.parse(content) as { settings?: { board?: Board } }).settings ?? {}
    if (!board) throw new Problem('usage', 'it was made by another client, and has no board file')
    const name = this.fileNames.get(file.fid)!
    const { source, filters } = board
    if (source !== undefined && (await this.isCurrent(name, source, board, { file, folders })))
      return { file: name, text: source, notes: [] }
    const rows = board.rows.map(({ items, ...more }) => {
      const named = items.map((item) => this.withNames(item, folders))
      if (Object.keys(more).length > 0) return { ...more, items: named }
      return named.length === 1 ? named[0] : named
    })
    const text = await formatYaml({ title: file.filename, ...(filters && { filters }), rows })
    const notes =
      source === undefined
        ? []
        : ['files that it names have other names now, so its file is written anew, without comments']
    return { file: name, text, notes }
  }

  /** Returns whether the text of a board still makes this board: its names may be those of before. */
  private async isCurrent(
    name: string,
    source: string,
    { rows }: Board,
    { file, folders }: TreeEntry,
  ): Promise<boolean> {
    const document = (await parseYaml(name, source, 'bad_data').catch(() => undefined)) as
      | Record<string, unknown>
      | undefined
    const title = document?.title ?? (removeDefinitionExtension(name) || 'board')
    if (document === undefined || title !== file.filename) return false
    const find = async (path: string): Promise<string> =>
      isId(path) ? path : (this.find(path, folders) ?? '')
    const resolved = await resolveBoard(name, { text: source, document }, find).catch(() => undefined)
    const named = resolved?.rows.flatMap(({ items }) => items)
    const stored = rows.flatMap(({ items }) => items)
    if (named?.length !== stored.length) return false
    return stored.every((item, k) => {
      const [is, was] = [shownBy(item), shownBy(named[k])]
      return is === was || (was === '' && is !== undefined && !this.entries.has(is))
    })
  }

  /** Returns an item with the path of its file. */
  private withNames(item: BoardItem, folders: readonly string[]): BoardItem {
    const fid = shownBy(item)
    if (fid === undefined) return item
    const member = item.plot !== undefined ? 'plot' : item.table !== undefined ? 'table' : 'number'
    return { ...item, [member]: this.pathOf(fid, folders) }
  }

  /** Returns the path of a file as a definition in `folders` names it; its id if it is not among the files. */
  private pathOf(fid: string, folders: readonly string[]): string {
    const entry = this.entries.get(fid)
    if (!entry) return fid
    let common = 0
    while (common < entry.folders.length && entry.folders[common] === folders[common]) common++
    const path = [...entry.folders.slice(common), entry.file.filename].join('/')
    // A nearer file may have this path.
    return this.find(path, folders) === fid ? path : `${'../'.repeat(folders.length - common)}${path}`
  }

  /** Finds a path as a definition in `folders` names it: there, or in the folders above. */
  private find(path: string, folders: readonly string[]): string | undefined {
    const directory = dirname(path)
    const bare = definitionKindOf(path)
      ? removeDefinitionExtension(path)
      : basename(path).replace(/\.[^.]+$/, '')
    const names = [path, directory === '.' ? bare : `${directory}/${bare}`]
    for (const name of names)
      for (let depth = folders.length; depth >= 0; depth--) {
        const found = this.paths.get(keyOf(folders.slice(0, depth), name))
        if (found !== undefined) return found
      }
    return undefined
  }
}

function keyOf(folders: readonly string[], name: string): string {
  return [...folders, name].join('/').toLowerCase()
}

function isId(name: string): boolean {
  return /^[^\s:/]+:\d+(?:@.*)?$/.test(name)
}

/** Returns the id of the file that an item shows. */
function shownBy({ plot, table, number }: BoardItem): string | undefined {
  return plot ?? table ?? number
}

/** Returns the names of the files of charts and boards: those that they were made from, unless two have the same. */
function assignFileNames(entries: readonly TreeEntry[]): Map<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const claim = ({ file, folders }: TreeEntry, name: string): void => {
    names.set(file.fid, name)
    taken.add(keyOf(folders, toSafeFileName(name)))
  }
  const own = entries.filter(({ file }) => file.filetype in ENDINGS)
  const defaultOf = ({ filename, filetype }: FileMeta): string => `${filename}.${ENDINGS[filetype]}`
  for (const entry of own) if (madeFrom(entry.file) === undefined) claim(entry, defaultOf(entry.file))
  for (const entry of own) {
    const made = madeFrom(entry.file)
    if (made === undefined) continue
    claim(entry, taken.has(keyOf(entry.folders, toSafeFileName(made))) ? defaultOf(entry.file) : made)
  }
  return names
}

/** Returns the name of the file that a chart or board was made from; undefined without one. */
function madeFrom(file: FileMeta): string | undefined {
  const made = basename(parseMarker(file)?.path ?? '')
  const kind = definitionKindOf(made)
  return kind !== undefined && definedTypeOf(kind) === file.filetype ? made : undefined
}
