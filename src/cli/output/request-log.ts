/** Maximum number of buffered bytes. Further lines are dropped and counted. */
const BACKLOG_BYTES = 4 * 1024 * 1024

/** The server log on stderr, one JSON object per line. Memory stays bounded if nobody reads it. */
export class RequestLog {
  private lines = ''
  private dropped = 0

  constructor(private readonly out: NodeJS.WriteStream) {}

  add(line: object): void {
    if (this.out.writableLength > BACKLOG_BYTES) {
      this.dropped++
      return
    }
    // Lines of one turn of the event loop are written together.
    if (this.lines === '') setImmediate(() => this.flush())
    this.lines += text(line)
  }

  /** Writes buffered lines. */
  flush(): void {
    if (this.dropped > 0) {
      const error = `${this.dropped} lines of this log were dropped: the log was not read fast enough`
      this.lines = text({ error }) + this.lines
      this.dropped = 0
    }
    if (this.lines !== '') this.out.write(this.lines)
    this.lines = ''
  }
}

function text(line: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`
}
