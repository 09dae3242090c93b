// Detects the format of a file from its first bytes and its name.
import { type FileFormat, fileFormats, formatOfFileName } from '../../contract/formats.ts'
import { isJson } from '../../json/index.ts'

export type Kind = FileFormat['reader']

/** Size below which no file of a binary format can be whole, in bytes. */
const MIN_BINARY_BYTES = 8

/** Detects the format of a file from its first bytes, or else from its extension. */
export function detectKind(head: Buffer, fileName = ''): Kind {
  if (head.toString('latin1', 0, 4) === 'PK\x03\x04' || head.toString('latin1', 0, 4) === 'PK\x05\x06')
    return 'zip'
  if (head.toString('latin1', 257, 262) === 'ustar') return 'tar'
  if (head.toString('latin1', 0, 4) === 'PAR1') return 'parquet'
  // Arrow streams begin with bytes that no text has.
  const isStream = head.length >= 8 && head.readUInt32LE(0) === 0xffffffff
  if (head.toString('latin1', 0, 6) === 'ARROW1' || isStream) return 'arrow'
  const named = readerByName(fileName)
  // Cut off within these bytes: its reader says so.
  const isCut =
    head.length > 0 &&
    head.length < MIN_BINARY_BYTES &&
    (named === 'zip' || named === 'parquet' || named === 'arrow')
  if (named === 'lines' || isCut) return named
  const text = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  const looksLikeJson = /^(\{\s*("|\})|\[\s*([{["\d\-\]]|null|true|false))/.test(text)
  // NDJSON: the first line is a complete JSON value, and another one follows.
  const end = text.indexOf('\n')
  const isLines =
    looksLikeJson && end > 0 && isJson(text.slice(0, end)) && /^\s*[{[]/.test(text.slice(end + 1))
  if (named === 'json') return isLines ? 'lines' : 'json'
  if (!looksLikeJson) return 'delimited'
  // NDJSON, whatever the extension.
  if (isNdjsonObjects(text) || (isLines && named !== 'delimited')) return 'lines'
  // Tables can begin like JSON too: `[10:00] started`, `[0,1),5`.
  const isObject = named !== 'delimited' && text.startsWith('{')
  return isObject || isJsonPrefix(text) ? 'json' : 'delimited'
}

/** Returns the format that the extension stands for; undefined for unknown extensions. */
export function readerByName(fileName = ''): Kind | undefined {
  const name = formatOfFileName(fileName)
  return name && fileFormats[name].reader
}

/** Returns whether all complete lines of a text are JSON objects. The last one may be cut off. */
function isNdjsonObjects(text: string): boolean {
  const lines = text.split('\n').slice(0, -1)
  return lines.length > 0 && lines.every((line) => line.trimStart().startsWith('{') && isJson(line))
}

/** Returns whether a text is JSON or a prefix of it: valid if cut at its last comma and closed. */
function isJsonPrefix(text: string): boolean {
  if (isJson(text)) return true
  const cut = text.slice(0, readNesting(text).comma)
  return cut !== '' && isJson(cut + readNesting(cut).closing)
}

/** Returns the brackets that close a prefix of JSON, and the index of its last comma outside texts, or 0. */
function readNesting(text: string): { closing: string; comma: number } {
  const open: string[] = []
  let comma = 0
  let isString = false
  for (let k = 0; k < text.length; k++) {
    const c = text[k]
    if (isString && c === '\\') k++
    else if (c === '"') isString = !isString
    else if (isString) continue
    else if (c === '{' || c === '[') open.push(c === '{' ? '}' : ']')
    else if (c === '}' || c === ']') open.pop()
    else if (c === ',') comma = k
  }
  return { closing: open.reverse().join(''), comma }
}
