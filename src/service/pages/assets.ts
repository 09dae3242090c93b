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
  /** Bytes that the build has compressed; undefined without. */
  brotli?: Buffer
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
  const brotli = names.has(`${name}.br`) ? readFileSync(join(folder, `${name}.br`)) : undefined
  const found = { type, bytes, brotli, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 12) }
  assetCache.set(name, found)
  return found
}

/** Returns a script or style of the pages, compressed as `accepted` (Accept-Encoding) allows. Throws `not_found`. */
export function getAsset(
  name: string,
  accepted: string,
): { type: string; bytes: Buffer; hash: string; encoding?: 'gzip' | 'br' } {
  const asset = loadAsset(name)
  if (asset.brotli && /\bbr\b/.test(accepted)) return { ...asset, bytes: asset.brotli, encoding: 'br' }
  if (!/\bgzip\b/.test(accepted)) return asset
  asset.gzip ??= gzipSync(asset.bytes)
  return { ...asset, bytes: asset.gzip, encoding: 'gzip' }
}

/** Returns the path of an asset, with a hash of its content. */
export function assetPathOf(name: string): string {
  return `/assets/${loadAsset(name).hash}/${name}`
}
