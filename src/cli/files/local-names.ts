/**
 * Returns a file name that cannot leave its directory, on any system. A leading dot becomes an underscore:
 * such files configure programs.
 */
export function toSafeFileName(name: string): string {
  const safe = name.replace(/[/\\\0]/g, '_').replace(process.platform === 'win32' ? /[<>:"|?*]/g : /\0/g, '_')
  return safe === '' || safe.startsWith('.') ? `_${safe}` : safe
}
