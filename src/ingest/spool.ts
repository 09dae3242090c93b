import { randomBytes } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesText } from '../contract/limits.ts'
import type { Bytes } from '../json/index.ts'
import { badData } from './warnings.ts'

/** A temporary file for formats that need random access. Already unlinked: it ends with the process. */
export interface Spooled {
  handle: FileHandle
  size: number
  close(): Promise<void>
}

export async function spool(bytes: Bytes, most: number, source: string): Promise<Spooled> {
  const path = join(tmpdir(), `gridline-${randomBytes(8).toString('hex')}`)
  const handle = await open(path, 'wx+', 0o600)
  let size = 0
  try {
    await unlink(path)
    for await (const chunk of bytes) {
      size += chunk.length
      if (size > most)
        throw badData(
          source,
          {},
          `larger than ${bytesText(most)} (limit archive_bytes)`,
          'Upload its files one by one.',
        )
      await handle.write(chunk)
    }
  } catch (error) {
    await handle.close()
    throw error
  }
  return { handle, size, close: () => handle.close() }
}
