// Retries of streamed uploads and appends.
import type { UploadAction } from '../../contract/resources/index.ts'
import type { Call } from '../core/call.ts'
import {
  findExisting,
  nameTakenError,
  notAGridError,
  toUploadResult,
  type UploadTarget,
} from '../grids/change/save-grid.ts'
import type { UpsertResult } from '../grids/change/upsert.ts'
import type { OperationService as Service } from './handler.ts'

/** Returns the stored result of a streamed write that was applied. Reads the body, to compare it. */
export async function findStreamedReplay<T>(
  call: Call,
  find: () => Promise<{ result: T } | undefined>,
): Promise<T | undefined> {
  if (!(await find())) return undefined
  for await (const _ of call.bytes);
  return (await find())?.result
}

/** Returns the result of an upload that was applied before. Throws early if the upload cannot succeed. */
export async function findUploadReplay(service: Service, call: Call, target: UploadTarget) {
  const owner = call.caller!.username
  const { store } = service
  type Made = { idlocal: number; warnings: string[]; action: UploadAction }
  const replay = await findStreamedReplay(call, () =>
    store.read(({ idempotency }) => idempotency.findResult<Made | UpsertResult>(call.writeKey(owner))),
  )
  if (replay) return 'action' in replay ? replay : toUploadResult(replay)
  return store.read(async (readers) => {
    const taken = await findExisting(service, readers, owner, target)
    if (taken && target.onConflict === 'fail') throw await nameTakenError(readers, taken)
    // A file with several tables belongs in a folder; how many it has is known when it has been read.
    const isPlace = taken?.filetype === 'grid' || taken?.filetype === 'fold'
    if (taken && target.onConflict !== 'rename' && !isPlace) throw notAGridError(taken)
    return undefined
  })
}
