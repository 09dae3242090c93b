import { Problem } from '../contract/errors.ts'

interface Counted {
  count: number
  first: number
  last: number
  text: (where: string) => string
}

/** Notes on what was assumed while reading, each kind said once with where it first occurred. */
export class Warnings {
  private readonly counted = new Map<string, Counted>()
  private readonly plain: string[] = []

  /** A note said as it is. */
  note(text: string): void {
    this.plain.push(text)
  }

  addAll(texts: readonly string[]): void {
    this.plain.push(...texts)
  }

  /**
   * One more case of `kind`; `text` gets where, as `3 lines (first: line 7)`. A line counts once, for
   * it is read again when the bytes in hand ended inside it.
   */
  count(kind: string, line: number, text: (where: string) => string): void {
    const known = this.counted.get(kind)
    if (!known) this.counted.set(kind, { count: 1, first: line, last: line, text })
    else if (line > known.last) {
      known.count++
      known.last = line
    }
  }

  list(): string[] {
    const counted = [...this.counted.values()].map(({ count, first, text }) =>
      text(count === 1 ? `line ${first}` : `${count} lines (first: line ${first})`),
    )
    return [...this.plain, ...counted]
  }
}

/** A refusal of the data itself: source, line (from 1), column (name or number) and the text at fault. */
export function badData(
  source: string,
  where: { line?: number; column?: string | number },
  what: string,
  hint?: string,
): Problem {
  const place = [source]
  if (where.line !== undefined) place.push(`line ${where.line}`)
  if (where.column !== undefined) place.push(`column ${where.column}`)
  return new Problem('bad_data', `${place.join(', ')}: ${what}`, { hint })
}
