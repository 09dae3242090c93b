import { errorBody, type Problem } from '../../contract/errors.ts'

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

  /** For people at work; not with --quiet. */
  note(text: string): void {
    if (!this.quiet) this.line(text)
  }

  /** For somebody who watches: nothing a script would want in its log. */
  aside(text: string): void {
    if (!this.quiet && this.terminal) this.line(text)
  }

  /** What was assumed or may be wrong. */
  warning(text: string): void {
    if (!this.quiet) this.line(`${this.paint('33', 'warning:')} ${text}`)
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
