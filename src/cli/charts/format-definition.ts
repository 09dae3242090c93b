// Formats derived grids, charts and boards as the definition files that make them. See docs/definitions.md.
import { basename } from 'node:path'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Board, Derivation, FileMeta } from '../../contract/resources/index.ts'
import {
  definedTypeOf,
  definitionKindOf,
  parseMarker,
  removeDefinitionExtension,
} from '../files/definitions.ts'
import type { TreeEntry } from '../files/list-tree.ts'
import { formatYaml } from '../files/yaml.ts'
import { formatChartFile } from './chart-file.ts'
import { readChart } from './read-chart.ts'

/** A definition file. `notes`: what it lacks. */
export interface FormattedDefinition {
  file: string
  text: string
  notes: string[]
}

/** Formats files as definitions, if they can have one. */
export class DefinitionFormatter {
  private readonly client: Client
  private readonly entries: ReadonlyMap<string, TreeEntry>
  private readonly queries: ReadonlyMap<string, Derivation>

  private constructor(client: Client, entries: readonly TreeEntry[], derivations: readonly Derivation[]) {
    this.client = client
    this.entries = new Map(entries.map((entry) => [entry.file.fid, entry]))
    this.queries = new Map(derivations.map((one) => [one.fid, one]))
  }

  /** `entries`: all files that are formatted together, which name each other by their paths. */
  static async open(client: Client, entries: readonly TreeEntry[]): Promise<DefinitionFormatter> {
    const { derivations } = await client.call('derivations.list')
    return new DefinitionFormatter(client, entries, derivations)
  }

  /** Formats a file; undefined for one that no definition makes, such as a grid of data. Throws `usage` with the reason. */
  async format({ file, folders }: TreeEntry): Promise<FormattedDefinition | undefined> {
    if (file.filetype === 'grid') return this.formatQuery(file)
    if (file.filetype === 'plot') return this.formatChart(file, folders)
    return file.filetype === 'dashboard' ? this.formatBoard(file) : undefined
  }

  private formatQuery({ fid, filename }: FileMeta): FormattedDefinition | undefined {
    const { sql, params = {} } = this.queries.get(fid) ?? {}
    if (sql === undefined) return undefined
    if (Object.keys(params).length > 0)
      throw new Problem('usage', 'its query has parameters, which a file cannot have')
    return { file: `${filename}.sql`, text: sql, notes: [] }
  }

  private async formatChart(file: FileMeta, folders: readonly string[]): Promise<FormattedDefinition> {
    const { chart, grid, ownTheme, hasOptions, isComplete } = await readChart(this.client, file.fid)
    if (!hasOptions && !isComplete.withColors)
      throw new Problem('usage', 'its figure has attributes that no option of a chart file sets')
    const name = fileNameOf(file, 'chart.yml')
    const isNamed = removeDefinitionExtension(name) === file.filename
    const notes: string[] = []
    if (ownTheme !== undefined) notes.push(`the theme ${ownTheme} is not in its file`)
    if (!isComplete.withColors) notes.push('its file lacks attributes of the figure that no option sets')
    const path = this.pathOf(grid.fid, folders)
    return {
      file: name,
      text: await formatChartFile({ ...chart, grid: path }, isNamed ? undefined : file.filename),
      notes,
    }
  }

  private async formatBoard(file: FileMeta): Promise<FormattedDefinition> {
    const { content } = await this.client.call('dashboards.get', { fid: file.fid })
    const { board } = (JSON.parse(content) as { settings?: { board?: Board } }).settings ?? {}
    if (!board) throw new Problem('usage', 'it was made by another client, and has no board file')
    const { source, filters, rows } = board
    const text = source ?? (await formatYaml({ title: file.filename, ...(filters && { filters }), rows }))
    return { file: fileNameOf(file, 'board.yml'), text, notes: [] }
  }

  /** Returns the path of a grid as a file in `folders` names it; its id if it is not among the files. */
  private pathOf(fid: string, folders: readonly string[]): string {
    const entry = this.entries.get(fid)
    if (!entry) return fid
    let common = 0
    while (common < entry.folders.length && entry.folders[common] === folders[common]) common++
    return [...entry.folders.slice(common), entry.file.filename].join('/')
  }
}

/** Returns the name of the file that a chart or board was made from, or the one that it would have. */
function fileNameOf(file: FileMeta, ending: string): string {
  const made = basename(parseMarker(file)?.path ?? '')
  const kind = definitionKindOf(made)
  return kind !== undefined && definedTypeOf(kind) === file.filetype ? made : `${file.filename}.${ending}`
}
