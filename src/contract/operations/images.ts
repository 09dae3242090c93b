// Operation that draws figures.
import * as r from '../resources/index.ts'
import type { Operation } from './operation.ts'
import { dataBody, imageTypes } from './shared.ts'

export const imagesOperations = {
  'images.create': {
    summary: 'Draw a figure as an image, without storing anything',
    method: 'POST',
    path: '/v2/images',
    access: 'caller',
    agentTool: 'none',
    body: dataBody(r.ImageCreate, { raw: ['figure'] }),
    status: 200,
    result: 'stream',
    produces: Object.values(imageTypes),
  },
} as const satisfies Record<string, Operation>
