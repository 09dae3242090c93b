import type { SaxesTagPlain } from 'saxes'
import { breathe, excerpt } from '../json/index.ts'
import type { ArchiveEntry } from './archive.ts'
import { badData } from './warnings.ts'

/** Characters parsed per step: a few of them can refer to long texts. */
const STEP = 4096

export interface Visitor {
  open?(tag: SaxesTagPlain): void
  text?(text: string): void
  close?(name: string): void
}

/** A name without its namespace. */
export function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Parses an XML part of a workbook. Yields after each step, so that the caller can process the output. */
export async function* parsing(member: ArchiveEntry, source: string, visitor: Visitor): AsyncGenerator<void> {
  const { SaxesParser } = await import('saxes')
  const parser = new SaxesParser({ fragment: false })
  let failed: Error | undefined
  parser.on('error', (error) => {
    failed ??= error
  })
  if (visitor.open) parser.on('opentag', (tag) => visitor.open!(tag as SaxesTagPlain))
  if (visitor.text) {
    parser.on('text', visitor.text)
    parser.on('cdata', visitor.text)
  }
  if (visitor.close) parser.on('closetag', ({ name }) => visitor.close!(name))
  // Refuse document types: entities could expand without limit, and workbooks define none.
  parser.on('doctype', () => {
    failed ??= new Error('it declares a document type')
  })
  const decoder = new TextDecoder()
  const check = (): void => {
    if (failed) throw badData(source, {}, `${member.path} is damaged: ${excerpt(failed.message, 120)}`)
  }
  for await (const chunk of await member.open()) {
    const text = decoder.decode(chunk, { stream: true })
    for (let at = 0; at < text.length; at += STEP) {
      parser.write(text.slice(at, at + STEP))
      check()
      yield
      await breathe()
    }
  }
  parser.write(decoder.decode())
  parser.close()
  check()
  yield
}

/** Parses an XML part. */
export async function readPart(member: ArchiveEntry, source: string, visitor: Visitor): Promise<void> {
  for await (const _ of parsing(member, source, visitor));
}
