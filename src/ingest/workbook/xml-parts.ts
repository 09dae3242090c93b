// Parses XML parts of workbooks, within limits.
import type { SaxesParser, SaxesTagPlain } from 'saxes'
import { Problem } from '../../contract/errors.ts'
import { excerpt, yieldToEventLoop } from '../../json/index.ts'
import type { ArchiveEntry } from '../archive/archive.ts'
import { badFile } from '../values/warnings.ts'

/** Number of characters parsed per step. Few, since each can refer to a long text. */
const MAX_STEP_CHARACTERS = 4096

/** Maximum nesting of elements. Workbooks need about ten. */
const MAX_ELEMENT_DEPTH = 256
/** Maximum number of attributes of an element. */
const MAX_ATTRIBUTES = 1000
/** Maximum length of a text, comment, name or attribute. */
const MAX_TEXT_CHARACTERS = 8 * 1024 * 1024

/** An element, with its attributes by name. */
export type XmlTag = Pick<SaxesTagPlain, 'name' | 'attributes'>

/** Callbacks for the elements and texts of a part. */
export interface XmlVisitor {
  open?(tag: XmlTag): void
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
  const parser = new PartParser(new SaxesParser({ xmlns: false }), visitor, member.path, source)
  const decoder = new TextDecoder()
  for await (const chunk of await member.open()) {
    const text = decoder.decode(chunk, { stream: true })
    for (let at = 0; at < text.length; at += MAX_STEP_CHARACTERS) {
      parser.write(text.slice(at, at + MAX_STEP_CHARACTERS))
      yield
      await yieldToEventLoop()
    }
  }
  parser.write(decoder.decode())
  parser.close()
  yield
}

/** Parser of one part. Passes its elements and texts to the visitor, and refuses hostile ones. */
class PartParser {
  private failed: unknown
  private depth = 0
  private attributes = 0
  /**
   * Number of characters since the last event: the length of the text, comment, name or attribute in
   * progress.
   */
  private silent = 0

  constructor(
    private readonly parser: SaxesParser<{ xmlns: false }>,
    visitor: XmlVisitor,
    private readonly path: string,
    private readonly source: string,
  ) {
    parser.on('error', (error) => this.fail(error))
    parser.on('attribute', () => {
      this.silent = 0
      if (++this.attributes > MAX_ATTRIBUTES)
        this.fail(new Error(`an element has more than ${MAX_ATTRIBUTES} attributes`))
    })
    parser.on('opentag', (tag) => {
      this.silent = 0
      this.attributes = 0
      if (!tag.isSelfClosing && ++this.depth > MAX_ELEMENT_DEPTH)
        this.fail(new Error(`elements are nested more than ${MAX_ELEMENT_DEPTH} deep`))
      visitor.open?.(tag)
    })
    const takeText = (text: string): void => {
      this.silent = 0
      visitor.text?.(text)
    }
    parser.on('text', takeText)
    parser.on('cdata', takeText)
    parser.on('comment', () => {
      this.silent = 0
    })
    parser.on('closetag', ({ name, isSelfClosing }) => {
      this.silent = 0
      if (!isSelfClosing) this.depth--
      visitor.close?.(name)
    })
    // Workbooks declare no document type, and its entities could expand without limit.
    parser.on('doctype', () => this.fail(new Error('it declares a document type')))
  }

  /** Throws the first error. The parser would continue, and report each open element. */
  private fail(error: unknown): never {
    this.failed ??= error
    throw this.failed
  }

  write(text: string): void {
    this.run(() => {
      this.silent += text.length
      this.parser.write(text)
      if (this.silent > MAX_TEXT_CHARACTERS) this.fail(new Error('a text is too long'))
    })
  }

  close(): void {
    this.run(() => this.parser.close())
  }

  /** Converts errors of the parser to `bad_data`. */
  private run(action: () => void): void {
    try {
      action()
    } catch (error) {
      if (error instanceof Problem) throw error
      const first = this.failed ?? error
      const what = excerpt(first instanceof Error ? first.message : '', 120)
      throw badFile(this.source, `${this.path} is damaged: ${what}`)
    }
  }
}

/** Parses an XML part completely. */
export async function readPart(member: ArchiveEntry, source: string, visitor: XmlVisitor): Promise<void> {
  for await (const _ of parsePart(member, source, visitor));
}
