// `gridline column`: reads and changes columns of grids.
import { formatColumnType } from '../../charts/spec/column-names.ts'
import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import { type Client, resolveFid } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { findClosest, formatCount, formatList } from '../../contract/message-texts.ts'
import type { ColumnMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { type CommandEntry, defineCommand, type Option, subcommand, yesOption } from '../core/define.ts'
import { arrayOf, objectOf, otherOutput } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import { warnAboutAlerts, warnAboutFollowers } from '../files/followers.ts'
import { readWhole } from '../files/input.ts'
import { setPrimaryKey } from '../files/primary-key.ts'
import { type TableView, versionColumn } from '../output/view.ts'

const view: TableView = {
  id: 'uid',
  columns: [
    { field: 'uid', title: 'UID' },
    { field: 'name', title: 'NAME' },
    { field: 'type', title: 'TYPE', format: formatColumnType },
    { field: 'order', title: 'ORDER', align: 'right' },
  ],
}

/** View of changed columns, with the new version of the grid. */
const writtenView: TableView = {
  ...view,
  columns: [...view.columns, versionColumn],
}

const valuesOption = {
  flags: '--data <json>',
  description: 'values as a JSON array (- for standard input, @FILE for a file)',
} as const satisfies Option

/** Loads the columns of a grid. */
async function loadColumns(
  client: Client,
  grid: string,
): Promise<{ fid: string; cols: ColumnMeta[]; rows: number }> {
  const fid = await resolveFid(client, grid, 'grid')
  const { cols, row_count } = await client.call('grids.get', { fid })
  return { fid, cols, rows: row_count }
}

/** Returns the column with a name, or else uid. Throws `unknown_column`. */
function findColumn(cols: readonly ColumnMeta[], nameOrUid: string): ColumnMeta {
  const column = cols.find(({ name }) => name === nameOrUid) ?? cols.find(({ uid }) => uid === nameOrUid)
  if (column) return column
  const suggestion = findClosest(
    nameOrUid,
    cols.map(({ name }) => name),
  )
  throw new Problem('unknown_column', `the grid has no column ${JSON.stringify(nameOrUid)}`, {
    hint: `${suggestion === undefined ? '' : `Did you mean ${suggestion}? `}Its columns are: ${formatList(cols.map(({ name }) => name))}`,
  })
}

/** Reads --data. Throws `usage` unless it is a JSON array. */
async function readValues(option: string): Promise<unknown[]> {
  const file = option === '-' ? '-' : option.startsWith('@') ? option.slice(1) : undefined
  const text = file === undefined ? option : (await readWhole(file)).toString('utf8')
  try {
    const array: unknown = JSON.parse(text)
    if (Array.isArray(array)) return array
  } catch {
    // Invalid JSON: fall through to the error.
  }
  throw new Problem('usage', '--data: must be a JSON array', { hint: "For example: --data '[1, 2, null]'" })
}

const list = defineCommand({
  output: arrayOf('Column'),
  lists: {},
  arguments: '<grid>',
  examples: ['gridline column list sales', 'gridline column list sales --json name,type'],
  async run(context, [grid]) {
    return {
      items: (await loadColumns(await context.clientFor(grid), grid)).cols,
      view,
      empty: 'No columns.',
    }
  },
})

const get = defineCommand({
  output: otherOutput('`{"cols": [{"name", "uid", "order", "data"}]}`', ['cols']),
  arguments: '<grid> <column...>',
  examples: ['gridline column get sales price', "gridline column get sales price city --jq '.cols[0].data'"],
  async run(context, [grid, ...names]) {
    const client = await context.clientFor(grid)
    const { fid, cols } = await loadColumns(client, grid)
    const uid = names.map((name) => findColumn(cols, name).uid).join(',')
    const response = await client.response('columns.get', { fid, query: { uid } })
    if (context.flags.json !== undefined || context.flags.jq !== undefined)
      return { item: (await response.json()) as object, view }
    const { NO_JSON_LIMITS, parseRaw } = await import('../../json/index.ts')
    const rawColumns = parseRaw(Buffer.from(await response.text()), 'the answer', NO_JSON_LIMITS)
      .entries()
      .get('cols')!
    // One line per row, tabs between columns, text unquoted.
    const columns = [...rawColumns.items()].map((column) => [...column.entries().get('data')!.items()])
    const rows = Math.max(0, ...columns.map((cells) => cells.length))
    const lines = Array.from({ length: rows }, (_, row) =>
      columns
        .map((cells) => {
          const cell = cells[row]
          if (!cell || cell.kind === 'null') return ''
          return cell.kind === 'string'
            ? String(cell.toValue()).replace(/[\t\n\r]/g, ' ')
            : cell.bytes.toString('utf8')
        })
        .join('\t'),
    )
    return { text: lines.map((line) => `${line}\n`).join('') }
  },
})

const set = defineCommand({
  output: objectOf('Column', { version: 'the new version of the grid' }),
  arguments: '<grid> <column>',
  options: [
    valuesOption,
    { flags: '--order <n>', integer: {}, description: 'position of the column, starting at 0' },
    yesOption,
  ],
  writes: true,
  createsVersions: true,
  examples: [
    "gridline column set sales price --data '[1, 2, 3]'",
    'gridline column set sales price --order 0',
  ],
  async run(context, [grid, name], options) {
    const { data: dataOption, order } = options
    if (dataOption === undefined && order === undefined)
      throw new Problem('usage', 'nothing to set', { hint: 'Use --data or --order.' })
    const newValues = dataOption === undefined ? undefined : await readValues(dataOption)
    const client = await context.client()
    const { cols, rows } = await loadColumns(client, grid)
    const before = findColumn(cols, name)
    if (newValues) {
      const missing = rows - newValues.length
      if (missing > 0)
        await confirm(
          `The grid has ${formatCount(rows, 'row')}, but ${name} gets ${formatCount(newValues.length, 'value')}: the last ${missing === 1 ? 'value' : `${missing} values`} of the column will be lost. Continue?`,
          options.yes === true,
        )
    }
    const change = {
      ...(newValues === undefined ? {} : { data: newValues }),
      ...(order === undefined ? {} : { order }),
    }
    const changed = await updateColumn(client, grid, name, change)
    if (newValues && before.type !== 'empty' && changed.item.type !== before.type)
      context.messages.warning(
        `column ${before.name} was ${formatColumnType(before.type)} and is now ${formatColumnType(changed.item.type)}`,
      )
    return changed
  },
})

const add = defineCommand({
  output: objectOf('Column', { version: 'the new version of the grid' }),
  writes: true,
  createsVersions: true,
  arguments: '<grid> <name>',
  options: [valuesOption],
  examples: [
    "gridline column add sales total --data '[10, 20, 30]'",
    'gridline column add sales total --data @total.json',
  ],
  async run(context, [grid, name], { data: dataOption }) {
    if (dataOption === undefined) throw new Problem('usage', '--data is missing', { hint: 'Use --data.' })
    const client = await context.client()
    const fid = await resolveFid(client, grid, 'grid')
    const json = { cols: JSON.stringify([{ name, data: await readValues(dataOption) }]) }
    const { cols, version } = await client.call('columns.create', { fid, json })
    return { item: { ...cols[0], version }, view: writtenView }
  },
})

const rename = defineCommand({
  output: objectOf('Column', { version: 'the new version of the grid' }),
  writes: true,
  createsVersions: true,
  arguments: '<grid> <column> <name>',
  examples: [
    'gridline column rename sales price "price in EUR"',
    'gridline column rename alice:12 8f2a1c month',
  ],
  async run(context, [grid, column, name]) {
    const client = await context.client()
    const { fid, cols } = await loadColumns(client, grid)
    await warnAboutFollowers(context, client, fid, grid)
    await warnAboutAlerts(context, client, fid, grid, [findColumn(cols, column).name])
    return updateColumn(client, grid, column, { name })
  },
})

const remove = defineCommand({
  output: arrayOf('Column', { version: 'the new version of the grid' }),
  arguments: '<grid> <column...>',
  options: [yesOption],
  writes: true,
  createsVersions: true,
  examples: ['gridline column remove sales total', 'gridline column remove sales total tax --yes'],
  async run(context, [grid, ...names], options) {
    const client = await context.client()
    const { fid, cols } = await loadColumns(client, grid)
    const removed = names.map((name) => findColumn(cols, name))
    const removedNames = removed.map(({ name }) => name).join(', ')
    await warnAboutPlots(context, client, fid, removed)
    await warnAboutFollowers(context, client, fid, grid)
    await warnAboutAlerts(
      context,
      client,
      fid,
      grid,
      removed.map(({ name }) => name),
    )
    await confirm(
      `The values of ${removedNames} will be lost. Remove ${removed.length === 1 ? 'the column' : 'the columns'}?`,
      options.yes === true,
    )
    await client.call('columns.delete', { fid, query: { uid: removed.map(({ uid }) => uid).join(',') } })
    const { version } = await client.call('grids.get', { fid })
    return { items: removed.map((column) => ({ ...column, version })), view: writtenView }
  },
})

const key = defineCommand({
  output: objectOf('Grid'),
  arguments: '<grid> <columns>',
  writes: true,
  createsVersions: true,
  examples: [
    'gridline column key customers id',
    'gridline column key sales day,city',
    'gridline column key customers ""      # remove the key',
  ],
  async run(context, [grid, columns]) {
    const client = await context.client()
    const fid = await resolveFid(client, grid, 'grid')
    await setPrimaryKey(client, fid, parseColumnNames(columns).filter(Boolean))
    return { item: await client.call('grids.get', { fid }), view: keyView }
  },
})

const keyView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    {
      field: 'primary_key',
      title: 'KEY',
      format: (names: readonly string[] | null) => names?.join(', ') ?? 'none',
    },
    versionColumn,
  ],
}

