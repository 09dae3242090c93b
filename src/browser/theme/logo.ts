// Logo of a theme.
import { type Attributes, edgePixelsOf, type View } from './arrangement.ts'

/** Name of the logo image in a template, and of the image that is drawn. */
const TEMPLATE_LOGO_NAME = 'logo'
const DRAWN_LOGO_NAME = 'gridline-logo'
/** Size of a logo and the space between it and the title, in pixels. */
const WIDTH_PIXELS = 110
const HEIGHT_PIXELS = 30
const GAP_PIXELS = 16

/** Returns the image named `logo` of a template if it has no position; otherwise undefined. */
function findLogo(template: unknown): Attributes | undefined {
  const images = (template as Attributes | undefined)?.layout?.images
  return Array.isArray(images)
    ? images.find(
        (image) => image?.name === TEMPLATE_LOGO_NAME && image.x === undefined && image.y === undefined,
      )
    : undefined
}

/** Returns the width beside the title for a logo, in pixels. */
export function logoWidthOf(template: unknown): number {
  return findLogo(template) ? WIDTH_PIXELS + GAP_PIXELS : 0
}

/** Returns the height above the plot for a logo, in pixels. */
export function logoHeightOf(template: unknown): number {
  return findLogo(template) ? HEIGHT_PIXELS + GAP_PIXELS : 0
}

/** Returns the layout with the logo at the top right. plotly.js measures images in shares of the plot. */
export function withLogo(layout: Attributes, template: Attributes, view: View): Attributes {
  const logo = findLogo(template)
  if (!logo) return layout
  const { l, r, t, b } = layout.margin
  const size = { l, r, t, w: view.width - l - r, h: view.height - t - b }
  const image = {
    ...logo,
    ...{
      name: DRAWN_LOGO_NAME,
      xref: 'paper',
      yref: 'paper',
      xanchor: 'right',
      yanchor: 'top',
      layer: 'above',
    },
    ...logoPositionOf(size, edgePixelsOf(view)),
  }
  return { ...layout, images: [...(Array.isArray(layout.images) ? layout.images : []), image] }
}

/** Returns the template without the logo, which `withLogo` draws. */
export function withoutLogo(template: Attributes): Attributes {
  const logo = findLogo(template)
  if (!logo) return template
  const images = template.layout.images.filter((image: unknown) => image !== logo)
  return { ...template, layout: { ...template.layout, images } }
}

/** Margins and size of the plot, in pixels. */
interface Plot {
  l: number
  r: number
  t: number
  w: number
  h: number
}

/** Returns the position and size of the logo, in shares of the plot. */
function logoPositionOf({ r, t, w, h }: Plot, edge: number): Attributes {
  return { x: 1 + (r - edge) / w, y: 1 + (t - edge) / h, sizex: WIDTH_PIXELS / w, sizey: HEIGHT_PIXELS / h }
}

/** Returns the layout changes that move the logo once the plot size is known. */
export function logoChanges({ images, width }: Attributes, plot: Plot): Attributes {
  const k = findDrawnLogo(images)
  if (k < 0) return {}
  const position = logoPositionOf(plot, edgePixelsOf({ width, height: 0, scheme: 'light' }))
  return Object.fromEntries(Object.entries(position).map(([name, value]) => [`images[${k}].${name}`, value]))
}

export function hasLogo({ images }: Attributes): boolean {
  return findDrawnLogo(images) >= 0
}

/** Returns the index of the drawn logo; -1 if there is none. */
function findDrawnLogo(images: unknown): number {
  return Array.isArray(images) ? images.findIndex((image) => image?.name === DRAWN_LOGO_NAME) : -1
}
