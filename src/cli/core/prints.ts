import * as r from '../../contract/resources/index.ts'
import type { ObjectSchema } from '../../contract/schema.ts'

/** Objects that commands print, as the contract defines them. */
export const printedObjects = {
  File: r.FileMeta,
  Grid: r.GridMeta,
  Folder: r.FolderMeta,
  Plot: r.PlotMeta,
  Version: r.Version,
  Draft: r.Draft,
  Reverted: r.Reverted,
  'Grid diff': r.GridDiff,
  'Check report': r.CheckReport,
  Column: r.ColumnMeta,
  'Column description': r.ColumnDescription,
  'Appended rows': r.RowsAppended,
  Collaborator: r.Collaborator,
  Team: r.Team,
  'API key': r.ApiKey,
  'New API key': r.NewApiKey,
  User: r.UserMeta,
  Sources: r.SourcesGraph,
} as const satisfies Record<string, ObjectSchema>

export type PrintedObject = keyof typeof printedObjects

/** What a command prints with --json: the fields that --json accepts, and the text of docs/json.md. */
export type Prints =
  | {
      /** One object, or an array of them: of one of these kinds. */
      is: 'object' | 'array'
      of: readonly PrintedObject[]
      /** Fields of the command line's own, with what they hold. */
      fields: Readonly<Record<string, string>>
    }
  /** Anything else, in words; with the fields that --json accepts, if there are some, and a hint for others. */
  | { is: 'other'; what: string; fields?: readonly string[]; hint?: string }

type Of = PrintedObject | readonly PrintedObject[]

/** An array of objects of a kind, with fields of the command's own. */
export function array(of: Of, fields: Readonly<Record<string, string>> = {}): Prints {
  return { is: 'array', of: [of].flat() as PrintedObject[], fields }
}

/** One object of a kind, with fields of the command's own. */
export function object(of: Of, fields: Readonly<Record<string, string>> = {}): Prints {
  return { is: 'object', of: [of].flat() as PrintedObject[], fields }
}

/** What is no object of the contract, in words. */
export function other(what: string, fields?: readonly string[], hint?: string): Prints {
  return { is: 'other', what, fields, hint }
}

/** Fields of what a command that writes prints with --dry-run. */
export const plannedFields = ['dry_run', 'operation', 'would', 'file', 'target', 'change'] as const
/** Fields of what `upload` prints with it. */
export const previewFields = ['file', 'name', 'would', 'rows', 'columns', 'warnings', 'target'] as const

/** The fields that --json and --template accept for a command; undefined if any can be there. */
export function fieldsOf({
  prints,
  writes,
}: {
  prints: Prints
  writes?: true
}): readonly string[] | undefined {
  if (prints.is === 'other') return prints.fields
  const { of, fields } = prints
  return [
    ...new Set([
      ...of.flatMap((name) => Object.keys(printedObjects[name].properties)),
      ...Object.keys(fields),
      ...(writes ? [...plannedFields, ...previewFields] : []),
    ]),
  ]
}
