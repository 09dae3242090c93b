/** Note on the version that a page shows. */
import { webUrl } from '../../../contract/fid.ts'
import type { Service } from '../../core/context.ts'
import type { FoundVersion } from '../../files/versions.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { text } from '../html.ts'

/** Renders which version of a file the page shows; empty for the current one. */
export function versionNote(
  { url }: Service,
  file: FileRow,
  version: FoundVersion | undefined,
  query: string,
): string {
  const currentUrl = webUrl(url, file) + query.replace(/&?version=[^&]*/, '').replace(/^(.)/, '?$1')
  if (version?.draft !== undefined) {
    const author = version.row?.made_by ? ` by ${version.row.made_by}` : ''
    const creation = version.row ? `, made ${minute(version.row.made_at)} UTC${author}` : ''
    return `<p class="note">${text(`Draft ${version.draft}${creation}. Only users with write access can see it.`)} <a href="${text(currentUrl)}">Current version</a></p>`
  }
  if (!version?.row || (version.isPresent && version.time === undefined && version.row.kept_at === null))
    return ''
  const { made_at, made_by, kept_name } = version.row
  const label = `Version ${version.version}${kept_name === null ? '' : ` (${kept_name})`} of ${file.content_version}`
  return `<p class="note">${text(`${label}, made ${minute(made_at)} UTC${made_by === null ? '' : ` by ${made_by}`}.`)} <a href="${text(currentUrl)}">Current version</a></p>`
}

function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
