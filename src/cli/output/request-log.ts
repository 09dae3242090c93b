/** Bytes of the log that may wait for whoever reads it; what comes beyond is dropped, and counted. */
const BACKLOG_BYTES = 4 * 1024 * 1024

/** The log of a server on stderr, a JSON object a line. A reader who stops must not cost the server its memory. */
export class RequestLog {
  private lines = ''
  private dropped = 0

  constructor(private readonly out: NodeJS.WriteStream) {}

  add(line: object): void {
    if (this.out.writableLength > BACKLOG_BYTES) {
      this.dropped++
      return
    }
    // Lines of one turn of the event loop go out together.
    if (this.lines === '') setImmediate(() => this.flush())
    this.lines += text(line)
  }

  /** Writes what is left. */
  flush(): void {
    if (this.dropped > 0) {
      const error = `${this.dropped} lines of this log were dropped: they were not read in time`
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
