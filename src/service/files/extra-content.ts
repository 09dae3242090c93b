// Content of extras.
import { Problem } from '../../contract/errors.ts'
import type { Bytes } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { fileEtag } from '../core/etag.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed } from '../store/aggregates/slice-json.ts'

/** Loads the content of an extra. */
export async function loadExtraContent(service: Service, call: Call): Promise<OperationResult<Bytes>> {
  const { content, tag } = await service.store.read(async (readers) => {
    const { file } = await authorizeCall(readers, call)
    return { content: await readers.plots.getContent(file.owner, file.idlocal), tag: fileEtag(file) }
  })
  if (!content) throw new Problem('damaged', 'the content of this file is missing')
  const bytes = await loadDecompressed(service.store.blobs, storedContentOf(content))
  async function* once(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  return { body: once(), etag: tag, type: content.media_type }
}
