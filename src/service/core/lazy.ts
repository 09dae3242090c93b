// Parts of the service that are loaded when they are first used: a short command needs few.

/** A value that is created when it is first needed. */
export class Lazy<T> {
  /** The value; undefined before it was needed. */
  loaded: T | undefined
  private loading: Promise<T> | undefined

  constructor(private readonly create: () => Promise<T>) {}

  /** Returns the value, or the promise of it while it is created. */
  get(): T | Promise<T> {
    if (this.loaded !== undefined) return this.loaded
    this.loading ??= this.create().then(
      (value) => {
        this.loaded = value
        return value
      },
      (error) => {
        // The next use tries again.
        this.loading = undefined
        throw error
      },
    )
    return this.loading
  }
}
