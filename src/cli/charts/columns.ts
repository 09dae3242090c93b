// Resolves column names of options.
import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import type { Client } from '../../client/index.ts'

/**
 * Returns the column names in an option, split at commas; undefined for all. Words without a comma are returned
 * as they are, without a check.
 */
export async function splitColumnNames(
  client: Client,
  fid: string,
  words: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (words === undefined) return undefined
  // Only names with commas need the columns of the grid.
  if (!words.some((text) => text.includes(','))) return [...words]
  const { cols } = await client.call('grids.get', { fid })
  return parseColumnNames(
    words,
    cols.map(({ name }) => name),
  )
}
