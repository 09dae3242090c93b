import { randomBytes } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BodySource } from '../client/index.ts'
import { Problem } from '../contract/errors.ts'

const CHUNK = 512 * 1024

/** A file or standard input, to be sent. */
export interface Input {
  /** What to call it in messages. */
  name: string
  /** Bytes in all, if known. */
  size: number | undefined
  repeatable: boolean
  open(): AsyncIterable<Uint8Array>
}

/** Opens FILE, or standard input for `-`; Problem for what cannot be read, before anything is sent. */
export async function openInput(file: string): Promise<Input> {
  if (file === '-')
    return { name: 'standard input', size: undefined, repeatable: false, open: () => process.stdin }
  let size: number | undefined
  try {
    const stats = statSync(file)
    if (stats.isDirectory()) {
      throw new Problem('usage', `${file} is a directory`, {
        hint: `Give files: gridline upload ${file.replace(/\/$/, '')}/*.csv`,
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
    async *open() {
      try {
        yield* createReadStream(file, { highWaterMark: CHUNK })
      } catch (error) {
        throw readProblem(file, error)
      }
    },
  }
}

/**
 * An input that can be read once, so that it can be read again: what has been read is kept in a file
 * without a name, which goes with the process.
 */
export async function spooled(input: Input): Promise<Input> {
  if (input.repeatable) return input
  const path = join(tmpdir(), `gridline-${randomBytes(8).toString('hex')}`)
  const kept = await open(path, 'wx+', 0o600)
  await unlink(path)
  const source = input.open()[Symbol.asyncIterator]()
  let size = 0
  let ended = false
  /** The chunk that is being read, and where it begins; whoever comes second waits for it. */
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
    async *open() {
      for (let at = 0; ; ) {
        if (at < size) {
          const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
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

/** All there is in FILE, or in standard input for `-`. */
export async function wholeOf(file: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of (await openInput(file)).open()) parts.push(part)
  return Buffer.concat(parts)
}

function readProblem(file: string, error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new Problem('no_such_file', `no such file: ${file}`, { hint: 'Check the name.' })
  if (code === 'EACCES' || code === 'EPERM')
    return new Problem('failed', `${file} may not be read`, { hint: 'Check its permissions.' })
  return new Problem('failed', `${file}: ${message}`)
}

/** An input as the body of a request; `count` is told of the bytes as they go, `again` of a new start. */
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
