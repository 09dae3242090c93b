import { createHash } from 'node:crypto'
import { invalidField, Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { ImageFormat } from '../../contract/operations/index.ts'
import { Drawer, type ImageOptions, Undrawable } from '../../draw/index.ts'
import type { RawJson } from '../../json/index.ts'
import { Admission } from '../core/admission.ts'
import { Lru } from '../core/lru.ts'
import { SharedWork } from '../core/shared-work.ts'

/** How long a figure that could not be drawn is not tried again, in ms. */
const FAILURE_MS = 60_000
/** What a cached failure counts, in bytes. */
const FAILURE_SIZE = 1000

type Kept = { image: Uint8Array } | { problem: Problem; until: number }

/** States of plots whose missing data is remembered. */
const MAX_NOTES = 10_000

/** Draws images, a few at once, and keeps the last ones in memory by what they show. */
export class Images {
  private readonly kept: Lru<Kept>
  private readonly notes = new Lru<{ note: string | undefined }>(MAX_NOTES, () => 1)
  private readonly drawing = new SharedWork<{ image: Uint8Array; key: string }>()
  private readonly admission: Admission
  private readonly drawer: Drawer

  constructor(limits: Limits, chromium?: string) {
    this.kept = new Lru(limits.image_cache_bytes, sizeOf)
    this.drawer = new Drawer({
      memory: limits.image_memory_bytes,
      seconds: limits.image_seconds,
      chromium,
    })
    this.admission = new Admission(
      {
        running: limits.images_at_once,
        waiting: limits.images_waiting,
        wait: limits.image_seconds * 1000,
      },
      'images_waiting',
    )
  }

  /** What a plot does not show in a state, found once for each state; undefined if nothing is missing. */
  async noteOf(state: string, find: () => Promise<string | undefined>): Promise<string | undefined> {
    const known = this.notes.get(state)
    if (known) return known.note
    const note = await find()
    this.notes.set(state, { note })
    return note
  }

  /** An image that was drawn before. Throws if that failed a short time ago. */
  find(key: string): Uint8Array | undefined {
    const kept = this.kept.get(key)
    if (!kept) return undefined
    if ('problem' in kept) {
      if (kept.until >= Date.now()) throw kept.problem
      this.kept.delete(key)
      return undefined
    }
    return kept.image
  }

  /** Draws an image once, however many ask for it. `figure` gives the JSON text, and the key of what it shows. */
  async draw(
    user: string,
    key: string,
    figure: (gone: () => boolean) => Promise<{ text: Uint8Array; key: string }>,
    options: ImageOptions,
    gone?: () => boolean,
  ): Promise<Uint8Array> {
    const found = this.find(key)
    if (found) return found
    const isOthers = this.drawing.has(key)
    const { image, key: shown } = await this.drawing.run(key, gone, (allGone) =>
      this.admission.run(
        user,
        async () => {
          const { text, key: shown } = await figure(allGone)
          try {
            const image = await this.drawer.draw(text, options)
            this.kept.set(shown, { image })
            return { image, key: shown }
          } catch (error) {
            if (error instanceof Undrawable && error.isFinal)
              this.kept.set(shown, { problem: error, until: Date.now() + FAILURE_MS })
            throw error
          }
        },
        allGone,
      ),
    )
    // The plot or the access to its data has changed since: what was drawn is not what may be seen with this key.
    return isOthers && shown !== key ? this.draw(user, key, figure, options, gone) : image
  }

  close(): Promise<void> {
    return this.drawer.close()
  }
}

function sizeOf(kept: Kept): number {
  return 'image' in kept ? kept.image.length : FAILURE_SIZE
}

/** The key of an image: what it shows, and how. */
export function imageKey(shown: string, { format, width, height, scale, theme, most }: ImageOptions): string {
  return createHash('sha256')
    .update(
      `${shown} ${format} ${width} ${height} ${scale}${theme === 'dark' ? ' dark' : ''}${most === undefined ? '' : ` to ${most}`}`,
    )
    .digest('hex')
    .slice(0, 32)
}

/** Size of an image where neither the request nor the layout says one, in CSS pixels. */
const WIDTH_PIXELS = 700
const HEIGHT_PIXELS = 500
/** How high an image becomes for the rows of a chart, at most. */
const MAX_HEIGHT_PIXELS = 4000
/** The smallest width and height that plotly.js draws. */
const MIN_PIXELS = 10

export interface WantedImage {
  format?: ImageFormat
  width?: number | null
  height?: number | null
  scale?: number | null
  theme?: 'light' | 'dark' | null
}

/** What to draw: the size asked for, otherwise that of the layout. Throws 400 for sizes that cannot be drawn. */
export function imageOptions(figure: RawJson, wanted: WantedImage, limits: Limits): ImageOptions {
  const layout = figure.get('layout')
  const scale = wanted.scale ?? 1
  const side = (name: 'width' | 'height', usual: number): number => {
    const given = wanted[name]
    if (given !== undefined && given !== null) {
      if (!(given >= MIN_PIXELS)) throw invalidField(name, `must be at least ${MIN_PIXELS}`)
      return Math.round(given)
    }
    const value = inLayout(layout, name) ?? usual
    // A layout was not written for this request: a size that cannot be drawn is not an error of it.
    const most = Math.sqrt(limits.image_pixels) / scale
    return Math.round(Math.max(MIN_PIXELS, Math.min(value >= MIN_PIXELS ? value : usual, most)))
  }
  if (!(scale > 0)) throw invalidField('scale', 'must be greater than 0')
  const [width, height] = [side('width', WIDTH_PIXELS), side('height', HEIGHT_PIXELS)]
  const pixels = Math.ceil(width * scale) * Math.ceil(height * scale)
  if (pixels > limits.image_pixels)
    throw new Problem(
      'invalid_request',
      `width, height: ${Math.ceil(width * scale)} × ${Math.ceil(height * scale)} pixels are ${pixels}; the limit is ${limits.image_pixels} (image_pixels)`,
      { field: 'width', hint: 'Ask for a smaller image, or a smaller scale.' },
    )
  if (pixels < 1 || width * scale < 1 || height * scale < 1)
    throw invalidField('scale', 'makes the image smaller than one pixel')
  // Where nobody has said a height, a chart has what its rows need.
  const isFree = (wanted.height ?? undefined) === undefined && inLayout(layout, 'height') === undefined
  const most = Math.min(MAX_HEIGHT_PIXELS, Math.floor(limits.image_pixels / (width * scale * scale)))
  return {
    ...{ format: wanted.format ?? 'png', width, height, scale, theme: wanted.theme ?? 'light' },
    ...(isFree && { most }),
  }
}

function inLayout(layout: RawJson | undefined, name: 'width' | 'height'): number | undefined {
  const value = layout?.kind === 'object' ? layout.get(name) : undefined
  return value?.kind === 'number' ? (value.value() as number) : undefined
}