/** Maximum number of plots that are checked before columns are removed. */
const MAX_CHECKED_PLOTS = 20

/** Warns about plots that use the removed columns. */
async function warnAboutPlots(
  context: Context,
  client: Client,
  fid: string,
  removed: readonly { uid: string; name: string }[],
): Promise<void> {
  const { referencers } = await client.call('files.get', { fid })
  for (const plot of referencers.slice(0, MAX_CHECKED_PLOTS)) {
    // Skip plots that the caller cannot read.
    const response = await undefinedIfNotFound(client.response('plots.content', { fid: plot }))
    if (!response) continue
    const figure = await response.text()
    const sources = [...figure.matchAll(/src"\s*:\s*"([^"]*)"/g)].map(([, source]) => source)
    const usedColumns = sources.filter((source) => source.startsWith(`${fid}:`)).join(',')
    const lostNames = removed.filter(({ uid }) => usedColumns.includes(uid)).map(({ name }) => name)
    if (lostNames.length > 0) {
      const { filename } = await client.call('plots.get', { fid: plot })
      context.messages.warning(`plot ${filename} (${plot}) will lose its data: ${lostNames.join(', ')}`)
    }
  }
}

/** Renames, moves or replaces a column. */
async function updateColumn(client: Client, grid: string, name: string, change: object) {
  const { fid, cols } = await loadColumns(client, grid)
  const { uid } = findColumn(cols, name)
  const json = { cols: JSON.stringify([change]) }
  const { cols: written, version } = await client.call('columns.update', { fid, query: { uid }, json })
  return { item: { ...written[0], version }, view: writtenView }
}

export const commands: readonly CommandEntry[] = [
  subcommand('list', 'List the columns of a grid', list),
  subcommand('get', 'Print the values of columns', get),
  subcommand('set', 'Replace the values of a column, or move it', set),
  subcommand('add', 'Add a column', add),
  subcommand('rename', 'Rename a column', rename),
  subcommand('remove', 'Remove columns', remove, ['rm']),
  subcommand('key', 'Set or remove the primary key of a grid', key),
]
