// Tracks where the objects of a database are stored.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Engine } from '../engines/engine.ts'
import { sha256 } from '../schema/hash.ts'
import { MeteredStore, ObjectStats } from './metered-store.ts'
import { OBJECT_STATES } from './object-states.ts'
import { normalizeAddress, type ObjectStore, type S3Environment } from './object-store.ts'
import { openObjectStore } from './open-store.ts'

/** Name of the location inside the database. */
export const IN_DATABASE = 'sql'

/**
 * Interval at which a server checks where to store new bytes, in ms. `gridline admin blobs move` changes it.
 */
const CURRENT_CACHE_MS = 5_000

/** Objects counted per step. */
const BATCH_OBJECTS = 2_000

interface CurrentLocation {
  id: string
  /** Undefined: inside the database. */
  store: ObjectStore | undefined
}

export interface LocationSize {
  /** An address; `row` and `sql` are inside the database. */
  place: string
  objects: number
  bytes: number
}

/**
 * Locations of the bytes of a database. They are stored in the database; `--blobs` states what a server
 * expects.
 */
export class Locations {
  readonly stats = new ObjectStats()
  /** Sizes at the last sweep by any server. */
  sizes: readonly LocationSize[] = []
  private readonly stores = new Map<string, ObjectStore>()
  private cachedCurrent: { place: CurrentLocation; since: number } | undefined

  constructor(
    private readonly engine: Engine,
    private readonly environment: S3Environment,
  ) {}

  /**
   * Throws if new bytes are stored elsewhere than a server expects. A database without bytes adopts the
   * address.
   */
  async adoptOrAssert(input: string | undefined): Promise<void> {
    const address = input && normalizeAddress(input)
    const recorded = await this.loadCurrentAddress()
    if (address === undefined || address === (recorded ?? IN_DATABASE)) return this.checkCurrent()
    const isUnused =
      recorded === undefined &&
      (await this.engine.read((db) => db.selectFrom('objects').select('key').limit(1).execute())).length === 0
    if (!isUnused) throw otherLocationError(recorded ?? IN_DATABASE, address)
    await this.setCurrent(address, true)
  }

  /** Throws, naming the setting, unless the current location works and holds the bytes of this database. */
  async checkCurrent(): Promise<void> {
    const { id, store } = await this.getCurrent()
    if (!store) return
    const missingError = await this.findMissingBytes()
    if (missingError) throw missingError
    await writeMarker(id, store)
    await store.checkAccess()
  }

  /** Returns an error if the current location does not hold the bytes of this database. Writes nothing. */
  async findMissingBytes(): Promise<Problem | undefined> {
    const { id, store } = await this.getCurrent()
    if (!store || (await store.get(markerKeyOf(id)))) return undefined
    const sample = await this.engine.read((db) =>
      db
        .selectFrom('objects')
        .select('key')
        .where(({ and }) => and({ place: id, state: OBJECT_STATES.live }))
        .limit(3)
        .execute(),
    )
    if (sample.length === 0) return undefined
    // Locations of early versions have no marker: look for objects instead.
    for (const { key } of sample) if (await store.get(key).catch(() => undefined)) return undefined
    return new Problem(
      'conflict',
      `${await this.currentAddress()} has none of the bytes of this database (--blobs)`,
      {
        hint: 'Mount the folder or bucket that holds them. If its address has changed: gridline admin blobs relocate --to ADDRESS',
      },
    )
  }

  /**
   * Changes the address of the current location, after the folder or bucket was moved or copied. Throws
   * unless the bytes are there. Does nothing at the former address.
   */
  async changeAddress(input: string): Promise<void> {
    const address = normalizeAddress(input)
    const store = await this.openStoreAt(address)
    const { id } = await this.getCurrent()
    if (!store || id === IN_DATABASE)
      throw new Problem('usage', 'only the address of a folder or bucket can be changed', {
        hint: 'To move bytes to another location: gridline admin blobs move --to ADDRESS',
      })
    if (!(await store.get(markerKeyOf(id))))
      throw new Problem(
        'conflict',
        `${address} has no copy of ${await this.currentAddress()}: there is no object ${markerKeyOf(id)}`,
        {
          hint: 'Copy the whole folder or bucket first, with this object.',
        },
      )
    await store.checkAccess()
    await this.engine.write([], async (db) => {
      const taken = await db
        .selectFrom('blob_stores')
        .select('id')
        .where('address', '=', address)
        .where('id', '!=', id)
        .executeTakeFirst()
      if (taken) throw new Problem('conflict', `${address} is already another location of this database`)
      await db.updateTable('blob_stores').set({ address }).where('id', '=', id).execute()
    })
    this.stores.delete(id)
    this.cachedCurrent = undefined
  }

