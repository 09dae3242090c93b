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

/** Scales of the images that records link to. Thumbnails are the whole chart, smaller. */
export const IMAGE_SCALES = { default: 1, 'block-thumb': 0.45, 'list-thumb': 0.15 } as const

export interface ImageService extends Service {
  images: Images
}

/**
 * An image of a plot with its present data. Throws `not_found` if the caller may not read the plot, 400 for other
 * files. Access is checked for each request, also if the image was drawn before.
 */
export async function plotImage(
  service: ImageService,
  asked: FileRequest,
  wanted: WantedImage,
): Promise<OperationResult<Bytes>> {
  const { store, images, limits } = service
  const { content, state, ownSiteOnly } = await store.read(async (readers) => {
    const found = await authorizeCall(readers, asked)
    const { file } = found
    if (file.filetype !== 'plot')
      throw new Problem('invalid_request', 'only plots have images', { hint: 'Use the fid of a plot.' })
    const content = await contentOf(readers, found, asked)
    const ownSiteOnly = file.world_readable === 0 && asked.shareKey === undefined
    return { content, state: await stateOfFigure(readers, file, content, asked, content.at), ownSiteOnly }
  })
  const figure = parseRaw(await loadText(store.blobs, storedOf(content)), 'the figure', acceptedBefore)
  const options = imageOptions(figure, wanted, limits)
  const key = imageKey(state, options)
  const etag = `"${key}"`
  const type = imageTypes[options.format]
  const missing = await images.noteOf(state, async () => missingNote(await openFigure(service, asked)))
  const omitted = imagesNote(imagesOnly(figure))
  const headers = {
    ...(missing !== undefined && { [MISSING_HEADER]: encodeURIComponent(missing) }),
    ...(omitted !== undefined && { [WARNING_HEADER]: encodeURIComponent(omitted) }),
  }
  const found = images.find(key)
  if (found) return { body: once(found), type, etag, ownSiteOnly, headers }
  const live = async (gone: () => boolean) => {
    const opened = await openDrawn(service, { ...asked, gone })
    const text = await wholeFigure(opened, limits.image_figure_bytes)
    if (!text)
      throw new Problem(
        'bad_figure',
        `the figure with its data is larger than ${bytesText(limits.image_figure_bytes)} (limit image_figure_bytes)`,
        { hint: 'Plot fewer rows.' },
      )
    return { text, key: imageKey(opened.state, options) }
  }
  return {
    body: once(new Uint8Array()),
    type,
    etag,
    ownSiteOnly,
    headers,
    later: async (user, work) => ({
      body: once(await images.draw(user, key, live, options, work.gone)),
      type,
    }),
  }
}

/** A figure without anything but its images. */
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
