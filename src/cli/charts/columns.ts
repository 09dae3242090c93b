import { columnNames } from '../../charts/spec/column-names.ts'
import type { Client } from '../../client/index.ts'

/** The columns of a grid that an option names; undefined for all. */
export async function chosenColumns(
  client: Client,
  fid: string,
  given: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (given === undefined) return undefined
  // Only a comma makes it necessary to know the names.
  if (!given.some((text) => text.includes(','))) return [...given]
  const { cols } = await client.call('grids.get', { fid })
  return columnNames(
    given,
    cols.map(({ name }) => name),
  )
}
