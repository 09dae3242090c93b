import { createReadStream, readdirSync, statSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { BodySource } from '../../client/index.ts'
import { closest } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'

const CHUNK_BYTES = 512 * 1024

/** A file or standard input, to be uploaded. */
export interface Input {
  /** Name in messages. */
  name: string
  /** Size in bytes, if known. */
  size: number | undefined
  repeatable: boolean
  /** The bytes, from an offset on if it is repeatable. */
  open(from?: number): AsyncIterable<Uint8Array>
}

/** A file as messages name it. */
export function nameOfInput(file: string): string {
  return file === '-' ? 'standard input' : file
}

/** Opens a file, or standard input for `-`. Throws if it cannot be read, before anything is sent. */
export async function openInput(file: string): Promise<Input> {
  if (file === '-')
    return { name: nameOfInput(file), size: undefined, repeatable: false, open: () => process.stdin }
  let size: number | undefined
  try {
    const stats = statSync(file)
    if (stats.isDirectory()) {
      throw new Problem('usage', `${file} is a directory`, {
        hint: `Give the files in it: ${file.replace(/\/$/, '')}/*`,
      })
    }
    if (stats.isFile()) size = stats.size
  } catch (error) {
    throw readProblem(file, error)
  }
  return {
    name: file,
    size,
    repeatable: size !== undefined,
    async *open(start = 0) {
      try {
        yield* createReadStream(file, { highWaterMark: CHUNK_BYTES, start })
      } catch (error) {
        throw readProblem(file, error)
      }
    },
  }
}

/**
 * Makes an input repeatable: keeps what was read in an unlinked temporary file, which ends with the process.
 */
export async function spooled(input: Input): Promise<Input> {
  if (input.repeatable) return input
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const path = join(tmpdir(), `gridline-${randomBytes(8).toString('hex')}`)
  const kept = await open(path, 'wx+', 0o600)
  await unlink(path)
  const source = input.open()[Symbol.asyncIterator]()
  let size = 0
  let ended = false
  /** The chunk being read, with its offset. A second reader waits for it. */
  let coming: Promise<{ chunk: Uint8Array; from: number } | undefined> | undefined
  const more = async () => {
    const { value, done } = await source.next()
    if (done) {
      ended = true
      return undefined
    }
    const from = size
    await kept.write(value, 0, value.length, from)
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
          const { bytesRead } = await kept.read(chunk, 0, chunk.length, at)
          at += bytesRead
          yield chunk.subarray(0, bytesRead)
        } else if (ended) return
        else {
          coming ??= more().finally(() => {
            coming = undefined
          })
          const next = await coming
          if (next?.from !== at) continue
          at += next.chunk.length
          yield next.chunk
        }
      }
    },
  }
}

/** Reads a whole file, or standard input for `-`. */
export async function wholeOf(file: string): Promise<Buffer> {
  return buffer((await openInput(file)).open())
}

/** A file with a similar name in the same directory. */
function similarTo(file: string): string | undefined {
  try {
    const meant = closest(basename(file), readdirSync(dirname(file)))
    return meant && join(dirname(file), meant)
  } catch {
    return undefined
  }
}

function readProblem(file: string, error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const meant = similarTo(file)
    return new Problem('no_such_file', `no such file: ${file}`, {
      hint: meant === undefined ? 'Check the name.' : `Did you mean ${meant}?`,
    })
  }
  if (code === 'EACCES' || code === 'EPERM')
    return new Problem('failed', `cannot read ${file}: permission denied`, { hint: 'Check its permissions.' })
  return new Problem('failed', `${file}: ${message}`)
}

/** A request body from an input. Calls `count` with bytes sent, and `again` when sending restarts. */
export function bodyOf(
  input: Input,
  type: string,
  count: (bytes: number) => void,
  again: () => void,
): BodySource {
  let opened = false
  return {
    type,
    repeatable: input.repeatable,
    open() {
      if (opened) again()
      opened = true
      return counted(input, count)
    },
  }
}

async function* counted(input: Input, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of input.open()) {
    count(chunk.length)
    yield chunk
  }
}
