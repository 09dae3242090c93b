// Images inside of figures. Figures are drawn without a network: only images embedded in the figure are
// visible.

interface FigureParts {
  data?: unknown
  layout?: unknown
}

const IMAGE_DATA_URL = /^data:image\//i

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the objects of a figure that have an image as `source`, by path. */
export function findImages({ data, layout }: FigureParts): Map<string, { source?: unknown }> {
  const images = new Map<string, { source?: unknown }>()
  const add = (list: unknown, path: string, isImage: (item: Record<string, unknown>) => boolean): void => {
    for (const [k, item] of Array.isArray(list) ? list.entries() : [])
      if (isObject(item) && isImage(item) && typeof item.source === 'string') images.set(`${path}.${k}`, item)
  }
  add(data, 'data', ({ type }) => type === 'image')
  if (isObject(layout)) add(layout.images, 'layout.images', () => true)
  return images
}

/** Returns whether an image is embedded in the figure. */
export function isEmbeddedImage({ source }: { source?: unknown }): boolean {
  return typeof source === 'string' && IMAGE_DATA_URL.test(source)
}

/** Returns a note about images that are not drawn; undefined if all are embedded. */
export function formatImagesNote(figure: FigureParts): string | undefined {
  const external = [...findImages(figure)]
    .filter(([, image]) => !isEmbeddedImage(image))
    .map(([path]) => path)
  if (external.length === 0) return undefined
  const [are, they] = external.length === 1 ? ['is', 'it is'] : ['are', 'they are']
  return `${external.slice(0, 5).join(', ')}${external.length > 5 ? ' and others' : ''} ${are} not drawn: ${they} at another URL, and figures are drawn without a network`
}
