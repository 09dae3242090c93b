// Handler of images of figures that are not stored.
import { drawFigureImage } from '../images/figure-image.ts'
import type { Handlers } from './handler.ts'

export const imageHandlers = {
  'images.create': (service, call) => drawFigureImage(service, call.fields.figure, call.fields),
} satisfies Partial<Handlers>
