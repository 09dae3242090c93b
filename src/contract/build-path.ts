// Path of a file of the build.
import { fileURLToPath } from 'node:url'

/** Returns the path of a file in `dist/`, whether this module runs from the build or from source. */
export function buildPath(name: string): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/' : './'
  return fileURLToPath(new URL(folder + name, import.meta.url))
}
