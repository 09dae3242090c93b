// Inputs of a diff: stored or local files.
import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import type { Client } from '../../client/index.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { dataTypes, type QueryOf } from '../../contract/operations/index.ts'
import type { GridDiff, GridMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'

/** One input of a diff: a stored file or a local data file. */
export interface DiffInput {
  /** Name as given by the user. */
  name: string
  client: Client
  fid: string
  version: string | undefined
  isLocal: boolean
  /** Type of a local input. Directories have no id. */
  filetype?: 'grid' | 'fold'
  /** For copies in this process: the original grid. */
  copyOf?: Pick<GridMeta, 'fid' | 'filename' | 'version' | 'primary_key'>
}

/** Returns both sides in one service. Sides of different services are copied into the in-process one. */
export async function moveToOneService(
  context: Context,
  [a, b]: readonly [DiffInput, DiffInput],
): Promise<readonly [DiffInput, DiffInput]> {
  if (a.client === b.client) return [a, b]
  return [await copyToLocalService(context, a), await copyToLocalService(context, b)]
}

/** Copies a grid into the in-process service. */
async function copyToLocalService(context: Context, side: DiffInput): Promise<DiffInput> {
  const temporary = await context.temporaryClient()
  if (side.client === temporary) return side
  const { client, fid, version } = side
  const original = await client.call('grids.get', { fid, version })
  const { cols, row_count } = original
  const { file } =
    row_count === 0
      ? await temporary.call('grids.create', {
          json: {
            data: { cols: Object.fromEntries(cols.map(({ name, order }) => [name, { data: [], order }])) },
          },
        })
      : await temporary.call('grids.upload', {
          plainHeaders: { [FILE_NAME_HEADER]: 'compared.ndjson' },
          headers: { 'On-Conflict': 'rename' },
          body: {
            type: dataTypes.ndjson,
            repeatable: true,
            async *open() {
              const response = await client.response('grids.content', {
                fid,
                version,
                query: { format: 'ndjson' },
              })
              yield* response.bytes()
            },
          },
        })
  return { ...side, client: temporary, fid: file.fid, version: undefined, copyOf: original }
}

/** Returns the columns of --key, of a grid; undefined without it. */
export function parseKey({ key }: { key?: string }, { cols }: Pick<GridMeta, 'cols'>): string[] | undefined {
  if (key === undefined) return undefined
  const names = cols.map(({ name }) => name)
  return parseColumnNames(key, names).filter(Boolean)
}

/** Compares a stored grid with a loaded local file. */
export async function diffWithFile(
  context: Context,
  grid: Pick<DiffInput, 'client' | 'fid'>,
  loadedFile: Pick<DiffInput, 'client' | 'fid'>,
  query: Omit<QueryOf<'grids.diff'>, 'base'>,
): Promise<GridDiff> {
  const [before, after] = await moveToOneService(context, [
    { ...grid, name: 'the grid', version: undefined, isLocal: false },
    { ...loadedFile, name: 'the file', version: undefined, isLocal: true },
  ])
  return after.client.call('grids.diff', { fid: after.fid, query: { ...query, base: before.fid } })
}
