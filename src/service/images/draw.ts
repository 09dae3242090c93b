import { limitsFrom } from '../../contract/limits.ts'
import { Drawer } from '../../draw/index.ts'
import { parseRawInTurns } from '../../json/index.ts'
import { drawable } from '../plots/content.ts'
import { readFigure } from '../plots/figure.ts'
import { imageOptions, type WantedImage } from './images.ts'

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
    return await drawer.draw(
      await drawable(figure, { owner: '', limits }),
      imageOptions(figure, wanted, limits),
    )
  } finally {
    await drawer.close()
  }
}
