// Names, guesses and decodes text encodings.
import { Problem } from '../../contract/errors.ts'

/** Encoding names that the WHATWG standard lacks, with their standard names. */
const aliases = new Map([
  ['utf8', 'utf-8'],
  ['ascii', 'utf-8'],
  ['latin-1', 'windows-1252'],
  ['cp932', 'shift_jis'],
  ['ms932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['gb2312', 'gbk'],
  ['cp949', 'euc-kr'],
  ['ms949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['cp950', 'big5'],
  ['macroman', 'macintosh'],
  ['mac-roman', 'macintosh'],
  ['maccyrillic', 'x-mac-cyrillic'],
  ['cp866', 'ibm866'],
  ['koi8r', 'koi8-r'],
  ['koi8u', 'koi8-u'],
])

/** DOS code pages, which the standard lacks, by number. */
const DOS_CODE_PAGE = /^(?:cp|ibm|dos)?-?(437|720|737|775|850|852|855|857|858|860|861|862|863|864|865|869)$/

/** Decodes a stream of bytes. */
export interface Decoder {
  /** Decodes a chunk; without one, ends the stream. A fatal decoder throws on invalid bytes. */
  decode(chunk?: Uint8Array): string
}

/** Creates a decoder. `encoding`: canonical name. */
export async function createDecoder(encoding: string, fatal = false): Promise<Decoder> {
  if (!DOS_CODE_PAGE.test(encoding)) {
    const decoder = new TextDecoder(encoding, { fatal })
    return { decode: (chunk) => decoder.decode(chunk, { stream: chunk !== undefined }) }
  }
  const { iconv } = await import('../../vendor/iconv.ts')
  const decoder = iconv.getDecoder(encoding)
  return { decode: (chunk) => (chunk ? decoder.write(Buffer.from(chunk)) : decoder.end()) ?? '' }
}

/** Returns the canonical name of an encoding. Throws `invalid_request` if it is unknown. */
export function resolveEncoding(label: string): string {
  const encoding = canonicalEncoding(label)
  if (encoding) return encoding
  throw new Problem('invalid_request', `unknown encoding: ${label}`, {
    field: 'encoding',
    hint: 'Supported are utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, shift_jis, gb18030, euc-kr and all others of the WHATWG Encoding Standard, and DOS code pages such as cp437, cp850 and cp852.',
  })
}

/** Returns the canonical name of an encoding; undefined if it is unknown. */
function canonicalEncoding(label: string): string | undefined {
  const name = label.toLowerCase().replace(/_(?=\d)/g, '-')
  const page = DOS_CODE_PAGE.exec(name)?.[1]
  if (page) return `cp${page}`
  try {
    return new TextDecoder(aliases.get(name) ?? name.replace(/^iso(?=\d)/, 'iso-')).encoding
  } catch {
    return undefined
  }
}

/** Default of old programs, and the fallback for texts with few special characters. */
const WESTERN = 'windows-1252'
const MAC = 'macintosh'
/** Number of non-ASCII bytes below which Western encodings are preferred. */
const MIN_CONCLUSIVE_CHARACTERS = 6
/** Candidates within this ratio of the best confidence count as equally likely. */
const CLOSE_CONFIDENCE_RATIO = 0.97
/** Maximum number of other encodings named in the warning. */
const MAX_ALTERNATIVES = 3

/** Guesses the encoding of bytes that are not UTF-8, and lists other likely ones. */
export async function guessLegacyEncoding(
  sample: Buffer,
): Promise<{ encoding: string; alternatives: string[] }> {
  const { detectAll } = await import('../../vendor/jschardet.ts')
  const special = sample.filter((byte) => byte >= 0x80).length
  const likely: { encoding: string; confidence: number }[] = []
  for (const { encoding: label, confidence } of detectAll(sample)) {
    const encoding = label ? canonicalEncoding(label) : undefined
    if (
      !encoding ||
      encoding.startsWith('utf') ||
      likely.some((candidate) => candidate.encoding === encoding)
    )
      continue
    if (canDecode(sample, encoding)) likely.push({ encoding, confidence })
  }
  likely.sort((a, b) => b.confidence - a.confidence)
  const western = likely.find(({ encoding }) => encoding === WESTERN)
  const best = likely[0]
  const isWestern =
    !best ||
    (western &&
      (special < MIN_CONCLUSIVE_CHARACTERS ||
        western.confidence >= best.confidence * CLOSE_CONFIDENCE_RATIO)) ||
    (special < MIN_CONCLUSIVE_CHARACTERS && canDecode(sample, WESTERN)) ||
    // Windows encodes quotes and dashes by bytes that are letters in the Mac encoding.
    (best.encoding === MAC &&
      canDecode(sample, WESTERN) &&
      fitInEncoding(sample, WESTERN) > fitInEncoding(sample, MAC) + 0.2)
  const modern = isWestern ? WESTERN : best.encoding
  const encoding = (await isLikelyDos(sample, modern)) ? DOS_WESTERN : modern
  const alternatives = likely
    .map((candidate) => candidate.encoding)
    .filter((candidate) => candidate !== encoding)
  return { encoding, alternatives: alternatives.slice(0, MAX_ALTERNATIVES) }
}

/** DOS code page of Western Europe; has its letters at the same codes as 437. */
const DOS_WESTERN = 'cp850'

/**
 * Returns whether text read as a Windows or Mac encoding is more likely DOS: its special characters are then
 * symbols, or capitals inside words, but are letters in the DOS code page.
 */
async function isLikelyDos(sample: Buffer, modern: string): Promise<boolean> {
  if (!/^(windows-125\d|macintosh|iso-8859-\d+)$/.test(modern)) return false
  return (
    fitInEncoding(sample, modern) < 0.5 &&
    fitOf((await createDecoder(DOS_WESTERN)).decode(sample), true) > 0.9
  )
}

/**
 * Returns the fit of a text in an encoding. Streams, since Node 20 otherwise decodes Windows-1252 as
 * ISO-8859-1.
 */
function fitInEncoding(sample: Buffer, encoding: string): number {
  return fitOf(new TextDecoder(encoding).decode(sample, { stream: true }))
}

const LETTER = /\p{L}/u
/** Opening characters, closing characters, and symbols at the end of a word or before a number. */
const OPENING = /[“‘„‚‹«¿¡]/
const CLOSING = /[”’›»…™®©°ªº¹²³]/
const SYMBOL = /[€£¥¢$§–—•·±×¼½¾ \u00a0\u00ad…™®©°]/

/**
 * Returns the share of non-ASCII characters that fit their surroundings: letters in words, quotes and symbols
 * at their edges.
 */
function fitOf(text: string, isOnlyLetters = false): number {
  let count = 0
  let fitting = 0
  for (const { 0: character, index } of text.matchAll(/[^\0-\x7f]/g)) {
    count++
    const [before, after] = [text[index - 1] ?? '', text[index + 1] ?? '']
    const isBetween = LETTER.test(before) && LETTER.test(after)
    if (LETTER.test(character)) {
      // A capital letter inside a lowercase word.
      const isOdd = /\p{Lu}/u.test(character) && LETTER.test(before) && /\p{Ll}/u.test(before + after)
      if ((LETTER.test(before) || LETTER.test(after)) && !isOdd) fitting++
    } else if (isOnlyLetters) continue
    else if (
      (OPENING.test(character) && !LETTER.test(before) && /\S/.test(after)) ||
      (CLOSING.test(character) && /\S/.test(before) && !LETTER.test(after)) ||
      (character === '’' && isBetween) ||
      (SYMBOL.test(character) && !isBetween)
    )
      fitting++
  }
  return count === 0 ? 1 : fitting / count
}

/** Returns whether bytes decode without undefined characters. The last character may be cut off. */
function canDecode(sample: Buffer, encoding: string): boolean {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
    return !/[\u0080-\u009f\ufffd\ue000-\uf8ff]/.test(text)
  } catch {
    return false
  }
}
