import { type OperationName, operations } from '../contract/operations/index.ts'
import type { TableView } from './output/view.ts'

/** What a command would have changed: thrown in place of the request, with --dry-run. */
export class Planned extends Error {
  constructor(
    readonly operation: OperationName,
    /** The file, team, key or user that would have been changed. */
    readonly target: string | undefined,
    /** The fields that would have been sent. */
    readonly change: unknown,
  ) {
    super(operations[operation].summary)
  }

  /** The row that is printed. `file`: the name that was given. */
  row(file?: string): object {
    const { operation, target = null, change = null } = this
    return { dry_run: true, operation, would: this.message, file: file ?? target, target, change }
  }
}

export const plannedView: TableView = {
  id: 'target',
  columns: [
    { field: 'would', title: 'WOULD' },
    { field: 'file', title: 'WHAT', format: (file: string | null) => file ?? '' },
    { field: 'target', title: 'ID', format: (target: string | null) => target ?? '' },
    {
      field: 'change',
      title: 'CHANGE',
      format: (change: Record<string, unknown> | null) =>
        Object.entries(change ?? {})
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
          .join(' '),
    },
  ],
}
