import { Problem } from '../contract/errors.ts'
import type { FileRow } from './store/files.ts'

/** The version of a file as an entity tag. */
export function etag(file: Pick<FileRow, 'version'>): string {
  return `"${file.version}"`
}

/** Refuses a change of another version than the caller has seen. */
export function checkMatch(file: Pick<FileRow, 'version'>, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || listed(ifMatch, etag(file))) return
  throw new Problem(
    'version_mismatch',
    `the file has changed: it is at version ${etag(file)}, not ${ifMatch}`,
  )
}

/** Whether a list of entity tags holds `tag`; a weak one counts. */
export function listed(tags: string, tag: string): boolean {
  return tags.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}
