// A directory that an export writes: only what has changed, and a list of all files with their SHA-256 at the end.
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'
import { assertNoLink, toSafeFileName } from '../files/local-names.ts'
import { partNameOf, wholeNameOf, withPart } from '../files/parts.ts'
import { makeFolder, toWriteProblem } from '../files/write-file.ts'

/** Name of the list. `sha256sum -c SHA256SUMS` checks it, too. */
const SUMS_FILE = 'SHA256SUMS'

export type ExportKind = 'account' | 'site'

const HEADER = /^# gridline export (account|site) 1(, incomplete)?\n/
/** In place of a hash, while an export is written. */
const NO_HASH = '0'.repeat(64)
/** A line of the list: hash and path. */
const LINE = /^([0-9a-f]{64}) {2}(\S.*)$/

/** The list of the files of an export. */
export interface Sums {
  kind: ExportKind
  isComplete: boolean
  /** SHA-256 of each file, by path with slashes. */
  hashes: Map<string, string>
}

/** Reads the list of an export; undefined if a directory has none. Throws `bad_data` if it is damaged. */
export function readSums(directory: string): Sums | undefined {
  let text: string
  try {
    text = readFileSync(join(directory, SUMS_FILE), 'utf8')
  } catch {
    return undefined
  }
  const [header, kind, incomplete] = HEADER.exec(text) ?? []
  if (header === undefined) return undefined
  const hashes = new Map<string, string>()
  for (const line of text.slice(header.length).split('\n')) {
    if (line === '') continue
    const [, hash, path] = LINE.exec(line) ?? []
    if (hash === undefined || !isInnerPath(path))
      throw new Problem('bad_data', `${join(directory, SUMS_FILE)}: damaged at ${JSON.stringify(line)}`)
    hashes.set(path, hash)
  }
  return { kind: kind as ExportKind, isComplete: incomplete === undefined, hashes }
}

/** Lists the files of a directory with slashes in their paths. */
export function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

/** Returns whether a path of a list stays inside its directory. */
export function isInnerPath(path: string): boolean {
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\\'))
}

