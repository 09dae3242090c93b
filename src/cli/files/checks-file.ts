// Reads checks files.
import { readFile } from 'node:fs/promises'
import { Problem } from '../../contract/errors.ts'
import type { ChecksDocument } from '../../contract/resources/index.ts'
import { parseYaml } from './yaml.ts'

/** Default name of a checks file. */
export const CHECKS_FILE = 'gridline.checks.yml'

/** Maximum size of checks sent with data, in bytes: they are in a header. */
const MAX_HEADER_BYTES = 48 * 1024

/** Reads a checks file in YAML or JSON. Throws `bad_checks` with the line or rule at fault. */
export async function readChecksFile(file: string): Promise<ChecksDocument> {
  if (file === '') throw new Problem('usage', 'expected the name of a checks file')
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new Problem('no_such_file', `${file}: no such file`, {
        hint: 'To write one from data: gridline check FILE --init',
      })
    throw error.code === 'EISDIR'
      ? new Problem('usage', `${file} is a directory; expected a checks file`)
      : new Problem('failed', `cannot read ${file}: ${error.message}`)
  })
  if (text.trim() === '')
    throw new Problem('bad_checks', `${file}: the file is empty`, {
      hint: 'To write one from data: gridline check FILE --init',
    })
  const document = await parseYaml(file, text, 'bad_checks')
  const { parseChecks } = await import('../../checks/index.ts')
  try {
    parseChecks(document)
  } catch (error) {
    if (error instanceof Problem)
      throw new Problem(error.code, `${file}: ${error.message}`, { hint: error.hint })
    throw error
  }
  return document as ChecksDocument
}

/** Reads a checks file into a request header. */
export async function readChecksHeaders(file: string | undefined): Promise<{ Checks?: string }> {
  return file === undefined ? {} : { Checks: encodeChecksHeader(await readChecksFile(file), file) }
}

/** Encodes checks for a header. With `file`, throws `too_large` above the size limit of headers. */
export function encodeChecksHeader(document: ChecksDocument, file?: string): string {
  const text = JSON.stringify(document).replace(/[^ -$&-~]/gu, (character) => encodeURIComponent(character))
  if (file !== undefined && text.length > MAX_HEADER_BYTES)
    throw new Problem(
      'too_large',
      `${file}: expected up to ${MAX_HEADER_BYTES} bytes of rules with data, found ${text.length}`,
      {
        hint: `Store the rules with the grid: gridline check GRID --set ${file}`,
      },
    )
  return text
}
