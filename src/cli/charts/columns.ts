import type { Client } from '../../client/index.ts'

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

/** The columns of a grid that an option names; undefined for all. */
export async function chosenColumns(
  client: Client,
  fid: string,
  given: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (given === undefined) return undefined
  // Only a comma makes it necessary to know the names.
  if (!given.some((text) => text.includes(','))) return [...given]
  const { cols } = await client.call('grids.get', { fid })
  return columnNames(
    given,
    cols.map(({ name }) => name),
  )
}
