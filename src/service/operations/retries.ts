// Retries of streamed uploads and appends.
import { ROOT } from '../../contract/fid.ts'
import type { UploadAction } from '../../contract/resources/index.ts'
import type { Call } from '../core/call.ts'
import { find, pathNames } from '../files/names.ts'
import { notAGrid, type Target, takenBy } from '../grids/change/place.ts'
import type { OperationService as Service } from './handler.ts'

/** Returns the stored result of a streamed write that was applied. Reads the body, to compare it. */
export async function appliedBefore<T>(
  call: Call,
  find: () => Promise<{ result: T } | undefined>,
): Promise<T | undefined> {
  if (!(await find())) return undefined
  for await (const _ of call.bytes);
  return (await find())?.result
}

/** Returns the result of an upload that was applied before. Throws early if the upload cannot succeed. */
export async function uploadedBefore(service: Service, call: Call, target: Target) {
  const owner = call.caller!.username
  const { limits, store } = service
  type Made = { idlocal: number; warnings: string[]; action: UploadAction }
  const replay = await appliedBefore(call, () =>
    store.read(({ idempotency }) => idempotency.find<Made>(call.writeKey(owner))),
  )
  if (replay) return replay
  return store.read(async (readers) => {
    const folderNames = target.parent_path === undefined ? [] : pathNames(target.parent_path, limits)
    const existing = await find(
      readers.files,
      owner,
      folderNames.length > 0 ? ROOT : (target.parent ?? ROOT),
      [...folderNames, target.filename],
    )
    if (existing && target.onConflict === 'fail') throw await takenBy(readers, existing)
    // Files with several tables go into a folder. Their number is unknown before the file is read.
    const canHoldTables = existing?.filetype === 'grid' || existing?.filetype === 'fold'
    if (existing && target.onConflict !== 'rename' && !canHoldTables) throw notAGrid(existing)
    return undefined
  })
}
