/** Draws images of figures that are not stored. */
import { createHash } from 'node:crypto'
import { imageTypes } from '../../contract/operations/index.ts'
import { type Bytes, once, type RawJson } from '../../json/index.ts'
import type { OperationResult } from '../core/call.ts'
import { drawable } from '../plots/content.ts'
import { readFigure } from '../plots/figure.ts'
import { imageKey, imageOptions, type WantedImage } from './images.ts'
import type { ImageService } from './plot.ts'

/** Draws a figure that is not stored. With `encoded`, returns JSON with the image in base64. */
export async function figureImage(
  { images, limits }: ImageService,
  rawFigure: RawJson,
  { encoded, ...imageRequest }: WantedImage & { encoded?: boolean },
): Promise<OperationResult<Bytes>> {
  const figure = await readFigure(rawFigure)
  const options = imageOptions(figure, imageRequest, limits)
  const text = figure.bytes
  const key = imageKey(createHash('sha256').update(text).digest('hex'), options)
  const type = imageTypes[options.format]
  return {
    body: once(new Uint8Array()),
    later: async (user, work) => {
      const image = await images.draw(
        user,
        key,
        async (gone) => ({ text: await drawable(figure, { owner: user, limits, gone }), key }),
        options,
        work.gone,
      )
      if (!encoded) return { body: once(image), type }
      const json = JSON.stringify({ image: Buffer.from(image).toString('base64') })
      return { body: once(Buffer.from(json)), type: 'application/json' }
    },
  }
}
