// All orders in which the steps of those who store, share, remove and sweep the same bytes can follow each other, and all
// places at which one of them dies: what a row refers to can be read, no key is used twice, and nothing is left behind.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Problem } from '../../../src/contract/errors.ts'
import type { Engine, Transactions } from '../../../src/service/store/engines/engine.ts'
import { openSqlite } from '../../../src/service/store/engines/sqlite.ts'
import { migrate } from '../../../src/service/store/migrate.ts'
import { addBlobReferences, markUnreferenced } from '../../../src/service/store/objects/blob-references.ts'
import type { BlobRef } from '../../../src/service/store/objects/blobs.ts'
import type { Locations } from '../../../src/service/store/objects/locations.ts'
import type { ObjectStore } from '../../../src/service/store/objects/object-store.ts'
import { StoredBlobs } from '../../../src/service/store/objects/stored-blobs.ts'
import type { Db } from '../../../src/service/store/schema/schema.ts'
import { runs } from '../../support/property-runs.ts'
import { temporaryFolder } from '../../support/service.ts'

const BYTES = Buffer.from('the bytes that all of them store')
const HASH = createHash('sha256').update(BYTES).digest('hex')
/** A time so late that no age protects anything. */
const MUCH_LATER = Date.now() + 1e12

/** An object store in memory. */
class Memory implements ObjectStore {
  readonly objects = new Map<string, Buffer>()
  readonly put_ = new Set<string>()
  readonly faults: string[] = []

  async put(key: string, bytes: Uint8Array): Promise<void> {
    if (this.put_.has(key)) this.faults.push(`the key ${key} was used twice`)
    this.put_.add(key)
    this.objects.set(key, Buffer.from(bytes))
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.objects.get(key)
  }

  async remove(key: string): Promise<void> {
    this.objects.delete(key)
  }

  async checkAccess(): Promise<void> {}
}

/** An actor whose steps wait for the scheduler. */
class Actor {
  private go: (() => void) | undefined
  private arrived: () => void = () => {}
  isDone = false
  error: unknown

  private last: Promise<void> = Promise.resolve()

  /** Waits for the scheduler. A step is one transaction, or one request to the store. */
  readonly turn = (): Promise<void> => {
    const next = this.last.then(
      () =>
        new Promise<void>((resolve) => {
          this.go = resolve
          this.arrived()
        }),
    )
    this.last = next
    return next
  }

  /** Starts the actor, up to its first step. */
  begin(work: () => Promise<void>): Promise<void> {
    return this.until(() => {
      work()
        .catch((error) => {
          this.error = error
        })
        .finally(() => {
          this.isDone = true
          this.arrived()
        })
    })
  }

  /** Runs one step. */
  step(): Promise<void> {
    return this.until(() => this.go?.())
  }

  private until(start: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.arrived = resolve
      start()
    })
  }
}

const folder = temporaryFolder()
let engine: Engine
beforeAll(async () => {
  engine = openSqlite(join(folder.path, 'steps.db'))
  await migrate(engine)
})
afterAll(async () => {
  await engine.close()
  folder.remove()
})

/** Turns off syncing to disk, since nothing outlives the process. */
const write: Engine['write'] = (_, work) => engine.writeDeferred(work)

type Work = (world: World, turn: () => Promise<void>) => Promise<void>

/** A database, a store, and the actors on them. */
class World {
  readonly memory = new Memory()

  blobs(turn: () => Promise<void> = async () => {}): StoredBlobs {
    const store: ObjectStore = {
      put: async (key, bytes) => {
        await turn()
        return this.memory.put(key, bytes)
      },
      get: async (key) => this.memory.get(key),
      remove: async (key) => {
        await turn()
        return this.memory.remove(key)
      },
      checkAccess: async () => {},
    }
    const place = { id: 'memory', store }
    const places = { getCurrent: async () => place, storeById: async () => store } as unknown as Locations
    return new StoredBlobs(transactions(turn), places, new Set(), 0)
  }
}

function transactions(turn: () => Promise<void>): Transactions {
  return {
    read: async (work) => {
      await turn()
      return engine.read(work)
    },
    write: async (owners, work, options) => {
      await turn()
      return write(owners, work, options)
    },
    writeDeferred: async (work) => {
      await turn()
      return engine.writeDeferred(work)
    },
  }
}

const addFile = async (db: Db, owner: string, idlocal: number, ref: BlobRef): Promise<void> => {
  await addBlobReferences(db, owner, [ref])
  await db
    .insertInto('contents')
    .values({ owner, idlocal, hash: HASH, bytes: BYTES.length, media_type: 'x' })
    .execute()
}
const fileOf = (db: Db, owner: string, idlocal: number) =>
  db.selectFrom('contents').select('hash').where('owner', '=', owner).where('idlocal', '=', idlocal)

/** Stores a blob, then a file that refers to it. */
const writer =
  (idlocal: number): Work =>
  async (world, turn) => {
    const ref = await world.blobs(turn).put('alice', BYTES)
    await turn()
    await write(['alice'], (db) => addFile(db, 'alice', idlocal, ref))
  }
