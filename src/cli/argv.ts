import type { GlobalFlags } from './context.ts'
import { commands } from './registry.ts'

/** Global flags as far as they must be known before the line is understood: errors are JSON too. */
export function peekGlobalFlags(argv: readonly string[]): GlobalFlags {
  const json = argv.some(
    (word) => word === '--json' || word.startsWith('--json=') || word === '--jq' || word.startsWith('--jq='),
  )
  return { json: json ? true : undefined, quiet: argv.includes('-q') || argv.includes('--quiet') }
}

/** `gridline -q ls` is `gridline ls -q`: options that every command takes may come first. */
export function moveGlobalFlagsLast(argv: readonly string[]): string[] {
  const moved: string[] = []
  let k = 0
  while (
    k < argv.length &&
    /^(-q|--quiet|--json|--jq|--profile|--local|--timeout|--idempotency-key)(=|$)/.test(argv[k])
  ) {
    const word = argv[k++]
    moved.push(word)
    if (/^--(jq|profile|timeout|idempotency-key)$/.test(word)) moved.push(argv[k++])
    // Of `--json X` in front of the command only a list of fields can be meant, unless X is the command.
    else if (
      word === '--json' &&
      argv[k] !== undefined &&
      !argv[k].startsWith('-') &&
      !commands.some(({ name }) => name === argv[k])
    )
      moved.push(argv[k++])
  }
  return [...argv.slice(k), ...moved.filter((word) => word !== undefined)]
}

/** `--json fid,filename` means fields only if that is what follows; `--json sales.csv` is a file. */
export function joinJsonFields(argv: readonly string[], known: ReadonlySet<string>): string[] {
  const words: string[] = []
  for (let k = 0; k < argv.length; k++) {
    if (argv[k] === '--') return [...words, ...argv.slice(k)]
    const next = argv[k + 1]
    if (argv[k] !== '--json' || next === undefined || (next.startsWith('-') && next !== '-')) {
      words.push(argv[k])
      continue
    }
    const named = next.split(',')
    const looksLikeFields = /^[a-z_]+(,[a-z_]+)*$/.test(next)
    // One unknown word is a field that does not exist if the command has its argument already.
    const fields =
      looksLikeFields &&
      (named.length > 1 || known.has(next) || words.filter((word) => !word.startsWith('-')).length > 1)
    words.push(fields ? `--json=${next}` : '--json=')
    if (fields) k++
  }
  return words
}

export async function fieldNames(argv: readonly string[]): Promise<ReadonlySet<string>> {
  if (!argv.includes('--json')) return new Set()
  const { fieldNames: names } = await import('./output/selection.ts')
  return names()
}
