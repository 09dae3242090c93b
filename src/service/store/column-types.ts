import { endOf, kindOf, skipBlanks } from '../../json/index.ts'
import type { ColumnType } from './schema.ts'

/** The types of a grid's columns, encoded as one letter per column, in column order. */
const letters: Record<ColumnType, string> = { empty: 'e', number: 'n', text: 't', boolean: 'b', json: 'j' }
const byLetter = new Map(Object.entries(letters).map(([type, letter]) => [letter, type as ColumnType]))

export function encodeTypes(types: readonly ColumnType[]): string {
  return types.map((type) => letters[type]).join('')
}

export function decodeTypes(text: string): ColumnType[] {
  return [...text].map((letter) => byLetter.get(letter) ?? 'json')
}

/** The type of a column that contains values of both types. */
export function mergeTypes(a: ColumnType, b: ColumnType): ColumnType {
  if (a === b || b === 'empty') return a
  return a === 'empty' ? b : 'json'
}

/** Combines the types of two lists of columns. */
export function combineTypes(a: readonly ColumnType[], b: readonly ColumnType[]): ColumnType[] {
  return a.map((type, k) => mergeTypes(type, b[k] ?? 'empty'))
}

/** The type of a JSON value, by its first byte. */
export function typeOf(first: number): ColumnType {
  const kind = kindOf(first)
  if (kind === 'null') return 'empty'
  if (kind === 'string') return 'text'
  return kind === 'number' || kind === 'boolean' ? kind : 'json'
}

/** Whether values of type `given` keep the type of a column of type `column`. */
export function fits(given: ColumnType, column: ColumnType): boolean {
  return column === 'empty' || mergeTypes(column, given) === column
}

/** The encoded column types of rows, given as comma-separated JSON arrays of `width` values. */
export function typesOfRows(buf: Buffer, width: number): string {
  const types = Array.from({ length: width }, (): ColumnType => 'empty')
  let i = skipBlanks(buf, 0)
  while (i < buf.length) {
    i = skipBlanks(buf, i + 1)
    for (let column = 0; column < width; column++) {
      if (types[column] !== 'json') types[column] = mergeTypes(types[column], typeOf(buf[i]))
      i = skipBlanks(buf, endOf(buf, i))
      if (buf[i] === 0x2c) i = skipBlanks(buf, i + 1)
    }
    i = skipBlanks(buf, i + 1)
    if (buf[i] === 0x2c) i = skipBlanks(buf, i + 1)
  }
  return encodeTypes(types)
}
