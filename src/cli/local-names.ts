/** A name that stays inside its directory, on all systems. */
export function safeName(name: string): string {
  const safe = name.replace(/[/\\\0]/g, '_').replace(process.platform === 'win32' ? /[<>:"|?*]/g : /\0/g, '_')
  return /^\.{0,2}$/.test(safe) ? `_${safe}` : safe
}
