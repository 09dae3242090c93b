import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Engine } from '../engines/engine.ts'
import { sha256 } from '../schema/hash.ts'
import { CountedObjects, ObjectStats } from './counted.ts'
import { type Environment, type ObjectStore, wholeAddress } from './object-store.ts'
import { openObjectStore } from './open.ts'
import { STATES } from './states.ts'

/** Where bytes are that are in the database. */
export const IN_DATABASE = 'sql'

/** How often a server looks where new bytes go, in ms: `gridline admin blobs move` changes it. */
const POLL_MS = 5_000

/** Objects that are counted in one step. */
const MEASURED = 2_000

interface Place {
  id: string
  /** Undefined: the database. */
  store: ObjectStore | undefined
}

export interface PlaceSize {
  /** An address; `row` and `sql` are in the database. */
  place: string
  objects: number
  bytes: number
}

/** Where the bytes of a database are. The database knows; `--blobs` says what a server expects. */
export class Places {
  readonly stats = new ObjectStats()
  /** How much was where at the last sweep of any server. */
  sizes: readonly PlaceSize[] = []
  private readonly stores = new Map<string, ObjectStore>()
  private known: { place: Place; since: number } | undefined

  constructor(
    private readonly engine: Engine,
    private readonly environment: Environment,
  ) {}

  /** Checks that new bytes go where a server expects them. In a database without bytes, it decides. */
  async expect(input: string | undefined): Promise<void> {
    const address = input && wholeAddress(input)
    const recorded = await this.recorded()
    if (address === undefined || address === (recorded ?? IN_DATABASE)) return this.check()
    const isUnused =
      recorded === undefined &&
      (await this.engine.read((db) => db.selectFrom('objects').select('key').limit(1).execute())).length === 0
    if (!isUnused) throw isElsewhere(recorded ?? IN_DATABASE, address)
    await this.use(address, true)
  }

  /**
   * Checks that bytes can be stored where new ones go, and that it is the place that has those of this database. Throws
   * a Problem that names the setting.
   */
  async check(): Promise<void> {
    const { id, store } = await this.current()
    if (!store) return
    const gone = await this.gone()
    if (gone) throw gone
    await mark(id, store)
    await store.check()
  }

  /** What is wrong if the present place is not the one that has the bytes of this database. Nothing is written there. */
  async gone(): Promise<Problem | undefined> {
    const { id, store } = await this.current()
    if (!store || (await store.get(markerOf(id)))) return undefined
    const sample = await this.engine.read((db) =>
      db
        .selectFrom('objects')
        .select('key')
        .where('place', '=', id)
        .where('state', '=', STATES.live)
        .limit(3)
        .execute(),
    )
    if (sample.length === 0) return undefined
    // Places of before have no marker: they have what is stored there.
    for (const { key } of sample) if (await store.get(key).catch(() => undefined)) return undefined
    return new Problem(
      'conflict',
      `${await this.address()} has none of the bytes of this database (--blobs)`,
      {
        hint: 'Bring back the folder or bucket in which they are, such as by mounting it. If they are at another address now: gridline admin blobs relocate --to ADDRESS',
      },
    )
  }

  /**
   * Says that the bytes of the present place are at another address: a folder or bucket that was moved, or a copy of it.
   * Throws unless they are there. Nothing is done at the former address.
   */
  async relocate(input: string): Promise<void> {
    const address = wholeAddress(input)
    const store = await this.open(address)
    const { id } = await this.current()
    if (!store || id === IN_DATABASE)
      throw new Problem('usage', 'only a folder or a bucket can be at another address', {
        hint: 'To bring bytes elsewhere: gridline admin blobs move --to ADDRESS',
      })
    if (!(await store.get(markerOf(id))))
      throw new Problem(
        'conflict',
        `${address} has no copy of ${await this.address()}: there is no object ${markerOf(id)}`,
        {
          hint: 'Copy the whole folder or bucket first, with this object.',
        },
      )
    await store.check()
    await this.engine.write([], async (db) => {
      const taken = await db
        .selectFrom('blob_stores')
        .select('id')
        .where('address', '=', address)
        .where('id', '!=', id)
        .executeTakeFirst()
      if (taken) throw new Problem('conflict', `${address} is another place of this database`)
      await db.updateTable('blob_stores').set({ address }).where('id', '=', id).execute()
    })
    this.stores.delete(id)
    this.known = undefined
  }

  /** Where new bytes go: the address. */
  async address(): Promise<string> {
    return (await this.recorded()) ?? IN_DATABASE
  }

