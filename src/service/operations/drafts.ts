import { Problem } from '../../contract/errors.ts'
import { formatFid, webUrl } from '../../contract/fid.ts'
import type { Draft } from '../../contract/resources/index.ts'
import { draftUrl } from '../files/drafts.ts'
import { type DraftRow, removeDraft } from '../store/drafts.ts'
import type { Readers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

const DAY = 24 * 3600 * 1000

export const draftHandlers = {
  'drafts.list': (service, call) =>
    service.store.read(async (readers) => {
      const drafts: Draft[] = []
      for (const row of await readers.drafts.list(call.caller!.username, call.query.name)) {
        const draft = await draftMeta(service, readers, row)
        if (draft) drafts.push(draft)
      }
      return { body: { drafts } }
    }),

  'drafts.delete': async (service, call) => {
    const { username } = call.caller!
    const { name } = call
    const deleted = await service.store.writeOnce(call.writeKey(username), async (writers) => {
      const rows = await writers.drafts.list(username, name)
      for (const row of rows) await removeDraft(writers, row)
      return rows.length
    })
    if (deleted === 0)
      throw new Problem('not_found', `you have no draft ${name.slice(0, 100)}`, {
        hint: 'List your drafts with: gridline draft list',
      })
    return { body: { name, deleted } }
  },
} satisfies Partial<Handlers>

async function draftMeta(
  { url, limits }: Service,
  { files, grids, versions }: Readers,
  { owner, idlocal, name, version, made_at, made_by }: DraftRow,
): Promise<Draft | undefined> {
  const file = await files.get(owner, idlocal)
  if (!file) return undefined
  const row = version === null ? undefined : await versions.get(owner, idlocal, version)
  const row_count = row?.row_count ?? (await grids.get(owner, idlocal)).row_count
  return {
    name,
    fid: formatFid(file),
    filename: file.filename,
    row_count,
    is_new: version === null,
    made_at: new Date(made_at).toISOString(),
    made_by,
    expires_at: new Date(made_at + limits.draft_days * DAY).toISOString(),
    web_url: version === null ? webUrl(url, file) : draftUrl(webUrl(url, file), name),
  }
}
