/** Draws images of stored plots. */
import { buffer } from 'node:stream/consumers'
import { Problem } from '../../contract/errors.ts'
import { formatImagesNote } from '../../contract/figure-images.ts'
import { MISSING_HEADER, WARNING_HEADER } from '../../contract/headers.ts'
import { formatBytes } from '../../contract/limits.ts'
import { imageTypes } from '../../contract/operations/index.ts'
import {
  type Bytes,
  NO_JSON_LIMITS,
  parseRaw,
  type RawJson,
  toByteStream,
  type WorkBudget,
} from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import type { OperationResult } from '../core/call.ts'
import { STANDALONE_POLICY } from '../core/chart-policy.ts'
import type { Service } from '../core/context.ts'
import { createPageFacts } from '../files/page-facts.ts'
import { formatStaleNote } from '../files/stale.ts'
import { findFigureContent, openDownsampledFigure, openFigure } from '../plots/content.ts'
import { findFigureState } from '../plots/referenced-grids.ts'
import { describeMissingData, readWholeFigure } from '../plots/stream-figure.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed } from '../store/aggregates/slice-json.ts'
import {
  hashImageKey,
  type ImageRenderer,
  type ImageRequest,
  imageOptions,
  pictureOptionsOf,
} from './images.ts'
import { writeStandalonePage } from './standalone-page.ts'

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
  const { content, fingerprint, grids, ownSiteOnly, file } = await store.read(async (readers) => {
    const authorized = await authorizeCall(readers, request)
    const { file } = authorized
    if (file.filetype !== 'plot')
      throw new Problem('invalid_request', 'only plots and boards have images', {
        hint: 'Use the fid of a plot.',
      })
    const content = await findFigureContent(readers, authorized, request)
    const ownSiteOnly = file.world_readable === 0 && request.shareKey === undefined
    const state = await findFigureState(readers, file, content, request, content.version)
    return { content, ...state, ownSiteOnly, file }
  })
  const figure = parseRaw(
    await loadDecompressed(store.blobs, storedContentOf(content)),
    'the figure',
    NO_JSON_LIMITS,
  )
  const requested = imageOptions(figure, imageRequest, limits)
  const isPage = requested.format === 'html'
  const options = pictureOptionsOf(requested)
  const key = hashImageKey(fingerprint, options)
  const etag = `"${key}${isPage ? '-html' : ''}"`
  const type = imageTypes[requested.format]
  const missing = await images.getNote(fingerprint, async () =>
    describeMissingData(await openFigure(service, request)),
  )
  const warnings = [formatImagesNote(extractImages(figure)), formatStaleNote(grids)].filter(
    (note) => note !== undefined,
  )
  const headers = {
    ...(missing !== undefined && { [MISSING_HEADER]: encodeURIComponent(missing) }),
    ...(isPage && { 'content-security-policy': STANDALONE_POLICY }),
    ...(warnings.length > 0 && { [WARNING_HEADER]: encodeURIComponent(warnings.join('; ')) }),
  }
  const cached = isPage ? undefined : images.getCached(key)
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
    return { text, key: hashImageKey(view.fingerprint, options), view }
  }
  return {
    body: toByteStream(new Uint8Array()),
    type,
    etag,
    isSameOriginOnly: ownSiteOnly,
    headers,
    createBody: async (user, work) => {
      const draw = () => images.draw(user, key, loadFigure, options, work.isAborted)
      if (!isPage) return { body: toByteStream(await draw()), type }
      const picture = await drawIfPossible(draw)
      const { text, view } = await loadFigure(work.isAborted ?? (() => false))
      const sources = [view.file, ...[...view.grids.values()].flatMap((grid) => grid.file ?? [])]
      const facts = createPageFacts(service, file, sources)
      return { body: toByteStream(writeStandalonePage(text, picture, facts)), type }
    },
  }
}

/** Reads a drawn image into memory. */
export async function readImage(
  { body, createBody }: OperationResult<Bytes>,
  user: string,
  work: WorkBudget,
): Promise<Buffer> {
  return buffer((createBody ? (await createBody(user, work)).body : body) as Bytes)
}

/** Draws a picture with `draw`; undefined on a machine without Chromium: a page can do without. */
export async function drawIfPossible(draw: () => Promise<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return await draw()
  } catch (error) {
    if (error instanceof Problem && error.code === 'no_chromium') return undefined
    throw error
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
