import { fileURLToPath } from 'node:url'

/** A file of the build, whether this runs from the build or from source. */
export function built(name: string): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/' : './'
  return fileURLToPath(new URL(folder + name, import.meta.url))
}
