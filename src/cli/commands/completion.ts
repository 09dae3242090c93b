// `gridline completion`: prints or installs a completion script.
import { completionScript, shells } from '../completion/script.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'

export const command = defineCommand({
  prints: other('nothing; the output is a script'),
  arguments: '<shell> [name]',
  usage: '<bash|zsh|fish|powershell> | install [shell]',
  completes: [{ words: ['install', ...shells] }, { words: shells }],
  examples: [
    'gridline completion install',
    'source <(gridline completion bash)',
    'gridline completion zsh > ~/.zfunc/_gridline',
    'gridline completion fish > ~/.config/fish/completions/gridline.fish',
    'gridline completion powershell | Out-String | Invoke-Expression',
  ],
  async run(context, [shell, name]) {
    if (shell !== 'install') return { text: completionScript(shell) }
    const { install, shellOf } = await import('../completion/install.ts')
    const shellName = name ?? shellOf(context.environment)
    const { file, next } = install(shellName, completionScript(shellName), context.environment)
    context.messages.note(`Wrote ${file}. ${next}`)
    return undefined
  },
})
