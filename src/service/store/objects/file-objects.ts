// Object store in a folder.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Problem } from '../../../contract/errors.ts'
import { type ObjectStore, wholeAddress } from './object-store.ts'

/** Stores objects as files in a folder, two levels deep. */
export class FileObjects implements ObjectStore {
  private readonly folder: string
  /** Folders known to exist. */
  private readonly made = new Set<string>()
  private guarded: string | undefined

  /** `address`: `file:DIR`, or a file URL. */
  constructor(address: string) {
    this.folder = wholeAddress(address).slice('file:'.length)
  }

  guard(key: string): void {
    this.guarded = key
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(key)
    if (key !== this.guarded) this.assertThere()
    try {
      await this.make(dirname(path))
      const partialFile = `${path}.${randomBytes(6).toString('hex')}.part`
      const file = await open(partialFile, 'wx', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } catch (error) {
        await rm(partialFile, { force: true })
        throw error
      } finally {
        await file.close()
      }
      await rename(partialFile, path)
      await sync(dirname(path))
    } catch (error) {
      throw this.problem(error, 'written to')
    }
  }

  async get(key: string): Promise<Buffer | undefined> {
    try {
      return await readFile(this.pathOf(key))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        if (key !== this.guarded) this.assertThere()
        return undefined
      }
      throw this.problem(error, 'read')
    }
  }

  async remove(key: string): Promise<void> {
    try {
      await rm(this.pathOf(key), { force: true })
    } catch (error) {
      throw this.problem(error, 'written to')
    }
  }

  async check(): Promise<void> {
    const key = `check-${randomBytes(8).toString('hex')}`
    await this.put(key, Buffer.from(key))
    await this.remove(key)
  }

  /** Throws `overloaded` if the marker is missing: another disk is mounted, or none. */
  private assertThere(): void {
    if (this.guarded === undefined || existsSync(this.pathOf(this.guarded))) return
    throw new Problem('overloaded', `${this.folder} has none of the bytes of this database (--blobs)`, {
      hint: 'Mount the disk with the folder that holds them.',
    })
  }

  private pathOf(key: string): string {
    return join(this.folder, key.slice(0, 2), key.slice(2, 4), key)
  }

  /** Creates a folder and its ancestors, each durable in its parent. */
  private async make(folder: string): Promise<void> {
    if (this.made.has(folder)) return
    // Not `recursive`: it may never end if the system refuses to create a folder.
    try {
      await makeOne(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error
      if (existsSync(dirname(folder))) throw error
      await this.make(dirname(folder))
      await makeOne(folder)
    }
    this.made.add(folder)
  }

  private problem(error: unknown, action: string): unknown {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) return error
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return new Problem('disk_full', `the disk with ${this.folder} is full (--blobs)`)
    return new Problem('overloaded', `${this.folder} cannot be ${action}: ${message} (--blobs)`)
  }
}

/** Creates one folder, durable in its parent, unless it exists. */
async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
    await sync(dirname(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
