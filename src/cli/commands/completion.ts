// `gridline completion`: prints or installs a completion script.
import { readCompletionScript, SHELLS } from '../completion/script.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'

export const command = defineCommand({
  output: otherOutput('nothing; the output is a script'),
  arguments: '<shell> [name]',
  usage: '<bash|zsh|fish|powershell> | install [shell]',
  completion: [{ words: ['install', ...SHELLS] }, { words: SHELLS }],
  examples: [
    'gridline completion install',
    'source <(gridline completion bash)',
    'gridline completion zsh > ~/.zfunc/_gridline',
    'gridline completion fish > ~/.config/fish/completions/gridline.fish',
    'gridline completion powershell | Out-String | Invoke-Expression',
  ],
  async run(context, [shell, name]) {
    if (shell !== 'install') return { text: readCompletionScript(shell) }
    const { installScript, detectShell } = await import('../completion/install.ts')
    const shellName = name ?? detectShell(context.environment)
    const { file, next } = installScript(shellName, readCompletionScript(shellName), context.environment)
    context.messages.note(`Wrote ${file}. ${next}`)
    return undefined
  },
})
