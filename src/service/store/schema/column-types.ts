import { endOf, kindOf, momentIn, skipBlanks } from '../../../json/index.ts'
import type { ColumnType } from './schema.ts'

/** The types of a grid's columns, encoded as one letter per column, in column order. */
const letters: Record<ColumnType, string> = {
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
const byLetter = new Map(Object.entries(letters).map(([type, letter]) => [letter, type as ColumnType]))

export function isColumnType(text: string): text is ColumnType {
  return text in letters
}

export function encodeTypes(types: readonly ColumnType[]): string {
  return types.map((type) => letters[type]).join('')
}

export function decodeTypes(text: string): ColumnType[] {
  return [...text].map((letter) => byLetter.get(letter) ?? 'json')
}

type FamilyOf<T> = T extends `${infer F}-${string}` ? F : T
type Family = FamilyOf<ColumnType>

/** The type without what is known beside it. */
export function familyOf(type: ColumnType): Family {
  return type.split('-', 1)[0] as Family
}

/** Whether the values are texts in JSON: all of them together are text at worst. */
export function isTexts(type: ColumnType): boolean {
  const family = familyOf(type)
  return family === 'text' || family === 'date' || family === 'datetime'
}

/** Whether a value can have a comma in it. */
export function mayHaveCommas(type: ColumnType): boolean {
  const family = familyOf(type)
  return family === 'text' || family === 'json'
}

/** Whether the values are dates, with or without times. */
export function isMoments(type: ColumnType): boolean {
  const family = familyOf(type)
  return family === 'date' || family === 'datetime'
}

/** The type of a column that contains values of both types, with what is known of the first. */
export function mergeTypes(a: ColumnType, b: ColumnType): ColumnType {
  if (a === b || b === 'empty') return a
  if (a === 'empty') return b
  if (!isTexts(a) || !isTexts(b)) return 'json'
  const [family, other] = [familyOf(a), familyOf(b)]
  if (family === 'text') return a
  // A time without a zone and one with a zone cannot be compared.
  if (other === 'text' || (a === 'datetime-zone') !== (b === 'datetime-zone')) return 'text'
  const order = orderOf(a) ?? orderOf(b)
  const merged = family === other ? family : 'datetime'
  return order ? `${merged as 'date' | 'datetime'}-${order}` : (merged as 'date' | 'datetime')
}

/** The order of day and month in which the dates of a column were written, as far as known. */
export function orderOf(type: ColumnType): 'dmy' | 'mdy' | undefined {
  return type.endsWith('-dmy') ? 'dmy' : type.endsWith('-mdy') ? 'mdy' : undefined
}

/** Combines the types of two lists of columns. */
export function combineTypes(a: readonly ColumnType[], b: readonly ColumnType[]): ColumnType[] {
  return a.map((type, k) => mergeTypes(type, b[k] ?? 'empty'))
}

/** The type of the JSON value buf[start, end). A text is a date or a time if it is written in ISO 8601. */
export function typeOf(buf: Uint8Array, start: number, end: number): ColumnType {
  const kind = kindOf(buf[start])
  if (kind === 'null') return 'empty'
  if (kind === 'string') return momentIn(buf, start + 1, end - 1) ?? 'text'
  return kind === 'number' || kind === 'boolean' ? kind : 'json'
}

/** Whether values of type `given` keep the type of a column of type `column`. */
export function fits(values: ColumnType, column: ColumnType): boolean {
  return column === 'empty' || familyOf(mergeTypes(column, values)) === familyOf(column)
}

/** The encoded column types of rows, given as comma-separated JSON arrays of `width` values. */
export function typesOfRows(buf: Buffer, width: number): string {
  const types = Array.from({ length: width }, (): ColumnType => 'empty')
  let i = skipBlanks(buf, 0)
  while (i < buf.length) {
    i = skipBlanks(buf, i + 1)
    for (let column = 0; column < width; column++) {
      const end = endOf(buf, i)
      if (types[column] !== 'json') types[column] = mergeTypes(types[column], typeOf(buf, i, end))
      i = skipBlanks(buf, end)
      if (buf[i] === 0x2c) i = skipBlanks(buf, i + 1)
    }
    i = skipBlanks(buf, i + 1)
    if (buf[i] === 0x2c) i = skipBlanks(buf, i + 1)
  }
  return encodeTypes(types)
}
