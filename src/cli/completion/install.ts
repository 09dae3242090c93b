// Installs completion scripts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Problem } from '../../contract/errors.ts'

/** Script path of each shell, and the remaining manual step. */
const SHELL_TARGETS: Record<string, (e: NodeJS.ProcessEnv, home: string) => { file: string; next: string }> =
  {
    bash: (e, home) => ({
      file: join(
        e.XDG_DATA_HOME || join(home, '.local', 'share'),
        'bash-completion',
        'completions',
        'gridline',
      ),
      next: 'Open a new shell. Requires the package bash-completion.',
    }),
    zsh: (_, home) => ({
      file: join(home, '.zfunc', '_gridline'),
      next: 'Add to ~/.zshrc, before compinit: fpath+=~/.zfunc',
    }),
    fish: (e, home) => ({
      file: join(e.XDG_CONFIG_HOME || join(home, '.config'), 'fish', 'completions', 'gridline.fish'),
      next: 'Open a new shell.',
    }),
    powershell: (e, home) => ({
      file: join(e.XDG_CONFIG_HOME || join(home, '.config'), 'powershell', 'gridline.ps1'),
      next: 'Add to $PROFILE: . ~/.config/powershell/gridline.ps1',
    }),
  }

/** Detects the user's shell. Throws `usage` for unsupported ones. */
export function detectShell(environment: NodeJS.ProcessEnv): string {
  const name = basename(environment.SHELL ?? '')
  if (Object.hasOwn(SHELL_TARGETS, name)) return name
  if (environment.PSModulePath) return 'powershell'
  throw new Problem('usage', name === '' ? 'SHELL is not set' : `unsupported shell: ${name}`, {
    hint: `Name a shell (${Object.keys(SHELL_TARGETS).join(', ')}): gridline completion install bash`,
  })
}

/** Writes the script to the completion folder of the shell. */
export function installScript(
  shell: string,
  script: string,
  environment: NodeJS.ProcessEnv,
): { file: string; next: string } {
  const target = SHELL_TARGETS[shell](environment, homedir())
  mkdirSync(dirname(target.file), { recursive: true })
  writeFileSync(target.file, script)
  return target
}
