// Object store that records metrics.
import { runInSpan } from '../../tracing/tracing.ts'
import type { ObjectStore } from './object-store.ts'

export type ObjectOperation = 'put' | 'get' | 'remove'

/** Requests to object stores since the process started. */
export class ObjectStats {
  readonly operations = new Map<ObjectOperation, { done: number; failed: number; seconds: number }>(
    (['put', 'get', 'remove'] as const).map((name) => [name, { done: 0, failed: 0, seconds: 0 }]),
  )
  bytesPut = 0
  bytesGot = 0
}

/** Object store that counts requests, and traces each as a span. */
export class MeteredStore implements ObjectStore {
  constructor(
    private readonly store: ObjectStore,
    private readonly stats: ObjectStats,
  ) {}

  async put(key: string, bytes: Uint8Array, hash: string): Promise<void> {
    await this.measure('put', () => this.store.put(key, bytes, hash))
    this.stats.bytesPut += bytes.length
  }

  async get(key: string): Promise<Buffer | undefined> {
    const bytes = await this.measure('get', () => this.store.get(key))
    this.stats.bytesGot += bytes?.length ?? 0
    return bytes
  }

  remove(key: string): Promise<void> {
    return this.measure('remove', () => this.store.remove(key))
  }

  requireMarker(key: string): void {
    this.store.requireMarker?.(key)
  }

  checkAccess(): Promise<void> {
    return this.store.checkAccess()
  }

  private measure<T>(name: ObjectOperation, work: () => Promise<T>): Promise<T> {
    return runInSpan({ name: `blob ${name}`, kind: 'client' }, async () => {
      const counts = this.stats.operations.get(name)!
      const start = performance.now()
      try {
        const result = await work()
        counts.done++
        return result
      } catch (error) {
        counts.failed++
        throw error
      } finally {
        counts.seconds += (performance.now() - start) / 1000
      }
    })
  }
}
