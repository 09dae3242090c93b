/// <reference lib="dom" />
// Draws images, in a page without network and with a strict policy: see src/draw/pages.ts.
import { findImages, isEmbeddedImage } from '../contract/figure-images.ts'
import { registerLocale } from './locales.ts'
import { joinMarks } from './marks/index.ts'
import { drawsAll, type Figure, loadGeo, loadScript, needsGeo, removeTiles, removeTitle } from './plotly.ts'
import { furtherChanges } from './theme/further-changes.ts'
import { applyTheme, measuredChanges, needsMeasuring } from './theme/index.ts'
import { upgradeFigure } from './upgrade-figure.ts'
import { convertToUtc } from './zones.ts'

/** Builds of plotly.js with fewer trace types, smallest first: name and types. */
const smallerBuilds: readonly (readonly [name: string, types: readonly string[]])[] = JSON.parse(
  document.currentScript!.dataset.builds!,
)

/** Options of an image. */
interface ImageOptions {
  format: 'png' | 'jpeg' | 'webp' | 'svg'
  width: number
  height: number
  scale: number
  /** Maximum height if a chart grows with its rows. */
  maxHeight?: number
  theme?: 'light' | 'dark'
  /** Leaves out the title. */
  isUntitled?: boolean
}

declare global {
  interface Window {
    /** Parses the next figure (JSON text), and loads a build of plotly.js that draws it. */
    loadFigure(text: string): Promise<void>
    /** Draws the figure. Resolves to a data URL. */
    drawFigure(options: ImageOptions): Promise<string>
  }
}

let nextFigure: Figure | undefined

window.loadFigure = async (text) => {
  const { data, layout } = parseFigure(text)
  nextFigure = { data: data ?? [], layout: layout ?? {}, config: { staticPlot: true } }
  await loadPlotly(nextFigure)
}

window.drawFigure = async (options) => {
  const upgraded = upgradeFigure(cleanImages(nextFigure!))
  nextFigure = undefined
  // Some figures of old versions get other types.
  await loadPlotly(upgraded)
  const adaptedFigure = convertToUtc(registerLocale(upgraded, Plotly))
  const { width, height, maxHeight } = options
  const layoutWithoutTiles = removeTiles(adaptedFigure)
  const figure = applyTheme(
    { ...adaptedFigure, layout: options.isUntitled ? removeTitle(layoutWithoutTiles) : layoutWithoutTiles },
    { scheme: options.theme ?? 'light', width, height, maxHeight },
  )
  // Grow for the rows of a chart, up to the maximum. Other figures keep their height.
  const needed = figure.layout.height
  if (maxHeight !== undefined && typeof needed === 'number' && needed > height)
    options.height = Math.min(maxHeight, needed)
  if (needsGeo(figure)) await loadGeo('/plotly-geo.js')
  const image = await drawImage(figure, options)
  return options.format === 'svg' ? `${SVG_URL_PREFIX}${encodeURIComponent(cleanSvg(image))}` : image
}

/** Trace types that the loaded build of plotly.js draws; undefined if none is loaded. */
let loadedTypes: readonly string[] | 'all' | undefined

/** Loads the smallest build of plotly.js that draws a figure; all of it if a smaller one was loaded for another figure. */
async function loadPlotly(figure: Figure): Promise<void> {
  if (loadedTypes === 'all' || (loadedTypes && drawsAll(loadedTypes, figure))) return
  const [name, types] = (!loadedTypes && smallerBuilds.find(([, each]) => drawsAll(each, figure))) || []
  await loadScript(`/${name ? `bundle-${name}` : 'plotly'}.js`, 'plotly.js')
  loadedTypes = types ?? 'all'
}

/** Removes images that are not data URLs, and cleans SVG images: Chromium would wait for their links. */
function cleanImages(figure: Figure): Figure {
  for (const image of findImages(figure).values()) {
    if (!isEmbeddedImage(image)) image.source = ''
    else if (SVG_IMAGE.test(image.source as string)) image.source = cleanSvgImage(image.source as string)
  }
  return figure
}

const SVG_IMAGE = /^data:image\/svg\+xml/i

