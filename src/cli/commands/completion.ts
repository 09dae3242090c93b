import type { Command, CommandEntry } from '../define.ts'

/** Takes the table of commands it is itself part of. */
export const completion = (commands: readonly CommandEntry[]): Command => ({
  arguments: '<shell>',
  examples: [
    'source <(gridline completion bash)',
    'gridline completion zsh > ~/.zfunc/_gridline',
    'gridline completion fish > ~/.config/fish/completions/gridline.fish',
    'gridline completion powershell | Out-String | Invoke-Expression',
  ],
  async run(_, [shell]) {
    const { completionScript } = await import('../completion/script.ts')
    return { text: await completionScript(shell, commands) }
  },
})
