import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Bytes outside of the database, under keys that are never used twice. */
export interface ObjectStore {
  /** Stores bytes. They are durable when the promise resolves. `hash`: their SHA-256 in hex. */
  put(key: string, bytes: Uint8Array, hash: string): Promise<void>
  /** The bytes under a key; undefined if there are none. */
  get(key: string): Promise<Buffer | undefined>
  /** Removes the bytes under a key, if there are any. */
  remove(key: string): Promise<void>
  /** Throws a Problem that names the setting unless bytes can be stored, read and removed. */
  check(): Promise<void>
}

/** The credentials of S3, from the environment. */
export type Environment = Record<string, string | undefined>

/** An address as the database keeps it: a folder by its whole path, whoever opens it. */
export function wholeAddress(address: string): string {
  if (!address.startsWith('file:')) return address
  return `file:${resolve(address.startsWith('file://') ? fileURLToPath(address) : address.slice('file:'.length))}`
}
