// Collects warnings, and creates errors with their position in the file.
import { Problem } from '../../contract/errors.ts'
import { formatBytes } from '../../contract/limits.ts'

/** A repeated warning, with its first and last line. */
interface CountedWarning {
  count: number
  first: number
  last: number
  text: (where: string) => string
}

/** Warning about skipped comments. */
export const COMMENT_LINES_WARNING = 'comment lines were skipped'

/** Collects warnings while parsing. Repeated ones are reported once, with the first line. */
export class Warnings {
  private readonly counted = new Map<string, CountedWarning>()
  private readonly plain: string[] = []
  private readonly muted = new Set<string>()

  /** Adds a warning. */
  note(text: string): void {
    this.plain.push(text)
  }

  addAll(texts: readonly string[]): void {
    this.plain.push(...texts)
  }

  /**
   * Counts a case of `kind`. `text` gets the position, such as `3 lines (first: line 7)`. A line counts once,
   * since it is parsed again if the buffer ended inside it.
   */
  count(kind: string, line: number, text: (where: string) => string): void {
    const previous = this.counted.get(kind)
    if (!previous) this.counted.set(kind, { count: 1, first: line, last: line, text })
    else if (line > previous.last) {
      previous.count++
      previous.last = line
    }
  }

  /** Counts a line about which there is the same warning as about others, with details of the first one. */
  countLine(line: number, warning: string, detail = ''): void {
    this.count(warning, line, (where) => `${warning}: ${where}${detail}`)
  }

  /** Suppresses a kind of counted warnings. */
  mute(kind: string): void {
    this.muted.add(kind)
  }

  /** Returns all warnings: single ones first, then counted ones. */
  list(): string[] {
    const active = [...this.counted].filter(([kind]) => !this.muted.has(kind)).map(([, counted]) => counted)
    const counted = active.map(({ count, first, text }) =>
      text(count === 1 ? `line ${first}` : `${count} lines (first: line ${first})`),
    )
    return [...this.plain, ...counted]
  }
}

/** Creates a `bad_data` error with source, line (from 1) and column (name or number). */
export function badData(
  source: string,
  where: { line?: number; column?: string | number },
  what: string,
  hint?: string,
): Problem {
  const place = [source]
  if (where.line !== undefined) place.push(`line ${where.line}`)
  if (where.column !== undefined) place.push(`column ${where.column}`)
  return new Problem('bad_data', `${place.join(', ')}: ${what}`, { ...where, hint })
}

/** Creates a `bad_data` error about a whole file. */
export function badFile(source: string, what: string, hint?: string): Problem {
  return badData(source, {}, what, hint)
}

/** Creates the error for a line over the limit, in bytes. `line`: from 1. */
export function lineTooLongError(source: string, line: number, limit: number): Problem {
  return badData(
    source,
    { line },
    `the line is longer than ${formatBytes(limit)} (limit record_bytes)`,
    'Check for a missing line end or an unclosed quote.',
  )
}
