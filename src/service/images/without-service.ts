/** Draws images without a service, for the command line. */
import { Problem } from '../../contract/errors.ts'
import { readLimits } from '../../contract/limits.ts'
import { Drawer } from '../../draw/index.ts'
import { parseRawAsync } from '../../json/index.ts'
import { parseFigure } from '../plots/edit-figure.ts'
import { prepareForDrawing } from '../plots/stream-figure.ts'
import { type ImageRequest, imageOptions, pictureOptionsOf } from './images.ts'
import { drawIfPossible } from './plot-image.ts'
import { writeStandalonePage } from './standalone-page.ts'

/** Maximum number of attempts if the machine is too busy to draw in time. */
const MAX_TRIES = 3

/** Draws the figure in a JSON text. Limits and the path of Chromium come from `environment`. */
export async function drawFigure(
  text: string,
  request: ImageRequest & { title?: string },
  environment: Record<string, string | undefined>,
): Promise<Uint8Array> {
  const limits = readLimits(environment)
  const figure = await parseFigure(await parseRawAsync(Buffer.from(text), 'figure', limits))
  const drawer = new Drawer({
    maxMemoryBytes: limits.image_memory_bytes,
    timeoutSeconds: limits.image_seconds,
    chromium: environment.GRIDLINE_CHROMIUM,
  })
  try {
    const json = await prepareForDrawing(figure, { owner: '', limits })
    const requested = imageOptions(figure, request, limits)
    const options = pictureOptionsOf(requested)
    for (let tries = 1; ; tries++)
      try {
        if (requested.format !== 'html') return await drawer.draw(json, options)
        const picture = await drawIfPossible(() => drawer.draw(json, options))
        return writeStandalonePage(json, picture, { title: request.title })
      } catch (error) {
        const isBusy = error instanceof Problem && error.code === 'overloaded'
        if (!isBusy || tries === MAX_TRIES) throw error
      }
  } finally {
    await drawer.close()
  }
}
