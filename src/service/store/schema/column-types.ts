// Types of column values: detects, merges and encodes them.
import {
  type ColumnType as ApiColumnType,
  COLUMN_TYPES,
  isMomentType,
} from '../../../contract/column-types.ts'
import { detectMoment, findValueEnd, jsonKindOf, nextItem, skipWhitespace } from '../../../json/index.ts'
import type { ColumnType } from './schema.ts'

/** One letter per column type. A grid's types are stored as one letter per column, in column order. */
const LETTERS_BY_TYPE: Record<ColumnType, string> = {
  empty: 'e',
  number: 'n',
  text: 't',
  'text-undecided': 'u',
  boolean: 'b',
  date: 'd',
  'date-dmy': 'f',
  'date-mdy': 'm',
  datetime: 's',
  'datetime-dmy': 'g',
  'datetime-mdy': 'h',
  'datetime-zone': 'z',
  json: 'j',
}
const TYPES_BY_LETTER = new Map(
  Object.entries(LETTERS_BY_TYPE).map(([type, letter]) => [letter, type as ColumnType]),
)

export function isColumnType(text: string): text is ColumnType {
  return Object.hasOwn(LETTERS_BY_TYPE, text)
}

/** Encodes the types of a grid as a letter per column. */
export function encodeTypes(types: readonly ColumnType[]): string {
  return types.map((type) => LETTERS_BY_TYPE[type]).join('')
}

/** Decodes the letters of `encodeTypes`. Unknown letters, of a later version, are `json`. */
export function decodeTypes(text: string): ColumnType[] {
  return [...text].map((letter) => TYPES_BY_LETTER.get(letter) ?? 'json')
}

/** Returns a type without its variant, such as `date` for `date-dmy`. */
export function familyOf(type: ColumnType): ApiColumnType {
  return type.split('-', 1)[0] as ApiColumnType
}

/** Returns whether values of the type are JSON strings. Columns of such types merge to text at worst. */
export function isStringType(type: ColumnType): boolean {
  return COLUMN_TYPES[familyOf(type)].isString
}

/** Returns whether values of the type can contain commas. */
export function canContainCommas(type: ColumnType): boolean {
  return COLUMN_TYPES[familyOf(type)].hasCommas
}

/** Returns whether values of the type are dates, with or without times. */
export function isDateType(type: ColumnType): boolean {
  return isMomentType(familyOf(type))
}

/** Returns whether columns must be compared as texts: one has numbers, booleans or JSON, the other does not. */
function mustCompareAsText(a: ColumnType, b: ColumnType): boolean {
  const areStrings = [a, b].every((type) => type === 'empty' || isStringType(type))
  return familyOf(a) !== familyOf(b) && !areStrings
}

/** How values of two columns are compared: by value, as texts (5 and "5" are equal), or dates by time. */
export type Comparison = 'value' | 'text' | 'moment'

/** Returns how the values of two columns are compared. Days have one form, which is compared as it is. */
export function comparisonOf(a: ColumnType, b: ColumnType): Comparison {
  if (mustCompareAsText(a, b)) return 'text'
  return familyOf(mergeTypes(a, b)) === 'datetime' ? 'moment' : 'value'
}

/** Returns the type of a column with values of both types. Keeps the variant of the first if possible. */
export function mergeTypes(a: ColumnType, b: ColumnType): ColumnType {
  if (a === b || b === 'empty') return a
  if (a === 'empty') return b
  if (!isStringType(a) || !isStringType(b)) return 'json'
  const [family, other] = [familyOf(a), familyOf(b)]
  if (family === 'text') return a
  // A time without a zone cannot be compared with one that has a zone.
  if (other === 'text' || (a === 'datetime-zone') !== (b === 'datetime-zone')) return 'text'
  const order = dayOrderOf(a) ?? dayOrderOf(b)
  const merged = family === 'date' && other === 'date' ? 'date' : 'datetime'
  return order ? `${merged}-${order}` : merged
}

/** Returns the order of day and month in which dates were written; undefined if unknown. */
export function dayOrderOf(type: ColumnType): 'dmy' | 'mdy' | undefined {
  return type.endsWith('-dmy') ? 'dmy' : type.endsWith('-mdy') ? 'mdy' : undefined
}

/** Merges two lists of column types, position by position. */
export function mergeTypeLists(a: readonly ColumnType[], b: readonly ColumnType[]): ColumnType[] {
  return a.map((type, k) => mergeTypes(type, b[k] ?? 'empty'))
}

/** Returns the type of the JSON value buf[start, end). Strings in ISO 8601 are dates or times. */
export function detectValueType(buf: Uint8Array, start: number, end: number): ColumnType {
  const kind = jsonKindOf(buf[start])
  if (kind === 'null') return 'empty'
  if (kind === 'string') return detectMoment(buf, start + 1, end - 1) ?? 'text'
  return kind === 'number' || kind === 'boolean' ? kind : 'json'
}

/** Returns whether values of a type fit into a column without changing its family. */
export function isAssignable(values: ColumnType, column: ColumnType): boolean {
  return column === 'empty' || familyOf(mergeTypes(column, values)) === familyOf(column)
}

/** Returns the encoded column types of rows: comma-separated JSON arrays of `width` values. */
export function detectRowTypes(buf: Buffer, width: number): string {
  const types = Array.from({ length: width }, (): ColumnType => 'empty')
  let i = skipWhitespace(buf, 0)
  while (i < buf.length) {
    i = skipWhitespace(buf, i + 1)
    for (let column = 0; column < width; column++) {
      const end = findValueEnd(buf, i)
      if (types[column] !== 'json') types[column] = mergeTypes(types[column], detectValueType(buf, i, end))
      i = nextItem(buf, end)
    }
    i = nextItem(buf, i + 1)
  }
  return encodeTypes(types)
}
