// Interface of object stores, and their addresses.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorMessageOf, Problem } from '../../../contract/errors.ts'

/** A store for bytes outside the database. Keys are never reused. */
export interface ObjectStore {
  /** Stores bytes. They are durable when the promise resolves. `hash`: their SHA-256 in hex. */
  put(key: string, bytes: Uint8Array, hash: string): Promise<void>
  /** Returns the bytes under a key; undefined without any. */
  get(key: string): Promise<Buffer | undefined>
  /** Removes the bytes under a key, if there are any. */
  remove(key: string): Promise<void>
  /**
   * Requires the marker object `key` from now on: without it, reads and writes throw, as the disk is another
   * one.
   */
  requireMarker?(key: string): void
  /** Throws a Problem that names the setting unless bytes can be stored, read and removed. */
  checkAccess(): Promise<void>
}

/** Environment variables with the credentials of S3. */
export type S3Environment = Record<string, string | undefined>

/** Returns the stored form of an address: folders as absolute paths. Throws `usage` for invalid ones. */
export function normalizeAddress(address: string): string {
  if (!address.startsWith('file:')) return address
  let path = address.slice('file:'.length)
  if (path.startsWith('//'))
    try {
      path = fileURLToPath(address)
    } catch (error) {
      throw invalidAddressError(address, errorMessageOf(error))
    }
  if (path === '' || resolve(path) === '/')
    throw invalidAddressError(address, 'expected a folder after file:')
  return `file:${resolve(path)}`
}

/** Returns the error for an invalid address. */
export function invalidAddressError(address: string, why: string): Problem {
  return new Problem('usage', `--blobs ${address.split('?', 1)[0]}: ${why}`, {
    hint: 'Give sql, file:DIR or s3://bucket/prefix?endpoint=https://…&region=…',
  })
}
