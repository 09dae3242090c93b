// Finds the completion scripts.
import { readFileSync } from 'node:fs'
import { built } from '../../contract/built.ts'
import { Problem } from '../../contract/errors.ts'

/** Script in completions/ by shell. */
const files: Readonly<Record<string, string>> = {
  bash: 'gridline.bash',
  zsh: '_gridline',
  fish: 'gridline.fish',
  powershell: 'gridline.ps1',
}

export const shells = Object.keys(files)

/**
 * Returns the completion script of a shell. The scripts call `gridline __complete` with the words up to the
 * cursor (answer.ts). Throws `usage` for unsupported shells.
 */
export function completionScript(shell: string): string {
  if (!Object.hasOwn(files, shell))
    throw new Problem('usage', `unsupported shell: ${shell}`, {
      hint: `Supported shells: ${shells.join(', ')}`,
    })
  return readFileSync(built(`../completions/${files[shell]}`), 'utf8')
}
