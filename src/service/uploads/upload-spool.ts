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

/** How long the bytes of an upload are kept after the last of them, in ms. */
const KEPT_MS = 24 * 3600 * 1000
/** Uploads that are kept of one user. */
const MAX_OF_ONE_USER = 4
/** The least free space of a disk: the database needs it more. At most this, and at most a fifth of the disk. */
const SPARE_BYTES = 1024 ** 3
/** Bytes of an upload after which the free space is looked at again. */
const LOOK_EVERY_BYTES = 16 * 1024 ** 2
/** Two times of a start of the machine that differ by less are the same start, in ms. */
const SAME_START_MS = 120_000

/** An upload is begun within this time, in ms. */
const BEGUN_MS = 60_000

interface Head {
  owner: string
  /** When the machine was started: after a crash of it, nobody knows which bytes reached the disk. */
  machineStarted: number
  begun: unknown
}

/**
 * The bytes of unfinished uploads in a folder, so that they can continue after the server was restarted. It is a copy for
 * that case alone: where it cannot be written, uploads work without it.
 */
export class UploadSpool {
  constructor(private readonly folder: string) {}

  /** Begins to keep an upload. `begun` is what is needed to continue it, as JSON. */
  begin(owner: string, id: string, begun: unknown): SpooledUpload | undefined {
    const head: Head = { owner, machineStarted: machineStarted(), begun }
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      if (!hasRoom(this.folder)) return undefined
      const file = openSync(this.bytesOf(id), 'w', 0o600)
      writeFileSync(this.headOf(id), JSON.stringify(head), { mode: 0o600 })
      return this.spooled(id, file)
    } catch {
      this.remove(id)
      return undefined
    }
  }

  /** An upload of a user that this or an earlier process began. */
  find(owner: string, id: string): { begun: unknown; bytes: Bytes; kept: SpooledUpload } | undefined {
    if (!/^[0-9a-f]{32}$/.test(id)) return undefined
    try {
      const head = JSON.parse(readFileSync(this.headOf(id), 'utf8')) as Head
      if (head.owner !== owner || !this.isFresh(id, head)) return undefined
      const size = statSync(this.bytesOf(id)).size
      return {
        begun: head.begun,
        bytes: size > 0 ? createReadStream(this.bytesOf(id), { end: size - 1 }) : nothing(),
        kept: this.spooled(id, openSync(this.bytesOf(id), 'a', 0o600)),
      }
    } catch {
      return undefined
    }
  }

  private spooled(id: string, file: number): SpooledUpload {
    return new SpooledUpload(
      file,
      () => hasRoom(this.folder),
      () => this.remove(id),
    )
  }

  /**
   * Removes the uploads that nobody continues, and the oldest ones beyond `most` in all and a few of each user. All of
   * them where the disk is nearly full. Those in `open` stay.
   */
  sweep(most: number, open: ReadonlySet<string>): void {
    const ids = new Set(
      namesIn(this.folder).flatMap((name) => /^([0-9a-f]{32})\.(?:json|bytes)$/.exec(name)?.[1] ?? []),
    )
    const isFull = ids.size > 0 && !hasRoom(this.folder)
    const kept: { id: string; owner: string; at: number }[] = []
    for (const id of ids) {
      if (open.has(id)) continue
      if (isFull) this.remove(id)
      else
        try {
          const head = JSON.parse(readFileSync(this.headOf(id), 'utf8')) as Head
          if (!this.isFresh(id, head)) this.remove(id)
          else kept.push({ id, owner: head.owner, at: statSync(this.bytesOf(id)).mtimeMs })
        } catch {
          this.removeIfOld(id)
        }
    }
    kept.sort((one, other) => other.at - one.at)
    const owned = new Map<string, number>()
    for (const [k, { id, owner }] of kept.entries()) {
      const count = (owned.get(owner) ?? 0) + 1
      owned.set(owner, count)
      if (k >= most || count > MAX_OF_ONE_USER) this.remove(id)
    }
  }

  private isFresh(id: string, { machineStarted: then }: Head): boolean {
    const isSameStart = Math.abs(machineStarted() - then) < SAME_START_MS
    return isSameStart && Date.now() - statSync(this.bytesOf(id)).mtimeMs < KEPT_MS
  }

  private headOf(id: string): string {
    return join(this.folder, `${id}.json`)
  }

  private bytesOf(id: string): string {
    return join(this.folder, `${id}.bytes`)
  }

  /** What has no head is being begun by another process, or is left of a crash. */
  private removeIfOld(id: string): void {
    const file = [this.bytesOf(id), this.headOf(id)].find((one) => existsSync(one))
    if (file === undefined || Date.now() - statSync(file).mtimeMs > BEGUN_MS) this.remove(id)
  }

  private remove(id: string): void {
    for (const file of [this.bytesOf(id), this.headOf(id)]) rmSync(file, { force: true })
  }
}

/** The kept bytes of one upload. */
export class SpooledUpload {
  /** Bytes since the free space was looked at. */
  private unchecked = 0

  constructor(
    private file: number | undefined,
    private readonly hasRoom: () => boolean,
    private readonly removeFiles: () => void,
  ) {}

  /** Keeps more bytes, before the client learns that they have arrived. */
  add(chunk: Uint8Array): void {
    if (this.file === undefined) return
    this.unchecked += chunk.length
    if (this.unchecked >= LOOK_EVERY_BYTES) {
      this.unchecked = 0
      if (!this.hasRoom()) {
        this.remove()
        return
      }
    }
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(this.file, chunk, at)
    } catch {
      // The disk is full: the upload goes on without a copy.
      this.remove()
    }
  }

  /** Stops keeping bytes; those on disk stay. */
  close(): void {
    if (this.file !== undefined) closeSync(this.file)
    this.file = undefined
  }

  remove(): void {
    this.close()
    this.removeFiles()
  }
}

/** Whether the disk of a folder has space to spare. */
function hasRoom(folder: string): boolean {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return bavail * bsize > Math.min(SPARE_BYTES, (blocks * bsize) / 5)
}

function machineStarted(): number {
  return Date.now() - uptime() * 1000
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
