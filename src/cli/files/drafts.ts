import { Problem } from '../../contract/errors.ts'
import { versionNameFault } from '../../contract/version-ref.ts'

/** Throws `usage` for what cannot be the name of a draft: an empty one would be no draft. */
export function checkDraftName(name: string | undefined): void {
  const fault = name === undefined ? undefined : versionNameFault(name)
  if (fault === undefined) return
  throw new Problem('usage', `--draft ${JSON.stringify(name!.slice(0, 80))}: ${fault}`, {
    hint: 'A name begins with a letter; then up to 63 letters, digits, . _ and - may follow.',
  })
}
