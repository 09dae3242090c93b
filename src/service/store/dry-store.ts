// A store for dry runs, whose writes are rolled back.
import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../contract/errors.ts'
import { MAX_IDLOCAL } from './aggregates/file-writer.ts'
import type { WriteOptions } from './engines/engine.ts'
import { UnkeptBlobs } from './objects/unkept-blobs.ts'
import type { Store, Writers } from './store.ts'

/** A store whose writes are rolled back. */
export interface DryStore extends Store {
  /** Removes the bytes that were stored meanwhile. */
  giveUp(): Promise<void>
}

/** First number of new files of dry runs that do not show the next ones: above all that files can have. */
const FIRST_DRY_IDLOCAL = MAX_IDLOCAL + 1

/**
 * Returns a store without commit, for dry runs. Each write is performed, so that what it checks is checked, and rolled
 * back. Later reads and writes see it: it is performed again before them, in their transaction. They throw `overloaded`
 * if its files do not get the same numbers again, because other requests have taken them: its results name these numbers.
 * `takesOwnNumbers`: nobody can take them, but they are not those that the write would get.
 */
export function withoutCommit(store: Store, takesOwnNumbers = false): DryStore {
  const blobs = new UnkeptBlobs(store.blobs)
  const performed: { owners: readonly string[]; work: (writers: Writers) => Promise<unknown> }[] = []
  /** Numbers of the files of `performed`, which its results name. */
  let idlocals: readonly number[] = []
  const rolledBack = new Error('rolled back')
  const run = async <T>(
    owners: readonly string[],
    work: (writers: Writers) => Promise<T>,
    options?: WriteOptions,
  ): Promise<{ value: T; idlocals: readonly number[] }> => {
    let result: { value: T; idlocals: readonly number[] } | undefined
    const all = [...performed.flatMap((one) => one.owners), ...owners]
    const perform = async (writers: Writers): Promise<never> => {
      if (takesOwnNumbers) writers.files.dryIdlocal = FIRST_DRY_IDLOCAL
      const { allocatedIdlocals } = writers.files
      for (const one of performed) {
        await one.work(writers)
        if (!isDeepStrictEqual(allocatedIdlocals, idlocals.slice(0, allocatedIdlocals.length)))
          throw new Problem('overloaded', 'other files were made during the dry run')
      }
      result = { value: await work(writers), idlocals: allocatedIdlocals }
      throw rolledBack
    }
    await store.write(all, perform, options).catch((error) => {
      if (error !== rolledBack) throw error
    })
    return result!
  }
  const changes: Partial<DryStore> = {
    isDry: true,
    blobs,
    withActor: () => dry,
    forOwner: () => dry,
    read: async (work) => (performed.length === 0 ? store.read(work) : (await run([], work)).value),
    async write(owners, work, options) {
      const result = await run(owners, work, options)
      performed.push({ owners, work })
      idlocals = result.idlocals
      return result.value
    },
    giveUp: () => blobs.giveUp(),
  }
  const dry: DryStore = Object.assign(Object.create(store), changes)
  return dry
}
