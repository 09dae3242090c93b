/** Draws images of figures that are not stored. */
import { createHash } from 'node:crypto'
import { imageTypes } from '../../contract/operations/index.ts'
import { type Bytes, type RawJson, toByteStream } from '../../json/index.ts'
import type { OperationResult } from '../core/call.ts'
import { STANDALONE_POLICY } from '../core/chart-policy.ts'
import { parseFigure } from '../plots/edit-figure.ts'
import { prepareForDrawing } from '../plots/stream-figure.ts'
import { hashImageKey, type ImageRequest, imageOptions, pictureOptionsOf } from './images.ts'
import { drawIfPossible, type ImageService } from './plot-image.ts'
import { writeStandalonePage } from './standalone-page.ts'

/** Draws a figure that is not stored. With `encoded`, returns JSON with the image in base64. */
export async function drawFigureImage(
  { images, limits }: ImageService,
  rawFigure: RawJson,
  { encoded, ...imageRequest }: ImageRequest & { encoded?: boolean },
): Promise<OperationResult<Bytes>> {
  const figure = await parseFigure(rawFigure)
  const requested = imageOptions(figure, imageRequest, limits)
  const isPage = requested.format === 'html'
  const options = pictureOptionsOf(requested)
  const text = figure.bytes
  const key = hashImageKey(createHash('sha256').update(text).digest('hex'), options)
  const type = imageTypes[requested.format]
  return {
    body: toByteStream(new Uint8Array()),
    ...(isPage && { headers: { 'content-security-policy': STANDALONE_POLICY } }),
    createBody: async (user, work) => {
      const prepare = (isAborted?: () => boolean): Promise<Buffer> =>
        prepareForDrawing(figure, { owner: user, limits, isAborted })
      const draw = (): Promise<Uint8Array> =>
        images.draw(user, key, async (gone) => ({ text: await prepare(gone), key }), options, work.isAborted)
      const image = isPage
        ? writeStandalonePage(await prepare(work.isAborted), await drawIfPossible(draw), {})
        : await draw()
      if (!encoded) return { body: toByteStream(image), type }
      const json = JSON.stringify({ image: Buffer.from(image).toString('base64') })
      return { body: toByteStream(Buffer.from(json)), type: 'application/json' }
    },
  }
}
