/** Draws images of stored plots. */
import { Problem } from '../../contract/errors.ts'
import { formatImagesNote } from '../../contract/figure-images.ts'
import { MISSING_HEADER, WARNING_HEADER } from '../../contract/headers.ts'
import { formatBytes } from '../../contract/limits.ts'
import { imageTypes } from '../../contract/operations/index.ts'
import { type Bytes, NO_JSON_LIMITS, parseRaw, type RawJson, toByteStream } from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import type { OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import {
  describeMissingData,
  findFigureContent,
  openDownsampledFigure,
  openFigure,
  readWholeFigure,
} from '../plots/content.ts'
import { fingerprintFigure } from '../plots/referenced-grids.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed } from '../store/aggregates/slice-json.ts'
import { hashImageKey, type ImageRenderer, type ImageRequest, imageOptions } from './images.ts'

/** Scales of the images that file records link to. Thumbnails show the whole chart. */
export const IMAGE_SCALES = { default: 1, 'block-thumb': 0.45, 'list-thumb': 0.15 } as const

export interface ImageService extends Service {
  images: ImageRenderer
}

/** Draws a plot with its current data. Checks access, also for cached images. Throws `not_found`. */
export async function drawPlotImage(
  service: ImageService,
  request: FileRequest,
  imageRequest: ImageRequest,
): Promise<OperationResult<Bytes>> {
  const { store, images, limits } = service
  const { content, fingerprint, ownSiteOnly } = await store.read(async (readers) => {
    const authorized = await authorizeCall(readers, request)
    const { file } = authorized
    if (file.filetype !== 'plot')
      throw new Problem('invalid_request', 'only plots have images', { hint: 'Use the fid of a plot.' })
    const content = await findFigureContent(readers, authorized, request)
    const ownSiteOnly = file.world_readable === 0 && request.shareKey === undefined
    const fingerprint = await fingerprintFigure(readers, file, content, request, content.version)
    return { content, fingerprint, ownSiteOnly }
  })
  const figure = parseRaw(
    await loadDecompressed(store.blobs, storedContentOf(content)),
    'the figure',
    NO_JSON_LIMITS,
  )
  const options = imageOptions(figure, imageRequest, limits)
  const key = hashImageKey(fingerprint, options)
  const etag = `"${key}"`
  const type = imageTypes[options.format]
  const missing = await images.getNote(fingerprint, async () =>
    describeMissingData(await openFigure(service, request)),
  )
  const omittedImages = formatImagesNote(extractImages(figure))
  const headers = {
    ...(missing !== undefined && { [MISSING_HEADER]: encodeURIComponent(missing) }),
    ...(omittedImages !== undefined && { [WARNING_HEADER]: encodeURIComponent(omittedImages) }),
  }
  const cached = images.getCached(key)
  if (cached) return { body: toByteStream(cached), type, etag, isSameOriginOnly: ownSiteOnly, headers }
  const loadFigure = async (gone: () => boolean) => {
    const view = await openDownsampledFigure(service, { ...request, isAborted: gone })
    const text = await readWholeFigure(view, limits.image_figure_bytes)
    if (!text)
      throw new Problem(
        'bad_figure',
        `the figure with its data is larger than ${formatBytes(limits.image_figure_bytes)} (limit image_figure_bytes)`,
        { hint: 'Plot fewer rows.' },
      )
    return { text, key: hashImageKey(view.fingerprint, options) }
  }
  return {
    body: toByteStream(new Uint8Array()),
    type,
    etag,
    isSameOriginOnly: ownSiteOnly,
    headers,
    createBody: async (user, work) => ({
      body: toByteStream(await images.draw(user, key, loadFigure, options, work.isAborted)),
      type,
    }),
  }
}

/** Extracts the images of a figure. */
function extractImages(figure: RawJson): { data: unknown[]; layout: { images: unknown } } {
  const data = figure.get('data')
  const layout = figure.get('layout')
  const traces = data?.kind === 'array' ? [...data.items()] : []
  return {
    data: traces.map((trace) =>
      trace.kind === 'object' && trace.get('type')?.toValue() === 'image'
        ? { type: 'image', source: trace.get('source')?.toValue() }
        : null,
    ),
    layout: { images: layout?.kind === 'object' ? layout.get('images')?.toValue() : undefined },
  }
}
