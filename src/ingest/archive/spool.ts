// Temporary files for formats that need random access.
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCodeOf, Problem } from '../../contract/errors.ts'
import type { Bytes } from '../../json/index.ts'

/** A temporary file. It is already unlinked, so the system deletes it when the process ends. */
export interface SpooledFile {
  handle: FileHandle
  size: number
  close(): Promise<void>
}

/** Writes bytes to a temporary file. Throws `tooLarge()` beyond `most` bytes. */
export async function spoolToFile(bytes: Bytes, most: number, tooLarge: () => Problem): Promise<SpooledFile> {
  const path = join(tmpdir(), `gridline-${randomBytes(8).toString('hex')}`)
  const handle = await open(path, 'wx+', 0o600).catch((error) => {
    throw toWriteError(error)
  })
  let size = 0
  try {
    await unlink(path)
    for await (const chunk of bytes) {
      size += chunk.length
      if (size > most) throw tooLarge()
      await handle.write(chunk)
    }
  } catch (error) {
    await handle.close()
    throw toWriteError(error)
  }
  return { handle, size, close: () => handle.close() }
}

/** Reasons by error code of the system. */
const REASON_BY_CODE: Record<string, string> = {
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'not a folder',
}

/** Converts errors of writing to the temporary folder; returns other errors unchanged. */
function toWriteError(error: unknown): unknown {
  const code = errorCodeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Problem('disk_full', `the disk of ${tmpdir()} is full`, {
      hint: 'Free space there, or set TMPDIR to another folder.',
    })
  if (!Object.hasOwn(REASON_BY_CODE, code)) return error
  return new Problem(
    'no_temporary_folder',
    `this format needs a folder for temporary files, and ${tmpdir()} cannot be written to: ${REASON_BY_CODE[code]}`,
  )
}

/** Yields the bytes of a temporary file from its beginning. */
export async function* readChunks({ handle, size }: SpooledFile): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(64 * 1024), 0, 64 * 1024, at)
    if (bytesRead === 0) throw new Error('a temporary file became shorter')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
