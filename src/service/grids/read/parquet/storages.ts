// Decides how the columns of a Parquet file are stored, by the facts about their values.
import type { ParquetMark } from '../../../../contract/formats.ts'
import { type Bytes, shouldYield, yieldToEventLoop } from '../../../../json/index.ts'
import { familyOf } from '../../../store/schema/column-types.ts'
import type { ColumnType } from '../../../store/schema/schema.ts'
import { type ENCODINGS, FACTS, PageEncoder } from '../../column/kernel/pages.ts'
import type { StorageName } from './write-file.ts'

const { fraction, negativeZero, wide, vast, part, unreadable, day, letter, space } = FACTS
const { local, utc, offset, noSeconds, nanoseconds, padded } = FACTS

/** Encoding by which the facts about the values of a type are found; other types need none. */
const LOOKED_AT = { number: 'integer', date: 'day', datetime: 'time' } as const

function encodingOf(type: ColumnType): keyof typeof ENCODINGS | undefined {
  const family = familyOf(type)
  return family === 'number' || family === 'date' || family === 'datetime' ? LOOKED_AT[family] : undefined
}

/** Returns whether the values of a column tell how it is stored. */
export function needsFacts(type: ColumnType): boolean {
  return encodingOf(type) !== undefined
}

/** Finds the facts about `values` values of columns, whose pieces mostly have up to `textBytes`. */
export class FactFinder {
  private encoder: PageEncoder | undefined

  constructor(
    private readonly values: number,
    private readonly textBytes: number,
  ) {}

  /** Returns the facts about the values of a column; 0 if none matter. */
  async find(type: ColumnType, values: Bytes): Promise<number> {
    const encoding = encodingOf(type)
    if (encoding === undefined) return 0
    this.encoder ??= PageEncoder.create(this.values, this.textBytes)
    const { encoder } = this
    encoder.take(encoding)
    for await (const piece of values) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
      // A piece between two others can be their comma.
      if (text.length === 1 && text[0] === COMMA) continue
      for (let at = 0; at < text.length; at = encoder.add(encoding, text, at, text.length).end)
        encoder.take(encoding)
      if (shouldYield()) await yieldToEventLoop()
    }
    return encoder.takeFacts()
  }
}

const COMMA = 0x2c

/** A storage from which values are read back as they are written now. */
export interface ExactStorage {
  storage: StorageName
  /** Between day and time of day. */
  separator?: ParquetMark['separator']
}

/** Returns the storage of a column from which a reader gets the same values. */
export function chooseExactStorage(type: ColumnType, facts: number): ExactStorage {
  const has = (some: number): boolean => (facts & some) !== 0
  switch (familyOf(type)) {
    case 'number':
      return { storage: has(fraction | negativeZero | wide) ? 'double' : 'integer' }
    case 'date':
      return { storage: has(~day) ? 'text' : 'day' }
    case 'datetime': {
      if (facts === 0) return { storage: 'localTime' }
      const isOdd = has(unreadable | day | offset | noSeconds | nanoseconds | padded)
      if (isOdd || has(letter) === has(space) || has(local) === has(utc)) return { storage: 'text' }
      return { storage: has(utc) ? 'utcTime' : 'localTime', separator: has(letter) ? 'T' : ' ' }
    }
    case 'boolean':
      return { storage: 'boolean' }
    case 'json':
      return { storage: 'json' }
    default:
      return { storage: 'text' }
  }
}

/** Returns the narrowest storage of a column for queries, which compare and add values. */
export function chooseQueriedStorage(type: ColumnType, facts: number): Exclude<StorageName, 'json'> {
  const has = (some: number): boolean => (facts & some) !== 0
  if (encodingOf(type) && facts === 0) return 'empty'
  switch (familyOf(type)) {
    case 'number':
      if (has(part | vast)) return 'double'
      return has(wide) ? 'digits' : 'integer'
    case 'date':
      return has(~day) ? 'text' : 'day'
    case 'datetime': {
      const isZoned = has(utc | offset)
      if (has(unreadable) || isZoned === has(local | day)) return 'text'
      // As texts, times of several zones would have another order. Their digits beyond microseconds are cut.
      if (has(nanoseconds) && !isZoned) return 'text'
      return isZoned ? 'utcTime' : 'localTime'
    }
    case 'boolean':
      return 'boolean'
    default:
      return 'text'
  }
}
