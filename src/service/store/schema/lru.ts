// A cache of the values used last.

/** Least-recently-used cache with a maximum total size. */
export class Lru<T> {
  private readonly entries = new Map<string, T>()
  private size = 0

  constructor(
    private readonly maxSize: number,
    private readonly sizeOf: (value: T) => number,
  ) {}

  get(key: string): T | undefined {
    const value = this.entries.get(key)
    if (value === undefined) return undefined
    // A Map iterates in insertion order: the most recently used entry is the last one.
    this.entries.delete(key)
    this.entries.set(key, value)
    return value
  }

  /** Stores a value, unless it is larger than the maximum size. Evicts the least recently used ones. */
  set(key: string, value: T): void {
    this.delete(key)
    // It would evict all other entries, and then itself.
    if (this.sizeOf(value) > this.maxSize) return
    this.entries.set(key, value)
    this.size += this.sizeOf(value)
    for (const oldest of this.entries.keys()) {
      if (this.size <= this.maxSize) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.entries.get(key)
    if (value === undefined) return
    this.entries.delete(key)
    this.size -= this.sizeOf(value)
  }
}
