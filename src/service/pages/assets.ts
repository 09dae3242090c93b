/** Loads scripts and styles of pages from the build. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildPath } from '../../contract/build-path.ts'
import { Problem } from '../../contract/errors.ts'

const MEDIA_TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

interface Asset {
  type: string
  bytes: Buffer
  /** Compressed bytes, created by the first request that accepts them. */
  gzip?: Buffer
  hash: string
}

const assetCache = new Map<string, Asset>()
let names: ReadonlySet<string> | undefined

function loadAsset(name: string): Asset {
  const cached = assetCache.get(name)
  if (cached) return cached
  const folder = buildPath('assets')
  names ??= new Set(readdirSync(folder))
  if (!names.has(name)) throw new Problem('not_found', 'there is no such file')
  const bytes = readFileSync(join(folder, name))
  const type = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  const found = { type, bytes, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 12) }
  assetCache.set(name, found)
  return found
}

/** Returns a script or style of the pages. Throws `not_found`. */
export function getAsset(
  name: string,
  acceptsGzip: boolean,
): { type: string; bytes: Buffer; hash: string; encoding?: 'gzip' } {
  const loadedAsset = loadAsset(name)
  if (!acceptsGzip) return loadedAsset
  loadedAsset.gzip ??= gzipSync(loadedAsset.bytes)
  return { ...loadedAsset, bytes: loadedAsset.gzip, encoding: 'gzip' }
}

/** Returns the path of an asset, with a hash of its content. */
export function assetPathOf(name: string): string {
  return `/assets/${loadAsset(name).hash}/${name}`
}
