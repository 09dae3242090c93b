// Declares the output of commands with --json.
import * as r from '../../contract/resources/index.ts'
import type { ObjectSchema } from '../../contract/schema.ts'

/** Objects of the contract that commands print. */
export const outputObjects = {
  File: r.FileMeta,
  Grid: r.GridMeta,
  Folder: r.FolderMeta,
  Plot: r.PlotMeta,
  Version: r.Version,
  Draft: r.Draft,
  Alert: r.Alert,
  Mailing: r.Mailing,
  Derivation: r.Derivation,
  Refresh: r.Refresh,
  Board: r.DashboardMeta,
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

export type OutputObject = keyof typeof outputObjects

/** Output of a command with --json: fields that --json accepts, and text for docs/json.md. */
export type OutputSchema =
  | {
      /** One object, or an array of objects. */
      kind: 'object' | 'array'
      objects: readonly OutputObject[]
      /** Additional fields, with descriptions. */
      fields: Readonly<Record<string, string>>
    }
  /** Other output: a description, the fields that --json accepts, if any, and a hint for unknown ones. */
  | { kind: 'other'; description: string; fields?: readonly string[]; hint?: string }

type Of = OutputObject | readonly OutputObject[]

/** Declares an array of objects; `fields` describes fields that the contract lacks. */
export function arrayOf(of: Of, fields: Readonly<Record<string, string>> = {}): OutputSchema {
  return { kind: 'array', objects: typeof of === 'string' ? [of] : of, fields }
}

/** Declares one object; `fields` describes fields that the contract lacks. */
export function objectOf(of: Of, fields: Readonly<Record<string, string>> = {}): OutputSchema {
  return { kind: 'object', objects: typeof of === 'string' ? [of] : of, fields }
}

/** Declares output that is not an object of the contract. */
export function otherOutput(what: string, fields?: readonly string[], hint?: string): OutputSchema {
  return { kind: 'other', description: what, fields, hint }
}

/** Fields printed by commands that write, with --dry-run. */
export const DRY_RUN_FIELDS = ['dry_run', 'operation', 'would', 'file', 'target', 'change'] as const
/** Fields printed by `upload --dry-run`. */
export const UPLOAD_PREVIEW_FIELDS = [
  'file',
  'name',
  'would',
  'rows',
  'columns',
  'warnings',
  'target',
  'changes',
] as const

/** Returns the fields that --json and --template accept; undefined if the fields are not known in advance. */
export function outputFieldsOf({
  output,
  writes,
}: {
  output: OutputSchema
  writes?: true
}): readonly string[] | undefined {
  if (output.kind === 'other') return output.fields
  const { objects, fields } = output
  return [
    ...new Set([
      ...objects.flatMap((name) => Object.keys(outputObjects[name].properties)),
      ...Object.keys(fields),
      ...(writes ? [...DRY_RUN_FIELDS, ...UPLOAD_PREVIEW_FIELDS] : []),
    ]),
  ]
}