/** Returns the data URL of a cleaned SVG image; empty if it is invalid. */
function cleanSvgImage(source: string): string {
  try {
    const comma = source.indexOf(',')
    const body = source.slice(comma + 1)
    const text = /;base64$/i.test(source.slice(0, comma)) ? decodeUtf8(atob(body)) : decodeURIComponent(body)
    return `${SVG_URL_PREFIX}${encodeURIComponent(cleanSvg(`,${encodeURIComponent(text)}`, ALLOWED_INNER_LINK))}`
  } catch {
    // Not an SVG image.
    return ''
  }
}

function decodeUtf8(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)))
}

/** Draws an image. Draws it again if texts must move. */
async function drawImage(figure: Figure, options: ImageOptions): Promise<string> {
  await joinMarks(Plotly, figure)
  if (!needsMeasuring(figure)) return Plotly.toImage(figure, options)
  const holder = document.createElement('div')
  document.body.append(holder)
  try {
    const { width, height } = options
    await Plotly.newPlot(holder, { ...figure, layout: { ...figure.layout, width, height } })
    const changes = measuredChanges(holder, furtherChanges)
    if (changes) await Plotly.relayout(holder, changes)
    // Its pixels are kept only for a drawing that is made for an image.
    if (holder.querySelector('canvas')) return await Plotly.toImage(holder, options)
    return await toImageAsDrawn(holder, options)
  } finally {
    Plotly.purge(holder)
    holder.remove()
  }
}

/** Returns the image of a drawn chart, which `toImage` would draw once more. */
async function toImageAsDrawn(element: HTMLElement, options: ImageOptions): Promise<string> {
  const { format, width, height, scale } = options
  const svg = Plotly.Snapshot.toSVG(element, format, scale)
  if (format === 'svg') return `${SVG_URL_PREFIX}${encodeURIComponent(svg)}`
  const canvas = document.createElement('canvas')
  return Plotly.Snapshot.svgToImg({ format, width, height, scale, canvas, svg, promise: true })
}

/** JSON escapes of characters that XML does not allow, and of surrogates. */
const MAY_HOLD_INVALID_XML = /\\u(?:d[89a-f]|00[01]|fff[ef])/i
const INVALID_XML_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** Parses a figure and replaces characters that XML does not allow. */
function parseFigure(text: string) {
  if (!MAY_HOLD_INVALID_XML.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_, value) =>
    typeof value === 'string'
      ? value.replace(/\p{Surrogate}/gu, '\ufffd').replace(INVALID_XML_CHARACTERS, '')
      : value,
  )
}

const SVG_URL_PREFIX = 'data:image/svg+xml,'
const ALLOWED_LINK = /^(https?:|mailto:|#|data:image\/(png|jpeg|gif|webp);)/i
/** Allowed links in an image inside a figure: nothing is loaded. */
const ALLOWED_INNER_LINK = /^(#|data:image\/(png|jpeg|gif|webp);)/i

/**
 * Removes scripts and event handlers from an SVG image. Texts of a figure could inject attributes, and saved
 * images are opened without our policy.
 */
function cleanSvg(image: string, allowedLinks = ALLOWED_LINK): string {
  const text = decodeURIComponent(image.slice(image.indexOf(',') + 1))
  const tree = new DOMParser().parseFromString(text, 'image/svg+xml')
  if (tree.querySelector('parsererror')) throw new Error('the image is not well-formed')
  for (const element of tree.querySelectorAll('*')) {
    if (
      /^(script|foreignobject|iframe|object|embed|handler|animate|set|animatetransform)$/i.test(
        element.localName,
      )
    ) {
      element.remove()
      continue
    }
    for (const { name, localName, value } of [...element.attributes])
      if (
        /^on/i.test(localName) ||
        (localName === 'href' && !allowedLinks.test(value.trim())) ||
        // A saved image must not load other URLs.
        /url\(\s*['"]?(?!\s*['"]?(#|data:))/i.test(value) ||
        localName === 'autofocus'
      )
        element.removeAttribute(name)
  }
  return new XMLSerializer().serializeToString(tree)
}
