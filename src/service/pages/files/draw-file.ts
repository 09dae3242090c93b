/** Draws plots and boards as images, or writes them as pages that are one file. */
import { invalidField } from '../../../contract/errors.ts'
import { listFilters } from '../../../contract/web/filter-query.ts'
import type { Bytes } from '../../../json/index.ts'
import { authorizeCall, type FileRequest } from '../../access/access.ts'
import type { OperationResult } from '../../core/call.ts'
import type { ImageRequest } from '../../images/images.ts'
import { drawPlotImage, type ImageService } from '../../images/plot-image.ts'
import type { SortingService } from './grid-page.ts'

/** Draws a plot or a board, whose filters are in `query`. Throws `not_found`, and `invalid_request` for other files. */
export async function drawFile(
  service: ImageService & SortingService,
  request: FileRequest,
  image: ImageRequest,
  query = new URLSearchParams(),
): Promise<OperationResult<Bytes>> {
  const { file } = await service.store.read((readers) => authorizeCall(readers, request))
  if (file.filetype !== 'dashboard') {
    if (listFilters(query).length > 0) throw invalidField('filter', 'only boards have filters')
    return drawPlotImage(service, request, image)
  }
  const { drawBoard } = await import('./board-document.ts')
  return drawBoard(service, request, image, query)
}
