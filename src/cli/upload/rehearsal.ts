// Tries definitions of a dry run whose grids do not exist yet: on empty grids with the columns that they would have, in
// a temporary service.
import { posix } from 'node:path'
import type { Client } from '../../client/index.ts'
import type { ColumnType } from '../../contract/column-types.ts'
import { Problem } from '../../contract/errors.ts'
import type { Board, GridMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { type FindFile, resolveBoard } from '../files/board-file.ts'
import { type DefinitionNames, NotMade, type PlannedFile } from './definition-names.ts'
import type { DefinitionFile } from './read-definitions.ts'

/** Types in SQL of an empty column of each type. */
const SQL_TYPES: Record<ColumnType, string> = {
  number: 'DOUBLE',
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'TIMESTAMP',
  json: 'VARCHAR',
  empty: 'VARCHAR',
}

/** Returns the type in SQL of a column; forms of a type have its name and more: `datetime-zone`. */
function sqlTypeOf(type: string, numbers: string): string {
  if (type === 'number') return numbers
  return SQL_TYPES[type as ColumnType] ?? SQL_TYPES[type.split('-')[0] as ColumnType] ?? 'VARCHAR'
}

/** Types of numbers: queries read whole numbers as BIGINT, and only the values tell which they are. */
const NUMBER_TYPES = ['DOUBLE', 'BIGINT'] as const

/** Id of a file that no service has: what it has cannot be checked. */
const UNKNOWN_FID = 'nobody:0'

type Columns = NonNullable<PlannedFile['columns']>

export class Rehearsal {
  /** Number of folders: each definition has its own, so that names of others do not matter. */
  private folders = 0

  constructor(
    private readonly context: Context,
    private readonly names: DefinitionNames,
  ) {}

  /**
   * Runs a query on empty grids. Returns the columns of its result; undefined if that cannot be known here. Throws what
   * is wrong with the query.
   */
  async runQuery(local: DefinitionFile): Promise<Columns | undefined> {
    const client = await this.context.temporaryClient()
    const folder = this.nextFolder()
    // No table of a plain path has a dot.
    const json = { filename: 'result', parent_path: `${folder}/.result`, sql: local.definition.text }
    const derive = async (): Promise<Columns> =>
      ((await client.call('grids.derive', { json })).file as GridMeta).cols
    const tables = await derive().catch((error) => {
      if (!(error instanceof Problem)) throw error
      if (error.code === 'no_duckdb') return undefined
      if (error.code === 'unknown_table' && error.tables) return { names: error.tables }
      throw error
    })
    if (tables === undefined || !('names' in tables)) return tables
    const faults: Problem[] = []
    for (const numbers of NUMBER_TYPES) {
      for (const name of tables.names)
        if (!(await this.placeTable(client, local, { folder, name, numbers }))) return undefined
      try {
        return await derive()
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        faults.push(error)
      }
    }
    throw faults[0]
  }

  /** Checks a board, with empty grids in place of those that it shows. Throws what is wrong with it. */
  async checkBoard(local: DefinitionFile): Promise<void> {
    const client = await this.context.temporaryClient()
    const find: FindFile = async (name, filetype) => {
      const columns = await this.findColumns(local, name, filetype)
      return columns && filetype === 'grid'
        ? this.placeGrid(
            client,
            `${this.nextFolder()}/${isPath(name) ? posix.basename(name) : 'grid'}`,
            columns,
          )
        : UNKNOWN_FID
    }
    const { filters, ...board } = await resolveBoard(local.file, local.definition, find)
    const shown = board.rows.flatMap(({ items }) => items)
    // A chart can have the column of a filter.
    const isKnown = shown.every(
      ({ plot, table, number }) => plot === undefined && (table ?? number) !== UNKNOWN_FID,
    )
    const checked: Board = isKnown ? { ...board, filters } : board
    const content = { version: 2, layout: null, settings: { board: checked } }
    await client.call('dashboards.create', { json: { content, parent_path: this.nextFolder() } })
  }

  /** Makes an empty grid for a table of a query. Returns false if its columns or its name cannot be known here. */
  private async placeTable(
    client: Client,
    local: DefinitionFile,
    { folder, name, numbers }: { folder: string; name: string; numbers: (typeof NUMBER_TYPES)[number] },
  ): Promise<boolean> {
    if (!isPath(name)) return false
    const columns = await this.findColumns(local, name, 'grid')
    if (!columns) return false
    await this.placeGrid(client, `${folder}/${name}`, columns, numbers)
    return true
  }

  private placeGrid(
    client: Client,
    path: string,
    columns: Columns,
    numbers: (typeof NUMBER_TYPES)[number] = 'DOUBLE',
  ): Promise<string> {
    const list = columns.map(({ name, type }) => {
      return `NULL::${sqlTypeOf(type, numbers)} AS "${name.replaceAll('"', '""')}"`
    })
    const json = {
      filename: posix.basename(path),
      parent_path: posix.dirname(path),
      sql: `SELECT ${list.join(', ')} LIMIT 0`,
      on_conflict: 'replace' as const,
    }
    return client
      .call('grids.derive', { json, headers: { 'Allow-Column-Loss': true } })
      .then(({ file }) => file.fid)
  }

  private nextFolder(): string {
    return `definition ${++this.folders}`
  }

  /** Finds the columns of a grid of this upload, or of a stored one; undefined if they cannot be known. */
  private async findColumns(
    local: DefinitionFile,
    name: string,
    filetype: 'plot' | 'grid',
  ): Promise<Columns | undefined> {
    try {
      const fid = await this.names.finderOf(local)(name, filetype)
      if (filetype !== 'grid') return undefined
      return (await (await this.context.client()).call('grids.get', { fid })).cols
    } catch (error) {
      if (!(error instanceof NotMade)) throw error
      return error.planned.columns
    }
  }
}

/** Returns whether a name is a plain path: not an id, a link, a version, or the path of another user. */
function isPath(name: string): boolean {
  return !/[@:."]/.test(name)
}
