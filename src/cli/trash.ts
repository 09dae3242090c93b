import type { FileMeta } from '../contract/resources.ts'

/** A file in the trash, with the path of the folder it was in; undefined where that is gone. */
export interface Trashed {
  file: FileMeta
  folder: string | undefined
}
