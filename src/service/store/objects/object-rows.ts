// Selects, creates and ends the rows of objects.
import { randomBytes } from 'node:crypto'
import { type Selectable, SqliteAdapter, sql } from 'kysely'
import { asBuffer } from '../../../json/index.ts'
import type { Transactions } from '../engines/engine.ts'
import { addToList, inBatches } from '../schema/row-groups.ts'
import type { Db, Schema } from '../schema/schema.ts'
import { blobTables } from '../schema/tables.ts'
import { blobIdOf } from './blobs.ts'
import { IN_DATABASE } from './locations.ts'
import { OBJECT_STATES } from './object-states.ts'

const PIECE_BYTES = 256 * 1024

/** Returns the row of a new object of an owner. `place`: '' for bytes inside the row. */
export function createObjectRow(
  owner: string,
  hash: string,
  bytes: Uint8Array,
  place: string,
): Selectable<Schema['objects']> {
  return {
    owner,
    // Keys are never reused, so a late removal cannot delete a newer object.
    key: randomBytes(12).toString('hex'),
    hash,
    state: OBJECT_STATES.writing,
    home: owner,
    place,
    bytes: bytes.length,
    body: place === '' ? bytes : null,
    changed_at: Date.now(),
  }
}

/** An object without its bytes. */
export type ObjectRow = Omit<Selectable<Schema['objects']>, 'body'>

/** Reads the objects of all owners by owner and key, in batches; with `elsewhere`, live ones at other locations. */
export async function* readObjectBatches(
  engine: Transactions,
  size: number,
  elsewhere?: string,
): AsyncGenerator<ObjectRow[]> {
  for (let after = { owner: '', key: '' }; ; ) {
    const { owner, key } = after
    const rows = await engine.read((db) => {
      const objects = db
        .selectFrom('objects')
        .select(['owner', 'key', 'hash', 'state', 'home', 'place', 'bytes', 'changed_at'])
        .where(sql<boolean>`(owner, key) > (${owner}, ${key})`)
        .orderBy('owner')
        .orderBy('key')
        .limit(size)
      if (elsewhere === undefined) return objects.execute()
      return objects
        .where('state', '=', sql.lit(OBJECT_STATES.live))
        .where('place', 'not in', ['', elsewhere])
        .execute()
    })
    yield rows
    if (rows.length < size) return
    after = rows[size - 1]
  }
}

/** Splits the bytes of an object that is stored in pieces in the database into its rows. */
export function splitIntoPieces(home: string, key: string, bytes: Uint8Array) {
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, piece) => ({
    home,
    key,
    piece,
    body: bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES),
  }))
}

/** An object outside the database. `name`: id of its blob. */
export interface ExternalObject {
  name: string
  place: string
  key: string
}

/** Owners whose objects are read with one statement. */
const BATCH_OWNERS = 100

/** Adds the bytes of live objects by hash, and of any by key, to `bytesByName`. Returns those outside the database. */
export async function readObjects(
  db: Db,
  byOwner: Readonly<Record<'hash' | 'key', ReadonlyMap<string, ReadonlySet<string>>>>,
  bytesByName: Map<string, Buffer>,
): Promise<ExternalObject[]> {
  const rows = []
  for (const column of ['hash', 'key'] as const)
    for (const batch of inBatches([...byOwner[column]], BATCH_OWNERS)) {
      const query = db
        .selectFrom('objects')
        .select(['owner', 'key', 'hash', 'home', 'place', 'body'])
        .where(({ or, and, eb }) =>
          or(batch.map(([owner, values]) => and([eb('owner', '=', owner), eb(column, 'in', [...values])]))),
        )
      const live = query.where('state', '=', sql.lit(OBJECT_STATES.live))
      rows.push(...(await (column === 'hash' ? live : query).execute()))
    }
  const external: ExternalObject[] = []
  const inPieces = new Map<string, Map<string, string>>()
  for (const { owner, key, hash, home, place, body } of rows) {
    if (body) {
      bytesByName.set(blobIdOf({ owner, hash }), asBuffer(body))
      continue
    }
    if (place !== IN_DATABASE) {
      external.push({ name: blobIdOf({ owner, hash }), place, key })
      continue
    }
    const names = inPieces.get(home) ?? new Map<string, string>()
    names.set(key, blobIdOf({ owner, hash }))
    inPieces.set(home, names)
  }
  // SQLite must not look at `home`, which follows the bytes in a row: it would read them twice.
  const hasNodes = !(db.getExecutor().adapter instanceof SqliteAdapter)
  for (const [home, names] of inPieces) {
    const pieces = await db
      .selectFrom('blob_pieces')
      .select(['key', 'body'])
      .$if(hasNodes, (select) => select.where('home', '=', home))
      .where('key', 'in', [...names.keys()])
      .orderBy('key')
      .orderBy('piece')
      .execute()
    const chunksByKey = new Map<string, Uint8Array[]>()
    for (const { key, body } of pieces) addToList(chunksByKey, key, body)
    for (const [key, chunks] of chunksByKey)
      bytesByName.set(names.get(key)!, chunks.length === 1 ? asBuffer(chunks[0]) : Buffer.concat(chunks))
  }
  return external
}

