// Gives each column a name of its own.
import { excerpt } from '../../json/index.ts'
import type { Warnings } from './warnings.ts'

/** Returns distinct names: blank ones get numbers, and repeated ones suffixes. Each change is a warning. */
export function nameDistinctly(names: readonly string[], warnings: Warnings | undefined): string[] {
  const used = new Set<string>()
  const suffixes = new Map<string, number>()
  return names.map((given, k) => {
    const isBlank = given.trim() === ''
    const base = isBlank ? `column_${k + 1}` : given
    let name = base
    for (let n = suffixes.get(base) ?? 2; used.has(name); n++) {
      name = `${base} (${n})`
      suffixes.set(base, n + 1)
    }
    used.add(name)
    if (isBlank) warnings?.note(`column ${k + 1} has no name; named ${name}`)
    else if (name !== base)
      warnings?.note(`column ${k + 1} has the duplicate name ${excerpt(base)}; renamed to ${excerpt(name)}`)
    return name
  })
}
