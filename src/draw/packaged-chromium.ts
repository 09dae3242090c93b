// Unpacks the Chromium of the npm package @sparticuz/chromium.

import { constants, createReadStream, existsSync } from 'node:fs'
import { access, chmod, lstat, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { errorCodeOf } from '../contract/errors.ts'

/** A Chromium executable, with the environment and arguments that it needs. */
export interface Chromium {
  path: string
  env?: Record<string, string>
  args?: string[]
}

/** Returns whether there is such a package for this system. */
export function hasPackagedChromium(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

/**
 * Returns the Chromium of the npm package @sparticuz/chromium, unpacked once into the user's cache; undefined
 * if it is not installed. It includes libraries and fonts that minimal systems lack.
 */
export async function findPackagedChromium(): Promise<Chromium | undefined> {
  if (!hasPackagedChromium()) return undefined
  const packed = findPackageFolder('@sparticuz/chromium')
  if (packed === undefined) return undefined
  const { version }: { version: string } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'))
  const home = join(await createCacheFolder(), `chromium-${version}`)
  if (!existsSync(home)) await unpack(join(packed, 'bin'), home)
  const systemFonts = ['/etc/fonts/fonts.conf'].find(existsSync)
  return {
    path: join(home, 'chromium'),
    env: {
      LD_LIBRARY_PATH: [join(home, 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      FONTCONFIG_FILE: process.env.FONTCONFIG_FILE ?? systemFonts ?? join(home, 'fonts.conf'),
    },
    args: ['--no-zygote'],
  }
}

/** Returns the directory of an installed package that contains the binary; undefined if there is none. */
function findPackageFolder(name: string): string | undefined {
  const directories = createRequire(import.meta.url).resolve.paths(name) ?? []
  return directories
    .map((directory) => join(directory, name))
    .find((folder) => existsSync(join(folder, 'bin', 'chromium.br')))
}

/** Returns the user's cache directory, or a temporary directory if it is not writable. */
async function createCacheFolder(): Promise<string> {
  const preferred = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gridline')
  try {
    return await createPrivateFolder(preferred)
  } catch (error) {
    if (!/^(EROFS|EACCES|EPERM|ENOENT|ENOTDIR)$/.test(errorCodeOf(error))) throw error
  }
  const temporary = join(tmpdir(), `gridline-cache-${process.getuid?.() ?? 'user'}`)
  return createPrivateFolder(temporary).catch((error) => {
    const code = errorCodeOf(error)
    if (code === '') throw error
    throw new Error(
      `Chromium must be unpacked, but neither ${preferred} nor ${temporary} is writable (${code}): set XDG_CACHE_HOME or TMPDIR to a writable folder`,
    )
  })
}

/** Creates a folder that only this user can write to, because its files are executed. */
async function createPrivateFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await access(folder, constants.W_OK)
  const { uid, mode } = await lstat(folder)
  if ((process.getuid && uid !== process.getuid()) || (mode & 0o022) !== 0)
    throw new Error(`${folder} can be changed by other users; set XDG_CACHE_HOME to a private folder`)
  return folder
}

/** Unpacks into a new folder, then renames it: a process that dies leaves nothing incomplete. */
async function unpack(bin: string, home: string): Promise<void> {
  const { extract } = await import('../vendor/tar.ts')
  const next = await mkdtemp(`${home}-`)
  const untar = async (archive: string, folder: string, strip: number): Promise<void> => {
    const entries = extract()
    const unpacking = pipeline(createReadStream(join(bin, archive)), createBrotliDecompress(), entries)
    for await (const entry of entries) {
      const name = entry.header.name.split('/').slice(strip).join('/')
      if (entry.header.type !== 'file' || name === '' || name.split('/').includes('..')) {
        entry.resume()
        continue
      }
      const chunks: Buffer[] = []
      for await (const chunk of entry) chunks.push(chunk as Buffer)
      const path = join(next, folder, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, Buffer.concat(chunks), { mode: (entry.header.mode ?? 0o644) | 0o600 })
    }
    await unpacking
  }
  try {
    const { createWriteStream } = await import('node:fs')
    await Promise.all([
      pipeline(
        createReadStream(join(bin, 'chromium.br')),
        createBrotliDecompress(),
        createWriteStream(join(next, 'chromium')),
      ),
      untar('swiftshader.tar.br', '.', 0),
      untar('fonts.tar.br', '.', 0),
      untar('al2023.tar.br', '.', 0),
    ])
    await chmod(join(next, 'chromium'), 0o755)
    await writeFile(
      join(next, 'fonts.conf'),
      `<?xml version="1.0"?><fontconfig><dir>${home}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${home}/fontcache</cachedir></fontconfig>\n`,
    )
    await rename(next, home)
  } catch (error) {
    await rm(next, { recursive: true, force: true })
    // Another process finished first.
    if (!existsSync(home)) throw error
  }
}
