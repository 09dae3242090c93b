// Reads the files of an exported account, and checks that they are as they were written.
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { hashFile } from '../export/export-folder.ts'
import type { ManifestContent } from '../export/manifest.ts'
import { parseExact } from '../files/exact-json.ts'

export class AccountContents {
  constructor(private readonly directory: string) {}

  /** Opens a content. Returns its size in bytes, and a function that yields the bytes from an offset. */
  async open(content: ManifestContent) {
    const file = await this.check(content)
    const open = (start: number): AsyncIterable<Uint8Array> => createReadStream(file, { start })
    return { size: statSync(file).size, open, isCsv: content.path.endsWith('.csv') }
  }

  /** Returns the path of a content. Throws `bad_data` if it is missing or was changed. */
  async check({ path, sha256 }: ManifestContent): Promise<string> {
    const file = join(this.directory, ...path.split('/'))
    const hash = await hashFile(file)
    if (hash === sha256) return file
    throw new Problem(
      'bad_data',
      `${file} ${hash === undefined ? 'is missing' : 'was changed since the export'}`,
      { hint: 'Copy the export again; gridline export verify names all such files.' },
    )
  }

  /** Reads and parses the JSON of a content. Throws `bad_data`. */
  async readJson(content: ManifestContent): Promise<{ text: string; value: unknown }> {
    const text = await this.readText(content)
    try {
      return { text, value: parseExact(text) }
    } catch (error) {
      throw new Problem('bad_data', `${content.path}: not JSON: ${errorMessageOf(error)}`)
    }
  }

  async readText(content: ManifestContent): Promise<string> {
    return readFileSync(await this.check(content), 'utf8')
  }
}
