// Writes notes, warnings, errors and progress to stderr.
import { formatErrorBody, Problem } from '../../contract/errors.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { formatFailedRows, ruleTitle } from './check-rows.ts'
import { hasColor } from './color.ts'
import { escapeTerminal } from './escape-terminal.ts'
import type { Failure } from './failure.ts'

/** Progress display: a moving bar, lines, or none. */
export type ProgressStyle = 'bar' | 'plain' | 'none'

/** Maximum number of warnings that are listed for a file: a wide one can have one for each column. */
const MAX_LISTED_WARNINGS = 20

/** Warning with the file that it concerns. */
export interface Warning {
  subject: string | undefined
  text: string
}

/** Writes notes, warnings and errors to stderr. Never data. */
export class Messages {
  readonly isTerminal: boolean
  readonly color: boolean
  readonly style: ProgressStyle

  constructor(
    readonly quiet: boolean,
    readonly isJson: boolean,
    environment: NodeJS.ProcessEnv,
    progress: ProgressStyle | 'auto' = 'auto',
  ) {
    this.isTerminal = process.stderr.isTTY === true
    const auto = this.isTerminal && environment.TERM !== 'dumb' ? 'bar' : 'plain'
    const style = progress === 'auto' ? auto : progress
    // A terminal without a size cannot show a bar.
    const isFlat = style === 'bar' && this.isTerminal && !process.stderr.columns
    this.style = quiet || isJson ? 'none' : isFlat ? 'plain' : style
    this.color = hasColor(process.stderr, environment)
  }

  /** Returns whether notes and progress are suppressed. */
  get isSilent(): boolean {
    return this.quiet || this.isJson
  }

  /** All warnings of this run. */
  readonly warnings: Warning[] = []

  /** Returns the suggested command after an error. */
  suggestNext: (problem: Problem) => string | undefined = () => undefined

  /** Writes a note, unless --quiet or --json. */
  note(text: string): void {
    if (!this.quiet && !this.isJson) this.line(text)
  }

  /** Writes a note only on a terminal, not in logs of scripts. */
  aside(text: string): void {
    if (this.isTerminal) this.note(text)
  }

  /** Writes a picture of characters on a terminal, with colors and line breaks. */
  picture(text: string): void {
    if (this.isTerminal && !this.isSilent) this.raw(text)
  }

  /** Notes that a list was cut. */
  noteCut(limit: number): void {
    if (this.quiet) return
    const text = `only the first ${limit} are listed; for more, use a higher --limit`
    this.line(this.isJson ? JSON.stringify({ truncated: true, limit, detail: text }) : text)
  }

  /** Whether the fields of --json leave out those with warnings. */
  lacksWarnings = false

  /** Writes a warning, also with --quiet. With --json, warnings are part of the output, if its fields have them. */
  warning(text: string, of?: string): void {
    this.warnings.push({ subject: of, text })
    if (this.lacksWarnings)
      this.line(JSON.stringify({ warning: text, ...(of !== undefined && { file: of }) }))
    else if (!this.isJson) this.line(`${this.paint('33', 'warning:')} ${withSubject(of, text)}`)
  }

  /** Writes the warnings about a file: the first ones, and how many more there are. */
  warnAll(texts: readonly string[], of?: string): void {
    const count = this.isJson ? texts.length : MAX_LISTED_WARNINGS
    for (const text of texts.slice(0, count)) this.warning(text, of)
    const rest = texts.slice(count)
    if (rest.length === 0) return
    for (const text of rest) this.warnings.push({ subject: of, text })
    const more = formatCount(rest.length, 'more warning')
    this.line(`${this.paint('33', 'warning:')} ${withSubject(of, more)}`)
  }

  /** Writes an error: as JSON object with --json, otherwise message and hint. */
  error(problem: Problem, of?: string): void {
    if (this.isJson) {
      const { detail, errors } = formatErrorBody(problem)
      const fileName =
        of || (problem.line === undefined ? undefined : /^(.+?), line \d+/.exec(problem.message)?.[1])
      const file = fileName ? { file: fileName } : {}
      const more = { ...file, next: this.suggestNext(problem) }
      this.line(JSON.stringify({ detail, errors: errors.map((error) => ({ ...error, ...more })), ...file }))
      return
    }
    const message = withSubject(of, problem.message)
    const clean = (text: string): string => escapeTerminal(joinLines(text))
    const hint = problem.hint ? ` ${this.paint('2', clean(problem.hint))}` : ''
    const end = /[.?!…]$/.test(message) || !hint ? '' : '.'
    this.raw(this.wrapLine(`${this.paint('31', 'error:')} ${clean(message)}${end}${hint}`))
    for (const line of formatFailedChecks(problem)) this.raw(escapeTerminal(line))
  }

  /** Writes the failures of a batch. With --json, one object for all. */
  failures(failures: readonly Failure[]): void {
    if (failures.length === 0) return
    const untried = failures.flatMap((failure) => failure.untried ?? [])
    if (!this.isJson) {
      for (const { subject, problem } of failures) this.error(problem, subject)
      if (untried.length > 0)
        this.line(
          `${untried.length} more not attempted: ${untried.slice(0, 5).join(', ')}${untried.length > 5 ? ' …' : ''}`,
        )
      return
    }
    if (failures.length === 1 && untried.length === 0) {
      this.error(failures[0].problem, failures[0].subject)
      return
    }
    const errors = failures.flatMap(({ subject: of, problem }) =>
      formatErrorBody(problem).errors.map((error) => ({
        ...error,
        file: of,
        next: this.suggestNext(problem),
      })),
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
  noteInterrupt(): void {
    this.line(
      this.isJson
        ? JSON.stringify(formatErrorBody(new Problem('interrupted', 'interrupted')))
        : 'interrupted',
    )
  }

  /** Writes a line. Escapes control characters and line breaks of names and data. */
  line(text: string): void {
    const [, paint = '', rest = text] = /^(\u001b\[\d+m\w+:\u001b\[0m )?(.*)$/s.exec(text) ?? []
    this.raw(this.wrapLine(paint + escapeTerminal(joinLines(rest))))
  }

  /** Writes a line unchanged. */
  raw(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** Wraps a line at the terminal width; unchanged elsewhere. */
  private wrapLine(line: string): string {
    const width = process.stderr.columns
    return this.isTerminal && width ? wrapText(line, width) : line
  }

  private paint(code: string, text: string): string {
    return this.color ? `\u001b[${code}m${text}\u001b[0m` : text
  }
}

/** Lists the rows that failed checks, below an error. */
function formatFailedChecks({ checks }: Problem): string[] {
  return (checks?.results ?? [])
    .filter(({ passed, severity, rows }) => !passed && severity === 'error' && rows.length > 0)
    .flatMap((result) => [`  ${ruleTitle(result)}`, ...formatFailedRows(result)])
}

/** Prefixes a message with its file, unless the message contains the name. */
function withSubject(subject: string | undefined, message: string): string {
  if (subject === undefined) return message
  const at = message.indexOf(subject)
  const [before = '', after = ''] = [message[at - 1], message[at + subject.length]]
  const isNamed = at >= 0 && !/\w/.test(before) && !/\w/.test(after)
  return isNamed ? message : `${subject}: ${message}`
}

/**
 * Wraps a line at a width. Escape codes have no width. Long words are not broken, so that they can be copied.
 */
export function wrapText(line: string, width: number): string {
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

function joinLines(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
