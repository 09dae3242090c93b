/**
 * A name that stays inside its directory, on all systems. A name that begins with a dot is one of a setting of some
 * program, so it begins with an underscore instead.
 */
export function safeName(name: string): string {
  const safe = name.replace(/[/\\\0]/g, '_').replace(process.platform === 'win32' ? /[<>:"|?*]/g : /\0/g, '_')
  return safe === '' || safe.startsWith('.') ? `_${safe}` : safe
}
