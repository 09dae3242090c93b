// Rearranges the words of a command line before they are parsed.
import type { GlobalFlags } from '../core/context.ts'
import { globalOptions, hasCommandName, idempotencyOption } from '../core/define.ts'
import { commands } from './registry.ts'

/** Reads the global flags that decide how parse errors are printed. */
export function peekGlobalFlags(argv: readonly string[]): GlobalFlags {
  const json = argv.some(
    (word) => word === '--json' || word.startsWith('--json=') || word === '--jq' || word.startsWith('--jq='),
  )
  return { json: json ? true : undefined, quiet: argv.includes('-q') || argv.includes('--quiet') }
}

/** Options allowed before the command, by flag, with whether they take a value. */
const LEADING_OPTIONS = new Map(
  [...globalOptions, idempotencyOption].flatMap(({ flags }) =>
    flags
      .replace(/ [<[].*/, '')
      .split(', ')
      .map((name) => [name, flags.includes('<')] as const),
  ),
)

/** Moves global options that precede the command to the end: `gridline -q ls` → `gridline ls -q`. */
export function moveGlobalFlagsLast(argv: readonly string[]): string[] {
  const moved: string[] = []
  let k = 0
  while (k < argv.length && LEADING_OPTIONS.has(argv[k].replace(/=.*/s, ''))) {
    const word = argv[k++]
    moved.push(word)
    if (LEADING_OPTIONS.get(word)) moved.push(argv[k++])
    // Before the command, `--json X` takes X as fields, unless X is a command name.
    else if (
      word === '--json' &&
      argv[k] !== undefined &&
      !argv[k].startsWith('-') &&
      !commands.some((entry) => hasCommandName(entry, argv[k]))
    )
      moved.push(argv[k++])
  }
  return [...argv.slice(k), ...moved.filter((word) => word !== undefined)]
}

/**
 * Joins `--json fid,filename` to one word if fields follow. In `--json sales.csv`, the file is an argument.
 */
export function joinJsonFields(argv: readonly string[], fieldNames: ReadonlySet<string>): string[] {
  const words: string[] = []
  for (let k = 0; k < argv.length; k++) {
    if (argv[k] === '--') return [...words, ...argv.slice(k)]
    const next = argv[k + 1]
    if (argv[k] !== '--json' || next === undefined || (next.startsWith('-') && next !== '-')) {
      words.push(argv[k])
      continue
    }
    const names = next.split(',')
    const looksLikeFields = /^[a-z_]+(,[a-z_]+)*$/.test(next)
    // A single unknown word counts as a (wrong) field if the command already has its argument.
    const fields =
      looksLikeFields &&
      (names.length > 1 || fieldNames.has(next) || words.filter((word) => !word.startsWith('-')).length > 1)
    words.push(fields ? `--json=${next}` : '--json=')
    if (fields) k++
  }
  return words
}
