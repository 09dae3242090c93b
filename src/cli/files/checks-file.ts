import { readFile } from 'node:fs/promises'
import { readChecks } from '../../checks/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { ChecksDocument } from '../../contract/resources/index.ts'

/** The checks file that is used where none is named. */
export const CHECKS_FILE = 'gridline.checks.yml'

/** Bytes of a checks file that is sent with data: it is in a header. */
const MAX_SENT = 48 * 1024

/** Reads a checks file, in YAML or JSON. Throws `bad_checks` with the line, or the rule that makes no sense. */
export async function readChecksFile(file: string): Promise<ChecksDocument> {
  if (file === '') throw new Problem('usage', 'no checks file is named')
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new Problem('no_such_file', `${file}: no such file`, {
        hint: 'To write one from data: gridline check FILE --init',
      })
    throw error.code === 'EISDIR'
      ? new Problem('usage', `${file} is a directory, and no checks file`)
      : new Problem('failed', `cannot read ${file}: ${error.message}`)
  })
  if (text.trim() === '')
    throw new Problem('bad_checks', `${file}: the file is empty`, {
      hint: 'To write one from data: gridline check FILE --init',
    })
  const document = await parsed(file, text)
  try {
    readChecks(document)
  } catch (error) {
    if (error instanceof Problem)
      throw new Problem(error.code, `${file}: ${error.message}`, { hint: error.hint })
    throw error
  }
  return document as ChecksDocument
}

async function parsed(file: string, text: string): Promise<unknown> {
  const { parseDocument } = await import('../../vendor/yaml.ts')
  // JSON is YAML.
  const document = parseDocument(text, { prettyErrors: true })
  const [error] = document.errors
  if (error) {
    const [first] = error.message.split('\n')
    throw new Problem('bad_checks', `${file}: ${first.replace(/:$/, '')}`, { line: error.linePos?.[0].line })
  }
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown
  } catch (thrown) {
    throw new Problem('bad_checks', `${file}: ${(thrown as Error).message}`)
  }
}

/** A checks file as request headers. */
export async function checksHeaders(file: string | undefined): Promise<{ Checks?: string }> {
  return file === undefined ? {} : { Checks: checksHeader(await readChecksFile(file), file) }
}

/** Checks as the text of a header. `file`: where they are from, if they are sent to a server. */
export function checksHeader(document: ChecksDocument, file?: string): string {
  const text = JSON.stringify(document).replace(/[^ -$&-~]/gu, (character) => encodeURIComponent(character))
  if (file !== undefined && text.length > MAX_SENT)
    throw new Problem(
      'too_large',
      `${file}: ${text.length} bytes of rules; with data, ${MAX_SENT} can be sent`,
      {
        hint: `Set them for the grid: gridline check GRID --set ${file}`,
      },
    )
  return text
}
