// `gridline admin audit`: lists access changes and deletions.
import { Problem } from '../../contract/errors.ts'
import type { AuditRow } from '../../service/admin.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'
import { databaseOption, withStore } from './admin.store.ts'

const fields = {
  at: 'a time',
  event: 'such as file.share or key.create',
  actor: 'the user who caused it; null for operators and the server',
  owner: 'the user who owns the files or keys',
  fid: 'the file, or null',
  details: 'an object: names, permissions, ids of keys',
  request_id: 'the X-Request-Id of the request, or null',
  address: 'the IP address of the client, or null',
}

interface AuditEvent {
  details: Record<string, unknown>
}

const view: TableView = {
  id: 'at',
  columns: [
    { field: 'at', title: 'TIME', time: true },
    { field: 'event', title: 'EVENT' },
    { field: 'actor', title: 'BY', format: (actor: string | null) => actor ?? 'operator' },
    { field: 'owner', title: 'OF' },
    { field: 'fid', title: 'FILE', format: (fid: string | null) => fid ?? '' },
    {
      field: 'details',
      title: 'DETAILS',
      format: (details: AuditEvent['details']) =>
        Object.entries(details)
          .map(([name, value]) => `${name}=${value}`)
          .join(' '),
    },
    { field: 'address', title: 'FROM', format: (address: string | null) => address ?? '' },
  ],
}

/** Rows per query. */
const PAGE_ROWS = 500

export const auditCommand = defineCommand({
  output: arrayOf([], fields),
  lists: { limit: 100 },
  options: [
    { flags: '--user <name>', description: 'only events about files and keys of this user' },
    { flags: '--by <name>', description: 'only events caused by this user' },
    {
      flags: '--event <name>',
      description: 'only events with this name or prefix: file.share, key, team.member',
    },
    { flags: '--file <fid>', description: 'only events of this file, such as alice:12' },
    { flags: '--since <date>', description: 'only events since this date or time, such as 2026-01-31' },
    databaseOption,
  ],
  examples: [
    'gridline admin audit --limit 20',
    'gridline admin audit --event file.share --since 2026-01-01 --json at,actor,fid,details',
    'gridline admin audit --file alice:12',
  ],
  async run(context, _, { user, by, event, file, since, limit, database: url }) {
    const from = since === undefined ? undefined : Date.parse(since)
    if (Number.isNaN(from))
      throw new Problem('usage', `--since ${since}: must be a date such as 2026-01-31`, {
        hint: 'Or a time: 2026-01-31T12:00:00Z',
      })
    const filter = { owner: user, actor: by, event, fid: file, since: from }
    const maxRows = limit ?? 100
    const events = await withStore(context, url, async ({ AUDIT_EVENTS }, store) => {
      if (event !== undefined && !AUDIT_EVENTS.some((name) => name === event || name.startsWith(`${event}.`)))
        throw new Problem('usage', `--event ${event}: unknown event`, {
          hint: `Events: ${AUDIT_EVENTS.join(', ')}.`,
        })
      const rows: AuditRow[] = []
      while (rows.length < maxRows) {
        const last = rows.at(-1)
        const page = await store.read(({ audit: log }) =>
          log.listEvents(filter, last, Math.min(PAGE_ROWS, maxRows - rows.length)),
        )
        rows.push(...page)
        if (page.length === 0) break
      }
      return rows
    })
    return {
      items: events.map(({ at, details, id: _id, ...row }) => ({
        ...row,
        at: new Date(at).toISOString(),
        details: JSON.parse(details) as AuditEvent['details'],
      })),
      view,
      empty: 'No such events.',
    }
  },
})
