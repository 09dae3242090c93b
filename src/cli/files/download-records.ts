// Records of the files that `gridline pull` has written into a directory.
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { FileMeta } from '../../contract/resources/index.ts'
import { writePrivateFile } from '../config/private-file.ts'

/** Content of a local file: a version of a file, and filter and order of the downloaded rows. */
interface PulledContent {
  fid: string
  version?: string
  where?: string
  sort?: string
}

/** A version by its number, whose content does not change. */
const FIXED_VERSION = /^[1-9]\d*$/

/** Formats the record of a downloaded file: its state and its content. */
function formatEntry(stats: { size: number; mtimeMs: number }, content: PulledContent): string {
  const { fid, version, where, sort } = content
  return `${formatState(stats)} ${JSON.stringify({ fid, version, where, sort })}`
}

/** Formats the state of a local file: its size, and its modification time in ms. */
function formatState({ size, mtimeMs }: { size: number; mtimeMs: number }): string {
  return `${size} ${mtimeMs}`
}

/** Not through a link, which the directory may have from somebody else. */
const JOURNAL_FLAGS =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** Records of downloads into a directory. Files changed since their download are not replaced. */
export class DownloadRecords {
  private readonly file: string
  /** Lines of files that were about to get their names: an interrupted run has no records. */
  private readonly journal: string
  private readonly entries: Record<string, string>
  private readonly begun = new Map<string, string>()
  private readonly recorded = new Set<string>()
  private journalFile: number | undefined

  constructor(directory: string) {
    this.file = join(directory, '.gridline-pull.json')
    this.journal = join(directory, '.gridline-pull.journal')
    try {
      this.entries = JSON.parse(readFileSync(this.file, 'utf8')) as Record<string, string>
    } catch {
      this.entries = {}
    }
    const lines = existsSync(this.journal) ? readFileSync(this.journal, 'utf8').split('\n') : []
    for (const line of lines)
      try {
        const [key, entry] = JSON.parse(line)
        this.begun.set(String(key), String(entry))
      } catch {
        // Of the last line, a part can be written.
      }
  }

  /**
   * Returns whether a local file has the same version and rows, without reading them: it has the modification time of the
   * server. False for plots, drafts and versions by name, whose content can change while that time stays.
   */
  isCurrent(path: string, { filetype, date_modified }: FileMeta, content: PulledContent): boolean {
    const { version } = content
    if (filetype !== 'grid' || !(version === undefined || FIXED_VERSION.test(version))) return false
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats || !this.hasEntry(path, stats, content)) return false
    return Math.abs(stats.mtimeMs - Date.parse(date_modified)) < 1
  }

  /** Returns whether a local file was downloaded with the same content, which may have changed since. */
  mayBeCurrent(path: string, content: PulledContent): boolean {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats !== undefined && this.hasEntry(path, stats, content)
  }

  private hasEntry(path: string, stats: Stats, content: PulledContent): boolean {
    return this.entriesOf(path).includes(formatEntry(stats, content))
  }

  /** Returns the entries that a file may have: an interrupted run has replaced it, or not. */
  private entriesOf(path: string): string[] {
    const key = this.key(path)
    return [this.entries[key], this.begun.get(key)].filter((entry) => entry !== undefined)
  }

  /** Returns whether a local file is absent, or unchanged since its download. */
  isOurs(path: string): boolean {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return true
    const state = formatState(stats)
    return this.entriesOf(path).some((entry) => entry.split(' ', 2).join(' ') === state)
  }

  /** Records a download whose part is complete, and about to get its name. */
  begin(path: string, part: string, content: PulledContent): void {
    const line = JSON.stringify([this.key(path), formatEntry(statSync(part), content)])
    this.journalFile ??= openSync(this.journal, JOURNAL_FLAGS, 0o600)
    writeSync(this.journalFile, `${line}\n`)
  }

  /** Records a finished download. */
  record(path: string, content: PulledContent): void {
    const key = this.key(path)
    this.recorded.add(key)
    this.entries[key] = formatEntry(statSync(path), content)
  }

  /** Writes the records to the directory, with those of files that an interrupted run has replaced. */
  save(): void {
    for (const [key, entry] of this.begun) {
      const stats = statSync(join(dirname(this.file), key), { throwIfNoEntry: false })
      const isReplaced = stats !== undefined && entry.startsWith(`${formatState(stats)} `)
      if (isReplaced && !this.recorded.has(key)) this.entries[key] = entry
    }
    writePrivateFile(this.file, `${JSON.stringify(this.entries)}\n`)
    if (this.journalFile !== undefined) closeSync(this.journalFile)
    this.journalFile = undefined
    rmSync(this.journal, { force: true })
  }

  private key(path: string): string {
    return relative(dirname(this.file), path)
  }
}
