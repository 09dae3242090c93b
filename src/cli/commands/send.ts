// `gridline send`: sends charts and boards by e-mail, now or regularly.
import { type Client, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Mailing } from '../../contract/resources/index.ts'
import { addLinkFilters } from '../../contract/web/filter-query.ts'
import { defineCommand, type Option } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'

const options = [
  { flags: '--to <address>', repeatable: true, description: 'e-mail address of a receiver; may be repeated' },
  {
    flags: '--every <days>',
    description: 'send regularly: day, weekday, month, monday or monday,thursday (default: once, now)',
  },
  { flags: '--at <time>', description: 'with --every: time of day (default: 07:00)' },
  {
    flags: '--on <day>',
    integer: {},
    description: 'with --every month: day of the month; the last day of shorter months (default: 1)',
  },
  { flags: '--zone <zone>', description: 'with --every: time zone (default: that of this machine)' },
  {
    flags: '--filter <column=value>',
    repeatable: true,
    description: 'for boards: value of a filter (repeatable)',
  },
  { flags: '--stop <id>', description: 'stop sending' },
] as const satisfies readonly Option[]

const view: TableView = {
  id: 'id',
  columns: [
    { field: 'id', title: 'ID' },
    { field: 'filename', title: 'NAME' },
    { field: 'fid', title: 'FID' },
    { field: 'filter', title: 'FILTER', format: formatList },
    { field: 'schedule', title: 'SCHEDULE' },
    {
      field: 'next_at',
      title: 'NEXT',
      format: (at: string | undefined, { zone = 'UTC' }: { zone?: string }) =>
        at === undefined ? '' : formatIn(zone, at),
    },
    { field: 'sent_at', title: 'SENT', time: true },
    { field: 'to', title: 'TO', format: formatList },
    { field: 'error', title: 'NOT SENT' },
    { field: 'failing_since', title: 'NOT SENT SINCE', time: true },
  ],
}

function formatList(texts: string[] = []): string {
  return texts.join(', ')
}

/** Returns whether two mailings have a receiver in common, and the same filter. */
function isForSame(a: Mailing, b: Mailing): boolean {
  return formatList(a.filter) === formatList(b.filter) && a.to.some((address) => b.to.includes(address))
}

/** Formats a time in a time zone: `2026-11-30 07:00 (Europe/Oslo)`. */
function formatIn(zone: string, time: string): string {
  const parts = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  return `${parts.format(new Date(time))} (${zone})`
}

const sentView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'SENT' },
    { field: 'to', title: 'TO', format: formatList },
  ],
}

/** Throws what would refuse a mail: no mail server, a wrong address, no permission. */
async function tryToSend(
  client: Client,
  fid: string,
  mail: { to: string[]; filter?: string[] },
): Promise<void> {
  try {
    await client.tryCall('mailings.create', { fid, json: { ...mail, every: 'day' } })
  } catch (error) {
    // These are about what is sent regularly.
    if (!(error instanceof Problem) || !['already_exists', 'too_large'].includes(error.code)) throw error
  }
}

export const command = defineCommand({
  output: objectOf('Mailing'),
  writes: true,
  arguments: '[plot|board]',
  lists: {},
  options,
  completion: ['plot'],
  examples: [
    'gridline send "Weather report" --to ops@example.com',
    'gridline send "Weather report" --every monday --at 07:00 --zone Europe/Oslo --to ops@example.com',
    'gridline send sales-chart --every month --on 31 --to a@example.com --to b@example.com',
    'gridline send "Weather report" --filter location=Seattle --to seattle@example.com',
    'gridline send                          # what is sent regularly, and when next',
    'gridline send --stop 3f1c0a9be2',
  ],
  async run(context, [name], { to, every, at, on, zone, filter, stop }) {
    const lost = Object.entries({ at, on, zone }).find(
      ([, value]) => value !== undefined && every === undefined,
    )
    if (lost) throw new Problem('usage', `--${lost[0]} can only be used with --every`)
    if (stop !== undefined) {
      if (name !== undefined || to || filter || every !== undefined)
        throw new Problem('usage', '--stop cannot be used with other options')
      const client = await context.client()
      await client.call('mailings.delete', { name: stop })
      return { item: { id: stop, schedule: 'stopped' }, view, isDetail: true }
    }
    if (name === undefined) {
      if (to || filter || every !== undefined) throw new Problem('usage', 'name the plot or board to send')
      const { mailings } = await (await context.client()).call('mailings.list')
      return { items: mailings, view, empty: 'Nothing is sent regularly.' }
    }
    if (!to) throw new Problem('usage', '--to is missing: the e-mail address of a receiver')
    const client = await context.clientFor(name)
    const fid = await resolveFid(client, name)
    const addresses = to.flatMap((text) => text.split(',').map((address) => address.trim()))
    const filters = addLinkFilters(name, filter)
    const mail = { to: addresses, ...(filters.length > 0 && { filter: filters }) }
    if (every === undefined) {
      // Sending cannot be tried, but the same every day can.
      if (context.flags.dryRun) await tryToSend(client, fid, mail)
      const item = await client.call('mailings.send', { fid, json: mail })
      const missed = mail.to.filter((address) => !item.to.includes(address))
      if (missed.length > 0)
        throw new Problem('partly_done', `sent to ${item.to.join(', ')}, but not to ${missed.join(', ')}`)
      return { item, view: sentView, isDetail: true }
    }
    const local = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
    const json = { ...mail, every, at, on, zone: local }
    const { mailings } = await client.call('mailings.list')
    const item = await client.call('mailings.create', { fid, json })
    for (const { id, schedule } of mailings.filter((one) => one.fid === fid && isForSame(one, item)))
      context.messages.note(`it is also sent ${schedule}. To end that: gridline send --stop ${id}`)
    return { item, view, isDetail: true }
  },
})
