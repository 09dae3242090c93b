// Finds the files that definitions name: those of the same upload first.
import { posix } from 'node:path'
import { lookupOrUndefined, resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { gridNameOf } from '../../contract/formats.ts'
import { findClosest } from '../../contract/message-texts.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { splitVersion } from '../../contract/version-ref.ts'
import type { Context } from '../core/context.ts'
import { definitionKindOf, removeDefinitionExtension } from '../files/definitions.ts'
import { resolveDestinationHeaders } from './destination.ts'
import type { LocalFile } from './expand.ts'
import { storedPathOf } from './mirror.ts'

/** A file that a dry run would create or change. */
export interface PlannedFile {
  isNew: boolean
  /** Columns that a grid would have, or the grid of a chart. */
  columns?: readonly { name: string; type: string }[]
}

/** A definition names a file that a dry run does not make. */
export class NotMade extends Error {
  constructor(readonly planned: PlannedFile) {
    super('a file of the same upload')
  }
}

/** Names of the files of an upload. */
export class DefinitionNames {
  /** Files of this upload, by their path in the directory. */
  private readonly made = new Map<string, Pick<FileMeta, 'fid' | 'filetype'>>()
  /** Files that do not exist yet, or will change, by their path in the directory. */
  private readonly planned = new Map<string, PlannedFile>()

  /** Paths of files of this upload that failed: another file of the name must not take their place. */
  private readonly failed = new Set<string>()

  constructor(
    private readonly context: Context,
    /** Destination folder, and ids of files that go to the trash. */
    private readonly options: { folder?: string; removed?: ReadonlySet<string> },
  ) {}

  /** Whether a dry run would change a file before. */
  get hasPlanned(): boolean {
    return this.planned.size > 0
  }

  add(local: LocalFile, file: Pick<FileMeta, 'fid' | 'filetype'>): void {
    this.made.set(storedPathOf(local), file)
  }

  /** Says that a file of this upload failed. */
  fail(local: LocalFile): void {
    this.failed.add(storedPathOf(local))
  }

  /** Says that a file is tried again. */
  retry(local: LocalFile): void {
    this.failed.delete(storedPathOf(local))
  }

  /** Lists the names of the files of this upload that failed. */
  listFailed(): string[] {
    return [...this.failed].map((path) => posix.basename(path))
  }

  /** Lists the names of files that a dry run would create or change. */
  listPlanned(): string[] {
    return [...this.planned.keys()].map((path) => posix.basename(path))
  }

  /** Says that a dry run would create or change a file. */
  expect(local: LocalFile, planned: PlannedFile): void {
    this.planned.set(storedPathOf(local), planned)
  }

  /** Finds a file of this upload by its name in a definition. SQL ignores the case of letters. */
  findMade(folders: readonly string[], name: string, filetype: string): string | undefined {
    for (let depth = folders.length; depth >= 0; depth--) {
      const wanted = joinPath(folders.slice(0, depth), name).toLowerCase()
      for (const [path, file] of this.made)
        if (path.toLowerCase() === wanted && file.filetype === filetype) return file.fid
    }
    return undefined
  }

  /**
   * Returns a function that finds the file of a name in a definition: beside it, in the directories above it, and then
   * as in a command. Files of this upload come first.
   */
  finderOf({ folders }: LocalFile) {
    return async (name: string, filetype: 'plot' | 'grid'): Promise<string> => {
      const fid = await this.findFile(name, filetype, folders)
      if (this.options.removed?.has(fid)) throw removedProblem(name)
      return fid
    }
  }

  private async findFile(
    name: string,
    filetype: 'plot' | 'grid',
    folders: readonly string[],
  ): Promise<string> {
    const client = await this.context.client()
    const isPath = !/^https?:\/\//i.test(name)
    const isId = parseFid(name) !== undefined
    const names = [...new Set([name, removeExtension(name)])]
    const place = await resolveDestinationHeaders(client, this.options.folder, folders)
    const above = place['Parent-Path']?.split('/') ?? []
    for (let up = 0; isPath && up <= Math.max(above.length, folders.length); up++)
      for (const one of names) {
        const local = up <= folders.length && joinPath(folders.slice(0, folders.length - up), one)
        const planned = local ? this.planned.get(local) : undefined
        if (planned) throw new NotMade(planned)
        const made = local ? this.made.get(local) : undefined
        if (made?.filetype === filetype) return made.fid
        if (local && this.failed.has(local)) throw failedProblem(name)
        if (isId || up > above.length || (up === above.length && place.Parent === undefined)) continue
        const stored = joinPath(above.slice(0, above.length - up), one)
        const found = await lookupOrUndefined(client, stored, place.Parent)
        if (found?.filetype === filetype) return found.fid
      }
    const split = isPath && !isId ? splitVersion(name) : undefined
    const { fid, version } = split
      ? { fid: await this.findFile(split.file, filetype, folders), version: split.version }
      : await resolveVersion(client, name, filetype).catch((error) => {
          throw this.withSimilarName(error, name, folders)
        })
    if (version === undefined) return fid
    throw new Problem('bad_data', `${name}: a version cannot be used here`, {
      hint: 'Charts and boards follow their grids. For a version, derive a grid: select * from "sales@3"',
    })
  }

  /** Adds the name of a similar file of this upload to the error for one that does not exist. */
  private withSimilarName(error: unknown, name: string, folders: readonly string[]): unknown {
    if (!(error instanceof Problem) || error.code !== 'not_found') return error
    const known = [...this.planned.keys(), ...this.made.keys()]
    const similar = findClosest(joinPath(folders, name), known)
    if (similar === undefined) return error
    const relative = posix.relative(folders.join('/'), similar)
    return new Problem(error.code, error.message, { hint: `Did you mean ${relative}?` })
  }
}

/** Returns the name of what a file makes: `data/sales.csv` → `data/sales`, `totals.sql` → `totals`. */
function removeExtension(name: string): string {
  const at = name.lastIndexOf('/') + 1
  const isDefinition = definitionKindOf(name) !== undefined
  return name.slice(0, at) + (isDefinition ? removeDefinitionExtension(name) : gridNameOf(name))
}

/** Joins a path to folders. `..` leads to the folder above. */
function joinPath(folders: readonly string[], path: string): string {
  return posix.join('/', ...folders, path).replace(/^\/|\/$/g, '')
}

/** Returns the error for a file that the upload moves to the trash. */
export function removedProblem(name: string): Problem {
  return new Problem('conflict', `${name} has no file in the directory any more`, {
    hint: 'It would be moved to the trash: change this file, too, or keep the other.',
  })
}

/** Returns the error for a name whose file failed in the same upload. */
export function failedProblem(name: string, code: 'bad_data' | 'unknown_table' = 'bad_data'): Problem {
  return new Problem(code, `the file of ${name} failed`, { hint: 'Its error is above.' })
}
