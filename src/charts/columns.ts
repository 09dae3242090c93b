/**
 * The columns that an option names, comma-separated. Names that hold commas are in quotes, as in CSV, or are known:
 * `Revenue, net,Cost` is two names if the grid has a column `Revenue, net`.
 */
export function columnNames(given: string | readonly string[], known: readonly string[] = []): string[] {
  const texts = typeof given === 'string' ? [given] : given
  return texts.flatMap((text) => namesIn(text, new Set(known)))
}

function namesIn(text: string, known: ReadonlySet<string>): string[] {
  if (known.has(text)) return [text]
  const parts = [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/g)]
    .filter(([whole, , plain]) => whole !== '' || plain === undefined)
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  if (text.endsWith(',') === false && parts.at(-1) === '' && parts.length > 1) parts.pop()
  const names: string[] = []
  for (let k = 0; k < parts.length; ) {
    let end = k + 1
    // The longest name that is known.
    for (let to = parts.length; to > k + 1; to--)
      if (known.has(parts.slice(k, to).join(',').trim())) {
        end = to
        break
      }
    names.push(known.has(parts[k]) && end === k + 1 ? parts[k] : parts.slice(k, end).join(',').trim())
    k = end
  }
  return names
}

/** The type of a column for display: `json` in the API means mixed types. */
export function typeName(type: string): string {
  if (type === 'json') return 'mixed'
  return type === 'datetime-zone' ? 'datetime' : type
}

/** A name as it stands in a list of columns. */
export function nameInList(name: string): string {
  return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
}
