// Loads tables of Gridline, as CSV, into database files, and rows that follow theirs into memory.
import type { DuckDBConnection } from '@duckdb/node-api'
import type { CsvTable, TableColumn } from './messages.ts'
import { quoteName, quoteText } from './quote.ts'

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

/** Number of first rows by which types of columns are guessed. */
const SAMPLED_ROWS = 10_000
/** Types of numbers: each also holds the numbers of those before it. */
const NUMBER_TYPES = ['BIGINT', 'HUGEINT', 'DOUBLE']

/** Database in memory for tables that are not views of the query: no user, and so no schema, has such a name. */
const MEMORY = '":memory".main'
/** The database file that is written. */
const LOADING = '":loading"'
/** The rows of a CSV file whose types are looked at. */
const LOADED = `${MEMORY}.loaded`

/** Column with its name in the CSV file. */
type LoadedColumn = TableColumn & { loaded: string }

/** Opens the database in memory that loading needs. */
export async function openMemory(connection: DuckDBConnection): Promise<void> {
  // Otherwise DuckDB writes each table twice: once as it is loaded in parallel, and again with full groups of rows.
  await connection.run('SET max_vacuum_tasks = 0')
  await connection.run(`ATTACH ':memory:' AS ":memory"`)
}

/**
 * Writes the table `grid` into a new database file. Columns get the narrowest type that holds all their values: that of
 * the first rows, if all others have it too.
 */
export async function loadTable(
  connection: DuckDBConnection,
  database: string,
  csv: CsvTable,
): Promise<void> {
  const columns = toLoadedColumns(csv)
  await connection.run(`ATTACH ${quoteText(database)} AS ${LOADING}`)
  try {
    await loadByGuess(connection, csv.path, columns)
  } catch {
    await loadLooking(connection, csv.path, columns)
  }
  await connection.run(`DETACH ${LOADING}`)
}

/** Loads a table in one pass. Throws if a value does not have the type of those in the first rows. */
async function loadByGuess(
  connection: DuckDBConnection,
  path: string,
  columns: readonly LoadedColumn[],
): Promise<void> {
  const types = columns.map(loadedTypeOf)
  const source = formatSource(path, columns, types, USUAL_LINE_BYTES)
  await connection.run(`CREATE OR REPLACE TABLE ${LOADED} AS ${source} LIMIT ${SAMPLED_ROWS}`)
  const fitting = await findFittingTypes(connection, columns, types)
  await connection.run(`DROP TABLE ${LOADED}`)
  const list = columns.map(({ loaded, type, name }, k) => {
    const [to] = fitting[k]
    const candidate = candidatesOf(type, types[k]).find((one) => one.to === to)
    const value = `CAST(${loaded} AS ${to})`
    return `${candidate ? candidate.guard(loaded, value) : value} AS ${quoteName(name)}`
  })
  await connection.run(`CREATE TABLE ${LOADING}.main.grid AS SELECT ${list.join(', ')} ${source}`)
}

/** Loads a table in two passes: its values tell the types. */
async function loadLooking(
  connection: DuckDBConnection,
  path: string,
  columns: readonly LoadedColumn[],
): Promise<void> {
  const fitting = await loadTyped(connection, path, columns, columns.map(loadedTypeOf))
  const types = fitting.map(([narrowest]) => narrowest)
  await connection.run(
    `CREATE TABLE ${LOADING}.main.grid AS SELECT ${formatCasts(columns, types)} FROM ${LOADED}`,
  )
  await connection.run(`DROP TABLE ${LOADED}`)
}

/**
 * Loads rows that follow those of an attached file into memory, as a table. Returns the query for all rows; undefined if
 * only a table that was loaded at once has the same types and values.
 */
export async function loadRest(
  connection: DuckDBConnection,
  file: string,
  name: string,
  csv: CsvTable,
): Promise<string | undefined> {
  const columns = toLoadedColumns(csv)
  const described = await (await connection.run(`DESCRIBE FROM ${file}.main.grid`)).getRows()
  const before = described.map(([, type]) => String(type))
  const types = columns.map((column, k) => (before[k] === 'VARCHAR' ? 'VARCHAR' : loadedTypeOf(column)))
  const fitting = await loadTyped(connection, csv.path, columns, types)
  const after = fitting.map((list, k) => findCommonType(before[k], list))
  if (!after.every((type) => type !== undefined)) return undefined
  const rest = `${MEMORY}.${name}`
  await connection.run(`CREATE TABLE ${rest} AS SELECT ${formatCasts(columns, after)} FROM ${LOADED}`)
  await connection.run(`DROP TABLE ${LOADED}`)
  const stored = columns.map(({ name }) => ({ name, loaded: quoteName(name) }))
  return `SELECT ${formatCasts(stored, after)} FROM ${file}.main.grid UNION ALL FROM ${rest}`
}

/** Returns the type of a column with values of a type and others, which fit some types; undefined if none is exact. */
function findCommonType(before: string, fitting: readonly string[]): string | undefined {
  if (fitting.includes(before)) return before
  const from = NUMBER_TYPES.indexOf(before)
  // The other values fit a narrower type.
  if (fitting.some((type) => NUMBER_TYPES.slice(0, Math.max(0, from)).includes(type))) return before
  return from < 0 ? undefined : fitting.find((type) => NUMBER_TYPES.indexOf(type) > from)
}

function toLoadedColumns({ columns }: CsvTable): LoadedColumn[] {
  return columns.map((column, k) => ({ ...column, loaded: `c${k}` }))
}

