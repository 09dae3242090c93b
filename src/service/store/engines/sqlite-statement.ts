// Prepared statements of SQLite, and the rows that they return.
import { type CompiledQuery, IdentifierNode } from 'kysely'
import type { Statement } from './sqlite-database.ts'

/** A prepared statement. SQLite returns arrays of values, since its objects are slow to make and to read. */
export class PreparedStatement {
  /** `names`: those of the columns; undefined if the first rows will tell them. */
  constructor(
    private readonly statement: Statement,
    private names: readonly string[] | undefined,
  ) {
    if (names && !this.returnArrays()) this.names = undefined
  }

  run(parameters: readonly unknown[]): { changes: number | bigint } {
    return this.statement.run(...parameters)
  }

  /** Returns the rows as objects. */
  all<R>(parameters: readonly unknown[]): R[] {
    if (this.names) return this.toObjects(this.statement.all<unknown[]>(...parameters)) as R[]
    const rows = this.statement.all<R & object>(...parameters)
    if (rows.length > 0 && this.returnArrays()) this.names = Object.keys(rows[0])
    return rows
  }

  /** Lets SQLite return arrays. Returns false if it cannot: Node before 22.16 has no arrays. */
  private returnArrays(): boolean {
    this.statement.setReturnArrays?.(true)
    return this.statement.setReturnArrays !== undefined
  }

  private toObjects(rows: readonly unknown[][]): Record<string, unknown>[] {
    // Another process has added columns to the table. No migration renames any, or adds and removes some at once.
    if (rows.length > 0 && rows[0].length !== this.names!.length)
      this.names = this.statement.columns().map(({ name }) => name)
    const names = this.names!
    const objects: Record<string, unknown>[] = new Array(rows.length)
    for (let row = 0; row < rows.length; row++) {
      const object: Record<string, unknown> = {}
      for (let k = 0; k < names.length; k++) object[names[k]] = rows[row][k]
      objects[row] = object
    }
    return objects
  }
}

/** Returns the names of the columns that a query selects; undefined if it does not name all of them. */
export function namesOf(query: CompiledQuery['query']): string[] | undefined {
  if (query.kind !== 'SelectQueryNode') return undefined
  const names: string[] = []
  for (const { selection } of query.selections ?? []) {
    if (selection.kind === 'ReferenceNode' && selection.column.kind === 'ColumnNode')
      names.push(selection.column.column.name)
    else if (selection.kind === 'AliasNode' && IdentifierNode.is(selection.alias))
      names.push(selection.alias.name)
    else return undefined
  }
  return names.length === 0 ? undefined : names
}
