// Validates draft names.
import { Problem } from '../../contract/errors.ts'
import { findNameFault } from '../../contract/version-ref.ts'

/** Throws `usage` for an invalid draft name. */
export function assertDraftName(name: string | undefined): void {
  const fault = name === undefined ? undefined : findNameFault(name)
  if (fault === undefined) return
  throw new Problem('usage', `--draft ${JSON.stringify(name!.slice(0, 80))}: ${fault}`, {
    hint: 'Use a letter, then up to 63 letters, digits, ".", "_" and "-".',
  })
}
