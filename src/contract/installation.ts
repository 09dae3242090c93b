// How this copy of the program was installed.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPath } from './build-path.ts'

export type InstallationMethod =
  | 'npm'
  | 'project'
  | 'npx'
  | 'pnpm'
  | 'bun'
  | 'homebrew'
  | 'winget'
  | 'deb'
  | 'container'
  | 'archive'
  | 'folder'
  | 'source'

/** Parts of the paths at which package managers put a program, with `/` on all systems. The first one counts. */
const PATHS: readonly (readonly [InstallationMethod, RegExp])[] = [
  ['homebrew', /\/Cellar\/gridline\//],
  ['winget', /\/WinGet\/Packages\//i],
  ['npx', /\/_npx\//],
  ['pnpm', /\/pnpm\/(?:global|store)\//],
  ['bun', /\/\.bun\/install\/global\//],
  // Windows has no folder `lib`.
  ['npm', /\/(?:lib|npm)\/node_modules\/gridline$/],
  ['project', /\/node_modules\/gridline$/],
]

/** Folder of the program, which contains `package.json`. */
export function installationFolder(): string {
  return join(buildPath(''), '..')
}

/** Returns how this copy was installed. Bundles say it in a file: an archive is at the place of install.sh, or was unpacked by hand. */
export function installationMethod(folder = installationFolder()): InstallationMethod {
  const path = folder.replaceAll('\\', '/')
  const found = PATHS.find(([, pattern]) => pattern.test(path))
  if (found) return found[0]
  const file = join(folder, 'installed-by')
  if (!existsSync(file)) return 'source'
  const method = readFileSync(file, 'utf8').trim() as InstallationMethod
  return method === 'archive' && !/\/lib\/gridline\/[^/]+\/lib$/.test(path) ? 'folder' : method
}
