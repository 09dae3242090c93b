import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { FileRow } from '../store/files.ts'

/** The version of a file as an entity tag. */
export function etag(file: Pick<FileRow, 'version'>): string {
  return `"${file.version}"`
}

/** The same for what shows more than the file itself: stars, references, permissions. If-Match asks for the version only. */
export function etagOf(tag: string, body: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 8)
  return `${tag.slice(0, -1)}-${digest}"`
}

/** Refuses a change of another version than the caller has seen. */
export function checkIfMatch(file: Pick<FileRow, 'version'>, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || matchesEtag(ifMatch, etag(file))) return
  throw new Problem(
    'version_mismatch',
    `the file has changed: it is at version ${etag(file)}, not ${ifMatch}`,
  )
}

/**
 * Whether a list of entity tags holds `tag`; a weak one counts. A tag of the version alone is met by one
 * that says more of the same version.
 */
export function matchesEtag(tags: string, tag: string): boolean {
  return tags.split(',').some((one) => {
    const given = one.trim().replace(/^W\//, '')
    return given === tag || given.replace(/-[0-9a-f]{8}"$/, '"') === tag
  })
}
