import { readFileSync } from 'node:fs'
import { built } from '../../contract/built.ts'
import { Problem } from '../../contract/errors.ts'

/** Shell → its script in completions/. */
const files: Readonly<Record<string, string>> = {
  bash: 'gridline.bash',
  zsh: '_gridline',
  fish: 'gridline.fish',
  powershell: 'gridline.ps1',
}

export const shells = Object.keys(files)

/**
 * The completion script of a shell. All of them ask `gridline __complete`, with the words up to the cursor, and offer
 * what it prints (answer.ts).
 */
export function completionScript(shell: string): string {
  if (!Object.hasOwn(files, shell))
    throw new Problem('usage', `unsupported shell: ${shell}`, {
      hint: `Supported shells: ${shells.join(', ')}`,
    })
  return readFileSync(built(`../completions/${files[shell]}`), 'utf8')
}
