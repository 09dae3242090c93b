// Prompts at the terminal.
import { errorCodeOf, Problem } from '../../contract/errors.ts'
import { escapeTerminal } from '../output/escape-terminal.ts'

/** Prompts for a line of text. Throws `interrupted` on Ctrl-C. */
export async function promptLine(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(escapeTerminal(question))).trim()
  } catch (error) {
    if (errorCodeOf(error) !== 'ABORT_ERR') throw error
    process.stderr.write('\n')
    throw new Problem('interrupted', 'interrupted; nothing was changed')
  } finally {
    lines.close()
  }
}

/** Prompts for confirmation unless `yes`. Throws `usage` without a terminal, `failed` if declined. */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Problem('usage', `confirmation required, but this is not a terminal: ${question}`, {
      hint: 'Use --yes to confirm.',
    })
  if (!/^y(es)?$/i.test(await promptLine(`${question} [y/N] `)))
    throw new Problem('failed', 'cancelled; nothing was changed')
}
