// What a self-contained page says of a file.
import { formatWebUrl } from '../../contract/fid.ts'
import type { PageFacts } from '../../contract/standalone.ts'
import type { Service } from '../core/context.ts'
import type { FileRow } from '../store/aggregates/files.ts'

/** Returns the facts about a file whose content depends on these files. */
export function createPageFacts(
  { url }: Pick<Service, 'url'>,
  file: FileRow,
  sources: readonly FileRow[] = [file],
): PageFacts {
  const changes = sources.map(({ date_modified, appended_at }) => Math.max(date_modified, appended_at ?? 0))
  const source = { url: formatWebUrl(url, file), changed: new Date(Math.max(...changes)) }
  return { title: file.filename, source }
}
