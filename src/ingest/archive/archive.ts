// Opens the files of ZIP and TAR archives, and rejects hostile archives.
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { formatBytes } from '../../contract/limits.ts'
import { type Bytes, excerpt } from '../../json/index.ts'
import type { Entry, ZipFile } from '../../vendor/unzip.ts'
import { badFile } from '../values/warnings.ts'
import type { SpooledFile } from './spool.ts'
import { bombError, isBomb } from './unpack.ts'

/** Limits of archives. Units as in contract/limits.ts. */
export interface ArchiveLimits {
  archive_bytes: number
  unpacked_bytes: number
  archive_entries: number
  compression_ratio: number
}

/** A file in an archive. */
export interface ArchiveEntry {
  /** Path in the archive, separated by `/`. */
  path: string
  open(): Promise<Bytes>
}

/** Creates a function that converts errors to `bad_data`. Problems are kept. */
function toDamagedError(source: string): (error: unknown) => Problem {
  return (error) => {
    if (error instanceof Problem) return error
    const message = errorMessageOf(error)
    return badFile(source, `the archive is damaged: ${excerpt(message, 120)}`, 'Create or download it again.')
  }
}

/** Counts bytes unpacked from an archive. Throws `bad_data` beyond the limits (archive bombs). */
class EntryMeter {
  private total = 0

  constructor(
    private readonly limits: ArchiveLimits,
    private readonly source: string,
    /** Size of the whole archive in bytes; infinite if unknown. */
    private readonly packed: number,
  ) {}

  /** Passes bytes through and counts them. `packed`: size of the entry in the archive, in bytes. */
  async *countBytes(bytes: Bytes, packed: number): AsyncGenerator<Uint8Array> {
    const { unpacked_bytes } = this.limits
    let size = 0
    for await (const chunk of bytes) {
      size += chunk.length
      this.total += chunk.length
      if (this.total > unpacked_bytes) throw tooMuchUnpackedError(this.source, this.limits)
      if (isBomb(size, packed, this.limits) || isBomb(this.total / 4, this.packed / 4, this.limits))
        throw bombError(this.source, this.limits)
      yield chunk
    }
  }
}

/** Creates the error for an archive whose files are too large together. */
export function tooMuchUnpackedError(source: string, { unpacked_bytes }: ArchiveLimits): Problem {
  return badFile(source, `more than ${formatBytes(unpacked_bytes)} unpacked (limit unpacked_bytes)`)
}

/** Creates the error for an archive that is too large itself. */
export function tooLargeArchiveError(source: string, { archive_bytes }: ArchiveLimits): Problem {
  return badFile(
    source,
    `larger than ${formatBytes(archive_bytes)} (limit archive_bytes)`,
    'Upload its files one by one.',
  )
}

/** Normalizes the path of an entry. Throws `bad_data` if it is absolute or leaves the archive. */
function normalizePath(path: string, source: string): string {
  const parts = path.split('/')
  if (
    path.startsWith('/') ||
    /^[A-Za-z]:/.test(path) ||
    path.includes('\\') ||
    parts.includes('..') ||
    path.includes('\0')
  )
    throw badFile(source, `a file has a path that leads out of the archive: ${excerpt(path)}`)
  return parts.filter((part) => part !== '' && part !== '.').join('/')
}

function tooManyFiles(count: number, limit: number, source: string): Problem {
  return badFile(
    source,
    `${count} files; the limit is ${limit} (archive_entries)`,
    'Split it into several archives.',
  )
}

