// Copies the bytes of unfinished uploads to disk, so that they can be resumed after a restart.
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { uptime } from 'node:os'
import { join } from 'node:path'
import type { Bytes } from '../../json/index.ts'

/** Time after its last byte for which an upload is kept, in ms. */
const SPOOL_LIFETIME_MS = 24 * 3600 * 1000
/** Maximum number of stored uploads per user. */
const MAX_PER_USER = 4
/** Minimum free disk space, which the database may need; at most a fifth of the disk. */
const MIN_FREE_BYTES = 1024 ** 3
/** Bytes of an upload after which the free space is checked again. */
const SPACE_CHECK_BYTES = 16 * 1024 ** 2
/** Tolerance when boot times are compared, in ms. */
const BOOT_TIME_TOLERANCE_MS = 120_000

/** Time in which both files of a new upload are created, in ms. */
const CREATION_MS = 60_000

interface UploadHeader {
  owner: string
  /** Boot time, in ms since 1970: after a crash, it is unknown which bytes reached the disk. */
  machineStarted: number
  begun: unknown
}

/**
 * Unfinished uploads in a folder, so that they can be resumed after a restart of the server. The copy is
 * optional: if the folder is not writable, uploads work without it.
 */
export class UploadSpool {
  constructor(private readonly folder: string) {}

  /** Creates the files of an upload; undefined on failure. `begun`: JSON that is needed to resume it. */
  begin(owner: string, id: string, begun: unknown): SpooledUpload | undefined {
    const header: UploadHeader = { owner, machineStarted: bootTime(), begun }
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      if (!hasFreeSpace(this.folder)) return undefined
      const file = openSync(this.bytesPath(id), 'w', 0o600)
      writeFileSync(this.headerPath(id), JSON.stringify(header), { mode: 0o600 })
      return this.openSpooled(id, file)
    } catch {
      this.deleteFiles(id)
      return undefined
    }
  }

  /** Returns a stored upload of a user; undefined if it is missing, expired or from before a reboot. */
  find(owner: string, id: string): { begun: unknown; bytes: Bytes; spooled: SpooledUpload } | undefined {
    if (!/^[0-9a-f]{32}$/.test(id)) return undefined
    try {
      const header: UploadHeader = JSON.parse(readFileSync(this.headerPath(id), 'utf8'))
      if (header.owner !== owner || !this.isFresh(id, header)) return undefined
      const size = statSync(this.bytesPath(id)).size
      return {
        begun: header.begun,
        bytes: size > 0 ? createReadStream(this.bytesPath(id), { end: size - 1 }) : emptyStream(),
        spooled: this.openSpooled(id, openSync(this.bytesPath(id), 'a', 0o600)),
      }
    } catch {
      return undefined
    }
  }

  private openSpooled(id: string, file: number): SpooledUpload {
    return new SpooledUpload(
      file,
      () => hasFreeSpace(this.folder),
      () => this.deleteFiles(id),
    )
  }

  /**
   * Deletes expired uploads, the oldest ones above `maxUploads` in total, and those above the limit of each
   * user. Deletes all if the disk is nearly full. Uploads in `open` are kept.
   */
  sweep(maxUploads: number, open: ReadonlySet<string>): void {
    const ids = new Set(
      listNames(this.folder).flatMap((name) => /^([0-9a-f]{32})\.(?:json|bytes)$/.exec(name)?.[1] ?? []),
    )
    const isFull = ids.size > 0 && !hasFreeSpace(this.folder)
    const stored: { id: string; owner: string; at: number }[] = []
    for (const id of ids) {
      if (open.has(id)) continue
      if (isFull) this.deleteFiles(id)
      else
        try {
          const header: UploadHeader = JSON.parse(readFileSync(this.headerPath(id), 'utf8'))
          if (!this.isFresh(id, header)) this.deleteFiles(id)
          else stored.push({ id, owner: header.owner, at: statSync(this.bytesPath(id)).mtimeMs })
        } catch {
          this.deleteIfOld(id)
        }
    }
    stored.sort((a, b) => b.at - a.at)
    const countsByOwner = new Map<string, number>()
    for (const [k, { id, owner }] of stored.entries()) {
      const count = (countsByOwner.get(owner) ?? 0) + 1
      countsByOwner.set(owner, count)
      if (k >= maxUploads || count > MAX_PER_USER) this.deleteFiles(id)
    }
  }

  /** Returns whether an upload has not expired, and the machine has not restarted since. */
  private isFresh(id: string, { machineStarted: then }: UploadHeader): boolean {
    const isSameStart = Math.abs(bootTime() - then) < BOOT_TIME_TOLERANCE_MS
    return isSameStart && Date.now() - statSync(this.bytesPath(id)).mtimeMs < SPOOL_LIFETIME_MS
  }

  private headerPath(id: string): string {
    return join(this.folder, `${id}.json`)
  }

  private bytesPath(id: string): string {
    return join(this.folder, `${id}.bytes`)
  }

  /** Deletes files without a header, unless another process may be creating the upload right now. */
  private deleteIfOld(id: string): void {
    const file = [this.bytesPath(id), this.headerPath(id)].find((path) => existsSync(path))
    if (file === undefined || Date.now() - statSync(file).mtimeMs > CREATION_MS) this.deleteFiles(id)
  }

  private deleteFiles(id: string): void {
    for (const file of [this.bytesPath(id), this.headerPath(id)]) rmSync(file, { force: true })
  }
}

/** Stored bytes of one upload. */
export class SpooledUpload {
  /** Bytes since the last check of the free space. */
  private uncheckedBytes = 0

  constructor(
    private file: number | undefined,
    private readonly hasFreeSpace: () => boolean,
    private readonly removeFiles: () => void,
  ) {}

  /** Appends bytes to the file, before the client learns that they have arrived. */
  append(chunk: Uint8Array): void {
    if (this.file === undefined) return
    this.uncheckedBytes += chunk.length
    if (this.uncheckedBytes >= SPACE_CHECK_BYTES) {
      this.uncheckedBytes = 0
      if (!this.hasFreeSpace()) {
        this.delete()
        return
      }
    }
    try {
      for (let written = 0; written < chunk.length; ) written += writeSync(this.file, chunk, written)
    } catch {
      // The disk is full: the upload continues without a copy.
      this.delete()
    }
  }

  /** Closes the file. Its bytes stay on disk. */
  close(): void {
    if (this.file !== undefined) closeSync(this.file)
    this.file = undefined
  }

  delete(): void {
    this.close()
    this.removeFiles()
  }
}

/** Returns whether the disk of a folder has more than the minimum free space. */
function hasFreeSpace(folder: string): boolean {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return bavail * bsize > Math.min(MIN_FREE_BYTES, (blocks * bsize) / 5)
}

function bootTime(): number {
  return Date.now() - uptime() * 1000
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

async function* emptyStream(): AsyncGenerator<Uint8Array> {}
