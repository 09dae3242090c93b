// Lists the documents of an import: files, directories, ZIP archives and web pages.
import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { defaultLimits, formatBytes } from '../../contract/limits.ts'
import { listZipMembers } from '../../ingest/index.ts'
import { readDirectory, readWhole, toReadProblem } from '../files/input.ts'

/** A document that may contain figures and grids. */
export interface Document {
  /** Path or URL, for messages. */
  path: string
  /** Names of its folders below the source. */
  folders: readonly string[]
  /** File name with extension. */
  name: string
  /** Reads it completely. Can be called again. */
  read(): Promise<Buffer>
}

/** Maximum size of a document, in bytes. Its text is held in memory. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
const FETCH_TIMEOUT_MS = 60_000

/** Names of documents that may contain charts, also in formats that are not read. Other files in folders are counted. */
const DOCUMENT_NAME = /\.(ipynb|json|html?|zip|rdata|rds|fig|pkl)$/i

/** Lists documents, and keeps archives open until `close`. */
export class DocumentLister {
  /** Names of files in folders and archives that are no documents. */
  readonly others: string[] = []
  private readonly archives: FileHandle[] = []

  /** Yields the documents of a source. Throws if it does not exist or cannot be listed. */
  async *list(source: string): AsyncGenerator<Document> {
    if (/^https?:\/\//i.test(source)) yield await fetchDocument(source)
    else if (isDirectory(source)) yield* this.listDirectory(source, [])
    else yield* this.listFile(source, source, [])
  }

  async close(): Promise<void> {
    for (const handle of this.archives) await handle.close()
  }

  private async *listDirectory(path: string, folders: readonly string[]): AsyncGenerator<Document> {
    for (const entry of readDirectory(path)) {
      if (entry.name.startsWith('.')) continue
      const inner = join(path, entry.name)
      if (entry.isDirectory()) yield* this.listDirectory(inner, [...folders, entry.name])
      else if (entry.isSymbolicLink()) this.others.push(entry.name)
      else if (entry.isFile() && this.isDocument(entry.name)) yield* this.listFile(inner, inner, folders)
    }
  }

  /** Returns whether a file in a folder is a document, and notes it if not. */
  private isDocument(name: string): boolean {
    if (DOCUMENT_NAME.test(name)) return true
    this.others.push(name)
    return false
  }

  private async *listFile(file: string, path: string, folders: readonly string[]): AsyncGenerator<Document> {
    if (!/\.zip$/i.test(file)) {
      yield { path, folders, name: basename(file), read: () => readDocumentFile(file) }
      return
    }
    const handle = await open(file).catch((error) => {
      throw toReadProblem(file, error)
    })
    this.archives.push(handle)
    const { size } = await handle.stat()
    const members = await listZipMembers({ handle, size, close: () => handle.close() }, defaultLimits, file)
    for (const member of members) {
      const names = member.path.split('/')
      const name = names.pop()!
      if (name.startsWith('.') || names[0] === '__MACOSX' || !this.isDocument(name)) continue
      yield {
        path: `${path}/${member.path}`,
        folders: [...folders, ...names],
        name,
        read: async () => readLimited(await member.open(), `${path}/${member.path}`),
      }
    }
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Collects the bytes of a document. Throws `too_large` as soon as they are too many. */
async function readLimited(bytes: AsyncIterable<Uint8Array>, path: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of bytes) {
    size += part.length
    if (size > MAX_DOCUMENT_BYTES) throw tooLargeError(path, size)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function tooLargeError(path: string, size: number): Problem {
  return new Problem(
    'too_large',
    `${path}: ${formatBytes(size)}; the limit is ${formatBytes(MAX_DOCUMENT_BYTES)}`,
  )
}

async function readDocumentFile(file: string): Promise<Buffer> {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_DOCUMENT_BYTES) throw tooLargeError(file, size)
  return readWhole(file)
}

/** Fetches a document once. Throws `failed`. */
async function fetchDocument(url: string): Promise<Document> {
  const failed = (why: string): Problem => new Problem('failed', `${url} could not be fetched: ${why}`)
  let bytes: Buffer
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
    if (!response.ok) throw failed(`the server answered ${response.status}`)
    bytes = await readLimited(response.body as unknown as AsyncIterable<Uint8Array>, url)
  } catch (error) {
    if (error instanceof Problem) throw error
    const { cause } = error as Error
    throw failed(errorMessageOf(cause ?? error))
  }
  const last = new URL(url).pathname.split('/').filter(Boolean).pop() ?? new URL(url).hostname
  return { path: url, folders: [], name: decodeName(last), read: async () => bytes }
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
