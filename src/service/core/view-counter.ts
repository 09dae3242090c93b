// Counts page views of plots in the background.
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { Store } from '../store/store.ts'

/** Counts page views. Views that arrive during a write are written together. */
export class ViewCounter {
  private counts = new Map<string, number>()
  private writing = false

  constructor(
    private readonly store: Store,
    private readonly background: (work: () => Promise<void>) => void,
  ) {}

  count(fid: Fid): void {
    const key = formatFid(fid)
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
    if (this.writing) return
    this.writing = true
    this.background(() =>
      this.write().finally(() => {
        this.writing = false
      }),
    )
  }

  private async write(): Promise<void> {
    while (this.counts.size > 0) {
      const counts = this.counts
      this.counts = new Map()
      for (const [key, count] of counts) {
        const { owner, idlocal } = parseFid(key)!
        await this.store.write([], ({ plots }) => plots.addViews(owner, idlocal, count))
      }
    }
  }
}
