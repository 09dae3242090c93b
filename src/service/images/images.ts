/** Draws images with Chromium, in a queue, and caches them. */
import { createHash } from 'node:crypto'
import { invalidField, Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { ImageFormat } from '../../contract/operations/index.ts'
import { Drawer, type ImageOptions, Undrawable } from '../../draw/index.ts'
import type { RawJson } from '../../json/index.ts'
import { Admission } from '../core/admission.ts'
import { SharedWork } from '../core/shared-work.ts'
import { Lru } from '../store/schema/lru.ts'

/** Lifetime of a cached failure, in ms. Until then, the figure is not drawn again. */
const FAILURE_CACHE_MS = 60_000
/** Size of a failure in the cache, in bytes. */
const FAILURE_CACHE_BYTES = 1000

type CachedDrawing = { image: Uint8Array } | { problem: Problem; until: number }

/** Maximum number of cached notes on missing data. */
const MAX_CACHED_NOTES = 10_000

/** Draws a few images at once, and caches them by the fingerprint of what they show. */
export class ImageRenderer {
  private readonly drawings: Lru<CachedDrawing>
  private readonly notes = new Lru<{ note: string | undefined }>(MAX_CACHED_NOTES, () => 1)
  private readonly drawing = new SharedWork<{ image: Uint8Array; key: string }>()
  private readonly admission: Admission
  private readonly drawer: Drawer

  constructor(limits: Limits, chromium?: string) {
    this.drawings = new Lru(limits.image_cache_bytes, cacheSizeOf)
    this.drawer = new Drawer({
      maxMemoryBytes: limits.image_memory_bytes,
      timeoutSeconds: limits.image_seconds,
      chromium,
    })
    this.admission = new Admission(
      { running: limits.images_at_once, waiting: limits.images_waiting, wait: limits.image_seconds * 1000 },
      'images_waiting',
    )
  }

  /** Returns the cached note on missing data of a plot, or finds it; undefined if nothing is missing. */
  async getNote(fingerprint: string, find: () => Promise<string | undefined>): Promise<string | undefined> {
    const cached = this.notes.get(fingerprint)
    if (cached) return cached.note
    const note = await find()
    this.notes.set(fingerprint, { note })
    return note
  }

  /** Returns a cached image; undefined if there is none. Throws a recent failure to draw it. */
  getCached(key: string): Uint8Array | undefined {
    const cached = this.drawings.get(key)
    if (!cached) return undefined
    if ('problem' in cached) {
      if (cached.until >= Date.now()) throw cached.problem
      this.drawings.delete(key)
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
    const cached = this.getCached(key)
    if (cached) return cached
    const isShared = this.drawing.isRunning(key)
    const { image, key: drawnKey } = await this.drawing.run(key, isAborted, (areAllAborted) =>
      this.admission.run(
        user,
        async () => {
          const { text, key: shown } = await figure(areAllAborted)
          try {
            const image = await this.drawer.draw(text, options)
            this.drawings.set(shown, { image })
            return { image, key: shown }
          } catch (error) {
            if (error instanceof Undrawable && error.isFinal)
              this.drawings.set(shown, { problem: error, until: Date.now() + FAILURE_CACHE_MS })
            throw error
          }
        },
        areAllAborted,
      ),
    )
    // The data or the access has changed since another request began: draw again for this key.
    return isShared && drawnKey !== key ? this.draw(user, key, figure, options, isAborted) : image
  }

  /** Draws a document in HTML, which is not cached. */
  drawDocument(
    user: string,
    html: Uint8Array,
    options: ImageOptions,
    isAborted?: () => boolean,
  ): Promise<Uint8Array> {
    return this.admission.run(user, () => this.drawer.drawDocument(html, options), isAborted)
  }

  close(): Promise<void> {
    return this.drawer.close()
  }
}

function cacheSizeOf(cached: CachedDrawing): number {
  return 'image' in cached ? cached.image.length : FAILURE_CACHE_BYTES
}

/** Hashes the fingerprint of a figure and the options of its image. */
export function hashImageKey(
  fingerprint: string,
  { format, width, height, scale, theme, maxHeight, isUntitled }: ImageOptions,
): string {
  return createHash('sha256')
    .update(
      `${fingerprint} ${format} ${width} ${height} ${scale}${theme === 'dark' ? ' dark' : ''}${maxHeight === undefined ? '' : ` to ${maxHeight}`}${isUntitled ? ' untitled' : ''}`,
    )
    .digest('hex')
    .slice(0, 32)
}

/** Default size of an image, in CSS pixels. */
const DEFAULT_WIDTH_PIXELS = 700
const DEFAULT_HEIGHT_PIXELS = 500
/** Maximum height of an image that grows with the rows of its chart. */
const MAX_HEIGHT_PIXELS = 4000
/** Minimum width and height that plotly.js draws. */
const MIN_PIXELS = 10

/** Options as requested: the format can be a self-contained page. */
type RequestedOptions = Omit<ImageOptions, 'format'> & { format: ImageFormat }

/** Returns drawing options: a self-contained page has a picture in SVG. */
export function pictureOptionsOf({ format, ...options }: RequestedOptions): ImageOptions {
  return format === 'html' ? { ...options, format: 'svg', scale: 1 } : { ...options, format }
}

export interface ImageRequest {
  format?: ImageFormat
  width?: number | null
  height?: number | null
  scale?: number | null
  theme?: 'light' | 'dark' | null
  /** Leaves out the title of a chart: the page around it shows one. */
  isUntitled?: boolean
  /** Of a board: what anyone sees of it. */
  asAnyone?: boolean
}

/** Formats without pixels, on which a scale has no effect. */
const VECTOR_FORMATS: ReadonlySet<ImageFormat> = new Set(['svg', 'pdf', 'html'])

/** Returns the scale of downloads: 2, or 1 if an image of a figure would then have too many pixels. */
export function downloadScaleOf(figure: RawJson, { image_pixels }: Limits): number {
  const width = readLayoutSize(figure, 'width') ?? DEFAULT_WIDTH_PIXELS
  const height = readLayoutSize(figure, 'height') ?? DEFAULT_HEIGHT_PIXELS
  return 2 * width * (2 * height) > image_pixels ? 1 : 2
}

/** Returns drawing options. The requested size precedes that of the layout. Throws `invalid_request`. */
export function imageOptions(figure: RawJson, imageRequest: ImageRequest, limits: Limits): RequestedOptions {
  const isVector = VECTOR_FORMATS.has(imageRequest.format ?? 'png')
  const scale = (isVector ? undefined : imageRequest.scale) ?? 1
  const side = (name: 'width' | 'height', defaultPixels: number): number => {
    const requested = imageRequest[name]
    if (requested !== undefined && requested !== null) {
      if (!(requested >= MIN_PIXELS)) throw invalidField(name, `must be at least ${MIN_PIXELS}`)
      return Math.round(requested)
    }
    const value = readLayoutSize(figure, name) ?? defaultPixels
    // An invalid size in the layout is not an error of this request: clamp it. A scale that is too large is one.
    const maxPixels = Math.sqrt(limits.image_pixels) / Math.min(scale, 1)
    return Math.round(Math.max(MIN_PIXELS, Math.min(value >= MIN_PIXELS ? value : defaultPixels, maxPixels)))
  }
  if (!(scale > 0)) throw invalidField('scale', 'must be greater than 0')
  const [width, height] = [side('width', DEFAULT_WIDTH_PIXELS), side('height', DEFAULT_HEIGHT_PIXELS)]
  const pixels = Math.ceil(width * scale) * Math.ceil(height * scale)
  const isScaled = width * height <= limits.image_pixels
  if (pixels > limits.image_pixels)
    throw new Problem(
      'invalid_request',
      `${isScaled ? 'scale' : 'width, height'}: ${Math.ceil(width * scale)} × ${Math.ceil(height * scale)} pixels are ${pixels}; the limit is ${limits.image_pixels} (image_pixels)`,
      { field: isScaled ? 'scale' : 'width', hint: 'Ask for a smaller image, or a smaller scale.' },
    )
  if (pixels < 1 || width * scale < 1 || height * scale < 1)
    throw invalidField('scale', 'makes the image smaller than one pixel')
  // Without a height in request and layout, the image grows with the rows of the chart.
  const canGrow =
    (imageRequest.height ?? undefined) === undefined && readLayoutSize(figure, 'height') === undefined
  const maxHeight = Math.min(MAX_HEIGHT_PIXELS, Math.floor(limits.image_pixels / (width * scale * scale)))
  return {
    ...{ format: imageRequest.format ?? 'png', width, height, scale, theme: imageRequest.theme ?? 'light' },
    ...(canGrow && { maxHeight }),
    ...(imageRequest.isUntitled && { isUntitled: true }),
  }
}

/** Returns the width or height of a figure, in pixels; undefined without one. */
export function readLayoutSize(figure: RawJson, name: 'width' | 'height'): number | undefined {
  const layout = figure.get('layout')
  const value = layout?.kind === 'object' ? layout.get(name) : undefined
  return value?.kind === 'number' ? Number(value.toValue()) : undefined
}
