// Entity tags of files, and If-Match.
import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { parseVersionRef } from '../../contract/version-ref.ts'
import type { FileRow } from '../store/aggregates/files.ts'

/** Returns the entity tag of a file: its quoted version. See docs/api.md#etags. */
export function fileEtag(file: Pick<FileRow, 'version'>): string {
  return `"${file.version}"`
}

/**
 * Returns the entity tag of the content of a version; undefined for a version by name: a draft can be stored again, and
 * another version kept with the name, without a change of the file.
 */
export function contentEtag(file: Pick<FileRow, 'version'>, version: string | undefined): string | undefined {
  return version === undefined || parseVersionRef(version)?.kind !== 'name' ? fileEtag(file) : undefined
}

/**
 * Returns an entity tag that also covers the response body, for bodies with more than the file itself (stars,
 * references, permissions). If-Match compares only the version.
 */
export function etagWithBody(tag: string, body: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 8)
  return `${tag.slice(0, -1)}-${digest}"`
}

/** Throws `version_mismatch` unless `ifMatch` includes the file's current version. */
export function checkIfMatch(file: Pick<FileRow, 'version'>, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || hasMatchingEtag(ifMatch, fileEtag(file))) return
  throw new Problem(
    'version_mismatch',
    `the file has changed: it is at version ${fileEtag(file)}, not ${ifMatch}`,
  )
}

/**
 * Returns whether an If-Match or If-None-Match list contains `tag`. Weak tags match too. If `tag` is only a
 * version, longer tags of that version match.
 */
export function hasMatchingEtag(tags: string, tag: string): boolean {
  return tags.split(',').some((item) => {
    const candidate = item.trim().replace(/^W\//, '')
    return candidate === tag || candidate.replace(/-[0-9a-f]{8}"$/, '"') === tag
  })
}
