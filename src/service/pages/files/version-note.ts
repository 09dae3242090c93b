import { webUrl } from '../../../contract/fid.ts'
import type { Service } from '../../core/context.ts'
import type { FoundVersion } from '../../files/versions.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { text } from '../html.ts'

/** Says which version of a file a page shows; empty for the present one. */
export function versionNote(
  { url }: Service,
  file: FileRow,
  version: FoundVersion | undefined,
  query: string,
): string {
  const present = webUrl(url, file) + query.replace(/&?version=[^&]*/, '').replace(/^(.)/, '?$1')
  if (version?.draft !== undefined) {
    const who = version.row?.made_by ? ` by ${version.row.made_by}` : ''
    const made = version.row ? `, made ${minute(version.row.made_at)} UTC${who}` : ''
    return `<p class="note">${text(`Draft ${version.draft}${made}. Only those who may change it see it.`)} <a href="${text(present)}">Present version</a></p>`
  }
  if (!version?.row || (version.isPresent && version.time === undefined && version.row.kept_at === null))
    return ''
  const { made_at, made_by, kept_name } = version.row
  const what = `Version ${version.version}${kept_name === null ? '' : ` (${kept_name})`} of ${file.content_version}`
  return `<p class="note">${text(`${what}, made ${minute(made_at)} UTC${made_by === null ? '' : ` by ${made_by}`}.`)} <a href="${text(present)}">Present version</a></p>`
}

function minute(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}
