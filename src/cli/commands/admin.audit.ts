import { Problem } from '../../contract/errors.ts'
import type { AuditRow } from '../../service/index.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import type { TableView } from '../output/view.ts'
import { database, onStore } from './admin.store.ts'

const fields = {
  at: 'a time',
  event: 'such as file.share or key.create',
  actor: 'the user who did it; null for an operator, and for the server itself',
  owner: 'whose files or keys it is about',
  fid: 'the file, or null',
  details: 'an object: names, permissions, ids of keys',
  request_id: 'the X-Request-Id of the request, or null',
  address: 'the IP address it came from, or null',
}

interface Event {
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
      format: (details: Event['details']) =>
        Object.entries(details)
          .map(([name, value]) => `${name}=${value}`)
          .join(' '),
    },
    { field: 'address', title: 'FROM', format: (address: string | null) => address ?? '' },
  ],
}

const PAGE = 500

/** Who changed who may read or change what, and what is gone. */
export const audit = defineCommand({
  prints: array([], fields),
  lists: { limit: 100 },
  options: [
    { flags: '--user <name>', description: 'events about the files and keys of this user' },
    { flags: '--by <name>', description: 'events that this user caused' },
    {
      flags: '--event <name>',
      description: 'events of this name, or all that begin with it: file.share, key, team.member',
    },
    { flags: '--file <fid>', description: 'events of one file, such as alice:12' },
    { flags: '--since <date>', description: 'events since a date or time, such as 2026-01-31' },
    database,
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
    const which = { owner: user, actor: by, event, fid: file, since: from }
    const most = limit ?? 100
    const many = await onStore(context, url, async ({ auditEvents }, store) => {
      if (event !== undefined && !auditEvents.some((name) => name === event || name.startsWith(`${event}.`)))
        throw new Problem('usage', `--event ${event}: there is no such event`, {
          hint: `Events: ${auditEvents.join(', ')}.`,
        })
      const rows: AuditRow[] = []
      while (rows.length < most) {
        const last = rows.at(-1)
        const some = await store.read(({ audit: log }) =>
          log.list(which, last, Math.min(PAGE, most - rows.length)),
        )
        rows.push(...some)
        if (some.length === 0) break
      }
      return rows
    })
    return {
      many: many.map(({ at, details, id: _id, ...row }) => ({
        ...row,
        at: new Date(at).toISOString(),
        details: JSON.parse(details) as Event['details'],
      })),
      view,
      empty: 'No such events.',
    }
  },
})
