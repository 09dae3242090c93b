import type { ImageFormat } from '../contract/operations/index.ts'

export interface ImageOptions {
  format: ImageFormat
  /** In CSS pixels. */
  width: number
  height: number
  /** Pixels of the image per CSS pixel. No effect on SVG and PDF. */
  scale: number
  /** Colors: for a light page, or a dark one. Figures with colors of their own keep them. */
  theme?: 'light' | 'dark'
  /** How high the image becomes for the rows of a chart, if it may. */
  most?: number
}

/** What the drawing process is asked to draw. */
export interface DrawRequest {
  id: number
  /** The figure, as JSON text. */
  figure: Uint8Array
  options: ImageOptions
  /** Time limit, in ms. */
  timeout: number
}

/** Its response: an image, or why there is none. */
export type DrawResponse =
  | { id: number; image: Uint8Array }
  | {
      id: number
      failure: 'undrawable' | 'too_slow' | 'starved' | 'too_large' | 'crashed' | 'no_browser'
      detail: string
    }

/** How the drawing process is started. */
export interface DrawSettings {
  /** Memory that Chromium may use, in bytes. */
  memory: number
  /** The folder of the scripts that pages load. */
  assets: string
  /** A Chromium to use instead of the one found. */
  chromium?: string
}
