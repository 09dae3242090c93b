// Self-contained pages: what they say of themselves, and their checksum. The last line is the SHA-256 of all bytes before it.
import { createHash } from 'node:crypto'
import { escapeHtml } from './html.ts'

/** Title and origin of a chart or table, which its page names. */
export interface PageFacts {
  title: string
  /** Link to the live file, and the time of its last change. */
  source?: { url: string; changed: Date }
}

/** Writes the line about a page. */
export function renderAbout({ title, source }: PageFacts): string {
  const parts = [`<b>${escapeHtml(title)}</b>`]
  if (source) {
    const day = source.changed.toISOString()
    parts.push(
      `data as of <time datetime="${day}">${day.slice(0, 10)}</time>`,
      `source: <a href="${escapeHtml(source.url)}" target="_blank" rel="noopener noreferrer">${escapeHtml(source.url)}</a>`,
    )
  }
  return `<p id="about">${parts.join(' · ')}</p>`
}

const LINE = /^<!-- sha256 ([0-9a-f]{64}) -->\n$/
const LINE_LENGTH = `<!-- sha256 ${'0'.repeat(64)} -->\n`.length

function formatLine(hash: string): Buffer {
  return Buffer.from(`<!-- sha256 ${hash} -->\n`)
}

/** Adds the checksum to a page. */
export function sealPage(page: string): Buffer {
  return Buffer.concat([Buffer.from(page), formatLine(createHash('sha256').update(page).digest('hex'))])
}

/** Streams a page, and its checksum after it. */
export async function* streamSealed(page: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const bytes of page) {
    hash.update(bytes)
    yield bytes
  }
  yield formatLine(hash.digest('hex'))
}

/** Returns whether a page is as it was written; undefined if it has no checksum. */
export function verifyPage(page: Buffer): boolean | undefined {
  const content = page.subarray(0, Math.max(0, page.length - LINE_LENGTH))
  const [, hash] = LINE.exec(page.toString('latin1', content.length)) ?? []
  return hash === undefined ? undefined : createHash('sha256').update(content).digest('hex') === hash
}