/**
 * Returns the hashes of objects that no row of the owner refers to. One statement, since references move between tables.
 */
export async function selectUnreferenced(
  db: Db,
  owner: string,
  objects: readonly { hash: string }[],
): Promise<Set<string>> {
  const unique = [...new Set(objects.map(({ hash }) => hash))]
  if (unique.length === 0) return new Set()
  const [first, ...rest] = blobTables.map((table) =>
    db.selectFrom(table).select('hash').where('owner', '=', owner).where('hash', 'in', unique),
  )
  const rows = await rest.reduce((all, query) => all.union(query), first).execute()
  const referenced = new Set(rows.map(({ hash }) => hash))
  return new Set(unique.filter((hash) => !referenced.has(hash)))
}

/** Returns those of these hashes for which the owner has a live object. */
export async function selectLiveHashes(
  db: Db,
  owner: string,
  hashes: readonly string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('objects')
    .select('hash')
    .where('owner', '=', owner)
    .where('hash', 'in', hashes)
    .where('state', '=', sql.lit(OBJECT_STATES.live))
    .execute()
  return new Set(rows.map(({ hash }) => hash))
}

/** Removes objects not changed since `before`, unless they are referenced. The caller locks the owner. */
export async function endUnreferenced(
  db: Db,
  owner: string,
  objects: readonly { key: string; hash: string }[],
  before: number,
): Promise<EndedObjects> {
  const unused = await selectUnreferenced(db, owner, objects)
  const removableKeys = objects.map(({ key }) => key)
  const rows = await db
    .selectFrom('objects')
    .select(['key', 'hash', 'state'])
    .where('owner', '=', owner)
    .where('key', 'in', removableKeys)
    .where('changed_at', '<', before)
    .execute()
  const keys = rows
    .filter(({ hash, state }) => state !== OBJECT_STATES.live || unused.has(hash))
    .map(({ key }) => key)
  const endedBefore = new Set(rows.flatMap(({ key, state }) => (state === OBJECT_STATES.ended ? [key] : [])))
  return endObjectRows(db, owner, keys, [OBJECT_STATES.writing, OBJECT_STATES.live, OBJECT_STATES.ended], {
    before,
    endedBefore,
  })
}

export interface EndedObjects {
  count: number
  /**
   * Ended objects whose bytes outside the database must be removed; `removesRow`: then also their rows.
   */
  ended: { place: string; key: string; removesRow: boolean }[]
}

/**
 * Ends objects of an owner in these states. Removes their rows, and their bytes in the database unless
 * another owner shares them. Rows of external objects stay, as ended.
 */
export async function endObjectRows(
  db: Db,
  owner: string,
  keys: readonly string[],
  states: readonly number[],
  /** `before`: only objects not changed since then. `endedBefore`: keys of objects that had already ended. */
  {
    before = Number.MAX_SAFE_INTEGER,
    endedBefore = new Set<string>(),
  }: { before?: number; endedBefore?: ReadonlySet<string> } = {},
): Promise<EndedObjects> {
  if (keys.length === 0) return { count: 0, ended: [] }
  const endedRows = await db
    .updateTable('objects')
    .set({ state: OBJECT_STATES.ended, changed_at: Date.now() })
    .where('owner', '=', owner)
    .where('key', 'in', keys)
    .where('state', 'in', states)
    .where('changed_at', '<', before)
    .returning(['key', 'home', 'place'])
    .execute()
  if (endedRows.length === 0) return { count: 0, ended: [] }
  const endedKeys = endedRows.map(({ key }) => key)
  const shared = await db
    .selectFrom('objects')
    .select('key')
    .where('key', 'in', endedKeys)
    .where('owner', '<>', owner)
    .where('state', '<>', OBJECT_STATES.ended)
    .execute()
  const sharedKeys = new Set(shared.map(({ key }) => key))
  const unshared = endedRows.filter(({ key }) => !sharedKeys.has(key))
  const ended = unshared
    .filter(({ place }) => place !== '' && place !== IN_DATABASE)
    .map(({ place, key }) => ({ place, key, removesRow: endedBefore.has(key) }))
  const externalKeys = new Set(ended.map(({ key }) => key))
  await db
    .deleteFrom('objects')
    .where('owner', '=', owner)
    .where('key', 'in', [...endedKeys.filter((key) => !externalKeys.has(key)), ''])
    .execute()
  const pieces = unshared.filter(({ place }) => place === IN_DATABASE)
  for (const home of new Set(pieces.map((piece) => piece.home)))
    await db
      .deleteFrom('blob_pieces')
      .where('home', '=', home)
      .where(
        'key',
        'in',
        pieces.filter((piece) => piece.home === home).map(({ key }) => key),
      )
      .execute()
  return { count: endedRows.length, ended }
}
