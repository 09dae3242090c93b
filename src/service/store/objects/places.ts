import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Problem } from '../../../contract/errors.ts'
import type { Engine } from '../engine.ts'
import { CountedObjects, ObjectStats } from './counted.ts'
import { type Environment, type ObjectStore, wholeAddress } from './object-store.ts'
import { openObjectStore } from './open.ts'

/** Where bytes are that are in the database. */
export const IN_DATABASE = 'sql'

/** How often a server looks where new bytes go, in ms: `gridline admin blobs move` changes it. */
const LOOK = 5_000

/** Objects that are counted in one step. */
const MEASURED = 10_000

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
  async expect(given: string | undefined): Promise<void> {
    const address = given && wholeAddress(given)
    const present = await this.address()
    if (address === undefined || address === present) {
      if (address !== undefined && address !== IN_DATABASE) await (await this.current()).store!.check()
      return
    }
    const some = await this.engine.read((db) => db.selectFrom('objects').select('key').limit(1).execute())
    if (some.length > 0)
      throw new Problem(
        'conflict',
        `this database keeps its bytes in ${present}, not in ${address} (--blobs)`,
        {
          hint: `Start with --blobs ${present}, or move them: gridline admin blobs move --to ${address}`,
        },
      )
    await this.use(address)
  }

  /** Where new bytes go: the address. */
  async address(): Promise<string> {
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('address').where('is_current', '=', 1).executeTakeFirst(),
    )
    return row?.address ?? IN_DATABASE
  }

  /** Makes new bytes go to an address, after checking it. Returns its id. */
  async use(given: string): Promise<string> {
    const address = wholeAddress(given)
    const store = address === IN_DATABASE ? undefined : await this.open(address)
    await store?.check()
    const id = await this.engine.write([], async (db) => {
      await db.updateTable('blob_stores').set({ is_current: 0 }).execute()
      if (!store) return IN_DATABASE
      const there = await db
        .selectFrom('blob_stores')
        .select('id')
        .where('address', '=', address)
        .executeTakeFirst()
      const id = there?.id ?? randomBytes(4).toString('hex')
      if (!there) await db.insertInto('blob_stores').values({ id, address, is_current: 1 }).execute()
      else await db.updateTable('blob_stores').set({ is_current: 1 }).where('id', '=', id).execute()
      return id
    })
    if (store) this.stores.set(id, store)
    this.known = undefined
    return id
  }

  /** Where new bytes go. */
  async current(): Promise<Place> {
    const now = performance.now()
    if (this.known && now - this.known.since < LOOK) return this.known.place
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
        .groupBy('place')
        .execute(),
    }))
    const nameOf = (id: string): string => placeName(id, stores)
    const found = objects.map(({ place, ...rest }) => ({
      place: nameOf(place),
      is_current: nameOf(place) === current,
      objects: Number(rest.objects),
      bytes: Number(rest.bytes),
    }))
    if (!found.some(({ is_current }) => is_current))
      found.push({ place: current, is_current: true, objects: 0, bytes: 0 })
    return found.sort((a, b) => (a.place < b.place ? -1 : 1))
  }

  private async open(address: string): Promise<ObjectStore> {
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
    const known = this.stores.get(id)
    if (known) return known
    const row = await this.engine.read((db) =>
      db.selectFrom('blob_stores').select('address').where('id', '=', id).executeTakeFirst(),
    )
    if (!row) throw new Problem('damaged', `bytes are in a place that the database does not know: ${id}`)
    const store = await this.open(row.address)
    this.stores.set(id, store)
    return store
  }
}

/** The name of a place: `row` is that of bytes which are in the row of their object. */
function placeName(id: string, stores: readonly { id: string; address: string }[]): string {
  return id === '' ? 'row' : (stores.find((store) => store.id === id)?.address ?? id)
}