/** Lists the files of a ZIP archive. Checks all entries before any is unpacked. */
export async function listZipMembers(
  spooled: SpooledFile,
  limits: ArchiveLimits,
  source: string,
): Promise<ArchiveEntry[]> {
  const { fromRandomAccessReader, RandomAccessReader } = await import('../../vendor/unzip.ts')
  const { Readable: NodeReadable } = await import('node:stream')
  const { handle, size } = spooled
  class Reader extends RandomAccessReader {
    override _readStreamForRange(start: number, end: number): Readable {
      return NodeReadable.from(readRange(spooled, start, end))
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
  const damaged = toDamagedError(source)
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromRandomAccessReader(
      new Reader(),
      size,
      { lazyEntries: true, autoClose: false, strictFileNames: false },
      (error, file) => (error ? reject(damaged(error)) : resolve(file)),
    )
  })
  if (zip.entryCount > limits.archive_entries * 4)
    throw tooManyFiles(zip.entryCount, limits.archive_entries, source)
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
  await refuseUncounted(spooled, zip, source)
  refuseOverlaps(entries, source)
  const files = entries.filter(({ fileName }) => !fileName.endsWith('/'))
  const meter = new EntryMeter(limits, source, size)
  return files.map((entry) => {
    const path = normalizePath(entry.fileName, source)
    if (entry.isEncrypted())
      throw badFile(source, `${excerpt(path)} is encrypted`, 'Create the archive without a password.')
    // Check the declared size now; the actual size is checked while unpacking.
    if (isBomb(entry.uncompressedSize, entry.compressedSize, limits)) throw bombError(source, limits)
    return {
      path,
      open: async () => {
        const stream = await new Promise<Readable>((resolve, reject) => {
          zip.openReadStream(entry, (error, opened) => (error ? reject(damaged(error)) : resolve(opened)))
        })
        return meter.countBytes(convertErrors(verifyChecksum(stream, entry), damaged), entry.compressedSize)
      },
    }
  })
}

/** First bytes of an entry of the directory of a ZIP archive. */
const ENTRY_SIGNATURE = 'PK\u0001\u0002'

/** Throws `bad_data` if another entry follows the last one of the directory: its files would be missed. */
async function refuseUncounted({ handle }: SpooledFile, zip: ZipFile, source: string): Promise<void> {
  // The package declares a wrong type.
  const end = Number(zip.readEntryCursor)
  const { buffer } = await handle.read(Buffer.alloc(ENTRY_SIGNATURE.length), 0, ENTRY_SIGNATURE.length, end)
  if (buffer.toString('latin1') === ENTRY_SIGNATURE)
    throw badFile(
      source,
      `the archive is damaged: it has more files than the ${zip.entryCount} that it counts`,
      'Create it again with another program.',
    )
}

/** Throws `bad_data` if entries overlap, since a small archive could then unpack to a huge one. */
function refuseOverlaps(entries: readonly Entry[], source: string): void {
  const inOrder = [...entries].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  for (const [k, entry] of inOrder.entries()) {
    const next = inOrder[k + 1]
    const end = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength + entry.compressedSize
    if (next && end > next.relativeOffsetOfLocalHeader)
      throw badFile(source, 'files in the archive overlap', 'Create it again with another program.')
  }
}

/** Yields the bytes of a spooled file in [start, end). */
async function* readRange({ handle }: SpooledFile, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const buffer = Buffer.allocUnsafe(Math.min(256 * 1024, end - at))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** Passes the bytes of an entry through. Throws at the end if the checksum differs. */
async function* verifyChecksum(bytes: Bytes, { crc32: expected }: Entry): AsyncGenerator<Uint8Array> {
  let sum = 0
  for await (const chunk of bytes) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== expected) throw new Error('the checksum (CRC-32) of a file does not match')
}

/** Passes bytes through, and converts errors. */
async function* convertErrors(
  bytes: Bytes,
  damaged: (error: unknown) => Problem,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    throw damaged(error)
  }
}

/** Yields the files of a TAR archive. Each must be read before the next is requested. */
export async function* readTarMembers(
  bytes: Bytes,
  limits: ArchiveLimits,
  source: string,
): AsyncGenerator<ArchiveEntry> {
  const { extract } = await import('../../vendor/tar.ts')
  const { Readable: NodeReadable } = await import('node:stream')
  // TAR does not compress; `gunzip` checks the ratio of the whole archive.
  const meter = new EntryMeter(limits, source, Number.POSITIVE_INFINITY)
  const damaged = toDamagedError(source)
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
      if (++count > limits.archive_entries) throw tooManyFiles(count, limits.archive_entries, source)
      const path = normalizePath(name, source)
      let opened = false
      yield {
        path,
        open: async () => {
          opened = true
          return meter.countBytes(convertErrors(entry as unknown as Bytes, damaged), Number.POSITIVE_INFINITY)
        },
      }
      if (!opened) entry.resume()
    }
  } catch (error) {
    throw damaged(error)
  } finally {
    input.destroy()
  }
}
