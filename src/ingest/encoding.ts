import { Problem } from '../contract/errors.ts'

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

/** The canonical name of an encoding. Throws `invalid_request` if it is unknown. */
export function encodingNamed(label: string): string {
  const known = standardName(label)
  if (known) return known
  throw new Problem('invalid_request', `unknown encoding: ${label}`, {
    field: 'encoding',
    hint: 'Supported encodings are utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, shift_jis, gb18030, euc-kr and all others of the WHATWG Encoding Standard.',
  })
}

function standardName(label: string): string | undefined {
  const name = label.toLowerCase().replace(/_(?=\d)/g, '-')
  try {
    return new TextDecoder(aliases.get(name) ?? name.replace(/^iso(?=\d)/, 'iso-')).encoding
  } catch {
    return undefined
  }
}

/** The default of old programs, and what a text with few special characters most often is. */
const WESTERN = 'windows-1252'
/** Bytes beyond ASCII from which a text says more than that. */
const ENOUGH = 6
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
    (western && (special < ENOUGH || western.confidence >= best.confidence * CLOSE)) ||
    (special < ENOUGH && decodes(sample, WESTERN))
  const encoding = isWestern ? WESTERN : best.encoding
  const others = likely.map((one) => one.encoding).filter((one) => one !== encoding)
  return { encoding, others: others.slice(0, ALTERNATIVES) }
}

/** Whether bytes are text in an encoding: without undefined characters. The last one can be cut. */
function decodes(sample: Buffer, encoding: string): boolean {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
    return !/[\u0080-\u009f\ufffd\ue000-\uf8ff]/.test(text)
  } catch {
    return false
  }
}
