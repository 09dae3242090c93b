import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../../contract/errors.ts'

/** Bytes outside of the database, under keys that are never used twice. */
export interface ObjectStore {
  /** Stores bytes. They are durable when the promise resolves. `hash`: their SHA-256 in hex. */
  put(key: string, bytes: Uint8Array, hash: string): Promise<void>
  /** The bytes under a key; undefined if there are none. */
  get(key: string): Promise<Buffer | undefined>
  /** Removes the bytes under a key, if there are any. */
  remove(key: string): Promise<void>
  /** From now on, nothing is stored, and nothing is missing, where this key is not: the disk is another one. */
  guard?(key: string): void
  /** Throws a Problem that names the setting unless bytes can be stored, read and removed. */
  check(): Promise<void>
}

/** The credentials of S3, from the environment. */
export type Environment = Record<string, string | undefined>

/** An address as the database keeps it: a folder by its whole path, whoever opens it. */
export function wholeAddress(address: string): string {
  if (!address.startsWith('file:')) return address
  let path = address.slice('file:'.length)
  if (path.startsWith('//'))
    try {
      path = fileURLToPath(address)
    } catch (error) {
      throw notAPlace(address, (error as Error).message)
    }
  if (path === '' || resolve(path) === '/') throw notAPlace(address, 'there is no folder in it')
  return `file:${resolve(path)}`
}

/** A Problem for an address that cannot be read. */
export function notAPlace(address: string, why: string): Problem {
  return new Problem('usage', `--blobs ${address.replace(/\?.*$/s, '')}: ${why}`, {
    hint: 'Give sql, file:DIR or s3://bucket/prefix?endpoint=https://…&region=…',
  })
}
