// Limits concurrent work per owner.
import { Problem } from '../../../contract/errors.ts'

/** Maximum number of queued jobs per owner. */
const MAX_QUEUED_JOBS = 512
/** Maximum time a job waits, in ms. */
const QUEUE_TIMEOUT_MS = 5_000

interface OwnerQueue {
  running: number
  waiting: { begin: () => void; timer: NodeJS.Timeout }[]
}

/** Limits how many jobs of each owner run concurrently. Further jobs wait. */
export class OwnerLimiter {
  private readonly queues = new Map<string, OwnerQueue>()

  constructor(private readonly maxRunning: number) {}

  /**
   * Runs `work` as soon as the limit allows. Throws `overloaded` if too many jobs of the owner wait, or for 5
   * s.
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    let lane = this.queues.get(owner)
    if (!lane) {
      lane = { running: 0, waiting: [] }
      this.queues.set(owner, lane)
    }
    if (lane.running < this.maxRunning) lane.running++
    else await this.waitForSlot(lane)
    try {
      return await work()
    } finally {
      const next = lane.waiting.shift()
      if (next) {
        clearTimeout(next.timer)
        next.begin()
      } else if (--lane.running === 0) this.queues.delete(owner)
    }
  }

  private waitForSlot(lane: OwnerQueue): Promise<void> {
    const busy = (): Problem =>
      new Problem('overloaded', 'the database is busy with other requests for the same files')
    if (lane.waiting.length >= MAX_QUEUED_JOBS) throw busy()
    return new Promise((resolve, reject) => {
      const job = {
        begin: resolve,
        timer: setTimeout(() => {
          lane.waiting.splice(lane.waiting.indexOf(job), 1)
          reject(busy())
        }, QUEUE_TIMEOUT_MS),
      }
      lane.waiting.push(job)
    })
  }
}
