// Reviews of definition files: drafts of derived grids, charts and boards that differ.
import type { Client } from '../../client/index.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { assertDistinctNames } from '../charts/create.ts'
import type { Context } from '../core/context.ts'
import type { Expanded, LocalFile } from '../upload/expand.ts'
import { listMirrored, storedPathOf } from '../upload/mirror.ts'
import { readDefinitions, withStoredName } from '../upload/read-definitions.ts'

import { compareDraft, isAccessError, type Reviewed, type ReviewOptions, toFailure } from './review.files.ts'

/** Files of a review. */
interface GivenFiles {
  files: readonly LocalFile[]
  definitions: readonly LocalFile[]
  directories: readonly string[]
  excluded: readonly LocalFile[]
}

/** Makes drafts of the derived grids, charts and boards that differ, and compares them. */
export async function reviewDefinitions(
  context: Context,
  { files, definitions, directories, excluded }: GivenFiles,
  reviews: readonly Reviewed[],
  options: ReviewOptions & { draft: string },
  mayWrite: boolean,
): Promise<Reviewed[]> {
  const [{ DefinitionMaker }, { sortDefinitions }] = await Promise.all([
    import('../upload/make-definitions.ts'),
    import('../upload/definition-order.ts'),
  ])
  const maker = new DefinitionMaker(context, { ...options, isReplacing: true, yes: true })
  for (const [k, local] of files.entries()) {
    const { fid, state } = reviews[k]
    if (fid) maker.remember(local, { fid, filetype: 'grid', action: state })
  }
  const changed = new Set(reviews.flatMap(({ fid, state }) => (fid && state !== 'unchanged' ? [fid] : [])))
  const made: Reviewed[] = []
  const hasFailed = reviews.some(({ state }) => state === 'failed')
  let mayStore = mayWrite
  const {
    definitions: read,
    broken,
    others,
  } = await readDefinitions({ files: definitions, isMultiple: true })
  made.push(...broken.map(({ subject, problem }) => toFailure(context, subject, problem)))
  const left = [...excluded, ...others].map(withStoredName)
  const all = [...files, ...read]
  assertDistinctNames(
    all.map((local) => ({ file: local.file, name: storedPathOf(local) })),
    undefined,
  )
  for (const local of sortDefinitions(read)) {
    const { file, definition } = local
    const { kind } = definition
    const work = async (): Promise<Reviewed> => {
      if (!mayStore) return { file, kind, state: 'skipped', error: NO_ACCESS }
      if (hasFailed) return { file, kind, state: 'skipped', error: 'not compared, since a data file failed' }
      const drafted = await maker.makeDraft(local, changed)
      const { fid, web_url: url } = drafted.file
      const review =
        kind === 'query'
          ? await compareDraft(context, { file, grid: drafted.file as GridMeta, url }, options, options.draft)
          : { file, fid, url, state: drafted.state }
      if (review.state !== 'unchanged') changed.add(fid)
      return { ...review, kind, ...(drafted.reason && { reason: drafted.reason }) }
    }
    const refuse = (error: unknown): Reviewed => {
      if (!isAccessError(error)) return toFailure(context, file, error)
      mayStore = false
      return { file, kind, state: 'skipped', error: NO_ACCESS }
    }
    made.push(await work().catch(refuse))
  }
  if (mayStore && !made.some(({ state }) => state === 'failed'))
    made.push(
      ...(await listGone(await context.client(), directories, { files: all, excluded: left }, options)),
    )
  return made
}

export const NO_ACCESS = 'not compared: the job has no key with write access'

/** Lists charts and boards that were made from files which are gone. */
async function listGone(
  client: Client,
  directories: readonly string[],
  expanded: Pick<Expanded, 'files' | 'excluded'>,
  options: Pick<ReviewOptions, 'folder' | 'include' | 'exclude'>,
): Promise<Reviewed[]> {
  if (directories.length === 0) return []
  const named = directories.filter((directory) => !/(?:^|[/\\])\.{1,2}[/\\]*$/.test(directory))
  const { made } = await listMirrored(client, named, expanded, options)
  return made.removals.map(({ file: { fid, filetype, web_url: url }, path }) => {
    return { file: path, kind: filetype === 'plot' ? 'chart' : 'board', fid, url, state: 'removed' }
  })
}
