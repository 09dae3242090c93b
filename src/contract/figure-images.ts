/** Images inside of figures: drawing has no network, so only those that are in the figure itself are drawn. */

interface Images {
  data?: unknown
  layout?: unknown
}

const OWN = /^data:image\//i

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the objects of a figure that have an image as their `source`, by their paths. */
export function imagesIn({ data, layout }: Images): Map<string, { source?: unknown }> {
  const found = new Map<string, { source?: unknown }>()
  const add = (list: unknown, path: string, isImage: (one: Record<string, unknown>) => boolean): void => {
    for (const [k, one] of Array.isArray(list) ? list.entries() : [])
      if (isObject(one) && isImage(one) && typeof one.source === 'string') found.set(`${path}.${k}`, one)
  }
  add(data, 'data', ({ type }) => type === 'image')
  if (isObject(layout)) add(layout.images, 'layout.images', () => true)
  return found
}

/** Returns whether an image is in the figure itself. */
export function isOwnImage({ source }: { source?: unknown }): boolean {
  return typeof source === 'string' && OWN.test(source)
}

/** What an image of a figure does not show, as a text; undefined if nothing is left out. */
export function imagesNote(figure: Images): string | undefined {
  const others = [...imagesIn(figure)].filter(([, image]) => !isOwnImage(image)).map(([path]) => path)
  if (others.length === 0) return undefined
  const [are, they] = others.length === 1 ? ['is', 'it is'] : ['are', 'they are']
  return `${others.slice(0, 5).join(', ')}${others.length > 5 ? ' and others' : ''} ${are} not drawn: ${they} at another address, and images are drawn without a network`
}
