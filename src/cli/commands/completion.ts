import type { Command } from '../command.ts'

export const command: Command = {
  arguments: '<shell>',
  examples: [
    'source <(gridline completion bash)',
    'gridline completion zsh > ~/.zfunc/_gridline',
    'gridline completion fish > ~/.config/fish/completions/gridline.fish',
    'gridline completion powershell | Out-String | Invoke-Expression',
  ],
  async run(_, [shell]) {
    const { completionScript } = await import('../completions/script.ts')
    return { text: await completionScript(shell) }
  },
}
