// Dry runs of uploads, and the plans that they write.
import { formatColumnType } from '../../charts/spec/column-names.ts'
import { lookupOrUndefined } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatFid, parseFid } from '../../contract/fid.ts'
import { gridNameOf, isNotice } from '../../contract/formats.ts'
import { readLimits } from '../../contract/limits.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { filetypeLabel, type GridDiff } from '../../contract/resources/index.ts'
import type { IngestResult } from '../../ingest/index.ts'
import type { Context } from '../core/context.ts'
import { type DiffInput, diffWithFile, parseKey } from '../files/diff-inputs.ts'
import { type Input, makeRepeatable, openInput } from '../files/input.ts'
import { loadLocalGrid } from '../files/local-data.ts'
import { toParseOptions } from '../files/parse-options.ts'
import type { TableView } from '../output/view.ts'
import { resolveDestination, sentNameOf } from './destination.ts'
import { isAddress, type LocalFile } from './expand.ts'
import type { DefinitionMaker } from './make-definitions.ts'
import { type Removal, storedPathOf } from './mirror.ts'
import type { UploadOptions } from './options.ts'
import { writePlan } from './plan.ts'
import type { DefinitionFile } from './read-definitions.ts'
import { conflictRuleOf, type Sender, type SendOptions } from './send.ts'

/** A row of a dry run: a table, and what would become of it. */
export interface Preview {
  file: string
  name: string
  /** null: of what goes, and of definitions. */
  rows: number | null
  columns: { name: string; type: string }[]
  warnings: string[]
  /** The effect of the upload. */
  would: 'create' | 'rename' | 'replace' | 'append' | 'follow' | 'nothing' | 'fail' | 'trash' | 'draft'
  /** The existing file with that name, or null. */
  target: { fid: string; filetype: string } | null
  /** Differences from the grid that would be replaced; null for others, and for large ones. */
  changes: Pick<GridDiff, 'rows_added' | 'rows_removed' | 'rows_changed'> | null
}

/** Maximum number of rows of a file that a dry run compares with the grid that it would replace. */
const MAX_COMPARED_ROWS = 200_000

export const previewView: TableView = {
  id: 'name',
  columns: [
    { field: 'name', title: 'NAME' },
    { field: 'rows', title: 'ROWS', align: 'right' },
    {
      field: 'columns',
      title: 'COLUMNS',
      format: (columns: Preview['columns']) =>
        columns.map(({ name, type }) => `${name}:${formatColumnType(type)}`).join(' '),
    },
    {
      field: 'target',
      title: 'TAKEN BY',
      format: (target: Preview['target']) =>
        target ? `${target.fid} (${filetypeLabel(target.filetype)})` : '',
    },
    { field: 'would', title: 'WOULD' },
  ],
}

/** Formats how many rows differ: `1 row added, 2 rows changed`. */
function formatChanges(changes: NonNullable<Preview['changes']>): string {
  const parts = (['added', 'removed', 'changed'] as const).flatMap((what) => {
    const count = changes[`rows_${what}`]
    return count > 0 ? `${formatCount(count, 'row')} ${what}` : []
  })
  return parts.length > 0 ? parts.join(', ') : 'no rows'
}

/** A table of a file, and its place in the file. */
interface ReadTable {
  path: string[]
  ingested: IngestResult
}

/**
 * Returns what an upload would do, a row for each table of the file, and prints its warnings. The server
 * performs the upload and rolls it back, unless the local file is enough to tell: it is unchanged, or new on
 * this machine. Throws `usage` for a URL, and `bad_data` for warnings with --strict.
 */
export async function preview(
  context: Context,
  local: LocalFile,
  options: UploadOptions,
  sender: Sender,
): Promise<Preview[]> {
  const { file, folders } = local
  if (isAddress(file))
    throw new Problem('usage', '--dry-run cannot be used with a URL', {
      hint: `Download the file first: curl ${file} | gridline upload - --dry-run`,
    })
  const input = await makeRepeatable(await openInput(file))
  const fileName = sentNameOf(file, options.name)
  const { tables, warnings } = await readTables(context, input, fileName, options)
  const name = gridNameOf(fileName)
  if (options.plot !== undefined) await tryChart(context, local, options.plot, options, name, tables)
  const client = await context.client()
  const { path, parent } = await resolveDestination(client, options, local)
  const target = await lookupOrUndefined(client, path, parent)
  const isSame = target !== undefined && (await sender.isUnchanged(local))
  const isSettled = isSame || (await isKnownHere(context, file, options, target !== undefined))
  const tried = isSettled ? undefined : await sender.dryRun(local, input)
  if (!tried && options.strict) assertNoDoubts(warnings, input.name)
  context.messages.warnAll(tried?.warnings ?? warnings, input.name)
  const isNothing = isSame || tried?.action === 'unchanged'
  const rule = conflictRuleOf(options)
  const would = isNothing ? 'nothing' : options.draft !== undefined ? 'draft' : target ? rule : 'create'
  const isReplaced = would === 'replace' && tables.length === 1
  // Columns that become rows, and types of amounts in a grid of numbers, are known only then.
  const isTold = options.unpivot !== undefined || isReplaced
  const changed = isTold && tried && 'cols' in tried.file ? tried.file : undefined
  const isCompared =
    isReplaced && options.unpivot === undefined && file !== '-' && target?.filetype === 'grid'
  const changes =
    isCompared && tables[0].ingested.rows <= MAX_COMPARED_ROWS
      ? await countChanges(context, { client, fid: target.fid }, file, options)
      : null
  if (changes)
    context.messages.note(`${[...folders, name].join('/')} would change: ${formatChanges(changes)}`)
  return tables.map((table) => ({
    file: input.name,
    name: [...folders, name, ...table.path].join('/'),
    would,
    rows: changed?.row_count ?? table.ingested.rows,
    columns: (changed?.cols ?? table.ingested.columns).map(({ name: column, type }) => ({
      name: column,
      type,
    })),
    warnings,
    target: target ? { fid: formatFid(parseFid(target.fid)!), filetype: target.filetype } : null,
    changes,
  }))
}

