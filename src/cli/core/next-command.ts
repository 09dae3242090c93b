// Suggests the next command after an error.
import type { Problem } from '../../contract/errors.ts'
import { quoteShellWord } from '../../contract/shell.ts'

/** Returns a command to run after an error, quoted for a shell; undefined if there is none. */
export function suggestCommand({ code, hint }: Problem, argv: readonly string[]): string | undefined {
  const again = (...more: string[]): string => ['gridline', ...argv, ...more].map(quoteShellWord).join(' ')
  switch (code) {
    case 'unauthenticated':
      return 'gridline login'
    case 'unreachable':
    case 'no_chromium':
      return 'gridline doctor'
    case 'not_found':
      return /gridline (ls(?: --trashed)?)/.exec(hint ?? '')?.[0] ?? 'gridline ls'
    case 'already_exists':
      return argv[0] === 'upload' || argv[0] === 'plot' ? again('--on-conflict', 'replace') : undefined
    case 'type_change':
      return again('--allow-type-change')
    case 'rate_limited':
    case 'overloaded':
    case 'too_slow':
      return again()
    case 'usage':
      if (hint?.includes('--yes')) return again('--yes')
      return /gridline [a-z -]*--help/.exec(hint ?? '')?.[0]
    default:
      return undefined
  }
}
