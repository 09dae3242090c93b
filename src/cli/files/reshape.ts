// Options that make another table of the rows of a grid: join, unpivot, group, pivot.
import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { QueryOf } from '../../contract/operations/index.ts'
import { AGGREGATE_FUNCTIONS, PERIODS } from '../../contract/row-options.ts'
import type { Option, OptionValues } from '../core/define.ts'

export const reshapeOptions = [
  {
    flags: '--group <columns>',
    repeatable: true,
    description: 'one row per value of these columns, comma-separated (repeatable)',
  },
  {
    flags: '--sum <columns>',
    repeatable: true,
    description: 'sums of these columns, in each group or of all rows (repeatable)',
  },
  {
    flags: '--mean <columns>',
    repeatable: true,
    description: 'means of these columns (repeatable)',
  },
  {
    flags: '--median <columns>',
    repeatable: true,
    description: 'medians of these columns (repeatable)',
  },
  {
    flags: '--min <columns>',
    repeatable: true,
    description: 'lowest values of these columns (repeatable)',
  },
  {
    flags: '--max <columns>',
    repeatable: true,
    description: 'highest values of these columns (repeatable)',
  },
  {
    flags: '--first <columns>',
    repeatable: true,
    description: 'first values of these columns (repeatable)',
  },
  {
    flags: '--last <columns>',
    repeatable: true,
    description: 'last values of these columns (repeatable)',
  },
  { flags: '--count', description: 'number of rows (default of --group without another function)' },
  { flags: '--per <period>', description: 'group dates by minute, hour, day … year', choices: PERIODS },
  { flags: '--pivot <column>', description: 'the values of this column become columns' },
  {
    flags: '--unpivot <columns>',
    description: 'turn these columns into rows: names, a range (2019-2023) or a pattern (temp_*)',
  },
  {
    flags: '--into <name,value>',
    description:
      'with --unpivot: the column for their names and the one for their values, such as year,value',
  },
  {
    flags: '--join <grid>',
    repeatable: true,
    description: 'add the columns of another grid to the rows that match it',
  },
  { flags: '--on <columns>', description: 'with --join: columns that must be equal: id, or id=key' },
] as const satisfies readonly Option[]

type ReshapeOptions = OptionValues<typeof reshapeOptions>

/** The same options as query parameters of the API; empty without any. Throws `usage`. */
export async function toReshapeQuery(
  client: Client,
  fid: string,
  { group, count, per, pivot, unpivot, into, join, on, ...options }: ReshapeOptions,
): Promise<Partial<QueryOf<'grids.content'>>> {
  const names = async (text: string | readonly string[]): Promise<string[]> => {
    // A grid that is joined or unpivoted has further columns: names are taken as they are.
    if (!/[*-]/.test(String(text))) return parseColumnNames(text)
    const { cols } = await client.call('grids.get', { fid })
    return parseColumnNames(
      text,
      cols.map(({ name }) => name),
    )
  }
  const aggregate = count ? ['count'] : []
  for (const name of AGGREGATE_FUNCTIONS) {
    const columns = name === 'count' ? undefined : options[name]
    if (columns !== undefined) for (const column of await names(columns)) aggregate.push(`${name}:${column}`)
  }
  for (const [step, needed, flags] of [
    [join, on, '--join and --on'],
    [unpivot, into, '--unpivot and --into'],
  ] as const)
    if ((step === undefined) !== (needed === undefined))
      throw new Problem('usage', `${flags} belong together`, {
        hint: 'For example: --join cities --on city, or --unpivot 2019-2023 --into year,value',
      })
  return {
    ...(group !== undefined && { group: await names(group) }),
    ...(aggregate.length > 0 && { aggregate }),
    ...(per !== undefined && { per }),
    ...(pivot !== undefined && { pivot }),
    ...(unpivot !== undefined && { unpivot: await names(unpivot) }),
    ...(into !== undefined && { into: parseColumnNames(into) }),
    ...(join !== undefined && { join: join[0] }),
    ...(on !== undefined && { on: parseColumnNames(on) }),
  }
}
