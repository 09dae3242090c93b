// Progress of uploads on stderr.
import { bytesText } from '../../contract/limits.ts'
import type { Messages } from './messages.ts'

/** Delay before progress is shown, in ms: as bar, or as lines. */
const BAR_AFTER_MS = 300
const LINES_AFTER_MS = 2_000
/** Interval between lines, in ms. */
const LINE_EVERY_MS = 10_000
const BAR_CHARACTERS = 24

/** Upload progress of one or several files: a bar on a terminal, otherwise a line per 25 % or 10 s. */
export class Progress {
  private done = 0
  private readonly started = performance.now()
  private lastLine = this.started
  private lastQuarter = 0
  private spinner: { text: string; stop(): unknown } | undefined
  private loading = false

  /** Number of finished files. */
  private files = 0

  constructor(
    private readonly messages: Messages,
    private readonly name: string,
    /** Size in bytes, if known. */
    private readonly total: number | undefined,
    /** Number of files. */
    private readonly count = 1,
  ) {}

  /** Counts uploaded bytes, and updates the display. */
  add(bytes: number): void {
    this.done += bytes
    const { style } = this.messages
    if (style === 'none') return
    const now = performance.now()
    if (style === 'bar') {
      if (now - this.started > BAR_AFTER_MS) this.show()
      return
    }
    const quarter = this.total ? Math.floor((this.done / this.total) * 4) : 0
    if (
      now - this.started < LINES_AFTER_MS ||
      (quarter <= this.lastQuarter && now - this.lastLine < LINE_EVERY_MS)
    )
      return
    this.lastQuarter = quarter
    this.lastLine = now
    this.messages.note(this.text())
  }

  /** Counts a finished file. */
  next(): void {
    this.files++
    this.add(0)
  }

  /** Removes the bar. */
  end(): void {
    this.spinner?.stop()
    this.spinner = undefined
    this.loading = true
  }

  /** Shows or updates the bar. Loads the library on first use. */
  private show(): void {
    if (this.spinner) this.spinner.text = this.text()
    else if (!this.loading) {
      this.loading = true
      import('../../vendor/ora.ts').then(({ ora }) => {
        if (this.loading && !this.spinner && this.done < (this.total ?? Number.POSITIVE_INFINITY)) {
          this.spinner = ora({ text: this.text(), stream: process.stderr, discardStdin: false }).start()
        }
      })
    }
  }

  /** Formats the progress as text. */
  private text(): string {
    const seconds = (performance.now() - this.started) / 1000
    const rate = this.done / seconds
    const name = this.count > 1 ? `${this.files} of ${this.count} files` : this.name
    const speed = `${bytesText(Math.round(rate))}/s`
    if (!this.total) return `${name}  ${bytesText(this.done)}  ${speed}`
    const share = Math.min(1, this.done / this.total)
    const remaining = time((this.total - this.done) / rate)
    const percent = `${Math.floor(share * 100)} %`
    if (this.messages.style !== 'bar')
      return `${name}  ${percent}  ${bytesText(this.done)} of ${bytesText(this.total)}  ${speed}`
    const filled = Math.round(share * BAR_CHARACTERS)
    return `${name}  ${'█'.repeat(filled)}${'░'.repeat(BAR_CHARACTERS - filled)}  ${percent}  ${bytesText(this.done)} of ${bytesText(this.total)}  ${speed}  ${remaining} left`
  }
}

/** Counts the bytes of one file. */
export class Meter {
  private sent = 0

  constructor(private readonly progress: Progress) {}

  add(bytes: number): void {
    this.sent += bytes
    this.progress.add(bytes)
  }

  /** Corrects the count: the file is sent again from an offset. */
  restart(at = 0): void {
    this.add(at - this.sent)
  }
}

/** Formats a duration. */
function time(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  return s < 3600
    ? `${Math.floor(s / 60)} min ${s % 60} s`
    : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
}
