import type { Fid } from '../../contract/fid.ts'
import type { Service } from '../context.ts'
import { columnText, snapshot } from './content.ts'

const COLUMNS = 20
const VALUES = 10

/**
 * The first values of the first columns by name, as JSON text: existing clients make a table of it.
 * Reference 2.1 has `preview` as a string.
 */
export async function previewOf(service: Service, fid: Fid): Promise<string> {
  const { store } = service
  const snap = await store.read((readers) =>
    snapshot(store, readers, fid, (columns) => columns.slice(0, COLUMNS)),
  )
  const columns: string[] = []
  for (const column of snap.columns) {
    const values: Uint8Array[] = []
    for await (const piece of columnText(snap, column, VALUES, 1)) values.push(piece)
    columns.push(`${JSON.stringify(column.name)}:[${Buffer.concat(values).toString('utf8')}]`)
  }
  return `{${columns.join(',')}}`
}
