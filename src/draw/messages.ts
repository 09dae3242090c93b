// Messages between the server and the drawing process.
import type { ImageFormat } from '../contract/operations/index.ts'

export interface ImageOptions {
  format: Exclude<ImageFormat, 'html'>
  /** In CSS pixels. */
  width: number
  height: number
  /** Image pixels per CSS pixel. Ignored for SVG and PDF. */
  scale: number
  /** Color scheme. Figures that set their own colors keep them. */
  theme?: 'light' | 'dark'
  /** Maximum height in CSS pixels if a chart grows with its rows; undefined for a fixed height. */
  maxHeight?: number
  /** The page around the image shows the title. */
  isUntitled?: boolean
  /** Of a document: maximum number of image pixels. */
  maxPixels?: number
}

/** Request to the drawing process. */
export interface DrawRequest {
  id: number
  /** Figure as JSON text, or a document in HTML, which runs no scripts. */
  figure: Uint8Array
  isDocument: boolean
  options: ImageOptions
  /** Time limit, in ms. */
  timeoutMs: number
}

/** Response of the drawing process: an image, or the reason of the failure. */
export type DrawResponse =
  | { id: number; image: Uint8Array }
  | {
      id: number
      failure: 'undrawable' | 'too_slow' | 'starved' | 'too_large' | 'crashed' | 'no_browser'
      detail: string
    }

/** Settings of the drawing process. */
export interface DrawSettings {
  /** Maximum memory of Chromium, in bytes. */
  maxMemoryBytes: number
  /** Directory of the scripts that pages load. */
  assets: string
  /** Path of a Chromium to use instead of searching for one. */
  chromium?: string
}
