// Types of the package daff.
declare module 'daff' {
  export class TableView {
    constructor(rows: unknown[][])
  }
  export class CompareFlags {
    ids: string[]
    show_unchanged: boolean
  }
  export function compareTables(a: TableView, b: TableView, flags: CompareFlags): { align(): unknown }
  export class TableDiff {
    constructor(alignment: unknown, flags: CompareFlags)
    hilite(output: TableView): void
  }
}