/** Reads a file. The warnings name the tables that they are about. */
async function readTables(
  context: Context,
  input: Input,
  fileName: string | undefined,
  options: UploadOptions,
): Promise<{ tables: ReadTable[]; warnings: string[] }> {
  const { ingestFile } = await import('../../ingest/index.ts')
  const reading = {
    ...toParseOptions(options, input.name),
    fileName,
    limits: readLimits(context.environment),
  }
  const { tables, warnings } = await ingestFile(input.open(), reading, () => ({ slice() {} }))
  const ofTables = tables.flatMap(({ path, ingested }) =>
    ingested.warnings.map((text) => (path.length > 0 ? `${path.join('/')}: ${text}` : text)),
  )
  return { tables, warnings: [...warnings, ...ofTables] }
}

/** Throws if the chart of an upload could not be made. */
async function tryChart(
  context: Context,
  local: LocalFile,
  plot: NonNullable<UploadOptions['plot']>,
  options: UploadOptions,
  name: string,
  tables: readonly ReadTable[],
): Promise<void> {
  const [{ assertChart }, { refuseChart }] = await Promise.all([
    import('../charts/charts.ts'),
    import('./chart.ts'),
  ])
  if (tables.length === 1) await assertChart(name, tables[0].ingested.columns, plot, options)
  await refuseChart(context, local, plot, options)
}

/**
 * Returns whether a file that is read here is enough to tell what its upload does: a new grid on this machine, or standard
 * input without a name. Anything else depends on what is stored, and on quotas.
 */
async function isKnownHere(
  context: Context,
  file: string,
  { name, draft, key, checks, unpivot }: UploadOptions,
  isTaken: boolean,
): Promise<boolean> {
  if (file === '-' && name === undefined) return true
  const { server } = await context.connect()
  return (
    server === undefined && !isTaken && [draft, key, checks, unpivot].every((option) => option === undefined)
  )
}

/** Throws `bad_data` for warnings, but not for notices. */
function assertNoDoubts(warnings: readonly string[], source: string): void {
  const doubts = warnings.filter((warning) => !isNotice(warning))
  if (doubts.length > 0)
    throw new Problem('bad_data', `${source}: ${doubts.slice(0, 10).join('; ')}`, {
      hint: 'Warnings are errors with --strict.',
    })
}

/** Counts how a file differs from the grid that it would replace; null if that cannot be said. */
async function countChanges(
  context: Context,
  grid: Pick<DiffInput, 'client' | 'fid'>,
  file: string,
  options: UploadOptions,
): Promise<Preview['changes']> {
  try {
    return await compareWithGrid(context, grid, file, options)
  } catch (error) {
    // The dry run itself says what would be refused. Rows of the grid can have no key yet.
    if (!(error instanceof Problem)) throw error
    return null
  }
}

async function compareWithGrid(
  context: Context,
  { client, fid }: Pick<DiffInput, 'client' | 'fid'>,
  file: string,
  options: UploadOptions,
): Promise<Preview['changes']> {
  const grid = await client.call('grids.get', { fid })
  if (grid.row_count > MAX_COMPARED_ROWS) return null
  const local = await loadLocalGrid(context, file, options, {}, true)
  // Amounts that are texts here are read as numbers there.
  const isNumber = new Set(grid.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const { cols } = await local.client.call('grids.get', { fid: local.fid })
  if (cols.some(({ name, type }) => type === 'text' && isNumber.has(name))) return null
  const asked = parseKey(options, grid) ?? grid.primary_key
  const key = asked?.every((column) => grid.cols.some(({ name }) => name === column)) ? asked : undefined
  const diff = await diffWithFile(context, { client, fid }, local, { limit: 0, key })
  const { rows_added, rows_removed, rows_changed } = diff
  return { rows_added, rows_removed, rows_changed }
}

/** Returns what an upload would do with a definition file. */
export async function previewDefinition(maker: DefinitionMaker, local: DefinitionFile): Promise<Preview> {
  const { would, target } = await maker.preview(local)
  return {
    ...{ file: local.file, name: storedPathOf(local), rows: null, columns: [], warnings: [], would },
    target: target ? { fid: target.fid, filetype: target.filetype } : null,
    changes: null,
  }
}

/** A file that the upload would trash. */
export function previewOfRemoval({ file: { fid, filetype }, path }: Removal): Preview {
  return {
    file: '',
    name: path,
    rows: null,
    columns: [],
    warnings: [],
    would: 'trash',
    target: { fid, filetype },
    changes: null,
  }
}

/** Writes the plan of a dry run to the file of --plan. */
export async function savePlan(
  context: Context,
  plan: string,
  sending: SendOptions,
  { files, previews, removals }: Planned,
): Promise<void> {
  const would = new Map(previews.map((one) => [one.file, one.would]))
  const uploads = files.map((local) => ({ ...local, would: would.get(local.file) ?? 'create' }))
  const trash = removals.map(({ file: { fid }, path }) => ({ fid, path }))
  await writePlan(context, plan, sending, uploads, trash)
  context.messages.note(`wrote ${plan}; nothing was changed. To do it: gridline apply ${plan}`)
}

/** The contents of a plan. */
interface Planned {
  files: readonly LocalFile[]
  previews: readonly Preview[]
  removals: readonly Removal[]
}