/** Returns the SHA-256 of a file; undefined if it cannot be read. */
export async function hashFile(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

/** Maximum size of a file name, in bytes, without its extension and a number. */
const MAX_NAME_BYTES = 200

/** Chooses paths that differ on any file system, also on those that do not distinguish case. */
export class LocalPaths {
  private readonly taken = new Set<string>()

  /**
   * Returns a path without extension for a file that has one of these extensions; a folder has the empty one. `id`
   * distinguishes files of the same name.
   */
  choose(folder: string, name: string, extensions: readonly string[], id: number): string {
    // The list has one line for each file.
    const safe = shorten(
      toSafeFileName(name)
        .replace(/\p{Cc}/gu, '_')
        .toWellFormed(),
    )
    const start = folder === '' ? '' : `${folder}/`
    for (const suffix of ['', ` (${id})`, ` (${id}, again)`]) {
      const path = `${start}${safe}${suffix}`
      const keys = extensions.map((extension) => (path + extension).normalize('NFC').toLowerCase())
      if (keys.some((key) => this.taken.has(key))) continue
      for (const key of keys) this.taken.add(key)
      return path
    }
    throw new Problem('conflict', `two files have the same path ${start}${safe}`)
  }
}

function shorten(name: string): string {
  let short = name
  while (Buffer.byteLength(short) > MAX_NAME_BYTES) short = [...short].slice(0, -1).join('')
  return short
}

/** The directory of an export. `finish` makes it complete; without, a later run continues. */
export class ExportFolder {
  written = 0
  unchanged = 0
  removed = 0
  private readonly hashes = new Map<string, string>()

  private constructor(
    readonly directory: string,
    private readonly kind: ExportKind,
    /** SHA-256 of the files of former runs, by path. */
    private readonly known: Map<string, string>,
  ) {}

  /** Opens a directory: an empty one, or that of an earlier export. Throws `conflict` for others. */
  static open(directory: string, kind: ExportKind): ExportFolder {
    let names: string[] = []
    try {
      names = readdirSync(directory)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT')
        throw new Problem(
          'failed',
          code === 'ENOTDIR' ? `${directory} is not a directory` : `${directory}: ${errorMessageOf(error)}`,
        )
    }
    const former = readSums(directory)
    if (former && former.kind !== kind)
      throw new Problem('conflict', `${directory} contains an exported ${former.kind}`, {
        hint: 'Choose another directory.',
      })
    if (!former && names.length > 0)
      throw new Problem('conflict', `${directory} is not empty, and contains no export of gridline`, {
        hint: 'Choose a new directory.',
      })
    makeFolder(directory)
    const folder = new ExportFolder(resolve(directory), kind, former?.hashes ?? new Map())
    folder.writeSums(former?.hashes ?? new Map(), false)
    return folder
  }

  /** Writes a file, unless it already has these bytes. Returns its SHA-256. */
  async write(path: string, bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<string> {
    const file = join(this.directory, ...path.split('/'))
    const hash = createHash('sha256')
    let size = 0
    async function* hashed(): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
        hash.update(chunk)
        size += chunk.length
        yield chunk
      }
    }
    try {
      this.clearWay(path)
      assertNoLink(dirname(file), this.directory)
      makeFolder(dirname(file))
      this.noteFile(path)
      return await withPart(file, async (part) => {
        const handle = await open(part, 'w')
        await pipeline(Readable.from(hashed()), handle.createWriteStream())
        const digest = hash.digest('hex')
        this.hashes.set(path, digest)
        const isSame =
          statSync(file, { throwIfNoEntry: false })?.size === size && (await hashFile(file)) === digest
        if (isSame) {
          rmSync(part)
          this.unchanged++
        } else {
          renameSync(part, file)
          this.written++
        }
        return digest
      })
    } catch (error) {
      if (error instanceof Problem || errorCodeOf(error) === '') throw error
      throw toWriteProblem(file, error)
    }
  }

  /** Removes files of former runs that were not written again, then writes the list. */
  finish(): void {
    for (const path of this.known.keys()) if (!this.hashes.has(path)) this.remove(path)
    // Parts of files that an interrupted run has left.
    for (const path of listFiles(this.directory)) {
      const whole = wholeNameOf(path)
      if (whole !== undefined && (this.hashes.has(whole) || this.known.has(whole))) this.remove(path)
    }
    this.writeSums(new Map([...this.hashes].sort(([a], [b]) => (a < b ? -1 : 1))), true)
  }

  /** Adds a new file to the list before it exists, so that a later run knows all files that this one has written. */
  private noteFile(path: string): void {
    if (this.known.has(path)) return
    this.known.set(path, NO_HASH)
    appendFileSync(join(this.directory, SUMS_FILE), `${NO_HASH}  ${path}\n`)
  }

  /** Removes files of former runs where a folder has to be, and folders of such files where a file has to be. */
  private clearWay(path: string): void {
    const names = path.split('/')
    for (let depth = 1; depth < names.length; depth++) {
      const above = names.slice(0, depth).join('/')
      if (this.known.has(above) && !this.hashes.has(above)) this.remove(above)
    }
    const isFolder = statSync(join(this.directory, ...names), { throwIfNoEntry: false })?.isDirectory()
    if (isFolder)
      for (const inner of this.known.keys())
        if (inner.startsWith(`${path}/`) && !this.hashes.has(inner)) this.remove(inner)
  }

  private writeSums(hashes: ReadonlyMap<string, string>, isComplete: boolean): void {
    const file = join(this.directory, SUMS_FILE)
    const temporary = partNameOf(file)
    const lines = [...hashes].map(([path, hash]) => `${hash}  ${path}\n`)
    writeFileSync(temporary, formatHeader(this.kind, isComplete) + lines.join(''))
    renameSync(temporary, file)
  }

  private remove(path: string): void {
    const file = join(this.directory, ...path.split('/'))
    assertNoLink(dirname(file), this.directory)
    if (!existsSync(file)) return
    rmSync(file)
    if (wholeNameOf(path) === undefined) this.removed++
    for (let folder = dirname(file); folder.startsWith(this.directory + sep); folder = dirname(folder))
      try {
        rmdirSync(folder)
      } catch {
        // Not empty.
        break
      }
  }
}

function formatHeader(kind: ExportKind, isComplete: boolean): string {
  return `# gridline export ${kind} 1${isComplete ? '' : ', incomplete'}\n`
}
