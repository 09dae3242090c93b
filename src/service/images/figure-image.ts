/** Draws images of figures that are not stored. */
import { createHash } from 'node:crypto'
import { imageTypes } from '../../contract/operations/index.ts'
import { type Bytes, type RawJson, toByteStream } from '../../json/index.ts'
import type { OperationResult } from '../core/call.ts'
import { prepareForDrawing } from '../plots/content.ts'
import { parseFigure } from '../plots/edit-figure.ts'
import { hashImageKey, type ImageRequest, imageOptions } from './images.ts'
import type { ImageService } from './plot-image.ts'

/** Draws a figure that is not stored. With `encoded`, returns JSON with the image in base64. */
export async function drawFigureImage(
  { images, limits }: ImageService,
  rawFigure: RawJson,
  { encoded, ...imageRequest }: ImageRequest & { encoded?: boolean },
): Promise<OperationResult<Bytes>> {
  const figure = await parseFigure(rawFigure)
  const options = imageOptions(figure, imageRequest, limits)
  const text = figure.bytes
  const key = hashImageKey(createHash('sha256').update(text).digest('hex'), options)
  const type = imageTypes[options.format]
  return {
    body: toByteStream(new Uint8Array()),
    createBody: async (user, work) => {
      const image = await images.draw(
        user,
        key,
        async (gone) => ({
          text: await prepareForDrawing(figure, { owner: user, limits, isAborted: gone }),
          key,
        }),
        options,
        work.isAborted,
      )
      if (!encoded) return { body: toByteStream(image), type }
      const json = JSON.stringify({ image: Buffer.from(image).toString('base64') })
      return { body: toByteStream(Buffer.from(json)), type: 'application/json' }
    },
  }
}
