import type { Fid } from '../../contract/fid.ts'
import { acceptedBefore, parseRaw, type RawJson } from '../../json/index.ts'
import type { Readers, Store } from '../store/store.ts'
import { columnText, type Snapshot, snapshot } from './content.ts'

const COLUMNS = 20
const VALUES = 10
/** Maximum length of a value. Longer texts are cut; other longer values are omitted. */
const VALUE_CHARACTERS = 100
const CHARACTERS = 16 * 1024

/** A snapshot for the preview, taken in the transaction that reads the rest of the metadata. */
export function previewed(store: Store, readers: Readers, fid: Fid): Promise<Snapshot> {
  return snapshot(store, readers, fid, (columns) => columns.slice(0, COLUMNS))
}

/**
 * The first values of the first columns by name, as JSON text. `preview` is a string in the API; existing
 * clients parse it and show a table.
 */
export async function previewOf(snap: Snapshot): Promise<string> {
  let text = ''
  for (const column of snap.columns) {
    const pieces: Uint8Array[] = [Buffer.from('[')]
    for await (const piece of columnText(snap, column, VALUES, 1)) pieces.push(piece)
    const values = [
      ...parseRaw(Buffer.concat([...pieces, Buffer.from(']')]), 'the content', acceptedBefore).items(),
    ].map(short)
    const shown = `${JSON.stringify(column.name)}:[${values.join(',')}]`
    if (text.length + shown.length > CHARACTERS) break
    text += `${text === '' ? '' : ','}${shown}`
  }
  return `{${text}}`
}

function short(value: RawJson): string {
  if (value.end - value.start <= VALUE_CHARACTERS) return value.bytes.toString('utf8')
  if (value.kind !== 'string') return 'null'
  return JSON.stringify(`${[...(value.value() as string).slice(0, VALUE_CHARACTERS)].slice(0, -1).join('')}…`)
}
