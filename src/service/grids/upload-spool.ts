import {
  closeSync,
  createReadStream,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
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
const OF_ONE_USER = 4
/** Two times of a start of the machine that differ by less are the same start, in ms. */
const SAME_START_MS = 120_000

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
      writeFileSync(this.headOf(id), JSON.stringify(head), { mode: 0o600 })
      return new SpooledUpload(openSync(this.bytesOf(id), 'w', 0o600), () => this.remove(id))
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
        kept: new SpooledUpload(openSync(this.bytesOf(id), 'a', 0o600), () => this.remove(id)),
      }
    } catch {
      return undefined
    }
  }

  /** Removes the uploads that nobody continues, and the oldest ones beyond `most` in all and a few of each user. */
  sweep(most: number): void {
    const ids = namesIn(this.folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
    const kept: { id: string; owner: string; at: number }[] = []
    for (const id of ids) {
      try {
        const head = JSON.parse(readFileSync(this.headOf(id), 'utf8')) as Head
        if (!this.isFresh(id, head)) this.remove(id)
        else kept.push({ id, owner: head.owner, at: statSync(this.bytesOf(id)).mtimeMs })
      } catch {
        this.remove(id)
      }
    }
    kept.sort((one, other) => other.at - one.at)
    const owned = new Map<string, number>()
    for (const [k, { id, owner }] of kept.entries()) {
      const count = (owned.get(owner) ?? 0) + 1
      owned.set(owner, count)
      if (k >= most || count > OF_ONE_USER) this.remove(id)
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

  private remove(id: string): void {
    for (const file of [this.headOf(id), this.bytesOf(id)]) rmSync(file, { force: true })
  }
}

/** The kept bytes of one upload. */
export class SpooledUpload {
  constructor(
    private file: number | undefined,
    private readonly removeFiles: () => void,
  ) {}

  /** Keeps more bytes, before the client learns that they have arrived. */
  add(chunk: Uint8Array): void {
    if (this.file === undefined) return
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
