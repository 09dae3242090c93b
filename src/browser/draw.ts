/// <reference lib="dom" />
// Runs in the page that draws images. The page has no network and a strict policy: see src/draw/pages.ts.
import { imagesIn, isOwnImage } from '../contract/figure-images.ts'
import { adapted } from './adapted.ts'
import { type Figure, loadGeo, needsGeo, withoutTiles } from './plotly.ts'
import { fitOf, needsFit, themed } from './theme/index.ts'
import { placesNote } from './theme/maps.ts'
import { inUtc } from './zones.ts'

interface Wanted {
  format: 'png' | 'jpeg' | 'webp' | 'svg'
  width: number
  height: number
  scale: number
  /** How high the image becomes for the rows of a chart. */
  most?: number
  theme?: 'light' | 'dark'
}

declare global {
  interface Window {
    /** Draws a figure (JSON text). Resolves to a data URL. */
    drawFigure(figure: string, wanted: Wanted): Promise<string>
  }
}

window.drawFigure = async (text, wanted) => {
  const { data, layout } = withOwnImages(parsed(text))
  const given = inUtc(adapted({ data: data ?? [], layout: layout ?? {}, config: { staticPlot: true } }))
  const { width, height, most } = wanted
  const figure = themed(
    { ...given, layout: withoutTiles(given) },
    { scheme: wanted.theme ?? 'light', width, height, most },
  )
  // Only a height that the rows of a chart need, within the bound: what a stranger wrote is none.
  const needed = figure.layout.height
  if (most !== undefined && typeof needed === 'number' && needed > height)
    wanted.height = Math.min(most, needed)
  if (needsGeo(figure)) await loadGeo('/plotly-geo.js')
  const image = await imageOf(figure, wanted)
  return wanted.format === 'svg' ? `${SVG}${encodeURIComponent(cleaned(image))}` : image
}

/**
 * The figure with the images that are in itself. An SVG among them loads nothing and runs nothing: Chromium would wait
 * for it for ever.
 */
function withOwnImages(figure: Figure): Figure {
  for (const image of imagesIn(figure).values()) {
    if (!isOwnImage(image)) image.source = ''
    else if (SVG_IMAGE.test(image.source as string)) image.source = ownSvg(image.source as string)
  }
  return figure
}

const SVG_IMAGE = /^data:image\/svg\+xml/i

function ownSvg(source: string): string {
  try {
    const comma = source.indexOf(',')
    const body = source.slice(comma + 1)
    const text = /;base64$/i.test(source.slice(0, comma)) ? utf8(atob(body)) : decodeURIComponent(body)
    return `${SVG}${encodeURIComponent(cleaned(`,${encodeURIComponent(text)}`, OWN_LINK))}`
  } catch {
    // It is no SVG.
    return ''
  }
}

function utf8(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)))
}

/** An image of a figure, drawn again if its texts must move. */
async function imageOf(figure: Figure, wanted: Wanted): Promise<string> {
  if (!needsFit(figure)) return Plotly.toImage(figure, wanted)
  const holder = document.createElement('div')
  document.body.append(holder)
  try {
    const { width, height } = wanted
    await Plotly.newPlot(holder, { ...figure, layout: { ...figure.layout, width, height } })
    const changes = fitOf(holder, placesNote)
    if (changes) await Plotly.relayout(holder, changes)
    return await Plotly.toImage(holder, wanted)
  } finally {
    Plotly.purge(holder)
    holder.remove()
  }
}

/** Characters that XML cannot hold, and halves of surrogate pairs. Written as escapes in JSON. */
const UNUSUAL = /\\u(?:d[89a-f]|00[01]|fff[ef])/i
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** The figure, with texts that can be part of an image. */
function parsed(text: string) {
  if (!UNUSUAL.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_, value) =>
    typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd').replace(ILLEGAL, '') : value,
  )
}

const SVG = 'data:image/svg+xml,'
const LINK = /^(https?:|mailto:|#|data:image\/(png|jpeg|gif|webp);)/i
/** Links of an image inside of a figure: nothing is loaded. */
const OWN_LINK = /^(#|data:image\/(png|jpeg|gif|webp);)/i

/**
 * Removes scripts and event handlers from an SVG image. Texts of a figure can add attributes to it, and a saved image
 * is opened without our policy.
 */
function cleaned(image: string, link = LINK): string {
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
        (localName === 'href' && !link.test(value.trim())) ||
        // A saved image asks no other address when it is opened.
        /url\(\s*['"]?(?!\s*['"]?(#|data:))/i.test(value) ||
        localName === 'autofocus'
      )
        element.removeAttribute(name)
  }
  return new XMLSerializer().serializeToString(tree)
}
