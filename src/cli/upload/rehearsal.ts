// Tries definitions of a dry run whose grids do not exist yet: on empty grids with the columns that they would have, in
// a temporary service.
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

/** Types of numbers: queries read whole numbers as BIGINT, and only the values tell which they are. */
const NUMBER_TYPES = ['DOUBLE', 'BIGINT'] as const

/** Id of a file that no service has: what it has cannot be checked. */
const UNKNOWN_FID = 'nobody:0'

type Columns = NonNullable<PlannedFile['columns']>

export class Rehearsal {
  /** Number of files that were made. */
  private made = 0

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
    const json = { filename: `result ${++this.made}`, sql: local.definition.text }
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
        if (!(await this.placeTable(client, local, name, numbers))) return undefined
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
        ? this.placeGrid(client, isPath(name) ? name : `grid ${++this.made}`, columns)
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
    await client.call('dashboards.create', { json: { content, filename: `board ${++this.made}` } })
  }

  /** Makes an empty grid for a table of a query. Returns false if its columns or its name cannot be known here. */
  private async placeTable(
    client: Client,
    local: DefinitionFile,
    name: string,
    numbers: (typeof NUMBER_TYPES)[number],
  ): Promise<boolean> {
    if (!isPath(name)) return false
    const columns = await this.findColumns(local, name, 'grid')
    if (!columns) return false
    await this.placeGrid(client, name, columns, numbers)
    return true
  }

  private placeGrid(
    client: Client,
    path: string,
    columns: Columns,
    numbers: (typeof NUMBER_TYPES)[number] = 'DOUBLE',
  ): Promise<string> {
    const list = columns.map(({ name, type }) => {
      const sqlType = type === 'number' ? numbers : SQL_TYPES[type as ColumnType]
      return `NULL::${sqlType} AS "${name.replaceAll('"', '""')}"`
    })
    const names = path.split('/')
    const json = {
      filename: names.at(-1)!,
      ...(names.length > 1 && { parent_path: names.slice(0, -1).join('/') }),
      sql: `SELECT ${list.join(', ')} LIMIT 0`,
      on_conflict: 'replace' as const,
    }
    return client
      .call('grids.derive', { json, headers: { 'Allow-Column-Loss': true } })
      .then(({ file }) => file.fid)
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
