// Makes derived grids, charts and boards of definition files. See docs/definitions.md.
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { type Definition, inFile, namesTable } from '../files/definitions.ts'
import { boardKind } from './define-board.ts'
import { chartKind } from './define-chart.ts'
import { queryKind, refuseColumnLoss } from './define-query.ts'
import { NotMade, type PlannedFile } from './definition-names.ts'
import { type DefinitionKind, DefinitionScope, type MadeFile, type MakeOptions } from './definition-scope.ts'
import type { LocalFile } from './expand.ts'
import type { DefinitionFile } from './read-definitions.ts'
import { Rehearsal } from './rehearsal.ts'

const KINDS: Readonly<Record<Definition['kind'], DefinitionKind>> = {
  query: queryKind,
  chart: chartKind,
  board: boardKind,
}

/** A file of an upload, with what was done with it. */
interface MadeAlready extends Pick<FileMeta, 'fid' | 'filetype'> {
  /** Missing for drafts, whose queries run again. */
  date_modified?: string
  action?: string
}

/** A definition, compared with what exists: the draft, or the file that it does not change. */
export interface DraftedFile {
  state: 'new' | 'changed' | 'unchanged'
  file: FileMeta
  /** How it differs, or why although its file does not. */
  reason?: string
}

/** A time after all others. */
const LATER = '9999'

/** Effect that a definition would have. `follow`: the file stays as it is, and shows other data. */
export type WouldMake = 'create' | 'replace' | 'follow' | 'nothing'

/** Makes definition files, one after the other. */
export class DefinitionMaker {
  private readonly scope: DefinitionScope
  private readonly rehearsal: Rehearsal

  constructor(context: Context, options: MakeOptions) {
    this.scope = new DefinitionScope(context, options)
    this.rehearsal = new Rehearsal(context, this.scope.names)
  }

  /** Remembers a file of this upload: definitions find it by its name. */
  remember(local: LocalFile, { fid, filetype, date_modified = LATER, action }: MadeAlready): void {
    this.scope.names.add(local, { fid, filetype })
    if (action !== 'unchanged') this.scope.changedAt ??= date_modified
  }

  /** Says that a file of this upload failed: definitions do not find it. */
  fail(local: LocalFile): void {
    this.scope.names.fail(local)
  }

  /** Says that a dry run would create or change a file. */
  expect(local: LocalFile, planned: PlannedFile): void {
    this.scope.names.expect(local, planned)
  }

  /** Returns whether a query has read another grid than that of this upload with the name. */
  hasReadOther(local: DefinitionFile): boolean {
    const { inputs, names } = this.scope
    return (inputs.get(local) ?? []).some(({ table, fid }) => {
      const own = names.findMade(local.folders, table, 'grid')
      return own !== undefined && own !== fid
    })
  }

  /** Makes a definition. `etag`: required state of the file. Throws `already_exists` unless files are replaced. */
  async make(local: DefinitionFile, etag?: string): Promise<MadeFile> {
    const { scope } = this
    scope.names.retry(local)
    const existing = scope.options.draft === undefined ? await scope.findTarget(local) : undefined
    const made = await KINDS[local.definition.kind].make(scope, local, existing, etag).catch((error) => {
      this.fail(local)
      throw error
    })
    this.remember(local, made)
    scope.context.messages.warnAll(made.warnings, local.file)
    return made
  }

  /** Makes the draft of a definition if it differs from what exists. `changed`: ids of files with drafts. */
  async makeDraft(local: DefinitionFile, changed: ReadonlySet<string>): Promise<DraftedFile> {
    const { scope } = this
    const target = await scope.findTarget(local)
    if (!target) return { state: 'new', file: await this.make(local) }
    const { review, hasSameText } = KINDS[local.definition.kind]
    if (await review?.isSame(scope, local, target, changed)) {
      this.remember(local, { ...target, action: 'unchanged' })
      return { state: 'unchanged', file: target }
    }
    const isOwn = await hasSameText(scope, local, target)
    const file = await this.make(local)
    const reason = isOwn ? 'shows other data' : await review?.describeChange(scope, target, file)
    return { state: 'changed', file, ...(reason && { reason }) }
  }

  /**
   * Returns what `make` would do, without changes. Throws its errors, as far as they do not depend on what is not made
   * yet.
   */
  async preview(local: DefinitionFile): Promise<{ would: WouldMake; target: FileMeta | undefined }> {
    try {
      return await this.tryPreview(local)
    } catch (error) {
      this.fail(local)
      throw error
    }
  }

  private async tryPreview(
    local: DefinitionFile,
  ): Promise<{ would: WouldMake; target: FileMeta | undefined }> {
    const { scope } = this
    scope.names.retry(local)
    const target = await scope.findTarget(local)
    const { isUnchanged, tryMake, rehearse, hasSameText } = KINDS[local.definition.kind]
    const inThisFile = (error: unknown): never => {
      throw error instanceof NotMade ? error : inFile(error, local.file)
    }
    let columns: PlannedFile['columns']
    const follow = (): { would: WouldMake; target: FileMeta | undefined } => {
      this.expect(local, { isNew: false, columns })
      return { would: 'follow', target }
    }
    try {
      const isSame = await isUnchanged(scope, local, target)
      const { kind, text } = local.definition
      // Grids that do not exist yet, or will change, cannot be queried.
      if (kind === 'query' && scope.names.hasPlanned) {
        columns = await rehearse(this.rehearsal, local).catch(inThisFile)
        if (target && columns) await refuseColumnLoss(scope, target, columns).catch(inThisFile)
      } else if (!isSame) await tryMake(scope, local, target).catch(inThisFile)
      if (isSame && kind === 'query' && scope.names.listPlanned().some((name) => namesTable(text, name)))
        return follow()
      if (isSame) return { would: 'nothing', target }
      if (kind === 'chart') columns = await rehearse(this.rehearsal, local)
    } catch (error) {
      if (!(error instanceof NotMade)) throw error
      columns = await rehearse(this.rehearsal, local).catch(inThisFile)
      const isSame = target !== undefined && !error.planned.isNew && (await hasSameText(scope, local, target))
      if (isSame) return follow()
    }
    this.expect(local, { isNew: target === undefined, columns })
    return { would: target ? 'replace' : 'create', target }
  }
}
