import { Problem } from '../../contract/errors.ts'

/** Names that the WHATWG Encoding Standard does not know, of programs and of the detection, with the ones it does. */
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

/** Code pages of DOS, which the standard does not have, by number. */
const DOS = /^(?:cp|ibm|dos)?-?(437|720|737|775|850|852|855|857|858|860|861|862|863|864|865|869)$/

/** Decodes bytes that come in pieces. */
export interface Decoder {
  /** Decodes a piece; without one, the end. Throws if bytes are not of the encoding. */
  decode(chunk?: Uint8Array): string
}

/** Returns a decoder for an encoding, by its canonical name. */
export async function decoderOf(encoding: string, fatal = false): Promise<Decoder> {
  if (!DOS.test(encoding)) {
    const decoder = new TextDecoder(encoding, { fatal })
    return { decode: (chunk) => decoder.decode(chunk, { stream: chunk !== undefined }) }
  }
  const { default: iconv } = await import('iconv-lite')
  const decoder = iconv.getDecoder(encoding)
  return { decode: (chunk) => (chunk ? decoder.write(Buffer.from(chunk)) : decoder.end()) ?? '' }
}

/** Returns the canonical name of an encoding. Throws `invalid_request` if it is unknown. */
export function encodingNamed(label: string): string {
  const known = standardName(label)
  if (known) return known
  throw new Problem('invalid_request', `unknown encoding: ${label}`, {
    field: 'encoding',
    hint: 'Supported encodings are utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, shift_jis, gb18030, euc-kr and all others of the WHATWG Encoding Standard, and code pages of DOS such as cp437, cp850 and cp852.',
  })
}

function standardName(label: string): string | undefined {
  const name = label.toLowerCase().replace(/_(?=\d)/g, '-')
  const page = DOS.exec(name)?.[1]
  if (page) return `cp${page}`
  try {
    return new TextDecoder(aliases.get(name) ?? name.replace(/^iso(?=\d)/, 'iso-')).encoding
  } catch {
    return undefined
  }
}

/** The default of old programs, and what a text with few special characters most often is. */
const WESTERN = 'windows-1252'
const MAC = 'macintosh'
/** Bytes beyond ASCII from which a text says more than that. */
const ENOUGH_CHARACTERS = 6
/** Candidates this close to the best one are equally likely. */
const CLOSE = 0.97
const ALTERNATIVES = 3

/** Guesses the encoding of bytes that are not UTF-8, and names the others that are likely. */
export async function guessedEncoding(sample: Buffer): Promise<{ encoding: string; others: string[] }> {
  const { detectAll } = await import('jschardet')
  const special = sample.filter((byte) => byte >= 0x80).length
  const likely: { encoding: string; confidence: number }[] = []
  for (const { encoding: label, confidence } of detectAll(sample)) {
    const encoding = label ? standardName(label) : undefined
    if (!encoding || encoding.startsWith('utf') || likely.some((one) => one.encoding === encoding)) continue
    if (decodes(sample, encoding)) likely.push({ encoding, confidence })
  }
  likely.sort((a, b) => b.confidence - a.confidence)
  const western = likely.find(({ encoding }) => encoding === WESTERN)
  const best = likely[0]
  const isWestern =
    !best ||
    (western && (special < ENOUGH_CHARACTERS || western.confidence >= best.confidence * CLOSE)) ||
    (special < ENOUGH_CHARACTERS && decodes(sample, WESTERN)) ||
    // Curly quotes and dashes of Windows are letters of the Mac.
    (best.encoding === MAC && decodes(sample, WESTERN) && fitIn(sample, WESTERN) > fitIn(sample, MAC) + 0.2)
  const modern = isWestern ? WESTERN : best.encoding
  const encoding = (await isOfDos(sample, modern)) ? DOS_WESTERN : modern
  const others = likely.map((one) => one.encoding).filter((one) => one !== encoding)
  return { encoding, others: others.slice(0, ALTERNATIVES) }
}

/** The code page of DOS in Western Europe. It has the letters of 437 at the same places. */
const DOS_WESTERN = 'cp850'

/**
 * Returns whether text that would be read in an encoding of Windows or of the Mac comes from a program of
 * DOS: its special characters are then signs, or capital letters inside words, and letters that fit in the
 * code page of DOS.
 */
async function isOfDos(sample: Buffer, modern: string): Promise<boolean> {
  if (!/^(windows-125\d|macintosh|iso-8859-\d+)$/.test(modern)) return false
  return fitIn(sample, modern) < 0.5 && fitOf((await decoderOf(DOS_WESTERN)).decode(sample), true) > 0.9
}

/** As a stream: otherwise Node 20 decodes Windows-1252 as ISO-8859-1. */
function fitIn(sample: Buffer, encoding: string): number {
  return fitOf(new TextDecoder(encoding).decode(sample, { stream: true }))
}

const LETTER = /\p{L}/u
/** Quotes that open, those that close, and signs that stand at the end of a word or before a number. */
const OPENING = /[“‘„‚‹«¿¡]/
const CLOSING = /[”’›»…™®©°ªº¹²³]/
const SIGN = /[€£¥¢$§–—•·±×¼½¾ \u00a0\u00ad…™®©°]/

/**
 * Returns the fraction of the characters beyond ASCII that fit where they are: letters in words, and signs
 * where they stand.
 */
function fitOf(text: string, isOnlyLetters = false): number {
  let all = 0
  let fitting = 0
  for (const { 0: character, index } of text.matchAll(/[^\0-\x7f]/g)) {
    all++
    const [before, after] = [text[index - 1] ?? '', text[index + 1] ?? '']
    const isBetween = LETTER.test(before) && LETTER.test(after)
    if (LETTER.test(character)) {
      // A capital letter inside a word of small ones.
      const isOdd = /\p{Lu}/u.test(character) && LETTER.test(before) && /\p{Ll}/u.test(before + after)
      if ((LETTER.test(before) || LETTER.test(after)) && !isOdd) fitting++
    } else if (isOnlyLetters) continue
    else if (
      (OPENING.test(character) && !LETTER.test(before) && /\S/.test(after)) ||
      (CLOSING.test(character) && /\S/.test(before) && !LETTER.test(after)) ||
      (character === '’' && isBetween) ||
      (SIGN.test(character) && !isBetween)
    )
      fitting++
  }
  return all === 0 ? 1 : fitting / all
}

/** Returns whether bytes are text in an encoding: without undefined characters. The last one can be cut. */
function decodes(sample: Buffer, encoding: string): boolean {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
    return !/[\u0080-\u009f\ufffd\ue000-\uf8ff]/.test(text)
  } catch {
    return false
  }
}
