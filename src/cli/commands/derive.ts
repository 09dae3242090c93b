// `gridline derive`: makes grids that follow the grids which their query reads.
import { resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { Derivation } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { type CommandResult, defineCommand, type Option, type OptionValues } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { parseParameters, readSql, sendSql, sqlOptions } from '../files/sql-options.ts'
import { formatError, type TableView } from '../output/view.ts'

const options = [
  { flags: '--sql <query>', description: 'the query, whose tables are grids' },
  ...sqlOptions,
  { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
  { flags: '--public', description: 'make the grid public' },
  {
    flags: '--on-conflict <rule>',
    description: 'if the name is taken: fail (default), or replace content and query',
    choices: ['fail', 'replace'],
  },
  {
    flags: '-y, --yes',
    description: 'with --on-conflict replace: also if columns of the grid are lost, which charts may show',
  },
  { flags: '--remove', description: 'make a derived grid one like others, with the content that it has' },
] as const satisfies readonly Option[]

type DeriveOptions = OptionValues<typeof options> & { dryRun?: boolean; confirmed?: boolean }

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'action', title: 'ACTION' },
    { field: 'state', title: 'STATE' },
    { field: 'refreshed_at', title: 'REFRESHED', time: true },
    { field: 'stale_since', title: 'STALE SINCE', time: true },
    { field: 'error', title: 'ERROR', format: formatError },
    { field: 'inputs', title: 'INPUTS', format: formatInputs },
    { field: 'sql', title: 'SQL' },
    { field: 'web_url', title: 'LINK' },
  ],
}

const listView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'state', title: 'STATE' },
    { field: 'refreshed_at', title: 'REFRESHED', time: true },
    { field: 'inputs', title: 'INPUTS', format: formatInputs },
    { field: 'error', title: 'ERROR', format: formatError },
  ],
}

export const command = defineCommand({
  output: objectOf(['Grid', 'Derivation'], { action: 'created, replaced, unchanged or removed' }),
  writes: true,
  arguments: '[name]',
  lists: {},
  options,
  completion: ['grid'],
  examples: [
    "gridline derive totals --sql 'select city, sum(amount) as amount from sales group by city'",
    'gridline derive Reports/monthly --file monthly.sql --param year=2024 --public',
    'gridline derive                                  # all derived grids, with their states',
    'gridline derive totals                           # its state, its query and its inputs',
    'gridline refresh totals                          # run its query now',
    'gridline derive totals --remove',
  ],
  async run(context, [name], options) {
    const { sql, file, remove } = options
    const isNew = sql !== undefined || file !== undefined
    if (isNew && remove) throw new Problem('usage', '--remove cannot be used with --sql or --file')
    if (isNew || remove) assertName(name)
    if (isNew) return derive(context, name!, options)
    const { param, folder, public: isPublic, onConflict, yes, confirmed, dryRun } = options
    const lost = Object.entries({
      ...{ '--param': param, '--folder': folder, '--public': isPublic, '--on-conflict': onConflict },
      '--yes': dryRun ? confirmed : yes,
    }).find(([, value]) => value !== undefined)
    if (lost) throw new Problem('usage', `${lost[0]} can only be used with --sql or --file`)
    if (name === undefined) return listDerived(context)
    const client = await context.clientFor(name)
    const fid = await resolveFid(client, name, 'grid')
    if (remove) {
      await client.call('derivations.delete', { fid })
      return toResult({ ...(await client.call('grids.get', { fid })), action: 'removed' })
    }
    const derivation = await client.call('derivations.get', { fid })
    return toResult(derivation)
  },
})

async function listDerived(context: Context): Promise<CommandResult> {
  const client = await context.client()
  const { derivations } = await client.call('derivations.list')
  return { items: derivations, view: listView, empty: 'No derived grids.' }
}

function assertName(name: string | undefined): void {
  if (name === undefined)
    throw new Problem('usage', 'the name is missing', {
      hint: "For example: gridline derive totals --sql 'select …'",
    })
}

async function derive(context: Context, name: string, options: DeriveOptions): Promise<CommandResult> {
  const { folder, onConflict } = options
  const client = await context.client()
  const names = name.split('/').filter((part) => part !== '')
  const parents = [...(folder === undefined ? [] : [folder.replace(/\/+$/, '')]), ...names.slice(0, -1)]
  const json = {
    filename: names.at(-1) ?? name,
    ...(parents.length > 0 && { parent_path: parents.join('/') }),
    world_readable: options.public,
    on_conflict: onConflict,
    sql: readSql(options.sql, options.file),
    params: parseParameters(options.param ?? []),
  }
  const { dryRun, confirmed, yes } = options
  const headers = { 'Allow-Column-Loss': (dryRun ? confirmed : yes) === true }
  const { file, action, derivation } = await sendSql(() => client.call('grids.derive', { json, headers }), {
    file: options.file,
    filesHint: 'A derived grid follows grids: upload the file first, and name its grid.',
  })
  return toResult({ ...file, ...derivation, action })
}

/** Formats the inputs of a derived grid: the names in its query, and the grids. */
function formatInputs(inputs: Derivation['inputs']): string {
  return (inputs ?? [])
    .map(({ table, fid, version }) => `${table} (${fid}${version === null ? '' : `@${version}`})`)
    .join(', ')
}

function toResult(item: object): CommandResult {
  return { item, view, isDetail: true }
}
