// Handler of images of figures that are not stored.
import { figureImage } from '../images/figure.ts'
import type { Handlers } from './handler.ts'

export const imageHandlers = {
  'images.create': (service, call) => figureImage(service, call.fields.figure, call.fields),
} satisfies Partial<Handlers>
