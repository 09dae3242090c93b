// Entry point of shell completion.
import { runInBackground } from '../core/background.ts'
import { Context } from '../core/context.ts'
import type { CommandEntry } from '../core/define.ts'
import { listCandidates } from './candidates.ts'
import { keptPrefixLength, splitLine } from './line.ts'
import type { Deadline } from './values.ts'

/** Maximum response time for a shell, in ms, unless GRIDLINE_TIMEOUT_MS is longer. */
const RESPONSE_TIMEOUT_MS = 300
/** Maximum time for a slow server in the background, in ms. */
const BACKGROUND_TIMEOUT_MS = 10_000

/**
 * Answers completion scripts. Prints one line per candidate, optionally with a tab and summary; the last line is
 * `:files` if the shell should add local files. Never fails: shells show no errors.
 *
 * - `__complete WORD…`: the words after the program, up to the cursor.
 * - `__complete-line LINE [LAST]`: the line up to the cursor, and the part of its last word that bash replaces.
 * - `__recomplete WORD…`: prints nothing; fills the cache from a slow server.
 */
export async function completeWords(
  commands: readonly CommandEntry[],
  [mode, ...commandLine]: readonly string[],
): Promise<void> {
  const isInBackground = mode === '__recomplete'
  const isLine = mode === '__complete-line'
  const words = isLine ? splitLine(commandLine[0] ?? '').slice(1) : commandLine
  const profileIndex = words.indexOf('--profile')
  const profile = profileIndex >= 0 && profileIndex < words.length - 2 ? words[profileIndex + 1] : undefined
  const context = new Context(process.env, { quiet: true, profile, local: words.includes('--local') })
  let isLate = false
  const deadline: Deadline = {
    timeoutMs: isInBackground
      ? BACKGROUND_TIMEOUT_MS
      : Math.max(RESPONSE_TIMEOUT_MS, Number(process.env.GRIDLINE_TIMEOUT_MS) || 0),
    onTimeout: () => {
      isLate = true
    },
  }
  try {
    const { words: candidates, localFiles } = await listCandidates(context, commands, words, deadline)
    if (!isInBackground) {
      // Bash replaces only the text after the last colon.
      const replacedPart = isLine ? commandLine[1] : undefined
      const prefixLength = replacedPart === undefined ? 0 : keptPrefixLength(words.at(-1) ?? '', replacedPart)
      const lines = candidates.map(({ word, summary }) =>
        summary === undefined ? word.slice(prefixLength) : `${word.slice(prefixLength)}\t${summary}`,
      )
      process.stdout.write([...lines, ...(localFiles ? [':files'] : [])].map((line) => `${line}\n`).join(''))
    }
  } catch {
    // No candidates.
  }
  if (!isLate) return
  if (!isInBackground) runInBackground('__recomplete', ...words)
  // A pending request would keep the process alive.
  process.exit(0)
}
