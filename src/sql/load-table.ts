// Loads a table of Gridline, as CSV, into a database file.
import type { DuckDBConnection } from '@duckdb/node-api'
import type { QueryTables, TableColumn } from './messages.ts'
import { quoteName, quoteText } from './quote.ts'

type Csv = NonNullable<QueryTables['tables'][number]['csv']>

/** Maximum size of a row, in bytes; DuckDB allocates 16 times as much. */
const USUAL_LINE_BYTES = 2 * 1024 * 1024
/** The same for tables with larger rows. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
/** Numbers above it have no exact double. */
const MAX_EXACT = 2 ** 53
/** A time zone after a time. */
const ZONE = String.raw`:\d{2}(?:[.,]\d+)?\s*(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$`
/** Digits of a second that a timestamp does not have. */
const NANOSECONDS = String.raw`[.,]\d{7,}`
/** Number of conditions that one query checks: with more, DuckDB plans for long. */
const CONDITIONS_AT_ONCE = 200

/** Writes the table `grid` into a new database file. Columns get the narrowest type that holds all their values. */
export async function loadTable(connection: DuckDBConnection, database: string, csv: Csv): Promise<void> {
  const columns = csv.columns.map((column, k) => ({ ...column, loaded: `c${k}` }))
  const load = (types: readonly string[], lineBytes: number): Promise<unknown> => {
    const declared = columns.map(({ loaded }, k) => `${quoteText(loaded)}: ${quoteText(types[k])}`)
    // A second column keeps missing values apart from blank lines.
    if (columns.length === 1) declared.push("'again': 'VARCHAR'")
    return connection.run(
      `CREATE TEMP TABLE loaded AS FROM read_csv(${quoteText(csv.path)},
        header = true, auto_detect = false, delim = ',', quote = '"', escape = '"', new_line = '\\n',
        nullstr = '', allow_quoted_nulls = false, max_line_size = ${lineBytes},
        columns = {${declared.join(', ')}})`,
    )
  }
  let types = columns.map(loadedTypeOf)
  try {
    await load(types, USUAL_LINE_BYTES)
  } catch {
    // Values that do not have the type of their column, such as a date in the year 12000, or large ones.
    types = columns.map(() => 'VARCHAR')
    await load(types, MAX_LINE_BYTES)
  }
  const narrowed = await findNarrowTypes(connection, columns, types)
  const list = columns.map(({ loaded, name }, k) => `CAST(${loaded} AS ${narrowed[k]}) AS ${quoteName(name)}`)
  await connection.run(`ATTACH ${quoteText(database)} AS loading`)
  await connection.run(`CREATE TABLE loading.grid AS SELECT ${list.join(', ')} FROM loaded`)
  await connection.run('DETACH loading')
  await connection.run('DROP TABLE loaded')
}

/** Returns the type with which a column is read. */
function loadedTypeOf({ type, isLarge }: TableColumn): string {
  if (type === 'number') return isLarge ? 'VARCHAR' : 'DOUBLE'
  return { boolean: 'BOOLEAN', date: 'DATE', datetime: 'VARCHAR', text: 'VARCHAR' }[type]
}

/** Returns the types of columns by their values, which one query looks at for all. */
async function findNarrowTypes(
  connection: DuckDBConnection,
  columns: readonly (TableColumn & { loaded: string })[],
  types: readonly string[],
): Promise<string[]> {
  const candidates = columns.map(({ type }, k) => candidatesOf(type, types[k]))
  const conditions = candidates.flatMap((list, k) => list.map(({ holds }) => holds(columns[k].loaded)))
  const results: boolean[] = []
  for (let from = 0; from < conditions.length; from += CONDITIONS_AT_ONCE) {
    const part = conditions.slice(from, from + CONDITIONS_AT_ONCE)
    const list = part.map((condition) => `bool_and(${condition})`).join(', ')
    const [row] = await (await connection.run(`SELECT ${list} FROM loaded`)).getRows()
    // Without rows, there is no result, and every type fits.
    results.push(...row.map((result) => result !== false))
  }
  // All results of a column are taken, and the first type that fits.
  let at = 0
  return candidates.map((list, k) => list.filter(() => results[at++])[0]?.to ?? types[k])
}

/** A narrower type, and the condition that every value of a column fulfils then. */
interface Candidate {
  to: string
  holds(column: string): string
}

/** Returns narrower types of a column. */
function candidatesOf(type: TableColumn['type'], loaded: string): Candidate[] {
  if (loaded === 'DOUBLE')
    return [
      { to: 'BIGINT', holds: (c) => `${c} IS NULL OR (${c} = trunc(${c}) AND abs(${c}) <= ${MAX_EXACT})` },
    ]
  if (loaded !== 'VARCHAR' || type === 'text') return []
  const castsTo = (to: string, more: (column: string) => string = () => ''): Candidate => ({
    to,
    holds: (c) => `${c} IS NULL OR (TRY_CAST(${c} AS ${to}) IS NOT NULL${more(c)})`,
  })
  // TRY_CAST to an integer rounds: only whole numbers as they are written.
  const isWhole = (c: string): string => ` AND regexp_full_match(${c}, '-?\\d+')`
  if (type === 'number') return [castsTo('BIGINT', isWhole), castsTo('HUGEINT', isWhole), castsTo('DOUBLE')]
  if (type === 'boolean') return [castsTo('BOOLEAN')]
  if (type === 'date') return [castsTo('DATE')]
  return [
    castsTo('TIMESTAMP', (c) => ` AND NOT regexp_matches(${c}, '${ZONE}|${NANOSECONDS}')`),
    castsTo(
      'TIMESTAMPTZ',
      (c) => ` AND regexp_matches(${c}, '${ZONE}') AND NOT regexp_matches(${c}, '${NANOSECONDS}')`,
    ),
  ]
}
