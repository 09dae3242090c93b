/** Least-recently-used cache with a maximum total size. */
export class Lru<T> {
  private readonly kept = new Map<string, T>()
  private size = 0

  constructor(
    private readonly most: number,
    private readonly sizeOf: (value: T) => number,
  ) {}

  get(key: string): T | undefined {
    const value = this.kept.get(key)
    if (value === undefined) return undefined
    // A Map iterates in insertion order: the most recently used entry is the last one.
    this.kept.delete(key)
    this.kept.set(key, value)
    return value
  }

  /** Stores a value, unless it is larger than the maximum size. Evicts the least recently used ones. */
  set(key: string, value: T): void {
    this.delete(key)
    // It would evict all other entries, and then itself.
    if (this.sizeOf(value) > this.most) return
    this.kept.set(key, value)
    this.size += this.sizeOf(value)
    for (const oldest of this.kept.keys()) {
      if (this.size <= this.most) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.kept.get(key)
    if (value === undefined) return
    this.kept.delete(key)
    this.size -= this.sizeOf(value)
  }
}
