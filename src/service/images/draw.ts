/** Draws images without a service, for the command line. */
import { Problem } from '../../contract/errors.ts'
import { limitsFrom } from '../../contract/limits.ts'
import { Drawer } from '../../draw/index.ts'
import { parseRawInTurns } from '../../json/index.ts'
import { drawable } from '../plots/content.ts'
import { readFigure } from '../plots/figure.ts'
import { imageOptions, type WantedImage } from './images.ts'

/** Maximum number of attempts if the machine is too busy to draw in time. */
const MAX_TRIES = 3

/** Draws the figure in a JSON text. Limits and the path of Chromium come from `environment`. */
export async function drawFigure(
  text: string,
  request: WantedImage,
  environment: Record<string, string | undefined>,
): Promise<Uint8Array> {
  const limits = limitsFrom(environment)
  const figure = await readFigure(await parseRawInTurns(Buffer.from(text), 'figure', limits))
  const drawer = new Drawer({
    memory: limits.image_memory_bytes,
    seconds: limits.image_seconds,
    chromium: environment.GRIDLINE_CHROMIUM,
  })
  try {
    const json = await drawable(figure, { owner: '', limits })
    const options = imageOptions(figure, request, limits)
    for (let tries = 1; ; tries++)
      try {
        return await drawer.draw(json, options)
      } catch (error) {
        const isBusy = error instanceof Problem && error.code === 'overloaded'
        if (!isBusy || tries === MAX_TRIES) throw error
      }
  } finally {
    await drawer.close()
  }
}
