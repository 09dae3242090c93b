import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writePrivately } from '../config/private-file.ts'
import { places } from '../config/settings.ts'

/** Uploads that are remembered. */
const MAX_UPLOADS = 50

/** Ids of uploads, by what is uploaded where. */
type Uploads = Record<string, string>

/**
 * Uploads in parts that were begun and have not ended, in a file next to the settings: the same command continues them
 * after it was stopped. It is a convenience: where the file cannot be written, uploads begin again.
 */
export class UnfinishedUploads {
  private readonly file: string

  constructor(environment: NodeJS.ProcessEnv) {
    this.file = join(places(environment).config, 'unfinished-uploads.json')
  }

  /** The key of an upload: another file, state of the file, server or way of reading is another upload. */
  static key(server: string, file: string, state: string, headers: object): string {
    return createHash('sha256')
      .update(JSON.stringify([server, resolve(file), state, headers]))
      .digest('hex')
  }

  get(key: string): string | undefined {
    const id = this.read()[key]
    return typeof id === 'string' && /^[0-9a-f]{1,64}$/.test(id) ? id : undefined
  }

  set(key: string, id: string): void {
    const { [key]: _, ...others } = this.read()
    this.write({ ...Object.fromEntries(Object.entries(others).slice(1 - MAX_UPLOADS)), [key]: id })
  }

  delete(key: string): void {
    const { [key]: found, ...others } = this.read()
    if (found !== undefined) this.write(others)
  }

  private read(): Uploads {
    try {
      const read: unknown = JSON.parse(readFileSync(this.file, 'utf8'))
      return typeof read === 'object' && read !== null ? (read as Uploads) : {}
    } catch {
      return {}
    }
  }

  private write(uploads: Uploads): void {
    try {
      if (Object.keys(uploads).length === 0) rmSync(this.file, { force: true })
      else writePrivately(this.file, JSON.stringify(uploads))
    } catch {
      // Uploads work without it.
    }
  }
}
