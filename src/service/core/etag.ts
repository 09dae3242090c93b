import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { FileRow } from '../store/aggregates/files.ts'

/** The entity tag of a file: its version. See docs/api.md#etags. */
export function etag(file: Pick<FileRow, 'version'>): string {
  return `"${file.version}"`
}

/**
 * An entity tag that also covers the response body, for responses that contain more than the file itself
 * (stars, references, permissions). If-Match compares the version only.
 */
export function etagOf(tag: string, body: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 8)
  return `${tag.slice(0, -1)}-${digest}"`
}

/** Throws `version_mismatch` unless `ifMatch` includes the file's current version. */
export function checkIfMatch(file: Pick<FileRow, 'version'>, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || matchesEtag(ifMatch, etag(file))) return
  throw new Problem(
    'version_mismatch',
    `the file has changed: it is at version ${etag(file)}, not ${ifMatch}`,
  )
}

/**
 * Whether an If-Match or If-None-Match list contains `tag`. Weak tags match too. If `tag` is a version only,
 * a longer tag of the same version matches.
 */
export function matchesEtag(tags: string, tag: string): boolean {
  return tags.split(',').some((one) => {
    const given = one.trim().replace(/^W\//, '')
    return given === tag || given.replace(/-[0-9a-f]{8}"$/, '"') === tag
  })
}
