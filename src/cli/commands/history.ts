import { resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Version } from '../../contract/resources/index.ts'
import { parseVersionRef } from '../../contract/version-ref.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { confirm } from '../core/prompt.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'version',
  columns: [
    { field: 'version', title: 'VERSION', align: 'right' },
    { field: 'made_at', title: 'MADE', time: true },
    { field: 'made_by', title: 'BY' },
    {
      field: 'operation',
      title: 'CHANGE',
      format: (operation: string, { of_version }: Version) =>
        of_version === null ? operation : `${operation} to ${of_version}`,
    },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    { field: 'rows_added', title: 'CHANGED', format: (_: unknown, version: Version) => changes(version) },
    {
      field: 'kept',
      title: 'KEPT',
      isOptional: true,
      format: (kept: boolean, { name }: Version) => (kept ? (name ?? 'yes') : ''),
    },
    {
      field: 'source',
      title: 'SOURCE',
      isOptional: true,
      // The hash of a file, by which `upload` skips what has not changed, says nothing to people.
      format: (source: string | null) => (source === null || source.startsWith('sha256:') ? '' : source),
    },
  ],
}

/** `+12 −3 rows, +1 column`; nothing where it has not been counted. */
function changes(version: Version): string {
  const parts: string[] = []
  for (const [what, added, removed, changed] of [
    ['rows', version.rows_added, version.rows_removed, version.rows_changed],
    ['columns', version.columns_added, version.columns_removed, version.columns_changed],
  ] as const) {
    const counts = [
      added ? `+${added}` : '',
      removed ? `−${removed}` : '',
      changed ? `~${changed}` : '',
    ].filter(Boolean)
    const sum = (added ?? 0) + (removed ?? 0) + (changed ?? 0)
    if (counts.length > 0) parts.push(`${counts.join(' ')} ${sum === 1 ? what.slice(0, -1) : what}`)
  }
  return parts.join(', ')
}

export const command = defineCommand({
  prints: array('Version'),
  arguments: '<file>',
  writes: true,
  lists: { limit: 100 },
  options: [
    {
      flags: '--forget <version>',
      description: 'remove this version for good, with the data that only it has',
    },
    { flags: '-y, --yes', description: 'skip the confirmation prompt' },
  ],
  examples: [
    'gridline history sales',
    "gridline history sales --jq '.[].rows_added'",
    'gridline history sales --forget 3 --yes',
  ],
  async run(context, [file], { forget, yes, limit = 100 }) {
    const client = await context.client()
    const fid = await resolve(client, file)
    if (forget !== undefined) {
      if (!parseVersionRef(forget)) throw new Problem('usage', `--forget: ${forget} names no version`)
      await confirm(`Remove version ${forget} of ${file} for good?`, yes === true)
      const { version } = await client.call('versions.forget', { fid, query: { version: forget } })
      context.messages.aside(`Removed version ${version}`)
      return undefined
    }
    const many: Version[] = []
    for (let before: number | undefined; many.length < limit; ) {
      const page = await client.call('versions.list', {
        fid,
        query: { before, page_size: Math.min(1000, limit - many.length) },
      })
      many.push(...page.versions)
      if (page.next === null) break
      before = page.next
    }
    return { many, view, empty: 'No versions.' }
  },
})
