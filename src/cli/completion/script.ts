// Finds the completion scripts.
import { readFileSync } from 'node:fs'
import { buildPath } from '../../contract/build-path.ts'
import { Problem } from '../../contract/errors.ts'

/** Script in completions/ by shell. */
const SCRIPT_BY_SHELL: Readonly<Record<string, string>> = {
  bash: 'gridline.bash',
  zsh: '_gridline',
  fish: 'gridline.fish',
  powershell: 'gridline.ps1',
}

export const SHELLS = Object.keys(SCRIPT_BY_SHELL)

/**
 * Returns the completion script of a shell. The scripts call `gridline __complete` with the words up to the
 * cursor (answer.ts). Throws `usage` for unsupported shells.
 */
export function readCompletionScript(shell: string): string {
  if (!Object.hasOwn(SCRIPT_BY_SHELL, shell))
    throw new Problem('usage', `unsupported shell: ${shell}`, {
      hint: `Supported shells: ${SHELLS.join(', ')}`,
    })
  return readFileSync(buildPath(`../completions/${SCRIPT_BY_SHELL[shell]}`), 'utf8')
}
