// Recognizes and converts numbers.
import type { NumberStyle } from './dialect.ts'

/**
 * Largest integer that is a number. Numbers follow the JSON grammar (RFC 8259), except integers that a double
 * cannot represent. So `007`, `+5`, `.5` and 20-digit ids are text, and `1.10` stays `1.10`.
 */
const MAX_SAFE_DIGITS = '9007199254740991'

/** Returns whether buf[start, end) is a JSON number that a double can represent. */
export function isNumber(buf: Uint8Array, start: number, end: number): boolean {
  let i = start
  if (buf[i] === 0x2d) i++
  const intStart = i
  let c = buf[i]
  if (i >= end) return false
  if (c === 0x30) i++
  else {
    while (i < end && (c = buf[i]) >= 0x30 && c <= 0x39) i++
    if (i === intStart) return false
  }
  if (i === end) return i - intStart < 16 || isSafeInteger(buf, intStart, end)
  if (buf[i] === 0x2e) {
    const fraction = ++i
    while (i < end && (c = buf[i]) >= 0x30 && c <= 0x39) i++
    if (i === fraction) return false
    if (i === end) return i - intStart < 300 || Number.isFinite(parseNumberBytes(buf, start, end))
  }
  c = buf[i]
  if (c !== 0x65 && c !== 0x45) return false
  i++
  if (buf[i] === 0x2b || buf[i] === 0x2d) i++
  const exponent = i
  while (i < end && (c = buf[i]) >= 0x30 && c <= 0x39) i++
  return i === end && i > exponent && Number.isFinite(parseNumberBytes(buf, start, end))
}

/** Returns whether buf[start, end) is a number, alone or with spaces around it, as in fixed-width exports. */
export function isPaddedNumber(buf: Uint8Array, start: number, end: number): boolean {
  let from = start
  let to = end
  while (from < to && buf[from] === 0x20) from++
  while (to > from && buf[to - 1] === 0x20) to--
  return isNumber(buf, from, to)
}

function parseNumberBytes(buf: Uint8Array, start: number, end: number): number {
  return Number(Buffer.from(buf.subarray(start, end)).toString('latin1'))
}

function isSafeInteger(buf: Uint8Array, start: number, end: number): boolean {
  if (end - start > 16) return false
  for (let i = 0; i < 16; i++) {
    const difference = buf[start + i] - MAX_SAFE_DIGITS.charCodeAt(i)
    if (difference !== 0) return difference < 0
  }
  return true
}

/** Maximum length of a number that is not one of JSON. */
const MAX_NUMBER_CHARACTERS = 400

const JSON_STYLE: NumberStyle = { decimal: '.', thousands: '' }
/** Signs and codes of currencies. */
export const CURRENCY =
  /[$€£¥₹₽₩₺₫฿]|(?<![\p{L}\d])(?:USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|INR|AUD|CAD|BRL|kr|zł|Rs)(?![\p{L}\d])\.?/iu
const CURRENCIES = new RegExp(CURRENCY, 'giu')

/** Codes that a sign stands for. */
const CODES_BY_SIGN = new Map([
  ['$', ['USD', 'AUD', 'CAD']],
  ['€', ['EUR']],
  ['£', ['GBP']],
  ['¥', ['JPY', 'CNY']],
  ['₹', ['INR']],
  ['RS', ['INR']],
  ['KR', ['SEK', 'NOK', 'DKK']],
  ['ZŁ', ['PLN']],
])

/** Returns those of some currencies (undefined: of all) that an amount may have. An amount without one may have any. */
export function narrowCurrencies(
  possible: readonly string[] | undefined,
  amount: string,
): readonly string[] | undefined {
  const mark = CURRENCY.exec(amount)?.[0].replace('.', '').toUpperCase()
  if (mark === undefined) return possible
  const codes = CODES_BY_SIGN.get(mark) ?? [mark]
  return possible === undefined ? codes : possible.filter((code) => codes.includes(code))
}

/**
 * Converts a cell of a column declared as number to a JSON number. Also accepts `+5`, `007`, `.5`, `5.`,
 * thousands separators, currencies, percent signs (`12 %` is 12) and negative numbers in parentheses.
 * undefined if it is not a number.
 */
