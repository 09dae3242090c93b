// Object store in a folder.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCodeOf, errorMessageOf, Problem } from '../../../contract/errors.ts'
import { normalizeAddress, type ObjectStore } from './object-store.ts'

/** Stores objects as files in a folder, two levels deep. */
export class FileObjects implements ObjectStore {
  private readonly folder: string
  /** Folders known to exist. */
  private readonly createdFolders = new Set<string>()
  private marker: string | undefined

  /** `address`: `file:DIR`, or a file URL. */
  constructor(address: string) {
    this.folder = normalizeAddress(address).slice('file:'.length)
  }

  requireMarker(key: string): void {
    this.marker = key
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(key)
    if (key !== this.marker) this.assertMarker()
    try {
      await this.makeFolder(dirname(path))
      const partialFile = partOf(path)
      const file = await open(partialFile, 'w', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } catch (error) {
        await rm(partialFile, { force: true })
        throw error
      } finally {
        await file.close()
      }
      await rename(partialFile, path).catch((error) => {
        // Only markers are written by several servers at once: another one was faster.
        if (errorCodeOf(error) !== 'ENOENT' || !existsSync(path)) throw error
      })
      await syncFolder(dirname(path))
    } catch (error) {
      throw this.toProblem(error, 'written to')
    }
  }

  async get(key: string): Promise<Buffer | undefined> {
    try {
      return await readFile(this.pathOf(key))
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') {
        if (key !== this.marker) this.assertMarker()
        return undefined
      }
      throw this.toProblem(error, 'read')
    }
  }

  async remove(key: string): Promise<void> {
    try {
      const path = this.pathOf(key)
      await rm(path, { force: true })
      // Left by a process that was killed.
      await rm(partOf(path), { force: true })
    } catch (error) {
      throw this.toProblem(error, 'written to')
    }
  }

  async checkAccess(): Promise<void> {
    const key = `check-${randomBytes(8).toString('hex')}`
    await this.put(key, Buffer.from(key))
    await this.remove(key)
  }

  /** Throws `overloaded` if the marker is missing: another disk is mounted, or none. */
  private assertMarker(): void {
    if (this.marker === undefined || existsSync(this.pathOf(this.marker))) return
    throw new Problem('overloaded', `${this.folder} has none of the bytes of this database (--blobs)`, {
      hint: 'Mount the disk with the folder that holds them.',
    })
  }

  private pathOf(key: string): string {
    return join(this.folder, key.slice(0, 2), key.slice(2, 4), key)
  }

  /** Creates a folder and its ancestors, each durable in its parent. Other writers may create them meanwhile. */
  private async makeFolder(folder: string): Promise<void> {
    if (this.createdFolders.has(folder)) return
    // Not `recursive`: it may never end if the system refuses to create a folder.
    const parent = dirname(folder)
    const isOurs = folder.length > this.folder.length
    if (isOurs || !existsSync(parent)) await this.makeFolder(parent)
    const isNew = await makeOneFolder(folder)
    // A folder of another writer may not be durable yet.
    if (isNew || isOurs) await syncFolder(parent)
    this.createdFolders.add(folder)
  }

  private toProblem(error: unknown, action: string): unknown {
    const code = errorCodeOf(error)
    if (code === '') return error
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return new Problem('disk_full', `the disk with ${this.folder} is full (--blobs)`)
    return new Problem('overloaded', `${this.folder} cannot be ${action}: ${errorMessageOf(error)} (--blobs)`)
  }
}

/** Returns the name of the file of an object until it is complete. */
function partOf(path: string): string {
  return `${path}.part`
}

/** Creates one folder; false if it exists. */
async function makeOneFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
    return false
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
