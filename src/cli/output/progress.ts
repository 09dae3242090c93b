// Progress of uploads on stderr.
import { formatBytes } from '../../contract/limits.ts'
import type { Messages } from './messages.ts'

/** Delay before progress is shown, in ms: as bar, or as lines. */
const BAR_AFTER_MS = 300
const LINE_AFTER_MS = 2_000
/** Interval between lines, in ms. */
const LINE_EVERY_MS = 10_000
const BAR_CHARACTERS = 24

/** Upload progress of one or several files: a bar on a terminal, otherwise a line per 25 % or 10 s. */
export class Progress {
  private doneBytes = 0
  private readonly startedAt = performance.now()
  private lastLine = this.startedAt
  private lastQuarter = 0
  private spinner: { text: string; stop(): unknown } | undefined
  private isStarted = false

  /** Number of finished files. */
  private doneFiles = 0

  constructor(
    private readonly messages: Messages,
    private readonly name: string,
    /** Size in bytes, if known. */
    private readonly totalBytes: number | undefined,
    /** Number of files. */
    private readonly fileCount = 1,
  ) {}

  /** Counts uploaded bytes, and updates the display. */
  add(bytes: number): void {
    this.doneBytes += bytes
    const { style } = this.messages
    if (style === 'none') return
    const now = performance.now()
    if (style === 'bar') {
      if (now - this.startedAt > BAR_AFTER_MS) this.showBar()
      return
    }
    const quarter = this.totalBytes ? Math.floor((this.doneBytes / this.totalBytes) * 4) : 0
    if (
      now - this.startedAt < LINE_AFTER_MS ||
      (quarter <= this.lastQuarter && now - this.lastLine < LINE_EVERY_MS)
    )
      return
    this.lastQuarter = quarter
    this.lastLine = now
    this.messages.note(this.format())
  }

  /** Counts a finished file. */
  finishFile(): void {
    this.doneFiles++
    this.add(0)
  }

  /** Removes the bar. */
  end(): void {
    this.spinner?.stop()
    this.spinner = undefined
    this.isStarted = true
  }

  /** Shows or updates the bar. Loads the library on first use. */
  private showBar(): void {
    if (this.spinner) this.spinner.text = this.format()
    else if (!this.isStarted) {
      this.isStarted = true
      import('../../vendor/ora.ts').then(({ ora }) => {
        if (
          this.isStarted &&
          !this.spinner &&
          this.doneBytes < (this.totalBytes ?? Number.POSITIVE_INFINITY)
        ) {
          this.spinner = ora({ text: this.format(), stream: process.stderr, discardStdin: false }).start()
        }
      })
    }
  }

  /** Formats the progress as text. */
  private format(): string {
    const seconds = (performance.now() - this.startedAt) / 1000
    const rate = this.doneBytes / seconds
    const name = this.fileCount > 1 ? `${this.doneFiles} of ${this.fileCount} files` : this.name
    const speed = `${formatBytes(Math.round(rate))}/s`
    if (!this.totalBytes) return `${name}  ${formatBytes(this.doneBytes)}  ${speed}`
    const share = Math.min(1, this.doneBytes / this.totalBytes)
    const remaining = formatDuration((this.totalBytes - this.doneBytes) / rate)
    const percent = `${Math.floor(share * 100)} %`
    if (this.messages.style !== 'bar')
      return `${name}  ${percent}  ${formatBytes(this.doneBytes)} of ${formatBytes(this.totalBytes)}  ${speed}`
    const filled = Math.round(share * BAR_CHARACTERS)
    return `${name}  ${'█'.repeat(filled)}${'░'.repeat(BAR_CHARACTERS - filled)}  ${percent}  ${formatBytes(this.doneBytes)} of ${formatBytes(this.totalBytes)}  ${speed}  ${remaining} left`
  }
}

/** Counts the bytes of one file. */
export class FileMeter {
  private sentBytes = 0

  constructor(private readonly progress: Progress) {}

  add(bytes: number): void {
    this.sentBytes += bytes
    this.progress.add(bytes)
  }

  /** Corrects the count: the file is sent again from an offset. */
  restart(at = 0): void {
    this.add(at - this.sentBytes)
  }
}

/** Formats a duration. */
function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  return s < 3600
    ? `${Math.floor(s / 60)} min ${s % 60} s`
    : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
}