  private async recorded(): Promise<string | undefined> {
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('address').where('is_current', '=', 1).executeTakeFirst(),
    )
    return row?.address
  }

  /** Makes new bytes go to an address, after checking it; `isFirst`: unless another place was chosen. Returns its id. */
  async use(input: string, isFirst = false): Promise<string> {
    const address = wholeAddress(input)
    const store = await this.open(address)
    const existing = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('id').where('address', '=', address).executeTakeFirst(),
    )
    const id = store ? (existing?.id ?? randomBytes(4).toString('hex')) : IN_DATABASE
    if (store) {
      await store.check()
      // Before the database knows of it: a place that it knows has a marker.
      await mark(id, store)
    }
    // Of several that choose one at a time, an index lets one do so; the others repeat the transaction.
    const savedId = await this.engine.write([], async (db) => {
      const current = await db
        .selectFrom('blob_stores')
        .select('address')
        .where('is_current', '=', 1)
        .executeTakeFirst()
      if (isFirst && current && current.address !== address) throw isElsewhere(current.address, address)
      // There is none to replace, or the index could not tell of another one.
      if (!isFirst) await db.updateTable('blob_stores').set({ is_current: 0 }).execute()
      if (!store) return IN_DATABASE
      const there = await db
        .selectFrom('blob_stores')
        .select('id')
        .where('address', '=', address)
        .executeTakeFirst()
      if (!there) await db.insertInto('blob_stores').values({ id, address, is_current: 1 }).execute()
      else await db.updateTable('blob_stores').set({ is_current: 1 }).where('id', '=', there.id).execute()
      return there?.id ?? id
    })
    if (store) {
      if (savedId !== id) await mark(savedId, store)
      store.guard?.(markerOf(savedId))
      this.stores.set(savedId, store)
    }
    this.known = undefined
    return savedId
  }

  /** Where new bytes go. */
  async current(): Promise<Place> {
    const now = performance.now()
    if (this.known && now - this.known.since < POLL_MS) return this.known.place
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('id').where('is_current', '=', 1).executeTakeFirst(),
    )
    const place = row
      ? { id: row.id, store: await this.store(row.id) }
      : { id: IN_DATABASE, store: undefined }
    this.known = { place, since: now }
    return place
  }

  /** All places with bytes, and how much is there. */
  async list(): Promise<{ place: string; is_current: boolean; objects: number; bytes: number }[]> {
    const current = await this.address()
    const { stores, objects } = await this.engine.read(async (db) => ({
      stores: await db.selectFrom('blob_stores').selectAll().execute(),
      objects: await db
        .selectFrom('objects')
        .select(({ fn }) => [
          'place',
          fn.countAll<number>().as('objects'),
          fn.sum<number>('bytes').as('bytes'),
        ])
        // What has ended is removed a day later.
        .where('state', '!=', STATES.ended)
        .groupBy('place')
        .execute(),
    }))
    const nameOf = (id: string): string => placeName(id, stores)
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

  /** The store of an address; undefined for the database. Throws `usage` for what is not an address. */
  async open(address: string): Promise<ObjectStore | undefined> {
    if (address === IN_DATABASE) return undefined
    return new CountedObjects(await openObjectStore(address, this.environment), this.stats)
  }

  /** Counts what is where, in steps between which others get their turn. */
  async measure(mayGoOn: () => Promise<void>): Promise<void> {
    const sums = new Map<string, { objects: number; bytes: number }>()
    for (let after: { owner: string; key: string } | undefined, isDone = false; !isDone; ) {
      await mayGoOn()
      const rows = await this.engine.read((db) =>
        db
          .selectFrom('objects')
          .select(['owner', 'key', 'place', 'bytes'])
          .$if(after !== undefined, (select) =>
            select.where(sql<boolean>`(owner, key) > (${after!.owner}, ${after!.key})`),
          )
          .orderBy('owner')
          .orderBy('key')
          .limit(MEASURED)
          .execute(),
      )
      for (const { place, bytes } of rows) {
        const sum = sums.get(place) ?? { objects: 0, bytes: 0 }
        sums.set(place, { objects: sum.objects + 1, bytes: sum.bytes + bytes })
      }
      after = rows.at(-1)
      isDone = rows.length < MEASURED
    }
    const values = [...sums].map(([place, sum]) => ({ place, ...sum }))
    await this.engine.write([], async (db) => {
      await db.deleteFrom('place_sizes').execute()
      if (values.length > 0) await db.insertInto('place_sizes').values(values).execute()
    })
  }

  /** Reads how much was where at the last sweep. */
  async readSizes(): Promise<void> {
    const { stores, sizes } = await this.engine.read(async (db) => ({
      stores: await db.selectFrom('blob_stores').selectAll().execute(),
      sizes: await db.selectFrom('place_sizes').selectAll().execute(),
    }))
    this.sizes = sizes.map((size) => ({ ...size, place: placeName(size.place, stores) }))
  }

  /** The store with an id. */
  async store(id: string): Promise<ObjectStore> {
    const cached = this.stores.get(id)
    if (cached) return cached
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('address').where('id', '=', id).executeTakeFirst(),
    )
    if (!row) throw new Problem('damaged', `bytes are in a place that the database does not know: ${id}`)
    const store = await this.open(row.address).catch((error: unknown) => {
      // What this server was not told is nothing that a request did wrong.
      if (error instanceof Problem && error.code === 'usage')
        throw new Problem('overloaded', error.message, { hint: error.hint })
      throw error
    })
    store!.guard?.(markerOf(id))
    this.stores.set(id, store!)
    return store!
  }
}

function isElsewhere(current: string, address: string): Problem {
  return new Problem('conflict', `this database keeps its bytes in ${current}, not in ${address} (--blobs)`, {
    hint: `Start with --blobs ${current}, or move them: gridline admin blobs move --to ${address}`,
  })
}

/** The key of an object that tells the place of this database from an empty folder or another bucket. */
function markerOf(id: string): string {
  return `place-${id}`
}

async function mark(id: string, store: ObjectStore): Promise<void> {
  const bytes = Buffer.from(`The bytes of a database of Gridline are here. Do not remove this object.\n`)
  await store.put(markerOf(id), bytes, sha256(bytes))
}

/** The name of a place: `row` is that of bytes which are in the row of their object. */
function placeName(id: string, stores: readonly { id: string; address: string }[]): string {
  return id === '' ? 'row' : (stores.find((store) => store.id === id)?.address ?? id)
}
