import { errorBody, Problem } from '../../contract/errors.ts'
import type { CheckReport } from '../../contract/resources/index.ts'
import { rowLines, titleOf } from './check-rows.ts'
import { hasColor } from './color.ts'
import type { Failure } from './failure.ts'
import { visible } from './visible.ts'

/** How progress is shown: a bar that moves, lines that stay, or not at all. */
export type ProgressStyle = 'bar' | 'plain' | 'none'

/** A warning, and the file that it is about. */
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
    // A terminal without a size has no room for a bar.
    const isFlat = style === 'bar' && this.terminal && !process.stderr.columns
    this.style = quiet || isJson ? 'none' : isFlat ? 'plain' : style
    this.color = hasColor(process.stderr, environment)
  }

  /** Whether notes and progress are suppressed. */
  get silent(): boolean {
    return this.quiet || this.isJson
  }

  /** All warnings of this run. */
  readonly warned: Warned[] = []

  /** The command to run after an error. */
  next: (problem: Problem) => string | undefined = () => undefined

  /** A note for users. Suppressed by --quiet and --json. */
  note(text: string): void {
    if (!this.quiet && !this.isJson) this.line(text)
  }

  /** A note shown only on a terminal, not in logs of scripts. */
  aside(text: string): void {
    if (this.terminal) this.note(text)
  }

  /** A picture in characters, for a terminal: its colors and line ends stay. */
  picture(text: string): void {
    if (this.terminal && !this.silent) this.raw(text)
  }

  /** Says that a list has more items than are shown. */
  cut(shown: number): void {
    if (this.quiet) return
    const text = `only the first ${shown} are listed; use a higher --limit for more`
    this.line(this.isJson ? JSON.stringify({ truncated: true, limit: shown, detail: text }) : text)
  }

  /** A warning, shown also with --quiet. With --json, warnings are in the JSON instead. */
  warning(text: string, of?: string): void {
    this.warned.push({ of, text })
    if (!this.isJson) this.line(`${this.paint('33', 'warning:')} ${about(of, text)}`)
  }

  /** An error: with --json a JSON object, otherwise the message and the hint. */
  error(problem: Problem, of?: string): void {
    if (this.isJson) {
      const { detail, errors } = errorBody(problem)
      const named =
        of || (problem.line === undefined ? undefined : /^(.+?), line \d+/.exec(problem.message)?.[1])
      const file = named ? { file: named } : {}
      const more = { ...file, next: this.next(problem) }
      this.line(JSON.stringify({ detail, errors: errors.map((error) => ({ ...error, ...more })), ...file }))
      return
    }
    const what = about(of, problem.message)
    const clean = (text: string): string => visible(oneLine(text))
    const hint = problem.hint ? ` ${this.paint('2', clean(problem.hint))}` : ''
    const end = /[.?!…]$/.test(what) || !hint ? '' : '.'
    this.raw(this.wrapped(`${this.paint('31', 'error:')} ${clean(what)}${end}${hint}`))
    for (const line of details(problem)) this.raw(visible(line))
  }

  /** The failures of a batch. With --json, one object for all. */
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

  interrupted(): void {
    this.line(
      this.isJson ? JSON.stringify(errorBody(new Problem('interrupted', 'interrupted'))) : 'interrupted',
    )
  }

  /** Writes a line. Control characters and line ends of names and data are replaced. */
  line(text: string): void {
    const [, paint = '', rest = text] = /^(\u001b\[\d+m\w+:\u001b\[0m )?(.*)$/s.exec(text) ?? []
    this.raw(this.wrapped(paint + visible(oneLine(rest))))
  }

  /** Writes a line as it is. */
  raw(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** On a terminal, breaks a line between words. */
  private wrapped(line: string): string {
    const width = process.stderr.columns
    return this.terminal && width ? wrapped(line, width) : line
  }

  private paint(code: string, text: string): string {
    return this.color ? `\u001b[${code}m${text}\u001b[0m` : text
  }
}

/** Lines below an error: the rows that fail checks. */
function details({ checks }: Problem): string[] {
  const { results } = (checks ?? { results: [] }) as CheckReport
  return results
    .filter(({ passed, severity, rows }) => !passed && severity === 'error' && rows.length > 0)
    .flatMap((result) => [`  ${titleOf(result)}`, ...rowLines(result)])
}

/** A message with the file that it is about, unless it names it already. */
function about(of: string | undefined, message: string): string {
  if (of === undefined) return message
  const at = message.indexOf(of)
  const [before = '', after = ''] = [message[at - 1], message[at + of.length]]
  const isNamed = at >= 0 && !/\w/.test(before) && !/\w/.test(after)
  return isNamed ? message : `${of}: ${message}`
}

/** Breaks a line between words at a width. Escape codes take no room. A longer word stays whole, so it can be copied. */
export function wrapped(line: string, width: number): string {
  let used = 0
  let text = ''
  for (const word of line.split(' ')) {
    const room = word.replace(/\u001b\[[\d;]*m/g, '').length
    if (used > 0 && used + 1 + room > width) {
      text += `\n${word}`
      used = room
    } else {
      text += used > 0 || text !== '' ? ` ${word}` : word
      used += room + (used > 0 ? 1 : 0)
    }
  }
  return text
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