export function parseNumber(
  text: string,
  { decimal, thousands }: NumberStyle = JSON_STYLE,
): string | undefined {
  let plain = text.trim()
  // Bounds the time of the patterns.
  if (plain.length > MAX_NUMBER_CHARACTERS) return isJsonNumber(plain) ? plain : undefined
  if (!/\d/.test(plain)) return undefined
  if (!/^[\d.eE+-]+$/.test(plain) || thousands !== '' || decimal !== '.') {
    plain = plain.replace(/\s*%$/, '').replace(CURRENCIES, '').trim()
    const negative = /^\((.*)\)$/.exec(plain)
    if (negative) plain = `-${negative[1].trim()}`
    plain = plain.replace(/^([+-])\s+/, '$1').replace('\u2212', '-')
    const [integer, ...rest] = plain.split(decimal)
    if (rest.length > 1) return undefined
    const groups = removeSeparators(integer, thousands, decimal)
    if (groups === undefined || /[^\deE+-]/.test(rest[0] ?? '')) return undefined
    plain = rest.length === 0 ? groups : `${groups}.${rest[0]}`
  }
  const match = /^([+-]?)0*(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(plain)
  if (!match) return undefined
  const [, sign, digits, fraction, exponent = ''] = match
  const number = `${sign === '-' ? '-' : ''}${digits || '0'}${fraction ? `.${fraction}` : ''}${exponent}`
  return Number.isFinite(Number(number)) ? number : undefined
}

/** Maximum number of cached patterns. */
const MAX_CACHED_PATTERNS = 100

/** Spaces and apostrophes that are used interchangeably. */
const SEPARATOR_PATTERNS = new Map([
  [' ', '[ \\u00a0\\u202f]'],
  ["'", "['’]"],
  ['’', "['’]"],
])

/** Cached patterns of styles. */
const patternCache = new Map<string, RegExp>()

function patternOfStyle({ decimal, thousands }: NumberStyle): RegExp {
  const key = decimal + thousands
  let pattern = patternCache.get(key)
  if (!pattern) {
    const group =
      SEPARATOR_PATTERNS.get(thousands) ?? (thousands && `\\u{${thousands.codePointAt(0)!.toString(16)}}`)
    const integer = group === '' ? '\\d+' : `\\d{1,3}(?:${group}\\d{3})+|\\d+`
    const point = decimal === ',' ? ',' : '\\.'
    pattern = new RegExp(`^(-?)(${integer})(?:${point}(\\d+))?$`, 'u')
    // Users choose the separator, so the cache could grow without bound.
    if (patternCache.size >= MAX_CACHED_PATTERNS) patternCache.clear()
    patternCache.set(key, pattern)
  }
  return pattern
}

/**
 * Returns the JSON number of a cell in a style; undefined if it is not one. Possible identifiers are not
 * numbers: leading zeros, plus signs and integers that a double cannot represent. With a decimal comma, a
 * point is not a decimal point.
 */
export function parseStyledNumber(text: string, { decimal, thousands }: NumberStyle): string | undefined {
  if (text.length > MAX_NUMBER_CHARACTERS) return undefined
  const plain = text.trim()
  const match = patternOfStyle({ decimal, thousands }).exec(plain)
  if (!match) return decimal === '.' && isJsonNumber(plain) ? plain : undefined
  const [, sign, digits, fraction] = match
  const number = `${sign}${digits.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`
  return isJsonNumber(number) ? number : undefined
}

/** Returns whether a text is a number: `isNumber` of its bytes. */
export function isJsonNumber(text: string): boolean {
  // Fast path for most numbers.
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,20})?$/.test(text)) return true
  return isNumber(Buffer.from(text), 0, Buffer.byteLength(text))
}

/** Returns whether a number is ambiguous: `1.234` is 1.234, or 1234 with a thousands separator. */
export function isAmbiguousNumber(text: string): boolean {
  return /^-?[1-9]\d{0,2}(\.\d{3})+$/.test(text.trim())
}

/** Styles that warnings suggest, simplest first. */
const KNOWN_STYLES: readonly NumberStyle[] = [
  { decimal: ',', thousands: '' },
  { decimal: ',', thousands: '.' },
  { decimal: ',', thousands: ' ' },
  { decimal: '.', thousands: ',' },
  { decimal: '.', thousands: ' ' },
  { decimal: '.', thousands: "'" },
]

/** Returns the command-line options for a style. */
export function styleOptionsOf({ decimal, thousands }: NumberStyle): string {
  const group = thousands === ' ' ? 'space' : thousands
  return [decimal === ',' && '--decimal ,', group && `--thousands ${group}`].filter(Boolean).join(' ')
}

/** Styles with a decimal comma, simplest first. */
const COMMA_STYLES = KNOWN_STYLES.filter(({ decimal }) => decimal === ',')

/**
 * Returns the style with a decimal comma in which all cells are amounts, as in 1.234,50 €; undefined if none
 * fits.
 */
export function findCommaStyle(cells: readonly string[]): NumberStyle | undefined {
  return COMMA_STYLES.find((style) => cells.every((cell) => parseNumber(cell, style) !== undefined))
}

/** Returns the options with which a cell is a number with a decimal comma; undefined if it is none. */
export function suggestCommaOptions(cell: string): string | undefined {
  const style = /\d/.test(cell) && cell.includes(',') ? findCommaStyle([cell]) : undefined
  return style && styleOptionsOf(style)
}

/** Returns the style in which all cells are numbers; undefined if none fits, or if all are JSON numbers. */
export function findStyle(cells: readonly string[]): NumberStyle | undefined {
  if (cells.every((cell) => isJsonNumber(cell.trim()))) return undefined
  return KNOWN_STYLES.find((style) => cells.every((cell) => parseStyledNumber(cell, style) !== undefined))
}

/** Removes the thousands separators of an integer; undefined if they are not at every third digit. */
function removeSeparators(integer: string, thousands: string, decimal: string): string | undefined {
  const separators = thousands === '' ? (decimal === '.' ? ",'’ \u00a0\u202f" : "'’ \u00a0\u202f") : thousands
  const used = new Set(
    [...integer].filter((c) => separators.includes(c) || (thousands === ' ' && /\s/.test(c))),
  )
  if (used.size === 0) return integer
  if (used.size > 1) return undefined
  const [separator] = used
  const groups = integer.split(separator)
  const ok = /^[+-]?\d{1,3}$/.test(groups[0]) && groups.slice(1).every((group) => /^\d{3}$/.test(group))
  return ok ? groups.join('') : undefined
}
