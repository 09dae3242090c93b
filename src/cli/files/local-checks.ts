// Checks local files.
import { Problem } from '../../contract/errors.ts'
import type { CheckReport, ChecksDocument } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { checksHeader } from './checks-file.ts'
import { gridOfFile } from './local-data.ts'
import type { ReadingOptions } from './parse-options.ts'

/** Checks a local file in an in-process service. Returns the report, also if checks fail. */
export async function reportOfFile(
  context: Context,
  file: string,
  document: ChecksDocument,
  options: ReadingOptions,
): Promise<CheckReport> {
  try {
    const { checks } = await gridOfFile(context, file, options, { Checks: checksHeader(document) })
    return checks!
  } catch (error) {
    if (error instanceof Problem && error.code === 'checks_failed' && error.checks)
      return error.checks as CheckReport
    throw error
  }
}
