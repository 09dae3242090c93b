import { webUrl } from '../../../contract/fid.ts'
import type { Service } from '../../core/context.ts'
import type { FoundVersion } from '../../files/versions.ts'
import type { FileRow } from '../../store/files.ts'
import { text } from '../html.ts'

/** Says which version of a file a page shows; empty for the present one. */
export function versionNote(
  { url }: Service,
  file: FileRow,
  version: FoundVersion | undefined,
  query: string,
): string {
  if (!version?.row || (version.isPresent && version.time === undefined && version.row.kept_at === null))
    return ''
  const { made_at, made_by, kept_name } = version.row
  const when = new Date(made_at).toISOString().slice(0, 16).replace('T', ' ')
  const what = `Version ${version.version}${kept_name === null ? '' : ` (${kept_name})`} of ${file.content_version}`
  const present = webUrl(url, file) + query.replace(/&?version=[^&]*/, '').replace(/^(.)/, '?$1')
  return `<p class="note">${text(`${what}, made ${when} UTC${made_by === null ? '' : ` by ${made_by}`}.`)} <a href="${text(present)}">Present version</a></p>`
}
