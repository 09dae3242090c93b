/** Work that several requests wait for: it is done once, and ends when all of their clients have left. */
export class SharedWork<T> {
  private readonly running = new Map<
    string,
    { askers: ((() => boolean) | undefined)[]; result: Promise<T> }
  >()

  /** Returns the result of the work that runs under a key, or begins it. `gone`: whether the client has disconnected. */
  run(
    key: string,
    gone: (() => boolean) | undefined,
    work: (allGone: () => boolean) => Promise<T>,
  ): Promise<T> {
    const known = this.running.get(key)
    if (known) {
      known.askers.push(gone)
      return known.result
    }
    const askers = [gone]
    const result = work(() => askers.every((one) => one?.() === true)).finally(() => this.running.delete(key))
    this.running.set(key, { askers, result })
    return result
  }

  has(key: string): boolean {
    return this.running.has(key)
  }
}
