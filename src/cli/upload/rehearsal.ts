// Tries definitions of a dry run whose grids do not exist yet: queries on empty tables with the columns that these would
// have, boards in a temporary service.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import type { Client } from '../../client/index.ts'
import type { ColumnType } from '../../contract/column-types.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { readLimits } from '../../contract/limits.ts'
import type { Board, GridMeta } from '../../contract/resources/index.ts'
import type { EmptyTable, TableName } from '../../sql/index.ts'
import type { Context } from '../core/context.ts'
import { type FindFile, resolveBoard } from '../files/board-file.ts'
import { type DefinitionNames, NotMade, type PlannedFile } from './definition-names.ts'
import type { DefinitionFile } from './read-definitions.ts'

/** Types in SQL of a column of each type, and a value. */
const COLUMN_TYPES: Record<ColumnType, { sql: string; value: unknown }> = {
  number: { sql: 'DOUBLE', value: 1 },
  text: { sql: 'VARCHAR', value: 'a' },
  boolean: { sql: 'BOOLEAN', value: true },
  date: { sql: 'DATE', value: '2024-01-01' },
  datetime: { sql: 'TIMESTAMP', value: '2024-01-01T00:00:00' },
  json: { sql: 'VARCHAR', value: [] },
  empty: { sql: 'VARCHAR', value: null },
}

/** Finds a type; forms of a type have its name and more: `datetime-zone`. */
function findType(type: string): { sql: string; value: unknown } {
  return (
    COLUMN_TYPES[type as ColumnType] ?? COLUMN_TYPES[type.split('-')[0] as ColumnType] ?? COLUMN_TYPES.text
  )
}

/** Types of numbers: queries read whole numbers as BIGINT, and only the values tell which they are. */
const NUMBER_TYPES = ['DOUBLE', 'BIGINT'] as const

/** Id of a file that no service has: what it has cannot be checked. */
const UNKNOWN_FID = 'nobody:0'

type Columns = NonNullable<PlannedFile['columns']>

/** The columns of a table cannot be known before the upload. */
class UnknownColumns extends Error {}

export class Rehearsal {
  /** Number of folders: each board has its own, so that names of others do not matter. */
  private folders = 0

  constructor(
    private readonly context: Context,
    private readonly names: DefinitionNames,
  ) {}

  /**
   * Runs a query on empty tables. Returns the columns of its result; undefined if that cannot be known here. Throws what
   * is wrong with the query.
   */
  async runQuery(local: DefinitionFile): Promise<Columns | undefined> {
    const faults: Problem[] = []
    for (const numbers of NUMBER_TYPES) {
      try {
        return await this.runOnEmptyTables(local, numbers)
      } catch (error) {
        if (error instanceof UnknownColumns) return undefined
        if (!(error instanceof Problem)) throw error
        if (error.code === 'no_duckdb') return undefined
        faults.push(error)
      }
    }
    throw faults[0]
  }

  private async runOnEmptyTables(
    local: DefinitionFile,
    numbers: (typeof NUMBER_TYPES)[number],
  ): Promise<Columns> {
    const { queryLimitsOf, runQuery } = await import('../../sql/index.ts')
    const folder = mkdtempSync(join(tmpdir(), 'gridline-'))
    try {
      const { columns } = await runQuery(
        {
          sql: local.definition.text,
          parameters: {},
          folder,
          openTables: async ({ tables }) => ({
            tables: (
              await Promise.all(tables.map((name) => this.describeTable(local, name, numbers)))
            ).flat(),
          }),
        },
        queryLimitsOf(readLimits(this.context.environment)),
      )
      return columns
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** Describes a table of a query as empty. No table: the query defines it (WITH). Throws `UnknownColumns`. */
  private async describeTable(
    local: DefinitionFile,
    table: TableName,
    numbers: (typeof NUMBER_TYPES)[number],
  ): Promise<EmptyTable[]> {
    const isKnown = table.schema === '' && isPath(table.name)
    const found = isKnown ? this.findColumns(local, table.name, 'grid') : Promise.resolve(undefined)
    const columns = await (table.isDefined ? undefinedIfNotFound(found) : found)
    if (!columns && table.isDefined) return []
    if (!columns) throw new UnknownColumns()
    const typed = columns.map(({ name, type }) => ({
      name,
      type: type === 'number' ? numbers : findType(type).sql,
    }))
    return [{ table, columns: typed }]
  }

  /** Checks a board, with small grids in place of those that it shows. Throws what is wrong with it. */
  async checkBoard(local: DefinitionFile): Promise<void> {
    const client = await this.context.temporaryClient()
    const find: FindFile = async (name, filetype) => {
      const columns = await this.findColumns(local, name, filetype)
      if (!columns) return UNKNOWN_FID
      const path = `${this.nextFolder()}/${isPath(name) ? posix.basename(name) : 'grid'}`
      const grid = await this.placeGrid(client, path, columns)
      return filetype === 'grid' ? grid.fid : this.placePlot(client, grid)
    }
    const { filters, ...board } = await resolveBoard(local.file, local.definition, find)
    const shown = board.rows.flatMap(({ items }) => items)
    // A chart that is not known can have the column of a filter.
    const isKnown = shown.every(({ plot, table, number }) => (plot ?? table ?? number) !== UNKNOWN_FID)
    const checked: Board = isKnown ? { ...board, filters } : board
    const content = { version: 2, layout: null, settings: { board: checked } }
    await client.call('dashboards.create', { json: { content, parent_path: this.nextFolder() } })
  }

  /** Makes a grid of one row. */
  private async placeGrid(client: Client, path: string, columns: Columns): Promise<GridMeta> {
    const cols = columns.map(({ name, type }, order) => [name, { data: [findType(type).value], order }])
    const json = {
      filename: posix.basename(path),
      parent_path: posix.dirname(path),
      data: { cols: Object.fromEntries(cols) },
    }
    return (await client.call('grids.create', { json })).file as GridMeta
  }

  /** Makes a chart of a grid. Returns its id. */
  private async placePlot(client: Client, { fid, cols }: GridMeta): Promise<string> {
    const figure = { data: cols.slice(0, 1).map(({ uid }) => ({ ysrc: `${fid}:${uid}` })), layout: {} }
    const json = { figure, filename: 'plot', parent_path: this.nextFolder() }
    return (await client.call('plots.create', { json })).file.fid
  }

  private nextFolder(): string {
    return `definition ${++this.folders}`
  }

  /**
   * Finds the columns of a grid of this upload, or of a stored one, or of the grid of a chart of this upload; undefined
   * if they cannot be known.
   */
  async findColumns(
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
