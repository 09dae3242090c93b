import { errorBody, Problem } from '../../contract/errors.ts'
import type { Failure } from './failure.ts'

/** Everything said on stderr: notes, warnings, errors. Data never comes here. */
export class Messages {
  readonly terminal: boolean
  readonly color: boolean

  constructor(
    readonly quiet: boolean,
    private readonly json: boolean,
    environment: NodeJS.ProcessEnv,
  ) {
    this.terminal = process.stderr.isTTY === true
    this.color = this.terminal && !environment.NO_COLOR
  }

  /** Nothing but errors is wanted. */
  get silent(): boolean {
    return this.quiet || this.json
  }

  /** For people at work; not with --quiet or --json. */
  note(text: string): void {
    if (!this.quiet && !this.json) this.line(text)
  }

  /** For somebody who watches: nothing a script would want in its log. */
  aside(text: string): void {
    if (this.terminal) this.note(text)
  }

  /** What was assumed, changed or may be wrong: also with --quiet. JSON has it among its fields. */
  warning(text: string): void {
    if (!this.json) this.line(`${this.paint('33', 'warning:')} ${text}`)
  }

  /** A failure: with --json one JSON object, else what and what to do. */
  error(problem: Problem, of?: string): void {
    if (this.json) {
      this.line(JSON.stringify({ ...errorBody(problem), ...(of === undefined ? {} : { file: of }) }))
      return
    }
    const what =
      of === undefined || problem.message.includes(of) ? problem.message : `${of}: ${problem.message}`
    const hint = problem.hint ? ` ${this.paint('2', problem.hint)}` : ''
    this.line(
      `${this.paint('31', 'error:')} ${oneLine(what)}${/[.?!…]$/.test(what) || !hint ? '' : '.'}${hint}`,
    )
  }

  /** Those of several things that could not be done; with --json one object for all. */
  failures(failures: readonly Failure[]): void {
    if (failures.length === 0) return
    const untried = failures.flatMap((failure) => failure.untried ?? [])
    if (!this.json) {
      for (const { of, problem } of failures) this.error(problem, of)
      if (untried.length > 0)
        this.line(
          `${untried.length} more not tried: ${untried.slice(0, 5).join(', ')}${untried.length > 5 ? ' …' : ''}`,
        )
      return
    }
    if (failures.length === 1 && untried.length === 0) {
      this.error(failures[0].problem, failures[0].of)
      return
    }
    const errors = failures.flatMap(({ of, problem }) =>
      errorBody(problem).errors.map((error) => ({ ...error, file: of })),
    )
    const count = failures.length + untried.length
    this.line(
      JSON.stringify({
        detail: `${count} could not be done`,
        errors,
        ...(untried.length > 0 ? { untried } : {}),
      }),
    )
  }

  interrupted(): void {
    this.line(
      this.json ? JSON.stringify(errorBody(new Problem('interrupted', 'interrupted'))) : 'interrupted',
    )
  }

  line(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  private paint(code: string, text: string): string {
    return this.color ? `\u001b[${code}m${text}\u001b[0m` : text
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
