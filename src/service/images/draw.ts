import { Problem } from '../../contract/errors.ts'
import { limitsFrom } from '../../contract/limits.ts'
import { Drawer } from '../../draw/index.ts'
import { parseRawInTurns } from '../../json/index.ts'
import { drawable } from '../plots/content.ts'
import { readFigure } from '../plots/figure.ts'
import { imageOptions, type WantedImage } from './images.ts'

/** How often a figure is drawn that does not get its time on a busy machine. */
const MAX_TRIES = 3

/** Draws a figure without a service: nothing is stored, no server is asked. */
export async function drawFigure(
  text: string,
  wanted: WantedImage,
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
    const drawn = await drawable(figure, { owner: '', limits })
    const options = imageOptions(figure, wanted, limits)
    for (let tries = 1; ; tries++)
      try {
        return await drawer.draw(drawn, options)
      } catch (error) {
        const isBusy = error instanceof Problem && error.code === 'overloaded'
        if (!isBusy || tries === MAX_TRIES) throw error
      }
  } finally {
    await drawer.close()
  }
}
