// `gridline refresh`: refreshes grids from a URL, now and regularly, and derived grids.
import { resolveFid } from '../../client/index.ts'
import { formatDuration } from '../../contract/duration.ts'
import { Problem } from '../../contract/errors.ts'
import type { Refresh } from '../../contract/resources/index.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { type CommandResult, defineCommand, type Option } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { parseDuration, parsePercent, readingOptions, toReadingHeaders } from '../files/parse-options.ts'
import { formatError, type TableView } from '../output/view.ts'

const options = [
  {
    flags: '--every <time>',
    description: 'time between two requests of a URL, such as 15m, 1h or 1d (default: unchanged)',
  },
  {
    flags: '--max-shrink <percent>',
    description: 'refuse files that have fewer rows than this part less, such as 20% (default: 50%)',
  },
  {
    flags: '--allow-type-change',
    description:
      'store texts in columns of numbers, dates or booleans (default: refused, and the content stays)',
  },
  {
    flags: '-y, --yes',
    description: 'with a URL: also if its file lacks columns, or most rows, of the grid',
  },
  { flags: '--status', description: 'show the URL and the state, and change nothing' },
  { flags: '--stop', description: 'stop refreshing; the grid keeps its content' },
  ...readingOptions,
] as const satisfies readonly Option[]

const formatEvery = (seconds: number | null | undefined): string =>
  seconds == null ? '' : formatDuration(seconds)

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'state', title: 'STATE' },
    { field: 'refreshed_at', title: 'REFRESHED', time: true },
    { field: 'next_at', title: 'NEXT', time: true },
    { field: 'stale_since', title: 'STALE SINCE', time: true },
    { field: 'error', title: 'ERROR', format: formatError },
    { field: 'every', title: 'EVERY', format: formatEvery },
    { field: 'url', title: 'URL' },
  ],
}

const listView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'state', title: 'STATE' },
    { field: 'refreshed_at', title: 'REFRESHED', time: true },
    { field: 'next_at', title: 'NEXT', time: true, isOptional: true },
    { field: 'url', title: 'FROM', format: (url: string | null) => url ?? 'its query', isCut: true },
    { field: 'error', title: 'ERROR', format: formatError },
  ],
}

export const command = defineCommand({
  output: objectOf('Refresh'),
  writes: true,
  arguments: '[grid] [url]',
  lists: {},
  options,
  completion: ['grid'],
  examples: [
    'gridline refresh prices https://example.com/prices.csv --every 1h',
    'gridline refresh prices                # now, also a derived grid',
    'gridline refresh prices --every 1d',
    'gridline refresh prices --status',
    'gridline refresh prices --stop',
    'gridline refresh                       # all such grids, with their states',
  ],
  async run(context, [name, url], { every, maxShrink, allowTypeChange, yes, status, stop, ...reading }) {
    const isSet = url !== undefined || every !== undefined
    if (Number(isSet) + Number(status === true) + Number(stop === true) > 1)
      throw new Problem('usage', 'give only one of a URL or --every, --status and --stop')
    const headers = {
      ...toReadingHeaders(reading),
      'Allow-Type-Change': allowTypeChange,
      ...(yes === true && url !== undefined && { 'Allow-Column-Loss': true }),
      ...(maxShrink !== undefined && { 'Max-Shrink': parsePercent('--max-shrink', maxShrink) }),
    }
    if (url === undefined && Object.values(headers).some((value) => value !== undefined))
      throw new Problem('usage', 'options of reading are set with a URL', {
        hint: 'For example: gridline refresh prices https://example.com/prices.csv --every 1h --decimal ,',
      })
    if (name === undefined) {
      if (isSet || status || stop) throw new Problem('usage', 'the name of the grid is missing')
      const { refreshes } = await (await context.client()).call('refreshes.list')
      return { items: refreshes, view: listView, empty: 'No grids are refreshed from a URL or a query.' }
    }
    const client = await context.clientFor(name)
    const fid = await resolveFid(client, name, 'grid').catch((error) => {
      throw url === undefined ? error : withUploadHint(error, name, url)
    })
    if (isSet) {
      const json = { url, every: every === undefined ? undefined : parseDuration('--every', every) }
      return toResult(await client.call('refreshes.set', { fid, json, headers }), true)
    }
    if (stop) {
      await client.call('refreshes.delete', { fid })
      return { item: { fid, state: 'stopped' }, view, isDetail: true }
    }
    return toResult(await client.call(status ? 'refreshes.get' : 'refreshes.run', { fid }), !status)
  },
})

/** Returns the error for a grid that does not exist, with the command that makes it. */
function withUploadHint(error: unknown, name: string, url: string): unknown {
  // Names of others, and ids, are made in other ways.
  if (!(error instanceof Problem) || error.code !== 'not_found' || name.includes(':')) return error
  const at = name.lastIndexOf('/')
  const place = at < 0 ? '' : ` --folder ${quoteShellWord(name.slice(0, at))}`
  const command = `gridline upload ${quoteShellWord(url)} --name ${quoteShellWord(name.slice(at + 1))}${place}`
  return new Problem('not_found', error.message, { hint: `Make it first: ${command}` })
}

/** Returns the state. Throws why a refresh has failed, so that scripts notice. */
function toResult(refresh: Refresh, isRun: boolean): CommandResult {
  const { state, error } = refresh
  if (isRun && state === 'stale')
    throw new Problem('failed', `the grid was not refreshed: ${error?.detail ?? 'ask its owner why'}`, {
      hint: error?.hint,
    })
  return { item: refresh, view, isDetail: true }
}
