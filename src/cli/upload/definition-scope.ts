// What the definitions of one upload share: names, options, and the places of their files.
import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Derivation, FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { DEFINITION_KEY, definedTypeOf, definitionPathOf, parseMarker } from '../files/definitions.ts'
import { DefinitionNames, type PlannedFile } from './definition-names.ts'
import { resolveDestination, resolveDestinationHeaders } from './destination.ts'
import type { LocalFile } from './expand.ts'
import type { DefinitionFile } from './read-definitions.ts'
import type { Rehearsal } from './rehearsal.ts'

export interface MakeOptions {
  /** Destination folder, as path or id. */
  folder?: string
  public?: boolean
  /** Whether files of these names are replaced. */
  isReplacing: boolean
  /** Ids of files that the upload moves to the trash: definitions cannot name them. */
  removed?: ReadonlySet<string>
  /** Replaces grids also if they lose columns. */
  yes?: boolean
  /** Name of the draft to make. */
  draft?: string
}

/** Result of a definition. */
export type MadeFile = FileMeta & {
  action: 'created' | 'replaced' | 'unchanged' | 'drafted'
  warnings: readonly string[]
}

/** How definitions of one kind become files. */
export interface DefinitionKind {
  /**
   * Makes the file. `existing`: a file to replace. `etag`: its required state. Throws `already_exists` unless files are
   * replaced.
   */
  make(
    scope: DefinitionScope,
    local: DefinitionFile,
    existing: FileMeta | undefined,
    etag: string | undefined,
  ): Promise<MadeFile>
  /** Lets the service try what a dry run can know. */
  tryMake(scope: DefinitionScope, local: DefinitionFile, existing: FileMeta | undefined): Promise<unknown>
  /**
   * Tries a definition that names files of the same upload. Returns the columns that its grid would have, or the grid of
   * a chart, if they are known.
   */
  rehearse(rehearsal: Rehearsal, local: DefinitionFile): Promise<PlannedFile['columns']>
  /** Returns whether a definition would make the file that exists. Throws what is wrong with it, and `NotMade`. */
  isUnchanged(scope: DefinitionScope, local: DefinitionFile, existing: FileMeta | undefined): Promise<boolean>
  /** Returns whether a file was made from the same text. */
  hasSameText(scope: DefinitionScope, local: DefinitionFile, file: FileMeta): Promise<boolean>
  /** Compares a file with its draft. */
  review: DraftReview | undefined
}

/** Compares a file with its draft; undefined for a query: only its rows tell whether it differs. */
export interface DraftReview {
  /**
   * Returns whether the draft would equal its file. `changed`: ids of files with drafts. A board that shows one of them
   * differs.
   */
  isSame(
    scope: DefinitionScope,
    local: DefinitionFile,
    existing: FileMeta,
    changed: ReadonlySet<string>,
  ): Promise<boolean>
  /** Says how the draft differs. */
  describeChange(scope: DefinitionScope, before: FileMeta, after: FileMeta): Promise<string | undefined>
}

export class DefinitionScope {
  readonly names: DefinitionNames
  /** Tables of queries of this upload, with the grids that they read. */
  readonly inputs = new Map<LocalFile, NonNullable<Derivation['inputs']>>()
  /** When this upload first changed a file: queries of before may mean others now, and have other results. */
  changedAt: string | undefined

  constructor(
    readonly context: Context,
    readonly options: MakeOptions,
  ) {
    this.names = new DefinitionNames(context, options)
  }

  client(): Promise<Client> {
    return this.context.client()
  }

  /** Returns the existing file with the name of a definition. Throws `already_exists` for one of another type. */
  async findTarget(local: DefinitionFile): Promise<FileMeta | undefined> {
    const { path, parent } = await resolveDestination(await this.client(), this.options, local)
    const file = await lookupOrUndefined(await this.client(), path, parent)
    const filetype = definedTypeOf(local.definition.kind)
    if (file && file.filetype !== filetype)
      throw new Problem('already_exists', `${local.file}: ${path} exists, and is not a ${filetype}`, {
        hint: 'Rename one of them.',
      })
    return file
  }

  async placeOf({ folders }: LocalFile): Promise<{ parent?: number; parent_path?: string }> {
    const place = await resolveDestinationHeaders(await this.client(), this.options.folder, folders)
    return { parent: place.Parent, parent_path: place['Parent-Path'] }
  }

  /** Returns whether a file is public if it should be. */
  isPublished(file: FileMeta | undefined): boolean {
    return file?.world_readable === true || !this.options.public
  }

  /** Metadata which say that a file is made from a definition; undefined if the existing file has them. */
  metadataOf(local: DefinitionFile, existing: FileMeta | undefined): Record<string, unknown> | undefined {
    const { name, text } = local.definition
    const marker = { path: definitionPathOf(local), name, sha256: sha256Of(text) }
    if (isDeepStrictEqual(existing?.metadata[DEFINITION_KEY], marker)) return undefined
    return { ...existing?.metadata, [DEFINITION_KEY]: marker }
  }

  /** Returns whether the metadata of a file say that it was made from the same text. */
  hasMarkerOf({ definition: { text } }: DefinitionFile, file: FileMeta): boolean {
    return parseMarker(file)?.sha256 === sha256Of(text)
  }
}

export function toMade(file: FileMeta, action: MadeFile['action']): MadeFile {
  return { ...file, action, warnings: [] }
}

export function takenProblem({ file, definition: { name } }: DefinitionFile): Problem {
  return new Problem('already_exists', `${file}: a file named '${name}' already exists`, {
    hint: 'Replace what has changed with: --on-conflict replace',
  })
}

/** Returns the directory of an upload: files that a definition names are in it. */
export function rootOf({ file, folders }: LocalFile): string {
  return resolve(dirname(file), ...folders.slice(1).map(() => '..'))
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
