/** Note on the version that a page shows. */

import { formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { Service } from '../../core/context.ts'
import { formatMinute } from '../../files/stale.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import type { FileRow } from '../../store/aggregates/files.ts'

/** Renders which version of a file the page shows; empty for the current one. */
export function renderVersionNote(
  { url }: Service,
  file: FileRow,
  version: ResolvedVersion | undefined,
  query: string,
): string {
  const currentUrl = formatWebUrl(url, file) + query.replace(/&?version=[^&]*/, '').replace(/^(.)/, '?$1')
  if (version?.draft !== undefined) {
    const author = version.row?.made_by ? ` by ${version.row.made_by}` : ''
    const creation = version.row ? `, made ${formatMinute(version.row.made_at)} UTC${author}` : ''
    return `<p class="note">${escapeHtml(`Draft ${version.draft}${creation}. Only users with write access can see it.`)} <a href="${escapeHtml(currentUrl)}">Current version</a></p>`
  }
  if (!version?.row || (version.isCurrent && version.time === undefined && version.row.kept_at === null))
    return ''
  const { made_at, made_by, kept_name } = version.row
  const label = `Version ${version.version}${kept_name === null ? '' : ` (${kept_name})`} of ${file.content_version}`
  return `<p class="note">${escapeHtml(`${label}, made ${formatMinute(made_at)} UTC${made_by === null ? '' : ` by ${made_by}`}.`)} <a href="${escapeHtml(currentUrl)}">Current version</a></p>`
}
