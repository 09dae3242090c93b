/** Draws images with Chromium, in a queue, and caches them. */
import { createHash } from 'node:crypto'
import { invalidField, Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { ImageFormat } from '../../contract/operations/index.ts'
import { Drawer, type ImageOptions, Undrawable } from '../../draw/index.ts'
import type { RawJson } from '../../json/index.ts'
import { Admission } from '../core/admission.ts'
import { Lru } from '../core/lru.ts'
import { SharedWork } from '../core/shared-work.ts'

/** Lifetime of a cached failure, in ms. Until then, the figure is not drawn again. */
const FAILURE_MS = 60_000
/** Size of a failure in the cache, in bytes. */
const FAILURE_SIZE = 1000

type Kept = { image: Uint8Array } | { problem: Problem; until: number }

/** Maximum number of cached notes on missing data. */
const MAX_NOTES = 10_000

/** Draws a few images at once, and caches them by the fingerprint of what they show. */
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

  /** Returns the cached note on missing data of a plot, or finds it; undefined if nothing is missing. */
  async noteOf(fingerprint: string, find: () => Promise<string | undefined>): Promise<string | undefined> {
    const cached = this.notes.get(fingerprint)
    if (cached) return cached.note
    const note = await find()
    this.notes.set(fingerprint, { note })
    return note
  }

  /** Returns a cached image; undefined if there is none. Throws a recent failure to draw it. */
  find(key: string): Uint8Array | undefined {
    const cached = this.kept.get(key)
    if (!cached) return undefined
    if ('problem' in cached) {
      if (cached.until >= Date.now()) throw cached.problem
      this.kept.delete(key)
      return undefined
    }
    return cached.image
  }

  /** Draws an image; simultaneous requests share it. `figure` loads the JSON and its current key. */
  async draw(
    user: string,
    key: string,
    figure: (isAborted: () => boolean) => Promise<{ text: Uint8Array; key: string }>,
    options: ImageOptions,
    isAborted?: () => boolean,
  ): Promise<Uint8Array> {
    const cached = this.find(key)
    if (cached) return cached
    const isShared = this.drawing.has(key)
    const { image, key: drawnKey } = await this.drawing.run(key, isAborted, (areAllAborted) =>
      this.admission.run(
        user,
        async () => {
          const { text, key: shown } = await figure(areAllAborted)
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
        areAllAborted,
      ),
    )
    // The data or the access has changed since another request began: draw again for this key.
    return isShared && drawnKey !== key ? this.draw(user, key, figure, options, isAborted) : image
  }

  close(): Promise<void> {
    return this.drawer.close()
  }
}

function sizeOf(cached: Kept): number {
  return 'image' in cached ? cached.image.length : FAILURE_SIZE
}

/** Hashes the fingerprint of a figure and the options of its image. */
export function imageKey(
  fingerprint: string,
  { format, width, height, scale, theme, most: maxHeight }: ImageOptions,
): string {
  return createHash('sha256')
    .update(
      `${fingerprint} ${format} ${width} ${height} ${scale}${theme === 'dark' ? ' dark' : ''}${maxHeight === undefined ? '' : ` to ${maxHeight}`}`,
    )
    .digest('hex')
    .slice(0, 32)
}

/** Default size of an image, in CSS pixels. */
const WIDTH_PIXELS = 700
const HEIGHT_PIXELS = 500
/** Maximum height of an image that grows with the rows of its chart. */
const MAX_HEIGHT_PIXELS = 4000
/** Minimum width and height that plotly.js draws. */
const MIN_PIXELS = 10

export interface WantedImage {
  format?: ImageFormat
  width?: number | null
  height?: number | null
  scale?: number | null
  theme?: 'light' | 'dark' | null
}

/** Returns drawing options. The requested size precedes that of the layout. Throws `invalid_request`. */
export function imageOptions(figure: RawJson, imageRequest: WantedImage, limits: Limits): ImageOptions {
  const layout = figure.get('layout')
  const scale = imageRequest.scale ?? 1
  const side = (name: 'width' | 'height', defaultPixels: number): number => {
    const requested = imageRequest[name]
    if (requested !== undefined && requested !== null) {
      if (!(requested >= MIN_PIXELS)) throw invalidField(name, `must be at least ${MIN_PIXELS}`)
      return Math.round(requested)
    }
    const value = inLayout(layout, name) ?? defaultPixels
    // An invalid size in the layout is not an error of this request: clamp it.
    const maxPixels = Math.sqrt(limits.image_pixels) / scale
    return Math.round(Math.max(MIN_PIXELS, Math.min(value >= MIN_PIXELS ? value : defaultPixels, maxPixels)))
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
  // Without a height in request and layout, the image grows with the rows of the chart.
  const canGrow = (imageRequest.height ?? undefined) === undefined && inLayout(layout, 'height') === undefined
  const maxHeight = Math.min(MAX_HEIGHT_PIXELS, Math.floor(limits.image_pixels / (width * scale * scale)))
  return {
    ...{ format: imageRequest.format ?? 'png', width, height, scale, theme: imageRequest.theme ?? 'light' },
    ...(canGrow && { most: maxHeight }),
  }
}

function inLayout(layout: RawJson | undefined, name: 'width' | 'height'): number | undefined {
  const value = layout?.kind === 'object' ? layout.get(name) : undefined
  return value?.kind === 'number' ? (value.value() as number) : undefined
}
