import { type Attributes, edgeOf, type View } from './draft.ts'

/** The name of an image of a theme that is its logo, and of the image that is drawn. */
const LOGO = 'logo'
const DRAWN = 'gridline-logo'
/** The room of a logo, in pixels, and between it and the title. */
const WIDTH_PIXELS = 110
const HEIGHT_PIXELS = 30
const GAP_PIXELS = 16

/** The logo of a template that leaves its place to us: an image named `logo` without a position. */
function logoOf(template: unknown): Attributes | undefined {
  const images = (template as Attributes | undefined)?.layout?.images
  return Array.isArray(images)
    ? images.find((one) => one?.name === LOGO && one.x === undefined && one.y === undefined)
    : undefined
}

/** Width that the title leaves to a logo, in pixels. */
export function logoRoom(template: unknown): number {
  return logoOf(template) ? WIDTH_PIXELS + GAP_PIXELS : 0
}

/** Height that a logo needs above the plot, in pixels. */
export function logoHeight(template: unknown): number {
  return logoOf(template) ? HEIGHT_PIXELS + GAP_PIXELS : 0
}

/** The layout with the logo of its template at the top right. plotly.js has sizes of images in parts of the plot. */
export function withLogo(layout: Attributes, template: Attributes, view: View): Attributes {
  const logo = logoOf(template)
  if (!logo) return layout
  const { l, r, t, b } = layout.margin
  const size = { l, r, t, w: view.width - l - r, h: view.height - t - b }
  const image = {
    ...logo,
    ...{ name: DRAWN, xref: 'paper', yref: 'paper', xanchor: 'right', yanchor: 'top', layer: 'above' },
    ...placeOf(size, edgeOf(view)),
  }
  return { ...layout, images: [...(Array.isArray(layout.images) ? layout.images : []), image] }
}

/** The template without the logo that is placed. */
export function withoutLogo(template: Attributes): Attributes {
  const logo = logoOf(template)
  if (!logo) return template
  const images = template.layout.images.filter((one: unknown) => one !== logo)
  return { ...template, layout: { ...template.layout, images } }
}

interface Plot {
  l: number
  r: number
  t: number
  w: number
  h: number
}

function placeOf({ r, t, w, h }: Plot, edge: number): Attributes {
  return { x: 1 + (r - edge) / w, y: 1 + (t - edge) / h, sizex: WIDTH_PIXELS / w, sizey: HEIGHT_PIXELS / h }
}

/** Where a logo has to be once the size of the plot is known, as changes of the layout. */
export function logoChanges({ images, width }: Attributes, plot: Plot): Attributes {
  const k = placeOfLogo(images)
  if (k < 0) return {}
  const place = placeOf(plot, edgeOf({ width, height: 0, scheme: 'light' }))
  return Object.fromEntries(Object.entries(place).map(([name, value]) => [`images[${k}].${name}`, value]))
}

export function hasLogo({ images }: Attributes): boolean {
  return placeOfLogo(images) >= 0
}

function placeOfLogo(images: unknown): number {
  return Array.isArray(images) ? images.findIndex((one) => one?.name === DRAWN) : -1
}
