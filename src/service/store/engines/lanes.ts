// Limits concurrent work per owner.
import { Problem } from '../../../contract/errors.ts'

/** Maximum number of queued jobs per owner, and how long a job waits, in ms. */
const QUEUE = 512
const OWNER_WAIT_MS = 5_000

interface Lane {
  running: number
  waiting: { begin: () => void; timer: NodeJS.Timeout }[]
}

/** Limits how many jobs of each owner run concurrently. Further jobs wait. */
export class Lanes {
  private readonly lanes = new Map<string, Lane>()

  constructor(private readonly width: number) {}

  /**
   * Runs `work` as soon as the limit allows. Throws `overloaded` if too many jobs of the owner wait, or for 5
   * s.
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    let lane = this.lanes.get(owner)
    if (!lane) {
      lane = { running: 0, waiting: [] }
      this.lanes.set(owner, lane)
    }
    if (lane.running < this.width) lane.running++
    else await this.turn(lane)
    try {
      return await work()
    } finally {
      const next = lane.waiting.shift()
      if (next) {
        clearTimeout(next.timer)
        next.begin()
      } else if (--lane.running === 0) this.lanes.delete(owner)
    }
  }

  private turn(lane: Lane): Promise<void> {
    const busy = (): Problem =>
      new Problem('overloaded', 'the database is busy with other requests for the same files')
    if (lane.waiting.length >= QUEUE) throw busy()
    return new Promise((resolve, reject) => {
      const job = {
        begin: resolve,
        timer: setTimeout(() => {
          lane.waiting.splice(lane.waiting.indexOf(job), 1)
          reject(busy())
        }, OWNER_WAIT_MS),
      }
      lane.waiting.push(job)
    })
  }
}
