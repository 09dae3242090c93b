import { runInBackground } from '../core/background.ts'
import { Context } from '../core/context.ts'
import type { CommandEntry } from '../core/define.ts'
import { candidatesFor } from './candidates.ts'
import { keptLength, splitLine } from './line.ts'

/** Time in which a shell gets its answer, in ms, unless GRIDLINE_TIMEOUT_MS gives more. */
const LIMIT_MS = 300
/** Time for a slow server, in the background. */
const BACKGROUND_LIMIT_MS = 10_000

/**
 * What the scripts of shells ask. Prints a line for each candidate, with a tab and a summary where there is one; the
 * last line is `:files` when the shell offers files of this machine too. Never fails: shells show no errors.
 *
 * - `__complete WORD…`: the words after the program, up to the cursor.
 * - `__complete-line LINE [LAST]`: the line up to the cursor as typed, and the part of its last word that bash replaces.
 * - `__recomplete WORD…`: prints nothing; asks a slow server, for the next time.
 */
export async function answer(
  commands: readonly CommandEntry[],
  [mode, ...given]: readonly string[],
): Promise<void> {
  const isInBackground = mode === '__recomplete'
  const isLine = mode === '__complete-line'
  const words = isLine ? splitLine(given[0] ?? '').slice(1) : given
  const at = words.indexOf('--profile')
  const profile = at >= 0 && at < words.length - 2 ? words[at + 1] : undefined
  const context = new Context(process.env, { quiet: true, profile, local: words.includes('--local') })
  let isLate = false
  const patience = {
    limit: isInBackground
      ? BACKGROUND_LIMIT_MS
      : Math.max(LIMIT_MS, Number(process.env.GRIDLINE_TIMEOUT_MS) || 0),
    late: () => {
      isLate = true
    },
  }
  try {
    const { words: found, localFiles } = await candidatesFor(context, commands, words, patience)
    if (!isInBackground) {
      // Bash replaces only what follows the last colon.
      const last = isLine ? given[1] : undefined
      const kept = last === undefined ? 0 : keptLength(words.at(-1) ?? '', last)
      const lines = found.map(({ word, summary }) =>
        summary === undefined ? word.slice(kept) : `${word.slice(kept)}\t${summary}`,
      )
      process.stdout.write([...lines, ...(localFiles ? [':files'] : [])].map((line) => `${line}\n`).join(''))
    }
  } catch {
    // No candidates.
  }
  if (!isLate) return
  if (!isInBackground) runInBackground('__recomplete', ...words)
  // The request that is late would keep the process.
  process.exit(0)
}
