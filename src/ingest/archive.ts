import type { Readable } from 'node:stream'
import type { Entry, ZipFile } from 'yauzl'
import { Problem } from '../contract/errors.ts'
import { bytesText } from '../contract/limits.ts'
import { type Bytes, excerpt } from '../json/index.ts'
import { bomb, isBomb } from './bytes.ts'
import type { Spooled } from './spool.ts'
import { badData } from './warnings.ts'

/** What an archive may be; units as in the table of limits. */
export interface ArchiveLimits {
  archive_bytes: number
  unpacked_bytes: number
  archive_entries: number
  compression_ratio: number
}

/** A file in an archive. */
export interface ArchiveEntry {
  /** Its path in the archive, parts by `/`. */
  path: string
  open(): Promise<Bytes>
}

/** Counts what comes out of an archive; Problem `bad_data` where it is more than an honest one holds. */
class Meter {
  private total = 0

  constructor(
    private readonly limits: ArchiveLimits,
    private readonly source: string,
    /** Bytes of the whole archive, where they are known. */
    private readonly packed: number,
  ) {}

  async *counted(bytes: Bytes, packed: number): AsyncGenerator<Uint8Array> {
    const { unpacked_bytes, compression_ratio } = this.limits
    let size = 0
    for await (const chunk of bytes) {
      size += chunk.length
      this.total += chunk.length
      if (this.total > unpacked_bytes)
        throw badData(
          this.source,
          {},
          `more than ${bytesText(unpacked_bytes)} unpacked (limit unpacked_bytes)`,
        )
      if (
        isBomb(size, packed, compression_ratio) ||
        isBomb(this.total / 4, this.packed / 4, compression_ratio)
      )
        throw bomb(this.source, compression_ratio)
      yield chunk
    }
  }
}

function checkPath(path: string, source: string): string {
  const parts = path.split('/')
  if (
    path.startsWith('/') ||
    /^[A-Za-z]:/.test(path) ||
    path.includes('\\') ||
    parts.includes('..') ||
    path.includes('\0')
  )
    throw badData(source, {}, `a file in it has a path that leads out of it: ${excerpt(path)}`)
  return parts.filter((part) => part !== '' && part !== '.').join('/')
}

function tooMany(count: number, most: number, source: string): Problem {
  return badData(
    source,
    {},
    `${count} files; the limit is ${most} (archive_entries)`,
    'Make several archives.',
  )
}

/** The files of a ZIP archive, checked before any of them is unpacked. */
export async function zipMembers(
  spooled: Spooled,
  limits: ArchiveLimits,
  source: string,
): Promise<ArchiveEntry[]> {
  const { fromRandomAccessReader, RandomAccessReader } = await import('yauzl')
  const { Readable: NodeReadable } = await import('node:stream')
  const { handle, size } = spooled
  class Reader extends RandomAccessReader {
    override _readStreamForRange(start: number, end: number): Readable {
      return NodeReadable.from(rangeOf(spooled, start, end))
    }

    override read(
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
      callback: (error: Error | null) => void,
    ): void {
      handle
        .read(buffer, offset, length, position)
        .then(
          ({ bytesRead }) => callback(bytesRead < length ? new Error('it ends too early') : null),
          callback,
        )
    }
  }
  const damaged = (error: unknown): Problem => {
    if (error instanceof Problem) return error
    const message = error instanceof Error ? error.message : String(error)
    return badData(source, {}, `the archive is damaged: ${excerpt(message, 120)}`, 'Make or fetch it again.')
  }
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromRandomAccessReader(
      new Reader(),
      size,
      { lazyEntries: true, autoClose: false, strictFileNames: true },
      (error, file) => (error ? reject(damaged(error)) : resolve(file)),
    )
  })
  if (zip.entryCount > limits.archive_entries * 4)
    throw tooMany(zip.entryCount, limits.archive_entries, source)
  const entries: Entry[] = []
  await new Promise<void>((resolve, reject) => {
    zip.on('error', (error: unknown) => reject(damaged(error)))
    zip.on('end', resolve)
    zip.on('entry', (entry: Entry) => {
      entries.push(entry)
      zip.readEntry()
    })
    zip.readEntry()
  })
  refuseOverlaps(entries, source)
  const files = entries.filter(({ fileName }) => !fileName.endsWith('/'))
  const meter = new Meter(limits, source, size)
  return files.map((entry) => {
    const path = checkPath(entry.fileName, source)
    if (entry.isEncrypted())
      throw badData(source, {}, `${excerpt(path)} is encrypted`, 'Make the archive without a password.')
    // What a file is said to grow to is held against it at once, what it really grows to while it does.
    if (isBomb(entry.uncompressedSize, entry.compressedSize, limits.compression_ratio))
      throw bomb(source, limits.compression_ratio)
    return {
      path,
      open: async () => {
        const stream = await new Promise<Readable>((resolve, reject) => {
          zip.openReadStream(entry, (error, opened) => (error ? reject(damaged(error)) : resolve(opened)))
        })
        return meter.counted(orDamaged(stream, damaged), entry.compressedSize)
      },
    }
  })
}

/** Entries that share bytes make a small archive a large one. */
function refuseOverlaps(entries: readonly Entry[], source: string): void {
  const inOrder = [...entries].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  for (const [k, entry] of inOrder.entries()) {
    const next = inOrder[k + 1]
    const end = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength + entry.compressedSize
    if (next && end > next.relativeOffsetOfLocalHeader)
      throw badData(source, {}, 'files in the archive overlap', 'Make it again with another program.')
  }
}

async function* rangeOf({ handle }: Spooled, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const buffer = Buffer.allocUnsafe(Math.min(256 * 1024, end - at))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function* orDamaged(bytes: Bytes, damaged: (error: unknown) => Problem): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    throw damaged(error)
  }
}

/** The files of a TAR archive, in order; each is read before the next is asked for. */
export async function* tarMembers(
  bytes: Bytes,
  limits: ArchiveLimits,
  source: string,
): AsyncGenerator<ArchiveEntry> {
  const { extract } = await import('tar-stream')
  const { Readable: NodeReadable } = await import('node:stream')
  // Nothing is packed in a TAR itself; what packs the whole is watched where it is undone.
  const meter = new Meter(limits, source, Number.POSITIVE_INFINITY)
  const unpack = extract()
  const input = NodeReadable.from(bytes)
  input.on('error', (error) => unpack.destroy(error))
  input.pipe(unpack)
  let count = 0
  try {
    for await (const entry of unpack) {
      const { name, type } = entry.header
      if (type !== 'file' && type !== 'contiguous-file') {
        entry.resume()
        continue
      }
      if (++count > limits.archive_entries) throw tooMany(count, limits.archive_entries, source)
      const path = checkPath(name, source)
      let opened = false
      yield {
        path,
        open: async () => {
          opened = true
          return meter.counted(entry as unknown as Bytes, Number.POSITIVE_INFINITY)
        },
      }
      if (!opened) entry.resume()
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw badData(source, {}, `the archive is damaged: ${excerpt(message, 120)}`, 'Make or fetch it again.')
  } finally {
    input.destroy()
  }
}
