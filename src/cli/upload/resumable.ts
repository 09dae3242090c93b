// Remembers unfinished uploads, to resume them.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writePrivateFile } from '../config/private-file.ts'
import { directoriesOf } from '../config/settings.ts'

/** Maximum number of remembered uploads. */
const MAX_REMEMBERED_UPLOADS = 50

/** Upload ids by key. */
type UploadIds = Record<string, string>

/**
 * Unfinished uploads in parts, stored next to the settings, so that the same command can resume them. Best
 * effort: if the file cannot be written, uploads start again.
 */
export class UnfinishedUploads {
  private readonly file: string

  constructor(environment: NodeJS.ProcessEnv) {
    this.file = join(directoriesOf(environment).config, 'unfinished-uploads.json')
  }

  /** Returns the key of an upload. It depends on server, file, file state and options. */
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
    const { [key]: _, ...otherUploads } = this.read()
    this.write({
      ...Object.fromEntries(Object.entries(otherUploads).slice(1 - MAX_REMEMBERED_UPLOADS)),
      [key]: id,
    })
  }

  delete(key: string): void {
    const { [key]: id, ...otherUploads } = this.read()
    if (id !== undefined) this.write(otherUploads)
  }

  private read(): UploadIds {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.file, 'utf8'))
      return typeof parsed === 'object' && parsed !== null ? (parsed as UploadIds) : {}
    } catch {
      return {}
    }
  }

  private write(uploads: UploadIds): void {
    try {
      if (Object.keys(uploads).length === 0) rmSync(this.file, { force: true })
      else writePrivateFile(this.file, JSON.stringify(uploads))
    } catch {
      // Uploads also work without this file.
    }
  }
}
