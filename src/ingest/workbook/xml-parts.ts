// Parses XML parts of workbooks, within limits.

import { Problem } from '../../contract/errors.ts'
import { asBuffer, excerpt, yieldToEventLoop } from '../../json/index.ts'
import type { SaxesParser, SaxesTagPlain } from '../../vendor/saxes.ts'
import type { ArchiveEntry } from '../archive/archive.ts'
import { badFile } from '../values/warnings.ts'
import type { PlainElements } from './plain-elements.ts'

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

/**
 * Parses an XML part of a workbook. Yields after each step, so that the caller can process the output. `plain` reads
 * the elements that it can; the visitor is called for all others.
 */
export async function* parsePart(
  member: ArchiveEntry,
  source: string,
  visitor: XmlVisitor,
  plain?: PlainElements,
): AsyncGenerator<void> {
  const { SaxesParser } = await import('../../vendor/saxes.ts')
  const parser = new PartParser(new SaxesParser({ xmlns: false }), visitor, member.path, source)
  const steps = new PartSteps(parser, plain)
  for await (const chunk of await member.open()) {
    for (const _ of steps.read(asBuffer(chunk))) {
      yield
      await yieldToEventLoop()
    }
  }
  for (const _ of steps.end()) yield
  parser.close()
  yield
}

/** Maximum size of an element that `PlainElements` reads or passes on, in bytes. */
const MAX_PLAIN_BYTES = 1024 * 1024

/** Maximum number of elements that are not plain, beyond half of the others. */
const MAX_ODD_ELEMENTS = 200

/** Reads the chunks of one part, with `PlainElements` where it can. */
class PartSteps {
  private readonly decoder = new TextDecoder()
  /** Bytes of an element that has not ended yet. */
  private rest: Buffer = Buffer.alloc(0)
  /** Number of elements that were not plain, less half of those that were. */
  private odd = 0
  /** Depth of the plain elements in the part; undefined outside of their parent. */
  private depth: number | undefined

  constructor(
    private readonly parser: PartParser,
    private plain: PlainElements | undefined,
  ) {}

  /** Reads a chunk, and yields after each step. */
  *read(chunk: Buffer): Generator<void> {
    const { plain } = this
    if (!plain) yield* this.parse(chunk)
    else if (this.depth !== undefined) yield* this.readPlain(plain, chunk)
    else {
      const tag = chunk.indexOf(`<${plain.parent}`)
      const end = tag < 0 ? -1 : chunk.indexOf('>', tag) + 1
      yield* this.parse(end > 0 ? chunk.subarray(0, end) : chunk)
      if (end <= 0) return
      if (this.parser.isAtStart(plain.parent)) this.depth = this.parser.depth
      else this.plain = undefined
      yield* this.read(chunk.subarray(end))
    }
  }

  *end(): Generator<void> {
    yield* this.parse(this.rest)
    this.parser.write(this.decoder.decode())
  }

  /** Reads the elements in a chunk. Leaves everything to the parser where their parent ends. */
  private *readPlain(plain: PlainElements, chunk: Buffer): Generator<void> {
    const data = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk
    this.rest = Buffer.alloc(0)
    let at = 0
    while (this.plain) {
      at = plain.read(data, at)
      // If most elements are not plain, the parser alone is faster.
      this.odd = Math.max(0, this.odd + (plain.stop === 'odd' ? 1 : 0) - plain.readCount / 2)
      if (this.odd > MAX_ODD_ELEMENTS) this.plain = undefined
      if (plain.stop === 'odd') {
        const end = plain.findEnd(data, at)
        yield* this.parse(data.subarray(at, Math.max(at, end)))
        at = Math.max(at, end)
        if (end < 0 || !this.parser.isAtEnd(this.depth!)) this.plain = undefined
      } else if (plain.stop === 'end') {
        if (data.length - at > MAX_PLAIN_BYTES) this.plain = undefined
        else {
          this.rest = data.subarray(at)
          return
        }
      }
      yield
    }
    yield* this.parse(data.subarray(at))
  }

  private *parse(bytes: Buffer): Generator<void> {
    const text = this.decoder.decode(bytes, { stream: true })
    for (let at = 0; at < text.length; at += MAX_STEP_CHARACTERS) {
      this.parser.write(text.slice(at, at + MAX_STEP_CHARACTERS))
      yield
    }
  }
}

/** Parser of one part. Passes its elements and texts to the visitor, and refuses hostile ones. */
class PartParser {
  private failed: unknown
  /** Number of open elements. */
  depth = 0
  /** The last tag, and the position after it. */
  private last: { opened?: string; at: number } = { at: -1 }
  private written = 0
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
      this.last = { opened: tag.isSelfClosing ? undefined : tag.name, at: parser.position }
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
      this.last = { at: parser.position }
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

  /** Returns whether the text so far ends with the start tag of an element. */
  isAtStart(name: string): boolean {
    return this.last.opened === name && this.last.at === this.written
  }

  /** Returns whether the text so far ends with a tag, after which `depth` elements are open. */
  isAtEnd(depth: number): boolean {
    return this.depth === depth && this.last.at === this.written
  }

  write(text: string): void {
    this.run(() => {
      this.silent += text.length
      this.written += text.length
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
export async function readPart(
  member: ArchiveEntry,
  source: string,
  visitor: XmlVisitor,
  plain?: PlainElements,
): Promise<void> {
  for await (const _ of parsePart(member, source, visitor, plain));
}
