// Names of columns that must differ.

/** Returns a name that is not in `used`, with a number if necessary (`price_2`), and adds it. `keyOf`: what must differ. */
export function takeUniqueName(
  name: string,
  used: Set<string>,
  keyOf = (text: string): string => text,
): string {
  let unique = name
  for (let n = 2; used.has(keyOf(unique)); n++) unique = `${name}_${n}`
  used.add(keyOf(unique))
  return unique
}
