// Makes boards of board files.
import { isDeepStrictEqual } from 'node:util'
import { undefinedIfNotFound } from '../../contract/errors.ts'
import type { Board, DashboardMeta, FileMeta } from '../../contract/resources/index.ts'
import { describePrivateItems, resolveBoard } from '../files/board-file.ts'
import { type DefinitionKind, type DefinitionScope, takenProblem, toMade } from './definition-scope.ts'
import { describeBoardChange } from './describe-change.ts'
import type { DefinitionFile } from './read-definitions.ts'

export const boardKind: DefinitionKind = {
  async make(scope, local, existing, etag) {
    const client = await scope.client()
    const { draft, isReplacing } = scope.options
    const json = await requestOf(scope, local, existing)
    const { board } = json.content.settings
    if (existing && scope.isPublished(existing) && isDeepStrictEqual(await loadBoard(scope, existing), board))
      return toMade(existing, 'unchanged')
    if (existing && !isReplacing) throw takenProblem(local)
    const file: DashboardMeta = existing
      ? await client.call('dashboards.update', {
          fid: existing.fid,
          json,
          ...(etag !== undefined && { plainHeaders: { 'if-match': etag } }),
        })
      : (await client.call('dashboards.create', { headers: { Draft: draft }, json })).file
    const hidden = file.world_readable ? describePrivateItems(scope.context, file) : undefined
    if (hidden !== undefined) scope.context.messages.warning(hidden, local.definition.name)
    const { content: _, private_items: __, ...meta } = file
    return toMade(meta, draft !== undefined ? 'drafted' : existing ? 'replaced' : 'created')
  },

  async tryMake(scope, local, existing) {
    const client = await scope.client()
    const json = await requestOf(scope, local, existing)
    return existing
      ? client.tryCall('dashboards.update', { fid: existing.fid, json })
      : client.tryCall('dashboards.create', { json })
  },

  async rehearse(rehearsal, local) {
    await rehearsal.checkBoard(local)
    return undefined
  },

  async isUnchanged(scope, local, existing) {
    const board = await resolveBoard(local.file, local.definition, scope.names.finderOf(local))
    return (
      existing !== undefined &&
      isDeepStrictEqual(await loadBoard(scope, existing), board) &&
      scope.isPublished(existing)
    )
  },

  async hasSameText(scope, local, file) {
    return (await loadBoard(scope, file))?.source === local.definition.text
  },

  review: {
    async isSame(scope, local, existing, changed) {
      return (
        (await boardKind.isUnchanged(scope, local, existing)) &&
        !(await showsChanged(scope, existing, changed))
      )
    },

    async describeChange(scope, before, after) {
      const [old, next] = [await loadBoard(scope, before), await loadBoard(scope, after)]
      return old && next && describeBoardChange(old, next)
    },
  },
}

/** Returns the fields of a board; of a new one also its name and place. */
async function requestOf(scope: DefinitionScope, local: DefinitionFile, existing: FileMeta | undefined) {
  const board = await resolveBoard(local.file, local.definition, scope.names.finderOf(local))
  const metadata = scope.metadataOf(local, existing)
  return {
    content: { version: 2, layout: null, settings: { board } },
    ...(scope.options.public && { world_readable: true }),
    ...(metadata && { metadata }),
    ...(!existing && { ...(await scope.placeOf(local)), filename: local.definition.name }),
  }
}

/** Returns whether a board shows one of some files, itself or in a chart. */
async function showsChanged(
  scope: DefinitionScope,
  board: FileMeta,
  changed: ReadonlySet<string>,
): Promise<boolean> {
  const client = await scope.client()
  const { rows = [] } = (await loadBoard(scope, board)) ?? {}
  for (const { plot, table, number } of rows.flatMap(({ items }) => items)) {
    const fid = plot ?? table ?? number
    if (fid === undefined) continue
    if (changed.has(fid)) return true
    const file = plot === undefined ? undefined : await undefinedIfNotFound(client.call('files.get', { fid }))
    if (file?.references.some((grid) => changed.has(grid))) return true
  }
  return false
}

/** Loads what a board was made from. */
async function loadBoard(scope: DefinitionScope, { fid }: FileMeta): Promise<Board | undefined> {
  const { content } = await (await scope.client()).call('dashboards.get', { fid })
  return (JSON.parse(content) as { settings?: { board?: Board } }).settings?.board
}
