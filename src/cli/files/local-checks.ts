// Checks local files.
import { Problem } from '../../contract/errors.ts'
import type { CheckReport, ChecksDocument } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { encodeChecksHeader } from './checks-file.ts'
import { loadLocalGrid } from './local-data.ts'
import type { ReadingOptions } from './parse-options.ts'

/** Checks a local file in an in-process service. Returns the report, also if checks fail. */
export async function checkLocalFile(
  context: Context,
  file: string,
  document: ChecksDocument,
  options: ReadingOptions,
): Promise<CheckReport> {
  try {
    const { checks } = await loadLocalGrid(context, file, options, { Checks: encodeChecksHeader(document) })
    return checks!
  } catch (error) {
    if (error instanceof Problem && error.code === 'checks_failed' && error.checks) return error.checks
    throw error
  }
}
