// Names of local files that a server has chosen.
import { lstatSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Problem } from '../../contract/errors.ts'

/**
 * Returns a file name that cannot leave its directory, on any system. A leading dot becomes an underscore:
 * such files configure programs.
 */
export function toSafeFileName(name: string): string {
  const safe = name.replace(/[/\\\0]/g, '_').replace(process.platform === 'win32' ? /[<>:"|?*]/g : /\0/g, '_')
  return safe === '' || safe.startsWith('.') ? `_${safe}` : safe
}

/**
 * Throws `conflict` if a folder is reached through a symbolic link: names from the server must not escape the
 * directory.
 */
export function assertNoLink(folder: string, directory: string): void {
  const top = resolve(directory)
  for (
    let ancestor = resolve(folder);
    ancestor !== top && ancestor !== dirname(ancestor);
    ancestor = dirname(ancestor)
  )
    if (lstatSync(ancestor, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Problem('conflict', `${ancestor} is a symbolic link, which is not followed`, {
        hint: 'Remove it, or choose another directory.',
      })
}