/** Loads rows as the table `loaded`. Returns the types that hold all values of each column, narrowest first. */
async function loadTyped(
  connection: DuckDBConnection,
  path: string,
  columns: readonly LoadedColumn[],
  types: readonly string[],
): Promise<string[][]> {
  const load = async (loaded: readonly string[], lineBytes: number): Promise<string[][]> => {
    await connection.run(
      `CREATE OR REPLACE TABLE ${LOADED} AS ${formatSource(path, columns, loaded, lineBytes)}`,
    )
    return findFittingTypes(connection, columns, loaded)
  }
  return load(types, USUAL_LINE_BYTES).catch(() =>
    // Values that do not have the type of their column, such as a date in the year 12000, or large ones.
    load(
      columns.map(() => 'VARCHAR'),
      MAX_LINE_BYTES,
    ),
  )
}

/** Formats the columns of a SELECT: each cast to a type, by its name. */
function formatCasts(
  columns: readonly Pick<LoadedColumn, 'loaded' | 'name'>[],
  types: readonly string[],
): string {
  return columns
    .map(({ loaded, name }, k) => `CAST(${loaded} AS ${types[k]}) AS ${quoteName(name)}`)
    .join(', ')
}

/** Formats the query that reads a CSV file with these types. */
function formatSource(
  path: string,
  columns: readonly LoadedColumn[],
  types: readonly string[],
  lineBytes: number,
): string {
  const declared = columns.map(({ loaded }, k) => `${quoteText(loaded)}: ${quoteText(types[k])}`)
  // A second column keeps missing values apart from blank lines.
  if (columns.length === 1) declared.push("'again': 'VARCHAR'")
  return `FROM read_csv(${quoteText(path)},
    header = true, auto_detect = false, delim = ',', quote = '"', escape = '"', new_line = '\\n',
    nullstr = '', allow_quoted_nulls = false, max_line_size = ${lineBytes},
    columns = {${declared.join(', ')}})`
}

/** Returns the type with which a column is read. */
function loadedTypeOf({ type, isLarge }: TableColumn): string {
  if (type === 'number') return isLarge ? 'VARCHAR' : 'DOUBLE'
  return { boolean: 'BOOLEAN', date: 'DATE', datetime: 'VARCHAR', text: 'VARCHAR' }[type]
}

/** Returns the types that hold all values of each column of `loaded`, narrowest first. */
async function findFittingTypes(
  connection: DuckDBConnection,
  columns: readonly LoadedColumn[],
  types: readonly string[],
): Promise<string[][]> {
  const candidates = columns.map(({ type }, k) => candidatesOf(type, types[k]))
  const conditions = candidates.flatMap((list, k) => list.map(({ holds }) => holds(columns[k].loaded)))
  const results: boolean[] = []
  for (let from = 0; from < conditions.length; from += CONDITIONS_AT_ONCE) {
    const part = conditions.slice(from, from + CONDITIONS_AT_ONCE)
    const list = part.map((condition) => `bool_and(${condition})`).join(', ')
    const [row] = await (await connection.run(`SELECT ${list} FROM ${LOADED}`)).getRows()
    // Without rows, there is no result, and every type fits.
    results.push(...row.map((result) => result !== false))
  }
  let at = 0
  return candidates.map((list, k) => [...list.filter(() => results[at++]).map(({ to }) => to), types[k]])
}

/** A narrower type for values of a column. */
interface Candidate {
  to: string
  /** Returns the condition that every value fulfils that the type holds. */
  holds(column: string): string
  /** Returns `value`, the column with the type; an error for a value that the type does not hold. */
  guard(column: string, value: string): string
}

/** Returns narrower types of a column, narrowest first. */
function candidatesOf(type: TableColumn['type'], loaded: string): Candidate[] {
  if (loaded === 'DOUBLE')
    return [candidateOf('BIGINT', (c) => `${c} = trunc(${c}) AND abs(${c}) <= ${MAX_EXACT}`)]
  if (loaded !== 'VARCHAR' || type === 'text') return []
  // A cast to an integer rounds: only whole numbers, as for those that are read as doubles.
  const isWhole = (c: string): string => {
    const double = `TRY_CAST(${c} AS DOUBLE)`
    return `(regexp_full_match(${c}, '-?\\d+(\\.0*)?') OR (${double} = trunc(${double}) AND abs(${double}) <= ${MAX_EXACT}))`
  }
  if (type === 'number')
    return [candidateOf('BIGINT', isWhole), candidateOf('HUGEINT', isWhole), candidateOf('DOUBLE')]
  if (type === 'boolean') return [candidateOf('BOOLEAN')]
  if (type === 'date') return [candidateOf('DATE')]
  return [
    candidateOf('TIMESTAMP', (c) => `NOT regexp_matches(${c}, '${ZONE}|${NANOSECONDS}')`),
    candidateOf(
      // As DuckDB describes it.
      'TIMESTAMP WITH TIME ZONE',
      (c) => `regexp_matches(${c}, '${ZONE}') AND NOT regexp_matches(${c}, '${NANOSECONDS}')`,
    ),
  ]
}

/** `isExact`: returns the condition that a value which can be cast to the type keeps its meaning. */
function candidateOf(to: string, isExact: (column: string) => string = () => 'true'): Candidate {
  return {
    to,
    holds: (c) => `${c} IS NULL OR (TRY_CAST(${c} AS ${to}) IS NOT NULL AND ${isExact(c)})`,
    guard: (c, value) =>
      `CASE WHEN ${c} IS NULL OR (${isExact(c)}) THEN ${value} ELSE error('another type') END`,
  }
}
