/** Draws thumbnails of changed plots before anyone asks for them. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { WorkBudget } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import type { ImageService } from './plot-image.ts'

/** Size of thumbnails in lists of files, in CSS pixels. */
export const THUMBNAIL_SIZE = { width: 480, height: 300 } as const
/** Maximum number of plots whose thumbnails wait. Thumbnails of others are drawn when they are asked for. */
const MAX_WAITING = 100

interface Waiting {
  service: ImageService
  caller: Caller | undefined
  fid: Fid
}

/** Plots whose thumbnails are drawn soon, one after another. For servers, since a command exits first. */
export class Thumbnails {
  private readonly waiting = new Map<string, Waiting>()
  private isStarted = false
  private isDrawing = false

  /** Draws from now on: `add` does nothing before. */
  start(): void {
    this.isStarted = true
  }

  close(): void {
    this.isStarted = false
  }

  /** Draws the thumbnail of a plot soon, as `caller` sees it. Several changes meanwhile are drawn once. */
  add(service: ImageService, caller: Caller | undefined, fid: Fid): void {
    if (!this.isStarted || this.waiting.size >= MAX_WAITING) return
    this.waiting.set(formatFid(fid), { service, caller, fid })
    if (!this.isDrawing) service.runInBackground(() => this.drawAll())
  }

  private async drawAll(): Promise<void> {
    this.isDrawing = true
    for (let next = this.take(); next; next = this.take()) await this.draw(next)
    this.isDrawing = false
  }

  private take(): Waiting | undefined {
    const [first] = this.waiting
    if (!first || !this.isStarted) return undefined
    this.waiting.delete(first[0])
    return first[1]
  }

  private async draw({ service, caller, fid }: Waiting): Promise<void> {
    const request = { caller, operation: 'files.image', fid, filetype: 'plot' } as const
    try {
      // Loaded here, since most commands create no service that draws.
      const { drawPlotImage } = await import('./plot-image.ts')
      const { createBody } = await drawPlotImage(service, request, THUMBNAIL_SIZE)
      const work = new WorkBudget(service.limits, 'user', () => !this.isStarted)
      await createBody?.(caller?.username ?? '', work)
    } catch (error) {
      // Whoever asks for the image gets the error. Without Chromium, there is nothing to draw.
      if (error instanceof Problem && error.code === 'no_chromium') this.close()
    }
  }
}
