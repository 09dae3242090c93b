// Writes notes, warnings, errors and progress to stderr.
import { errorBody, Problem } from '../../contract/errors.ts'
import type { CheckReport } from '../../contract/resources/index.ts'
import { rowLines, titleOf } from './check-rows.ts'
import { hasColor } from './color.ts'
import type { Failure } from './failure.ts'
import { visible } from './visible.ts'

/** Progress display: a moving bar, lines, or none. */
export type ProgressStyle = 'bar' | 'plain' | 'none'

/** Warning with the file that it concerns. */
export interface Warned {
  of: string | undefined
  text: string
}

/** Writes notes, warnings and errors to stderr. Never data. */
export class Messages {
  readonly terminal: boolean
  readonly color: boolean
  readonly style: ProgressStyle

  constructor(
    readonly quiet: boolean,
    readonly isJson: boolean,
    environment: NodeJS.ProcessEnv,
    progress: ProgressStyle | 'auto' = 'auto',
  ) {
    this.terminal = process.stderr.isTTY === true
    const auto = this.terminal && environment.TERM !== 'dumb' ? 'bar' : 'plain'
    const style = progress === 'auto' ? auto : progress
    // A terminal without a size cannot show a bar.
    const isFlat = style === 'bar' && this.terminal && !process.stderr.columns
    this.style = quiet || isJson ? 'none' : isFlat ? 'plain' : style
    this.color = hasColor(process.stderr, environment)
  }

  /** Returns whether notes and progress are suppressed. */
  get silent(): boolean {
    return this.quiet || this.isJson
  }

  /** All warnings of this run. */
  readonly warned: Warned[] = []

  /** Returns the suggested command after an error. */
  next: (problem: Problem) => string | undefined = () => undefined

  /** Writes a note, unless --quiet or --json. */
  note(text: string): void {
    if (!this.quiet && !this.isJson) this.line(text)
  }

  /** Writes a note only on a terminal, not in logs of scripts. */
  aside(text: string): void {
    if (this.terminal) this.note(text)
  }

  /** Writes a picture of characters on a terminal, with colors and line breaks. */
  picture(text: string): void {
    if (this.terminal && !this.silent) this.raw(text)
  }

  /** Notes that a list was cut. */
  cut(limit: number): void {
    if (this.quiet) return
    const text = `only the first ${limit} are listed; for more, use a higher --limit`
    this.line(this.isJson ? JSON.stringify({ truncated: true, limit: limit, detail: text }) : text)
  }

  /** Writes a warning, also with --quiet. With --json, warnings are part of the output instead. */
  warning(text: string, of?: string): void {
    this.warned.push({ of, text })
    if (!this.isJson) this.line(`${this.paint('33', 'warning:')} ${about(of, text)}`)
  }

  /** Writes an error: as JSON object with --json, otherwise message and hint. */
  error(problem: Problem, of?: string): void {
    if (this.isJson) {
      const { detail, errors } = errorBody(problem)
      const fileName =
        of || (problem.line === undefined ? undefined : /^(.+?), line \d+/.exec(problem.message)?.[1])
      const file = fileName ? { file: fileName } : {}
      const more = { ...file, next: this.next(problem) }
      this.line(JSON.stringify({ detail, errors: errors.map((error) => ({ ...error, ...more })), ...file }))
      return
    }
    const message = about(of, problem.message)
    const clean = (text: string): string => visible(oneLine(text))
    const hint = problem.hint ? ` ${this.paint('2', clean(problem.hint))}` : ''
    const end = /[.?!…]$/.test(message) || !hint ? '' : '.'
    this.raw(this.wrapped(`${this.paint('31', 'error:')} ${clean(message)}${end}${hint}`))
    for (const line of details(problem)) this.raw(visible(line))
  }

  /** Writes the failures of a batch. With --json, one object for all. */
  failures(failures: readonly Failure[]): void {
    if (failures.length === 0) return
    const untried = failures.flatMap((failure) => failure.untried ?? [])
    if (!this.isJson) {
      for (const { of, problem } of failures) this.error(problem, of)
      if (untried.length > 0)
        this.line(
          `${untried.length} more not attempted: ${untried.slice(0, 5).join(', ')}${untried.length > 5 ? ' …' : ''}`,
        )
      return
    }
    if (failures.length === 1 && untried.length === 0) {
      this.error(failures[0].problem, failures[0].of)
      return
    }
    const errors = failures.flatMap(({ of, problem }) =>
      errorBody(problem).errors.map((error) => ({ ...error, file: of, next: this.next(problem) })),
    )
    const count = failures.length + untried.length
    this.line(
      JSON.stringify({
        detail: `${count} could not be completed`,
        errors,
        ...(untried.length > 0 ? { untried } : {}),
      }),
    )
  }

  /** Writes that the command was interrupted. */
  interrupted(): void {
    this.line(
      this.isJson ? JSON.stringify(errorBody(new Problem('interrupted', 'interrupted'))) : 'interrupted',
    )
  }

  /** Writes a line. Escapes control characters and line breaks of names and data. */
  line(text: string): void {
    const [, paint = '', rest = text] = /^(\u001b\[\d+m\w+:\u001b\[0m )?(.*)$/s.exec(text) ?? []
    this.raw(this.wrapped(paint + visible(oneLine(rest))))
  }

  /** Writes a line unchanged. */
  raw(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** Wraps a line at the terminal width; unchanged elsewhere. */
  private wrapped(line: string): string {
    const width = process.stderr.columns
    return this.terminal && width ? wrapped(line, width) : line
  }

  private paint(code: string, text: string): string {
    return this.color ? `\u001b[${code}m${text}\u001b[0m` : text
  }
}

/** Lists the rows that failed checks, below an error. */
function details({ checks }: Problem): string[] {
  const { results } = (checks ?? { results: [] }) as CheckReport
  return results
    .filter(({ passed, severity, rows }) => !passed && severity === 'error' && rows.length > 0)
    .flatMap((result) => [`  ${titleOf(result)}`, ...rowLines(result)])
}

/** Prefixes a message with its file, unless the message contains the name. */
function about(subject: string | undefined, message: string): string {
  if (subject === undefined) return message
  const at = message.indexOf(subject)
  const [before = '', after = ''] = [message[at - 1], message[at + subject.length]]
  const isNamed = at >= 0 && !/\w/.test(before) && !/\w/.test(after)
  return isNamed ? message : `${subject}: ${message}`
}

/**
 * Wraps a line at a width. Escape codes have no width. Long words are not broken, so that they can be copied.
 */
export function wrapped(line: string, width: number): string {
  let usedWidth = 0
  let text = ''
  for (const word of line.split(' ')) {
    const wordWidth = word.replace(/\u001b\[[\d;]*m/g, '').length
    if (usedWidth > 0 && usedWidth + 1 + wordWidth > width) {
      text += `\n${word}`
      usedWidth = wordWidth
    } else {
      text += usedWidth > 0 || text !== '' ? ` ${word}` : word
      usedWidth += wordWidth + (usedWidth > 0 ? 1 : 0)
    }
  }
  return text
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
