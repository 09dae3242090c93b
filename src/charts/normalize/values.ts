import { counted, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'
import { nameText } from '../../query/index.ts'
import { NO_LABEL } from '../figure/names.ts'
import { stateCode } from '../figure/states.ts'
import { columnNames, hasLabels } from '../spec/column-names.ts'
import { type ChartOptions, type Column, MAX_LABELS, MAX_SERIES, TOP_SERIES } from '../spec/options.ts'
import type { Facts } from '../spec/spec.ts'
import { type ChartType, hasTrait, takes } from '../spec/types.ts'

/** What charts ask of a service. */
export interface ChartClient {
  call(
    name: 'grids.describe',
    asked: { fid: string; query: { columns?: string[]; where?: string } },
  ): Promise<{ columns: ColumnDescription[] }>
  response(
    name: 'grids.content' | 'columns.get',
    asked: { fid: string; query: Record<string, unknown> },
  ): Promise<{ json(): Promise<unknown>; bytes(): AsyncIterable<Uint8Array> }>
}

/** Labels that have room around a radar. */
const MAX_SPOKES = 48
/** Values of a text column that are read to say why it is not a number. */
const SAMPLE_ROWS = 100
/** Different cells of a heatmap that are counted. */
const MAX_CELLS = 1_000_000
/** Rows of which pairs of values are compared to say that a line goes up and down. */
const MAX_PAIRED = 200_000
/** Small charts of one figure, as the service draws them. */
const MAX_FACETS = 36
/** Frames of an animation, as the service draws them. */
const MAX_FRAMES = 200
/** Diameter of the largest point sized by a column, in pixels. */
const MAX_POINT_PIXELS = 40

/**
 * The values of the rows that a chart shows, as far as its options depend on them. Without a client, the table is not
 * uploaded, and nothing is checked. Throws `bad_data`.
 */
export class ChartValues {
  private readonly known = new Map<string, ColumnDescription>()
  /** Names that are in no column of the grid: nothing is known of their values. */
  readonly virtual = new Set<string>()

  constructor(
    private readonly client: ChartClient | undefined,
    private readonly fid: string,
    private readonly type: ChartType,
    private readonly options: ChartOptions,
    private readonly note: (text: string) => void,
    /** Facts that are known. Facts that are found are added. */
    readonly facts: Facts = {},
  ) {}

  /** Statistics of columns, of the chosen rows. Each is read once. Empty without a client. */
  private async described(names: readonly string[]): Promise<ColumnDescription[]> {
    const missing = [...new Set(names)].filter((name) => !this.known.has(name) && !this.virtual.has(name))
    if (this.client && missing.length > 0) {
      const query = { columns: missing, where: this.options.where }
      const { columns } = await this.client.call('grids.describe', { fid: this.fid, query })
      for (const column of columns) this.known.set(column.name, column)
    }
    return names.flatMap((name) => this.known.get(name) ?? [])
  }

  /**
   * Returns the number of rows with a value, the number of distinct values, and the largest absolute number. `isLabel`:
   * null counts as a value.
   */
  async distinct(
    name: string,
    isLabel = false,
  ): Promise<{ rows: number; distinct: number; largest?: number } | undefined> {
    const [found] = await this.described([name])
    if (!found) return undefined
    const unnamed = isLabel && found.nulls > 0 ? 1 : 0
    const rows = isLabel ? found.rows : found.rows - found.nulls
    const ends = [found.min, found.max].filter((end) => typeof end === 'number').map(Math.abs)
    return {
      rows,
      distinct: found.distinct_is_exact ? found.distinct + unnamed : rows,
      largest: ends.length > 0 ? Math.max(...ends) : undefined,
    }
  }

  /** Throws `bad_data` if a type that shows parts of a whole would leave values out: those below zero. */
  async assertParts(columns: readonly Column[], what: string): Promise<void> {
    const found = await this.described(columns.map(({ name }) => name))
    const below = found.find(({ min }) => typeof min === 'number' && min < 0)
    if (below)
      throw new Problem(
        'bad_data',
        `${what} shows parts of a whole, and column ${below.name} has values below zero (${below.min})`,
        {
          field: below.name,
          hint: `Use ${what.startsWith('--') ? '--stack normal' : '--type bar'}, or choose rows with --where '${nameText(below.name)} >= 0'.`,
        },
      )
  }

  /** Throws `bad_data` if stacked areas would add values above and below zero. */
  async assertOneSign(columns: readonly Column[]): Promise<void> {
    const ends = (await this.described(columns.map(({ name }) => name))).flatMap(({ min, max }) => [min, max])
    const numbers = ends.filter((end) => typeof end === 'number')
    if (Math.min(...numbers) >= 0 || Math.max(...numbers) <= 0) return
    throw new Problem('bad_data', 'stacked areas add up, and there are values above and below zero', {
      field: columns[0]?.name,
      hint: 'Use --type bar, which stacks each sign from zero, or --stack none.',
    })
  }

  /** Says that a line goes up and down at one place, where several rows have the same x. */
  async noteRepeated(x: Column, by: Column | undefined): Promise<void> {
    const own = await this.distinct(x.name)
    if (!own || own.distinct === own.rows || own.rows > MAX_PAIRED) return
    const found = by ? await this.pairs([x.name, by.name]) : own
    if (!found || found.distinct === found.rows) return
    this.note(
      `--x ${x.name}: several rows${by ? ' of a series' : ''} have the same value, and the line goes up and down there (to draw one point of them, add --aggregate sum or mean${by ? '' : ', or --by COLUMN'})`,
    )
  }

  /** Says which columns have values that a logarithmic axis does not show. */
  async noteLogarithms(columns: readonly Column[], flag: string): Promise<void> {
    for (const { name, min } of await this.described(columns.map((column) => column.name)))
      if (typeof min === 'number' && min <= 0)
        this.note(`${flag}: column ${name} has values that are not above zero (${min}); they are not drawn`)
  }

  /** The first values of a column. */
  async sample(column: Column): Promise<unknown[]> {
    if (!this.client) return (column.seen ?? []).map(({ text }) => unquoted(text))
    const query = { columns: [column.name], head: SAMPLE_ROWS, format: 'json' as const }
    const response = await this.client.response('grids.content', { fid: this.fid, query })
    const content = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
    return content.cols[column.name]?.data ?? []
  }

  /** The value per pixel that draws the largest value of a column as the largest point. */
  async sizeRef(column: Column): Promise<number> {
    this.facts.sizeRef ??= await this.findSizeRef(column)
    return this.facts.sizeRef
  }

  private async findSizeRef(column: Column): Promise<number> {
    if (!this.client) return 1
    const query = { uid: column.uid }
    const response = await this.client.response('columns.get', { fid: this.fid, query })
    const { cols } = (await response.json()) as { cols: { data: unknown[] }[] }
    let most = 0
    for (const value of cols[0].data) if (typeof value === 'number' && value > most) most = value
    return most === 0 ? 1 : (2 * most) / MAX_POINT_PIXELS ** 2
  }

  /** Reads what all checks need in one request, and says if no row is shown. */
  async prepare(columns: readonly (Column | undefined)[]): Promise<void> {
    const { where } = this.options
    const names = columns.flatMap((column) => column?.name ?? [])
    const found = await this.described(names)
    if (where !== undefined && found.length > 0 && found.every(({ rows }) => rows === 0))
      this.note(`--where ${where}: no row matches, so the chart is empty`)
    else if (found.length > 0 && where !== undefined && found.at(-1)!.nulls === found.at(-1)!.rows)
      this.note(
        `--where ${where}: the rows that match have no values of ${found.at(-1)!.name}, so the chart is empty`,
      )
  }

  /** Throws if a text axis has more labels than anybody reads. A pie puts the smallest together. */
  async assertFewLabels({ name, type }: Column): Promise<void> {
    if (this.options.top !== undefined || type !== 'text' || hasTrait(this.type, 'slices')) return
    const found = await this.distinct(name)
    const most = this.type === 'radar' ? MAX_SPOKES : MAX_LABELS
    if (!found || found.distinct <= most) return
    const hasTop = takes(this.type, 'top')
    throw new Problem(
      'bad_data',
      `--x ${name}: the column has ${found.distinct} different values; ${this.type === 'radar' ? 'a radar' : 'an axis'} shows at most ${most} labels`,
      {
        field: name,
        hint: `Choose some of them with --where${hasTop ? ', or the largest with --top' : ''}.`,
      },
    )
  }

  /** Says that stacked areas go to zero where a value is missing. */
  async noteMissing(columns: readonly Column[]): Promise<void> {
    for (const { name, nulls } of await this.described(columns.map((column) => column.name)))
      if (nulls > 0)
        this.note(
          `--y ${name}: ${counted(nulls, 'row')} without a value; stacked areas are at zero there (lines show a gap: --type line)`,
        )
  }

  /**
   * Throws if several rows have the same value, or the same values of several columns: their bars or cells would be drawn
   * over each other.
   */
  async assertSingle({ name, type }: Column, ...others: readonly (Column | undefined)[]): Promise<void> {
    if (this.virtual.has(name)) return
    const second = others.flatMap((column) => column?.name ?? [])
    const found =
      second.length > 0
        ? await this.pairs([...new Set([name, ...second])])
        : await this.distinct(name, hasLabels({ type }))
    if (!found || found.distinct >= found.rows || found.distinct === 0) return
    const { rows, distinct } = found
    const by =
      takes(this.type, 'by') && second.length === 0
        ? ', or show the rows of each category with --by COLUMN'
        : ''
    const what =
      second.length > 0
        ? `${rows} rows have ${distinct} different ${second.length === 1 ? 'pairs' : 'combinations'} of ${name} and ${second.join(' and ')}, so a ${this.type} would show several rows as one`
        : `${rows} rows have ${distinct} different values, so a ${this.type} chart would show several rows as one`
    throw new Problem('bad_data', `--x ${name}: ${what}`, {
      field: name,
      hint: takes(this.type, 'aggregate')
        ? `Add --aggregate sum (or mean, count …)${by}.`
        : 'Choose one row of each with --where, or make a table of sums first.',
    })
  }

  /** Throws if a column has not the two values that two sides need. */
  async assertTwoSides({ name }: Column): Promise<void> {
    const found = await this.distinct(name, true)
    if (found && found.distinct > 2)
      throw new Problem(
        'bad_data',
        `--by ${name}: a pyramid has two sides, and the column has ${found.distinct} values`,
        {
          field: name,
          hint: 'Choose two of them with --where.',
        },
      )
  }

  /** Throws if several rows would be drawn at the names of columns, in one series. `first`: one of these columns. */
  async assertOneRow(first: string, ...groups: readonly (Column | undefined)[]): Promise<void> {
    const known = groups.flatMap((column) => column ?? [])
    const [found] = await this.described([first])
    if (known.length > 0) await this.assertSingle(known[0], ...known.slice(1))
    else if (found && found.rows > 1)
      throw new Problem('bad_data', `--x columns: ${found.rows} rows would be drawn as one series`, {
        hint: 'Add --by COLUMN for a series of each row, or --aggregate sum (or mean, count …).',
      })
  }

  /** Whether the points of a line must be put in order. */
  async isUnsorted(x: Column | undefined): Promise<boolean> {
    this.facts.isUnsorted ??= await this.findUnsorted(x)
    return this.facts.isUnsorted
  }

  private async findUnsorted(x: Column | undefined): Promise<boolean> {
    const [along] = x ? await this.described([x.name]) : []
    if (!x || !along) return false
    const rows = along.rows - along.nulls
    if (x.type === 'text') await this.assertSingle(x)
    else if (along.distinct_is_exact && along.distinct < rows)
      this.note(
        `--x ${x.name}: ${rows} rows have ${along.distinct} different values, so the line goes up and down at one place (to show one point for each, add --aggregate mean; to show a line for each category, add --by COLUMN)`,
      )
    if (along.ascending !== false || this.options.sort !== undefined) return false
    this.note(`--x ${x.name}: the values do not ascend, so the line is drawn in ascending order`)
    return true
  }

  /** Throws if there would be too many small charts. */
  async assertFewFacets(facets: readonly Column[]): Promise<void> {
    let charts = 1
    for (const { name } of facets) charts *= (await this.distinct(name, true))?.distinct ?? 1
    const name = facets.map((column) => column.name).join(',')
    if (charts > MAX_FACETS)
      throw new Problem(
        'bad_data',
        `--facet ${name}: ${facets.length === 1 ? `the column has ${charts} different values` : `the columns have ${charts} pairs of values`}; at most ${MAX_FACETS} small charts are drawn`,
        {
          field: facets[0].name,
          hint: 'Choose some of them with --where, or show them as series with --by.',
        },
      )
  }

  /** Throws if a mark on an axis of labels is at a label that no row has: plotly.js would draw it somewhere. */
  async assertMarked({ name, type }: Column): Promise<void> {
    if (!this.client || type !== 'text' || this.virtual.has(name)) return
    for (const mark of this.options.mark ?? []) {
      const [, label] = /^\s*x\s*=\s*([^,:]+)/.exec(mark) ?? []
      if (label === undefined) continue
      await this.assertIn(name, label.trim(), `--mark ${mark}`)
    }
  }

  /** Throws if --note or --order names a label that no row has. `by`: the column of the series, without labels on x. */
  async assertPlaced(x: Column, by: Column | undefined): Promise<void> {
    const { note = [], order, y = '' } = this.options
    if (x.type === 'text' && !this.virtual.has(x.name))
      for (const one of note) await this.assertIn(x.name, (one.split(',')[0] ?? '').trim(), `--note ${one}`)
    if (order === undefined) return
    const labels = columnNames(order)
    const among = x.type === 'text' ? x : by
    if (among?.type === 'text' && !this.virtual.has(among.name))
      for (const label of labels) await this.assertIn(among.name, label, `--order ${order}`)
    else if (!among && !labels.every((label) => columnNames(y).includes(label)))
      throw new Problem(
        'usage',
        `--order ${order}: the x axis has no labels, and there are no series of these names`,
      )
  }

  /** Throws if --highlight names no series, and no label of an axis without series. */
  async assertHighlighted(
    by: Column | undefined,
    x: Column | undefined,
    ys: readonly Column[],
  ): Promise<void> {
    for (const highlight of this.options.highlight ?? []) {
      const among = by ?? (ys.length > 1 ? undefined : x)
      if (among && this.virtual.has(among.name)) continue
      if (among?.type === 'text') await this.assertIn(among.name, highlight, `--highlight ${highlight}`)
      else if (!among && !ys.some(({ name }) => name === highlight))
        throw new Problem('usage', `--highlight ${highlight}: no series has this name`, {
          hint: `Series: ${listed(ys.map(({ name }) => name))}`,
        })
    }
  }

  /** Throws `bad_data` if no row has a text in a column. */
  private async assertIn(name: string, text: string, flag: string): Promise<void> {
    const where = `${nameText(name)} = '${text.replaceAll("'", "''")}'`
    const columns = await this.client?.call('grids.describe', {
      fid: this.fid,
      query: { columns: [name], where },
    })
    if (columns?.columns[0]?.rows === 0 && text !== NO_LABEL)
      throw new Problem('bad_data', `${flag}: no row has ${text} in ${name}`, { field: name })
  }

  /** Throws if there would be more frames than anybody watches. */
  async assertFewFrames({ name }: Column): Promise<void> {
    const found = await this.distinct(name)
    if (found && found.distinct > MAX_FRAMES)
      throw new Problem(
        'bad_data',
        `--animate ${name}: the column has ${found.distinct} different values; at most ${MAX_FRAMES} frames are shown`,
        { field: name, hint: 'Choose some of them with --where.' },
      )
  }

  /** Says how many values of --by are not series of their own. */
  async noteOthers({ name }: Column): Promise<void> {
    const found = await this.distinct(name)
    const own = this.options.top ?? TOP_SERIES - 1
    if (!found || found.distinct <= own + 1) return
    const more = Math.min(found.distinct, MAX_SERIES)
    const hint = more > own ? ` (to show more, use --top ${more})` : ''
    const isDropped = this.type === 'bump' || this.type === 'slope'
    this.note(
      `--by ${name}: the column has ${found.distinct} values; ${own === 1 ? 'the largest is a series of its own' : `the ${own} largest are series of their own`}, and the other ${found.distinct - own} are ${isDropped ? 'not shown' : 'one series, other'}${hint}`,
    )
  }

  /** What the places of a map are: codes of countries, names of countries or codes of US states. Throws `bad_data`. */
  async places(column: Column): Promise<Facts['places']> {
    if (this.options.geojson !== undefined) return 'geojson-id'
    this.facts.places ??= await this.findPlaces(column)
    return this.facts.places
  }

  private async findPlaces(column: Column): Promise<Facts['places']> {
    const texts = (await this.sample(column)).filter((value) => typeof value === 'string')
    const { isCountry } = await import('../../vendor/countries.ts')
    const other = texts.filter((text) => stateCode(text) === undefined)
    const countries = texts.filter((text) => isCountry(text, 'name')).length
    // Georgia is both.
    if (other.length * 2 < texts.length && texts.length - other.length > countries) {
      this.notePlaces(column, other, texts.length, 'state')
      return 'USA-states'
    }
    const areCodes = texts.every((text) => /^[A-Z]{3}$/.test(text))
    const unknown = texts.filter((text) => !isCountry(text, areCodes ? 'code' : 'name'))
    const short = texts.filter((text) => /^[A-Za-z]{2}$/.test(text))
    if (short.length * 2 > texts.length)
      throw this.noPlaces(column, `${unknown[0]} is no code that a map knows`)
    this.notePlaces(column, unknown, texts.length, 'country')
    return areCodes ? 'ISO-3' : 'country names'
  }

  /** Names places that a map does not know. Throws `bad_data` if it knows none. */
  private notePlaces(
    column: Column,
    unknown: readonly string[],
    count: number,
    kind: 'country' | 'state',
  ): void {
    const places = [...new Set(unknown)]
    if (places.length === 0) return
    const what = `${listed(places, 5)} ${places.length === 1 ? `is no ${kind}` : `are no ${kind === 'state' ? 'states' : 'countries'}`} that a map knows`
    if (unknown.length === count) throw this.noPlaces(column, what)
    this.note(`--x ${column.name}: ${what}; ${places.length === 1 ? 'it is' : 'they are'} not drawn`)
  }

  private noPlaces({ name }: Column, what: string): Problem {
    return new Problem('bad_data', `--x ${name}: ${what}`, {
      field: name,
      hint: 'Use codes of three letters (NOR), English names of countries, or US states (TX or Texas).',
    })
  }

  /** How many rows have both values, and how many different pairs there are. */
  private async pairs(columns: string[]): Promise<{ rows: number; distinct: number } | undefined> {
    if (!this.client) return undefined
    const query = { columns, where: this.options.where, format: 'ndjson' as const }
    const response = await this.client.response('grids.content', { fid: this.fid, query })
    const seen = new Set<string>()
    let rows = 0
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.bytes()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      rows += lines.length
      for (const line of lines) if (seen.size < MAX_CELLS) seen.add(line)
    }
    return { rows, distinct: seen.size < MAX_CELLS ? seen.size : rows }
  }
}

/** Removes the quotes of a JSON string. */
function unquoted(text: string): string {
  return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text
}
