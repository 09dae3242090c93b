// Log of the server.
/** Maximum number of buffered bytes. Further lines are dropped and counted. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024

/** Writes the server's log to stderr, one JSON object per line, in bounded memory. */
export class RequestLog {
  private lines = ''
  private dropped = 0

  constructor(private readonly out: NodeJS.WriteStream) {}

  /** Adds a line, with the time. */
  add(line: object): void {
    if (this.out.writableLength > MAX_BACKLOG_BYTES) {
      this.dropped++
      return
    }
    // Write the lines of one event-loop iteration together.
    if (this.lines === '') setImmediate(() => this.flush())
    this.lines += formatLine(line)
  }

  /** Writes buffered lines, and how many were dropped. */
  flush(): void {
    if (this.dropped > 0) {
      const error = `${this.dropped} log lines were dropped: the log was not read fast enough`
      this.lines = formatLine({ error }) + this.lines
      this.dropped = 0
    }
    if (this.lines !== '') this.out.write(this.lines)
    this.lines = ''
  }
}

/** Formats a line with the time. */
function formatLine(line: object): string {
  return `${escapeControls(JSON.stringify({ time: new Date().toISOString(), ...line }))}\n`
}

/** Escapes characters that JSON leaves raw and terminals may interpret: C1 controls and direction marks. */
function escapeControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
