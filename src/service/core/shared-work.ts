/** Shares work among concurrent requests: it runs once per key, and is aborted when all clients have left. */
export class SharedWork<T> {
  private readonly running = new Map<
    string,
    { abortChecks: ((() => boolean) | undefined)[]; result: Promise<T> }
  >()

  /** Joins the work under `key`, or starts it. `isAborted` returns whether the client has disconnected. */
  run(
    key: string,
    isAborted: (() => boolean) | undefined,
    work: (isAbortedByAll: () => boolean) => Promise<T>,
  ): Promise<T> {
    const current = this.running.get(key)
    if (current) {
      current.abortChecks.push(isAborted)
      return current.result
    }
    const askers = [isAborted]
    const result = work(() => askers.every((isAborted) => isAborted?.() === true)).finally(() =>
      this.running.delete(key),
    )
    this.running.set(key, { abortChecks: askers, result })
    return result
  }

  isRunning(key: string): boolean {
    return this.running.has(key)
  }
}
