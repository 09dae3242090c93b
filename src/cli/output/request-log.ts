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
  return `${escaped(JSON.stringify({ time: new Date().toISOString(), ...line }))}\n`
}

/** Escapes what JSON leaves raw and a terminal may obey: C1 controls and marks of direction. */
function escaped(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
