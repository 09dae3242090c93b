// Parses XML parts of workbooks, within limits.
import type { SaxesTagPlain } from 'saxes'
import { Problem } from '../../contract/errors.ts'
import { excerpt, yieldToEventLoop } from '../../json/index.ts'
import type { ArchiveEntry } from '../archive/archive.ts'
import { badData } from '../values/warnings.ts'

/** Number of characters parsed per step. Few, since each can refer to a long text. */
const MAX_STEP_CHARACTERS = 4096

/** Maximum nesting of elements. Workbooks need about ten. */
const MAX_ELEMENT_DEPTH = 256
/** Maximum number of attributes of an element. */
const MAX_ATTRIBUTES = 1000
/** Maximum length of a text, comment, name or attribute. */
const MAX_TEXT_CHARACTERS = 8 * 1024 * 1024

/** Callbacks for the elements and texts of a part. */
export interface XmlVisitor {
  open?(tag: SaxesTagPlain): void
  text?(text: string): void
  close?(name: string): void
}

/** Returns a name without its namespace. */
export function localNameOf(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Parses an XML part of a workbook. Yields after each step, so that the caller can process the output. */
export async function* parsePart(
  member: ArchiveEntry,
  source: string,
  visitor: XmlVisitor,
): AsyncGenerator<void> {
  const { SaxesParser } = await import('saxes')
  const parser = new SaxesParser({ fragment: false })
  let failed: unknown
  // The parser would continue, and report each open element; the first error stops it.
  const fail = (error: unknown): never => {
    failed ??= error
    throw failed
  }
  parser.on('error', fail)
  let depth = 0
  let attributes = 0
  /**
   * Number of characters since the last event: the length of the text, comment, name or attribute in
   * progress.
   */
  let silent = 0
  parser.on('attribute', () => {
    silent = 0
    if (++attributes > MAX_ATTRIBUTES)
      fail(new Error(`an element has more than ${MAX_ATTRIBUTES} attributes`))
  })
  parser.on('opentag', (tag) => {
    silent = 0
    attributes = 0
    if (!tag.isSelfClosing && ++depth > MAX_ELEMENT_DEPTH)
      fail(new Error(`elements are nested more than ${MAX_ELEMENT_DEPTH} deep`))
    visitor.open?.(tag as SaxesTagPlain)
  })
  for (const event of ['text', 'cdata'] as const)
    parser.on(event, (text) => {
      silent = 0
      visitor.text?.(text)
    })
  parser.on('comment', () => {
    silent = 0
  })
  parser.on('closetag', ({ name, isSelfClosing }) => {
    silent = 0
    if (!isSelfClosing) depth--
    visitor.close?.(name)
  })
  // Workbooks declare no document type, and its entities could expand without limit.
  parser.on('doctype', () => fail(new Error('it declares a document type')))
  const decoder = new TextDecoder()
  const step = (text: string): void => {
    try {
      silent += text.length
      parser.write(text)
      if (silent > MAX_TEXT_CHARACTERS) fail(new Error('a text is too long'))
    } catch (error) {
      if (error instanceof Problem) throw error
      throw damaged(failed ?? error)
    }
  }
  const damaged = (error: unknown): Problem =>
    badData(
      source,
      {},
      `${member.path} is damaged: ${excerpt(error instanceof Error ? error.message : '', 120)}`,
    )
  for await (const chunk of await member.open()) {
    const text = decoder.decode(chunk, { stream: true })
    for (let at = 0; at < text.length; at += MAX_STEP_CHARACTERS) {
      step(text.slice(at, at + MAX_STEP_CHARACTERS))
      yield
      await yieldToEventLoop()
    }
  }
  step(decoder.decode())
  try {
    parser.close()
  } catch (error) {
    throw error instanceof Problem ? error : damaged(failed ?? error)
  }
  yield
}

/** Parses an XML part completely. */
export async function readPart(member: ArchiveEntry, source: string, visitor: XmlVisitor): Promise<void> {
  for await (const _ of parsePart(member, source, visitor));
}
