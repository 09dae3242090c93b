import type { Command, CommandEntry } from '../define.ts'

/** Takes the table of commands it is itself part of. */
export const completion = (commands: readonly CommandEntry[]): Command => ({
  arguments: '<shell> [name]',
  usage: '<bash|zsh|fish|powershell> | install [shell]',
  examples: [
    'gridline completion install',
    'source <(gridline completion bash)',
    'gridline completion zsh > ~/.zfunc/_gridline',
    'gridline completion fish > ~/.config/fish/completions/gridline.fish',
    'gridline completion powershell | Out-String | Invoke-Expression',
  ],
  async run(context, [shell, name]) {
    const { completionScript } = await import('../completion/script.ts')
    if (shell !== 'install') return { text: await completionScript(shell, commands) }
    const { install, shellOf } = await import('../completion/install.ts')
    const chosen = name ?? shellOf(context.environment)
    const { file, next } = install(chosen, await completionScript(chosen, commands), context.environment)
    context.messages.note(`Wrote ${file}. ${next}`)
    return undefined
  },
})
