// Declares the output of commands with --json.
import * as r from '../../contract/resources/index.ts'
import type { ObjectSchema } from '../../contract/schema.ts'

/** Objects of the contract that commands print. */
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

/** Output of a command with --json: fields that --json accepts, and text for docs/json.md. */
export type Prints =
  | {
      /** One object, or an array of objects. */
      is: 'object' | 'array'
      of: readonly PrintedObject[]
      /** Additional fields, with descriptions. */
      fields: Readonly<Record<string, string>>
    }
  /** Other output: a description, the fields that --json accepts, if any, and a hint for unknown ones. */
  | { is: 'other'; what: string; fields?: readonly string[]; hint?: string }

type Of = PrintedObject | readonly PrintedObject[]

/** Declares an array of objects; `fields` describes fields that the contract lacks. */
export function array(of: Of, fields: Readonly<Record<string, string>> = {}): Prints {
  return { is: 'array', of: [of].flat() as PrintedObject[], fields }
}

/** Declares one object; `fields` describes fields that the contract lacks. */
export function object(of: Of, fields: Readonly<Record<string, string>> = {}): Prints {
  return { is: 'object', of: [of].flat() as PrintedObject[], fields }
}

/** Declares output that is not an object of the contract. */
export function other(what: string, fields?: readonly string[], hint?: string): Prints {
  return { is: 'other', what, fields, hint }
}

/** Fields printed by commands that write, with --dry-run. */
export const plannedFields = ['dry_run', 'operation', 'would', 'file', 'target', 'change'] as const
/** Fields printed by `upload --dry-run`. */
export const previewFields = ['file', 'name', 'would', 'rows', 'columns', 'warnings', 'target'] as const

/** Returns the fields that --json and --template accept; undefined if the fields are not known in advance. */
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
