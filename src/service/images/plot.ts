/** Draws images of stored plots. */
import { Problem } from '../../contract/errors.ts'
import { imagesNote } from '../../contract/figure-images.ts'
import { MISSING_HEADER, WARNING_HEADER } from '../../contract/headers.ts'
import { bytesText } from '../../contract/limits.ts'
import { imageTypes } from '../../contract/operations/index.ts'
import { acceptedBefore, type Bytes, once, parseRaw, type RawJson } from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import type { OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { contentOf, missingNote, openDrawn, openFigure, wholeFigure } from '../plots/content.ts'
import { stateOfFigure } from '../plots/shown.ts'
import { storedOf } from '../store/aggregates/plots.ts'
import { loadText } from '../store/aggregates/texts.ts'
import { type Images, imageKey, imageOptions, type WantedImage } from './images.ts'

/** Scales of the images that file records link to. Thumbnails show the whole chart. */
export const IMAGE_SCALES = { default: 1, 'block-thumb': 0.45, 'list-thumb': 0.15 } as const

export interface ImageService extends Service {
  images: Images
}

/** Draws a plot with its current data. Checks access, also for cached images. Throws `not_found`. */
export async function plotImage(
  service: ImageService,
  request: FileRequest,
  imageRequest: WantedImage,
): Promise<OperationResult<Bytes>> {
  const { store, images, limits } = service
  const { content, fingerprint, ownSiteOnly } = await store.read(async (readers) => {
    const authorized = await authorizeCall(readers, request)
    const { file } = authorized
    if (file.filetype !== 'plot')
      throw new Problem('invalid_request', 'only plots have images', { hint: 'Use the fid of a plot.' })
    const content = await contentOf(readers, authorized, request)
    const ownSiteOnly = file.world_readable === 0 && request.shareKey === undefined
    const fingerprint = await stateOfFigure(readers, file, content, request, content.at)
    return { content, fingerprint, ownSiteOnly }
  })
  const figure = parseRaw(await loadText(store.blobs, storedOf(content)), 'the figure', acceptedBefore)
  const options = imageOptions(figure, imageRequest, limits)
  const key = imageKey(fingerprint, options)
  const etag = `"${key}"`
  const type = imageTypes[options.format]
  const missing = await images.noteOf(fingerprint, async () =>
    missingNote(await openFigure(service, request)),
  )
  const omittedImages = imagesNote(imagesOnly(figure))
  const headers = {
    ...(missing !== undefined && { [MISSING_HEADER]: encodeURIComponent(missing) }),
    ...(omittedImages !== undefined && { [WARNING_HEADER]: encodeURIComponent(omittedImages) }),
  }
  const cached = images.find(key)
  if (cached) return { body: once(cached), type, etag, ownSiteOnly, headers }
  const loadFigure = async (gone: () => boolean) => {
    const view = await openDrawn(service, { ...request, gone })
    const text = await wholeFigure(view, limits.image_figure_bytes)
    if (!text)
      throw new Problem(
        'bad_figure',
        `the figure with its data is larger than ${bytesText(limits.image_figure_bytes)} (limit image_figure_bytes)`,
        { hint: 'Plot fewer rows.' },
      )
    return { text, key: imageKey(view.state, options) }
  }
  return {
    body: once(new Uint8Array()),
    type,
    etag,
    ownSiteOnly,
    headers,
    later: async (user, work) => ({
      body: once(await images.draw(user, key, loadFigure, options, work.gone)),
      type,
    }),
  }
}

/** Extracts the images of a figure. */
function imagesOnly(figure: RawJson): { data: unknown[]; layout: { images: unknown } } {
  const data = figure.get('data')
  const layout = figure.get('layout')
  const traces = data?.kind === 'array' ? [...data.items()] : []
  return {
    data: traces.map((trace) =>
      trace.kind === 'object' && trace.get('type')?.value() === 'image'
        ? { type: 'image', source: trace.get('source')?.value() }
        : null,
    ),
    layout: { images: layout?.kind === 'object' ? layout.get('images')?.value() : undefined },
  }
}
