// Sets the primary key of a grid.
import type { BodySource, Client } from '../../client/index.ts'
import { dataTypes } from '../../contract/operations/index.ts'

/** The body of an append without rows. */
const NO_ROWS: BodySource = {
  type: dataTypes.ndjson,
  repeatable: true,
  async *open() {},
}

/** Makes columns the primary key of a grid; none removes the key. */
export async function setPrimaryKey(client: Client, fid: string, names: readonly string[]): Promise<void> {
  // A comma alone means no columns.
  const headers = { Key: names.map(encodeURIComponent).join(',') || ',' }
  await client.call('rows.append', { fid, headers, body: NO_ROWS })
}