/** Copies a file of alice for bob. */
const copier: Work = async (_, turn) => {
  await turn()
  await write(['alice', 'bob'], async (db) => {
    if (await fileOf(db, 'alice', 0).executeTakeFirst())
      await addFile(db, 'bob', 0, { owner: 'alice', hash: HASH })
  })
}
const remover =
  (owner: string): Work =>
  async (_, turn) => {
    await turn()
    await write([owner], async (db) => {
      await markUnreferenced(db, owner, fileOf(db, owner, 0))
      await db.deleteFrom('contents').where('owner', '=', owner).where('idlocal', '=', 0).execute()
    })
  }
const sweeper: Work = async (world, turn) => {
  await world.blobs(turn).collectUnreferenced(0, MUCH_LATER)
}

/** Returns errors after all actors have ended or died. */
async function check(world: World): Promise<string[]> {
  const wrong = [...world.memory.faults]
  const blobs = world.blobs()
  const files = await engine.read((db) => db.selectFrom('contents').selectAll().execute())
  for (const { owner, idlocal, hash } of files) {
    const found = await blobs.get({ owner, hash }).catch((error: Error) => error.message)
    if (!BYTES.equals(Buffer.from(found))) wrong.push(`${owner}:${idlocal}: ${found}`)
  }
  // After a sweep, only objects that files refer to remain.
  await blobs.collectUnreferenced(0, MUCH_LATER)
  await blobs.collectUnreferenced(0, MUCH_LATER)
  const rows = await engine.read((db) => db.selectFrom('objects').selectAll().execute())
  const keys = new Set(rows.map(({ key }) => key))
  const owners = new Set(files.map(({ owner }) => owner))
  if (rows.length !== owners.size) wrong.push(`${rows.length} rows for the bytes of ${owners.size} owners`)
  for (const key of world.memory.objects.keys()) if (!keys.has(key)) wrong.push(`the object ${key} is left`)
  return wrong
}

/** Runs a schedule of actor numbers; a negative one kills the actor. Returns the choices at each point. */
async function run(
  works: readonly Work[],
  isThere: boolean,
  prefix: readonly number[],
  mayDie: boolean,
): Promise<{ taken: number[]; others: number[][]; wrong: string[] }> {
  await write([], async (db) => {
    for (const table of ['objects', 'contents'] as const) await db.deleteFrom(table).execute()
  })
  const world = new World()
  if (isThere) {
    const ref = await world.blobs().put('alice', BYTES)
    await write(['alice'], (db) => addFile(db, 'alice', 0, ref))
  }
  const actors = works.map(() => new Actor())
  for (const [k, actor] of actors.entries()) await actor.begin(() => works[k](world, actor.turn))
  const dead = new Set<number>()
  const taken: number[] = []
  const others: number[][] = []
  for (;;) {
    const alive = actors.flatMap(({ isDone }, k) => (isDone || dead.has(k) ? [] : [k]))
    if (alive.length === 0) break
    const choices = [...alive, ...(mayDie && dead.size === 0 ? alive.map((k) => -1 - k) : [])]
    const choice = prefix[taken.length] ?? choices[0]
    others.push(choices.filter((other) => other !== choice))
    taken.push(choice)
    if (choice < 0) dead.add(-1 - choice)
    else await actors[choice].step()
  }
  const wrong = await check(world)
  // A sweep may delete a stored but unreferenced blob; the writer then fails.
  for (const { error } of actors)
    if (error && !(error instanceof Problem && error.code === 'overloaded')) wrong.push(String(error))
  return { taken, others, wrong }
}

/** Runs all schedules, or some. Returns their number. */
async function runAll(
  works: readonly Work[],
  isThere: boolean,
  mayDie: boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let count = 0
  const open: number[][] = [[]]
  // If not all run, takes schedules from both ends of the list.
  const next = (): number[] | undefined =>
    most === Number.POSITIVE_INFINITY || count % 2 ? open.pop() : open.shift()
  for (let prefix = next(); prefix && count < most; prefix = next()) {
    const { taken, others, wrong } = await run(works, isThere, prefix, mayDie)
    if (wrong.length > 0) throw new Error(`${taken.join(' ')}: ${wrong.join('; ')}`)
    count++
    for (let at = taken.length - 1; at >= prefix.length; at--)
      for (const other of others[at]) open.push([...taken.slice(0, at), other])
  }
  return count
}

describe('in any order, and with the death of any one at any step', () => {
  it.each([
    ['two writers', [writer(1), writer(2)], false],
    ['a writer and a sweep', [writer(1), sweeper], false],
    ['a writer, a removal and a sweep', [writer(1), remover('alice'), sweeper], true],
    ['a copy, a removal and a sweep', [copier, remover('alice'), sweeper], true],
    ['a writer, a copy and a removal', [writer(1), copier, remover('alice')], true],
    ['a copy, two removals and a sweep', [copier, remover('alice'), remover('bob'), sweeper], true],
  ] as const)('%s', async (_, works, isThere) => {
    expect(await runAll(works, isThere, true)).toBeGreaterThan(20)
  })

  it.each([
    ['two writers and a sweep', [writer(1), writer(2), sweeper], false],
    ['a writer, a copy, a removal and a sweep', [writer(1), copier, remover('alice'), sweeper], true],
    ['two sweeps, a copy and a removal', [sweeper, sweeper, copier, remover('alice')], true],
  ] as const)('%s (up to 150 of the schedules, all in long runs)', async (_, works, isThere) => {
    expect(await runAll(works, isThere, true, runs(150, Infinity))).toBeGreaterThan(100)
  })
})
