// Creates grids from files at URLs.
import { invalidField, Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { OperationCall } from '../core/call.ts'
import { checkFilename } from '../files/names.ts'
import { respondWithFile } from '../files/read.ts'
import type { UploadTarget } from '../grids/change/save-grid.ts'
import { saveTables } from '../grids/change/save-tables.ts'
import { storeTables } from '../grids/input/tables.ts'
import { removeCredentials } from '../import/fetch.ts'
import type { OperationService as Service } from './handler.ts'

/** Creates a grid from the file at `source_url`. */
export async function importFromUrl(service: Service, call: OperationCall<'grids.create'>) {
  const { fields } = call
  const owner = call.caller!.username
  if (!fields.source_url) throw invalidField('data', 'is missing')
  if (!service.urlImport)
    throw new Problem('forbidden', 'URL import is disabled on this server', {
      field: 'source_url',
      hint: 'Send the data itself, or ask the operator to enable it with: gridline serve --allow-url-import',
    })
  let result = await service.store.findResultOf<{ idlocal: number; warnings: string[] }>(call.writeKey(owner))
  if (!result) {
    const { bytes, fileName } = await service.urlImport.open(fields.source_url, service.limits, call.trace)
    const imported = { ...call, bytes, fileName }
    const target: UploadTarget = {
      filename: fields.filename ?? gridNameOf(fileName),
      parent: fields.parent ?? undefined,
      parent_path: fields.parent_path,
      world_readable: fields.world_readable === true,
      onConflict: fields.filename === undefined ? 'rename' : 'fail',
      ...parseSource(fields),
    }
    checkFilename(target.filename, service.limits)
    result = await saveTables(service, imported, await storeTables(service, imported), target)
  }
  const created = await respondWithFile(service, call, { owner, idlocal: result.idlocal })
  return { body: { file: created.body, warnings: result.warnings }, etag: created.etag }
}

/** Returns the validated source URLs without credentials. Both are null without `source_url`. */
export function parseSource({
  source_url,
  source_referer,
}: {
  source_url?: string | null
  source_referer?: string | null
}) {
  if (!source_url) return { source_url: null, source_referer: null }
  for (const [field, url] of Object.entries({ source_url, source_referer })) {
    if (url && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
      throw invalidField(field, 'must be a URL that starts with http:// or https://')
  }
  return {
    source_url: removeCredentials(source_url),
    source_referer: source_referer ? removeCredentials(source_referer) : null,
  }
}
