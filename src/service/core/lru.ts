/** Values by key, up to a total size. The least recently used ones are dropped. */
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
    // A Map keeps its order of insertion: the last one used is the last one.
    this.kept.delete(key)
    this.kept.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.delete(key)
    // It would push out all others, and then itself.
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
