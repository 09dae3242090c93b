// `gridline alert`: adds, changes, lists, tests and removes alerts on grids.
import { resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Alert } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { type CommandEntry, defineCommand, type OptionValues, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { parseDuration } from '../files/parse-options.ts'
import type { TableView, ViewColumn } from '../output/view.ts'

const columns: ViewColumn[] = [
  { field: 'id', title: 'ID' },
  { field: 'filename', title: 'GRID' },
  { field: 'state', title: 'STATE' },
  { field: 'condition', title: 'CONDITION' },
  { field: 'reason', title: 'REASON' },
  { field: 'since', title: 'SINCE', time: true },
  { field: 'to', title: 'TO' },
]
const view: TableView = {
  id: 'id',
  columns: [
    ...columns,
    { field: 'error', title: 'NOT SENT' },
    { field: 'failing_since', title: 'NOT SENT SINCE', time: true },
    { field: 'secret', title: 'SECRET' },
  ],
}
/** Removed alerts, without the state that they had. */
const removedView: TableView = {
  id: 'id',
  columns: [
    { field: 'id', title: 'REMOVED' },
    ...columns.filter(({ field }) => field === 'filename' || field === 'condition'),
    { field: 'to', title: 'TO', format: formatReceiver },
  ],
}

/** The list has hosts in place of URLs, and no times, which would not fit. */
const listView: TableView = {
  id: 'id',
  columns: [
    ...columns.filter(({ field }) => field !== 'to' && field !== 'since'),
    { field: 'to', title: 'TO', format: formatReceiver },
    { field: 'error', title: 'NOT SENT' },
  ],
}

function formatReceiver(to = ''): string {
  return URL.canParse(to) ? new URL(to).host : to
}

const conditionOptions = [
  { flags: '--when <condition>', description: "a condition on the rows: 'max(temp) > 40', 'count(*) < 100'" },
  { flags: '--where <condition>', description: 'with --when or --of: only rows for which this is true' },
  { flags: '--stale <time>', description: 'fire without a change for this time, such as 36h or 2d' },
  {
    flags: '--changed <percent>',
    description: 'fire if a write changes the number of rows, or --of, by this much or more: 20%',
  },
  { flags: '--of <value>', description: 'with --changed: the value that changes: sum(amount)' },
  { flags: '--failed-checks', description: 'fire if checks fail, or refuse a write' },
] as const

const addOptions = [
  ...conditionOptions,
  {
    flags: '--to <receiver>',
    repeatable: true,
    description: 'e-mail address, or URL, that gets a message for each change; repeated: an alert for each',
  },
] as const

const setOptions = [
  ...conditionOptions,
  { flags: '--to <receiver>', description: 'another e-mail address, or URL, which gets a new secret' },
] as const

const add = defineCommand({
  output: objectOf('Alert'),
  writes: true,
  arguments: '<grid>',
  completion: ['grid'],
  options: addOptions,
  examples: [
    "gridline alert add sensors --when 'max(temp) > 40' --to ops@example.com --to https://example.com/hook",
    'gridline alert add prices --stale 36h --to https://example.com/hooks/gridline',
    "gridline alert add orders --changed 20% --of 'sum(amount)' --to ops@example.com",
    'gridline alert add orders --failed-checks --to ops@example.com',
  ],
  async run(context, [name], { to, ...options }) {
    if (!to) throw new Problem('usage', '--to is missing: the e-mail address or URL that gets the messages')
    if (kindsOf(options).length !== 1)
      throw new Problem('usage', 'give one of --when, --stale, --changed and --failed-checks', {
        hint: "For example: gridline alert add sensors --when 'max(temp) > 40' --to ops@example.com",
      })
    const condition = parseCondition(options)
    const client = await context.clientFor(name)
    const fid = await resolveFid(client, name, 'grid')
    const receivers = to.flatMap((text) =>
      /^https?:/i.test(text) ? [text] : text.split(',').map((one) => one.trim()),
    )
    const alerts: Alert[] = []
    client.isMultiple = receivers.length > 1
    for (const receiver of new Set(receivers))
      alerts.push(await client.call('alerts.create', { fid, json: { ...condition, to: receiver } }))
    noteSecret(context, alerts)
    return alerts.length === 1 ? { item: alerts[0], view, isDetail: true } : { items: alerts, view }
  },
})

function noteSecret({ messages }: Context, alerts: readonly Alert[]): void {
  if (alerts.some(({ secret }) => secret !== undefined))
    messages.note('Save the secret now; it is not shown again. It signs each message (docs/alerts.md).')
}

type ConditionOptions = OptionValues<typeof conditionOptions>

/** Returns the conditions that are given. */
function kindsOf({ when, stale, changed, failedChecks }: ConditionOptions): unknown[] {
  return [when, stale, changed, failedChecks].filter((kind) => kind !== undefined)
}

function parseCondition({ when, stale, changed, failedChecks, where, of }: ConditionOptions) {
  return {
    when,
    where,
    of,
    failed_checks: failedChecks,
    stale_seconds: stale === undefined ? undefined : parseDuration('--stale', stale),
    changed_percent: changed === undefined ? undefined : parseChange(changed),
  }
}

function parseChange(text: string): number {
  const [, number] = /^(\d+(?:\.\d+)?)\s*%?$/.exec(text.trim()) ?? []
  if (number === undefined || Number(number) === 0)
    throw new Problem('usage', `--changed ${text}: expected a percentage above 0, such as 20%`)
  return Number(number)
}

const set = defineCommand({
  output: objectOf('Alert'),
  writes: true,
  arguments: '<id>',
  completion: [undefined],
  options: setOptions,
  examples: [
    "gridline alert set 3f1c0a9be2 --when 'max(temp) > 45'",
    'gridline alert set 3f1c0a9be2 --to night@example.com',
  ],
  async run(context, [name], { to, ...options }) {
    if (kindsOf(options).length > 1)
      throw new Problem('usage', 'give at most one of --when, --stale, --changed and --failed-checks')
    const { where, of } = options
    if (![to, where, of, ...kindsOf(options)].some((value) => value !== undefined))
      throw new Problem('usage', 'nothing to change: give a condition, or --to')
    const client = await context.client()
    const alert = await client.call('alerts.update', { name, json: { ...parseCondition(options), to } })
    noteSecret(context, [alert])
    return { item: alert, view, isDetail: true }
  },
})

const list = defineCommand({
  output: arrayOf('Alert'),
  arguments: '[grid]',
  completion: ['grid'],
  lists: {},
  examples: ['gridline alert list', 'gridline alert list sensors --json id,state,reason'],
  async run(context, [name]) {
    const client = name === undefined ? await context.client() : await context.clientFor(name)
    const fid = name === undefined ? undefined : await resolveFid(client, name, 'grid')
    const { alerts } = await client.call('alerts.list', { query: { fid } })
    return { items: alerts, view: listView, empty: 'No alerts.' }
  },
})

const test = defineCommand({
  output: objectOf([], { sent: 'true', to: 'the receiver' }),
  writes: true,
  arguments: '<id>',
  completion: [undefined],
  examples: ['gridline alert test 3f1c0a9be2', 'gridline alert test 3f1c0a9be2 --json'],
  async run(context, [name]) {
    const client = await context.client()
    const item = await client.call('alerts.test', { name })
    return { item, view: { id: 'to', columns: [{ field: 'to', title: 'SENT TO' }] }, isDetail: true }
  },
})

const remove = defineCommand({
  output: arrayOf('Alert'),
  writes: true,
  arguments: '<id...>',
  completion: [undefined],
  examples: ['gridline alert remove 3f1c0a9be2', 'gridline alert remove 3f1c0a9be2 90ab12cd34'],
  async run(context, ids) {
    const client = await context.client()
    const { alerts } = await client.call('alerts.list')
    const removed = await runEach(ids, async (id): Promise<object> => {
      await client.call('alerts.delete', { name: id })
      return alerts.find((alert) => alert.id === id) ?? { id }
    })
    return { ...removed, view: removedView }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('add', 'Add an alert to a grid', add),
  subcommand('set', 'Change the condition or the receiver of an alert', set),
  subcommand('list', 'List your alerts, with their states', list),
  subcommand('test', 'Send a test message to the receiver of an alert', test),
  subcommand('remove', 'Remove alerts', remove),
]
