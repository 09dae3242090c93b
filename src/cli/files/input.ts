// Reads local files and standard input.
import { createReadStream, type Dirent, readdirSync, statSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { BodySource } from '../../client/index.ts'
import { errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'
import { findClosest } from '../../contract/message-texts.ts'
import type { FileMeter } from '../output/progress.ts'

const CHUNK_BYTES = 512 * 1024

/** File or standard input to upload. */
export interface Input {
  /** Name for messages. */
  name: string
  /** Size in bytes; undefined if unknown. */
  size: number | undefined
  /** True if `open` can be called repeatedly, with an offset. */
  repeatable: boolean
  /** SHA-256 of bytes that have been read. */
  sha256?: string
  /** Yields the bytes from an offset. */
  open(from?: number): AsyncIterable<Uint8Array>
}

/** Returns the name of a file for messages. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : file
}

/** Creates the input of bytes that have been read. */
export function createBufferInput(file: string, bytes: Buffer): Input {
  return {
    name: inputName(file),
    size: bytes.length,
    repeatable: true,
    get sha256() {
      return process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')
    },
    async *open(start = 0) {
      for (let from = start; from < bytes.length; from += CHUNK_BYTES)
        yield bytes.subarray(from, from + CHUNK_BYTES)
    },
  }
}

/** Opens a file, or standard input for `-`. Throws `no_such_file`, `usage` or `failed` if unreadable. */
export async function openInput(file: string): Promise<Input> {
  if (file === '-')
    return { name: inputName(file), size: undefined, repeatable: false, open: () => process.stdin }
  let size: number | undefined
  try {
    const stats = statSync(file)
    if (stats.isDirectory()) {
      throw new Problem('usage', `${file} is a directory`, {
        hint: `Name the files in it: ${file.replace(/\/$/, '')}/*`,
      })
    }
    if (stats.isFile()) size = stats.size
  } catch (error) {
    throw toReadProblem(file, error)
  }
  return {
    name: file,
    size,
    repeatable: size !== undefined,
    async *open(start = 0) {
      try {
        // A pipe such as <(command) cannot be read from a position.
        const position = size === undefined ? {} : { start }
        yield* createReadStream(file, { highWaterMark: CHUNK_BYTES, ...position })
      } catch (error) {
        throw toReadProblem(file, error)
      }
    },
  }
}

/** Makes an input repeatable: copies it to an unlinked temporary file while it is read. */
export async function makeRepeatable(input: Input): Promise<Input> {
  if (input.repeatable) return input
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const path = join(tmpdir(), `gridline-${randomBytes(8).toString('hex')}`)
  const copy = await open(path, 'wx+', 0o600)
  await unlink(path)
  const source = input.open()[Symbol.asyncIterator]()
  let size = 0
  let isComplete = false
  /** The chunk that is being read, with its offset. Other readers wait for it. */
  let pendingChunk: Promise<{ chunk: Uint8Array; from: number } | undefined> | undefined
  const readChunk = async () => {
    const { value, done } = await source.next()
    if (done) {
      isComplete = true
      return undefined
    }
    const from = size
    await copy.write(value, 0, value.length, from)
    size += value.length
    return { chunk: value, from }
  }
  return {
    ...input,
    repeatable: true,
    async *open(from = 0) {
      for (let at = from; ; ) {
        if (at < size) {
          const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at))
          const { bytesRead } = await copy.read(chunk, 0, chunk.length, at)
          at += bytesRead
          yield chunk.subarray(0, bytesRead)
        } else if (isComplete) return
        else {
          pendingChunk ??= readChunk().finally(() => {
            pendingChunk = undefined
          })
          const next = await pendingChunk
          if (next?.from !== at) continue
          at += next.chunk.length
          yield next.chunk
        }
      }
    },
  }
}

/** Reads a complete file, or standard input for `-`. */
export async function readWhole(file: string): Promise<Buffer> {
  return buffer((await openInput(file)).open())
}

/** Returns the path of a file with a similar name in the same directory; undefined if there is none. */
function findSimilarFile(file: string): string | undefined {
  try {
    const suggestion = findClosest(basename(file), readdirSync(dirname(file)))
    return suggestion && join(dirname(file), suggestion)
  } catch {
    return undefined
  }
}

/** Lists the entries of a directory by name. Throws `no_such_file` or `failed`. */
export function readDirectory(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw toReadProblem(directory, error)
  }
}

/** Converts an error of reading a file to a Problem. */
export function toReadProblem(file: string, error: unknown): Problem {
  if (error instanceof Problem) return error
  const code = errorCodeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const suggestion = findSimilarFile(file)
    return new Problem('no_such_file', `no such file: ${file}`, {
      hint: suggestion === undefined ? 'Check the name.' : `Did you mean ${suggestion}?`,
    })
  }
  if (code === 'EACCES' || code === 'EPERM')
    return new Problem('failed', `cannot read ${file}: permission denied`, { hint: 'Check its permissions.' })
  return new Problem('failed', `${file}: ${errorMessageOf(error)}`)
}

/** Creates a request body from an input. `meter` counts the bytes, again if sending restarts. */
export function createBody(input: Input, type = 'application/octet-stream', meter?: FileMeter): BodySource {
  let wasOpened = false
  return {
    type,
    repeatable: input.repeatable,
    open() {
      if (wasOpened) meter?.restart()
      wasOpened = true
      return meter ? countBytes(input, meter) : input.open()
    },
  }
}

/** Yields the chunks of an input, and counts their bytes. */
async function* countBytes(input: Input, meter: FileMeter): AsyncGenerator<Uint8Array> {
  for await (const chunk of input.open()) {
    meter.add(chunk.length)
    yield chunk
  }
}
