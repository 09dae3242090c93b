// Refuses damaged Arrow data, of which the library would read missing or other values.
import { isUtf8 } from 'node:buffer'
import { type Batch, type Column, type Table, Type } from '@uwdata/flechette'
import { RefusedFile } from './table.ts'

/** A batch with the buffers that it has, depending on its type. */
type Buffers = Pick<Batch<unknown>, 'type' | 'length' | 'nullCount'> & {
  validity?: Uint8Array
  values?: ArrayLike<number>
  offsets?: ArrayLike<number>
  children?: Buffers[]
  dictionary?: Column<unknown>
  /** Values that the keys of a dictionary stand for. */
  cache?: ArrayLike<unknown>
  /** Of texts that lie in several buffers: returns the bytes of one. */
  view?(index: number): Uint8Array
}

/** Throws `RefusedFile` if a buffer of a table is too short, or if offsets and keys lead out of one. */
export function checkBuffers(table: Table): void {
  const checked = new Set<Column<unknown>>()
  const visit = (column: Column<unknown>): void => {
    if (checked.has(column)) return
    checked.add(column)
    for (const batch of column.data as readonly Buffers[]) checkBatch(batch, visit)
  }
  for (const column of table.children) visit(column)
}

/** Checks a batch, and passes its dictionary to `visit`. */
function checkBatch(batch: Buffers, visit: (column: Column<unknown>) => void): void {
  const { type, length, nullCount, validity, values, offsets, children = [] } = batch
  if (nullCount < 0 || nullCount > length) throw damagedError()
  if (nullCount > 0 && validity && validity.length * 8 < length) throw damagedError()
  switch (type.typeId) {
    case Type.Bool:
      if (values!.length * 8 < length) throw damagedError()
      break
    case Type.FixedSizeBinary:
      if (values!.length < length * type.stride) throw damagedError()
      break
    case Type.Int:
    case Type.Float:
    case Type.Date:
    case Type.Time:
    case Type.Timestamp:
    case Type.Duration:
      if (values!.length < length) throw damagedError()
      break
    case Type.Utf8:
    case Type.LargeUtf8:
      checkOffsets(offsets!, length, values!.length)
      if (!areWholeTexts(values as Uint8Array, offsets!, length))
        checkTexts(batch, (k) =>
          (values as Uint8Array).subarray(Number(offsets![k]), Number(offsets![k + 1])),
        )
      break
    case Type.Utf8View:
      checkTexts(batch, (k) => batch.view!(k))
      break
    case Type.Binary:
    case Type.LargeBinary:
      checkOffsets(offsets!, length, values!.length)
      break
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      checkOffsets(offsets!, length, children[0].length)
      break
    case Type.FixedSizeList:
      if (children[0].length < length * type.stride) throw damagedError()
      break
    case Type.Struct:
      if (children.some((child) => child.length < length)) throw damagedError()
      break
    case Type.Dictionary:
      checkKeys(batch)
      visit(batch.dictionary!)
  }
  for (const child of children) checkBatch(child, visit)
}

/** Checks the offsets of `length` values in a buffer of `size` bytes or items: they do not decrease, and end inside it. */
function checkOffsets(offsets: ArrayLike<number>, length: number, size: number): void {
  // Of no values, writers may leave out the offsets.
  if (length === 0) return
  if (offsets.length <= length || Number(offsets[0]) < 0 || Number(offsets[length]) > size)
    throw damagedError()
  for (let k = 0; k < length; k++) if (offsets[k] > offsets[k + 1]) throw damagedError()
}

/** Checks that texts are UTF-8: the library would read other characters. Nulls may have any bytes. */
function checkTexts(batch: Buffers, bytesAt: (index: number) => Uint8Array): void {
  for (let k = 0; k < batch.length; k++)
    if (!isUtf8(bytesAt(k)) && !isNull(batch, k))
      throw new RefusedFile('a text is not UTF-8', 'Write it as binary data, which is stored in Base64.')
}

/** Returns whether texts that follow each other are UTF-8, so that none begins inside a character. */
function areWholeTexts(bytes: Uint8Array, offsets: ArrayLike<number>, length: number): boolean {
  if (length === 0) return true
  const end = Number(offsets[length])
  if (!isUtf8(bytes.subarray(Number(offsets[0]), end))) return false
  for (let k = 1; k < length; k++)
    if ((bytes[Number(offsets[k])] & 0xc0) === 0x80 && offsets[k] < end) return false
  return true
}

function isNull({ nullCount, validity }: Buffers, index: number): boolean {
  return nullCount > 0 && validity !== undefined && ((validity[index >> 3] >> (index & 7)) & 1) === 0
}

/** Checks that each key of a dictionary stands for a value of it. */
function checkKeys(batch: Buffers): void {
  const { length, values, cache } = batch
  if (values!.length < length) throw damagedError()
  const count = cache!.length
  for (let k = 0; k < length; k++) {
    const key = Number(values![k])
    if (!(key >= 0 && key < count) && !isNull(batch, k)) throw damagedError()
  }
}

/** Creates the error for a damaged file. */
export function damagedError(): RefusedFile {
  return new RefusedFile('the Arrow file is damaged', 'Write it again.')
}