  /** Returns the address where new bytes are stored. */
  async currentAddress(): Promise<string> {
    return (await this.loadCurrentAddress()) ?? IN_DATABASE
  }

  private async loadCurrentAddress(): Promise<string | undefined> {
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('address').where('is_current', '=', 1).executeTakeFirst(),
    )
    return row?.address
  }

  /**
   * Makes an address the current location, after checking it. `isFirst`: throws if another one was already
   * chosen. Returns its id.
   */
  async setCurrent(input: string, isFirst = false): Promise<string> {
    const address = normalizeAddress(input)
    const store = await this.openStoreAt(address)
    const existing = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('id').where('address', '=', address).executeTakeFirst(),
    )
    const id = store ? (existing?.id ?? randomBytes(4).toString('hex')) : IN_DATABASE
    if (store) {
      await store.checkAccess()
      // Before the database refers to it: every recorded location has a marker.
      await writeMarker(id, store)
    }
    // A unique index lets only one of several concurrent servers choose; the others repeat the transaction.
    const savedId = await this.engine.write([], async (db) => {
      const current = await db
        .selectFrom('blob_stores')
        .select('address')
        .where('is_current', '=', 1)
        .executeTakeFirst()
      if (isFirst && current && current.address !== address)
        throw otherLocationError(current.address, address)
      // The first location has nothing to replace. An update here would keep the index from detecting another
      // one.
      if (!isFirst) await db.updateTable('blob_stores').set({ is_current: 0 }).execute()
      if (!store) return IN_DATABASE
      const saved = await db
        .selectFrom('blob_stores')
        .select('id')
        .where('address', '=', address)
        .executeTakeFirst()
      if (!saved) await db.insertInto('blob_stores').values({ id, address, is_current: 1 }).execute()
      else await db.updateTable('blob_stores').set({ is_current: 1 }).where('id', '=', saved.id).execute()
      return saved?.id ?? id
    })
    if (store) {
      if (savedId !== id) await writeMarker(savedId, store)
      store.requireMarker?.(markerKeyOf(savedId))
      this.stores.set(savedId, store)
    }
    this.cachedCurrent = undefined
    return savedId
  }

  /** Returns where new bytes are stored, cached for a few seconds. */
  async getCurrent(): Promise<CurrentLocation> {
    const now = performance.now()
    if (this.cachedCurrent && now - this.cachedCurrent.since < CURRENT_CACHE_MS)
      return this.cachedCurrent.place
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('id').where('is_current', '=', 1).executeTakeFirst(),
    )
    const place = row
      ? { id: row.id, store: await this.storeById(row.id) }
      : { id: IN_DATABASE, store: undefined }
    this.cachedCurrent = { place, since: now }
    return place
  }

  /** Lists all locations that hold bytes, with their sizes. */
  async listLocations(): Promise<{ place: string; is_current: boolean; objects: number; bytes: number }[]> {
    const current = await this.currentAddress()
    const { stores, objects } = await this.engine.read(async (db) => ({
      stores: await db.selectFrom('blob_stores').selectAll().execute(),
      objects: await db
        .selectFrom('objects')
        .select(({ fn }) => [
          'place',
          fn.countAll<number>().as('objects'),
          fn.sum<number>('bytes').as('bytes'),
        ])
        // A sweep removes ended objects a day later.
        .where('state', '!=', OBJECT_STATES.ended)
        .groupBy('place')
        .execute(),
    }))
    const nameOf = (id: string): string => locationNameOf(id, stores)
    const locations = objects.map(({ place, ...rest }) => ({
      place: nameOf(place),
      is_current: nameOf(place) === current,
      objects: Number(rest.objects),
      bytes: Number(rest.bytes),
    }))
    if (!locations.some(({ is_current }) => is_current))
      locations.push({ place: current, is_current: true, objects: 0, bytes: 0 })
    return locations.sort((a, b) => (a.place < b.place ? -1 : 1))
  }

  /** Opens the store at an address; undefined for the database. Throws `usage` for an invalid address. */
  async openStoreAt(address: string): Promise<ObjectStore | undefined> {
    if (address === IN_DATABASE) return undefined
    return new MeteredStore(await openObjectStore(address, this.environment), this.stats)
  }

  /** Counts the objects per location, and stores the sums. Calls `throwIfStopped` between two steps. */
  async measureSizes(throwIfStopped: () => Promise<void>): Promise<void> {
    const sums = new Map<string, { objects: number; bytes: number }>()
    for (let after: { owner: string; key: string } | undefined, isDone = false; !isDone; ) {
      await throwIfStopped()
      const rows = await this.engine.read((db) =>
        db
          .selectFrom('objects')
          .select(['owner', 'key', 'place', 'bytes'])
          .$if(after !== undefined, (select) =>
            select.where(sql<boolean>`(owner, key) > (${after!.owner}, ${after!.key})`),
          )
          .orderBy('owner')
          .orderBy('key')
          .limit(BATCH_OBJECTS)
          .execute(),
      )
      for (const { place, bytes } of rows) {
        const sum = sums.get(place) ?? { objects: 0, bytes: 0 }
        sums.set(place, { objects: sum.objects + 1, bytes: sum.bytes + bytes })
      }
      after = rows.at(-1)
      isDone = rows.length < BATCH_OBJECTS
    }
    const values = [...sums].map(([place, sum]) => ({ place, ...sum }))
    await this.engine.write([], async (db) => {
      await db.deleteFrom('place_sizes').execute()
      if (values.length > 0) await db.insertInto('place_sizes').values(values).execute()
    })
  }

  /** Loads the sizes stored by the last sweep into `sizes`. */
  async loadSizes(): Promise<void> {
    const { stores, sizes } = await this.engine.read(async (db) => ({
      stores: await db.selectFrom('blob_stores').selectAll().execute(),
      sizes: await db.selectFrom('place_sizes').selectAll().execute(),
    }))
    this.sizes = sizes.map((size) => ({ ...size, place: locationNameOf(size.place, stores) }))
  }

  /** Returns the store of a location, and opens it if needed. */
  async storeById(id: string): Promise<ObjectStore> {
    const cached = this.stores.get(id)
    if (cached) return cached
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('address').where('id', '=', id).executeTakeFirst(),
    )
    if (!row) throw new Problem('damaged', `bytes are in an unknown location: ${id}`)
    const store = await this.openStoreAt(row.address).catch((error: unknown) => {
      // A setting missing on this server is not an error of the request.
      if (error instanceof Problem && error.code === 'usage')
        throw new Problem('overloaded', error.message, { hint: error.hint })
      throw error
    })
    store!.requireMarker?.(markerKeyOf(id))
    this.stores.set(id, store!)
    return store!
  }
}

function otherLocationError(current: string, address: string): Problem {
  return new Problem('conflict', `this database keeps its bytes in ${current}, not in ${address} (--blobs)`, {
    hint: `Start with --blobs ${current}, or move them: gridline admin blobs move --to ${address}`,
  })
}

/** Returns the key of the marker, which tells a location from an empty folder or another bucket. */
function markerKeyOf(id: string): string {
  return `place-${id}`
}

/** Writes the marker of a location. */
async function writeMarker(id: string, store: ObjectStore): Promise<void> {
  const bytes = Buffer.from(`The bytes of a database of Gridline are here. Do not remove this object.\n`)
  await store.put(markerKeyOf(id), bytes, sha256(bytes))
}

/** Returns the displayed name of a location: `row` for bytes stored in the row of their object. */
function locationNameOf(id: string, stores: readonly { id: string; address: string }[]): string {
  return id === '' ? 'row' : (stores.find((store) => store.id === id)?.address ?? id)
}
