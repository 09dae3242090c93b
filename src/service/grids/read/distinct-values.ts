// Counts distinct values by their bytes, without a string per value.

/** Factor of the hash (FNV-1a). */
const HASH_FACTOR = 0x01000193
/** Average steps per value above which the values must have been chosen to collide. */
const MAX_AVERAGE_STEPS = 20

/** Set of byte strings: an open-addressing hash table over one buffer of all bytes. */
export class DistinctValues {
  /** Number of distinct values. */
  size = 0
  /** Index of a value plus 1, by hash; 0 if free. */
  private slots = new Int32Array(1 << 12)
  private hashes = new Int32Array(1 << 11)
  /** Start of each value in `bytes`, and the end of the last. */
  private starts = new Int32Array(1 << 11)
  private bytes = Buffer.allocUnsafe(1 << 16)
  /** Steps that searches may take before hashes count as colliding. */
  remainingSteps = 10_000
  /** The values after too many collisions: nobody can predict the hashes of V8. */
  private strings: Set<string> | undefined

  /** Adds the value buf[start, end). */
  add(buf: Uint8Array, start: number, end: number): void {
    if (this.strings) {
      this.strings.add(Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('latin1'))
      this.size = this.strings.size
      return
    }
    this.remainingSteps += MAX_AVERAGE_STEPS
    let hash = 0x811c9dc5 | 0
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ buf[i], HASH_FACTOR)
    hash ^= hash >>> 15
    const mask = this.slots.length - 1
    let slot = hash & mask
    for (; this.slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.isEqual(this.slots[slot] - 1, hash, buf, start, end)) return
      this.remainingSteps--
    }
    this.append(slot, hash, buf, start, end)
    if (this.remainingSteps < 0)
      this.strings = new Set(
        Array.from({ length: this.size }, (_, k) =>
          this.bytes.toString('latin1', this.starts[k], this.starts[k + 1]),
        ),
      )
  }

  private isEqual(index: number, hash: number, buf: Uint8Array, start: number, end: number): boolean {
    const from = this.starts[index]
    if (this.hashes[index] !== hash || this.starts[index + 1] - from !== end - start) return false
    let i = start
    while (i < end && this.bytes[from + i - start] === buf[i]) i++
    return i === end
  }

  private append(slot: number, hash: number, buf: Uint8Array, start: number, end: number): void {
    this.slots[slot] = ++this.size
    this.hashes[this.size - 1] = hash
    const at = this.starts[this.size - 1]
    const next = at + end - start
    if (next > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * next)
    for (let i = start; i < end; i++) this.bytes[at + i - start] = buf[i]
    this.starts[this.size] = next
    if (this.size + 1 >= this.hashes.length) this.grow()
  }

  private grow(): void {
    const { hashes, starts } = this
    this.hashes = new Int32Array(2 * hashes.length)
    this.hashes.set(hashes)
    this.starts = new Int32Array(2 * starts.length)
    this.starts.set(starts)
    this.slots = new Int32Array(2 * this.slots.length)
    const mask = this.slots.length - 1
    for (let k = 0; k < this.size; k++) {
      let slot = hashes[k] & mask
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask
      this.slots[slot] = k + 1
    }
  }
}
