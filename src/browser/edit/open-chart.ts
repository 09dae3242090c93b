/// <reference lib="dom" />
// A chart that is changed: what is stored, and the figure of the changes, with the code of `gridline plot set`.
import { applyOptions, findGridId } from '../../charts/change/apply-options.ts'
import { readSpec } from '../../charts/change/read-spec.ts'
import type { Attributes, Figure } from '../../charts/figure/figure.ts'
import { withChangedColors } from '../../charts/figure/series-color.ts'
import { NOTE_NAME } from '../../charts/figure/shared-names.ts'
import { DEFAULT_THEME, listBuiltInThemes, setTheme, type Theme } from '../../charts/figure/themes.ts'
import type { ChartClient } from '../../charts/normalize/read-values.ts'
import type { ChartGrid, ChartOptions } from '../../charts/spec/options.ts'
import { type ChartType, isChartType } from '../../charts/spec/types.ts'
import { Problem } from '../../contract/errors.ts'
import type { QueryOf } from '../../contract/operations/index.ts'
import { ApiError, call, request } from '../api.ts'
import { type FieldName, FORM_OPTIONS, formatFieldValue, parseFieldValue, SIZE_FIELDS } from './fields.ts'
import type { FigureData } from './figure-data.ts'

/** Position of the text of a note relative to its point, in pixels. */
export type NotePosition = readonly [ax: number, ay: number]

/** Everything that the form changes. Members that are not changed are missing. */
export interface Changes {
  fields: Partial<Record<FieldName, string>>
  /** Colors by series. */
  colors: Readonly<Record<string, string>>
  /** Moved notes, by number. */
  notes: Readonly<Record<number, NotePosition>>
}

/** Grid, type and options of a chart. */
interface ColumnChart {
  grid: ChartGrid
  type: ChartType
  options: ChartOptions
}

/** A stored chart. */
export class OpenChart {
  private constructor(
    readonly figure: Figure,
    readonly etag: string | null,
    /** Undefined if only title, theme and size can be changed. */
    readonly chart: ColumnChart | undefined,
    /** Why only these can be changed; empty otherwise. */
    readonly restriction: string,
    /** Figure with the data that the chart shows, if it is `UNREADABLE`. */
    private readonly shown: Figure | undefined,
    private readonly themes: ReadonlyMap<string, Theme>,
  ) {}

  /** Loads a chart. `serverTheme`: the default theme of the server. */
  static async load(fid: string, serverTheme: Theme | undefined): Promise<OpenChart> {
    const { figure, etag } = await loadFigure(fid, {})
    const themes = [...listBuiltInThemes(), ...(serverTheme ? [serverTheme] : [])]
    const read = await readChart(figure)
    const [chart, restriction] = typeof read === 'string' ? [undefined, read] : [read, '']
    const shown =
      restriction === UNREADABLE
        ? await loadFigure(fid, { inline_data: true }).then(
            (loaded) => loaded.figure,
            () => undefined,
          )
        : undefined
    const themesByName = new Map(themes.map((theme) => [theme.name, theme]))
    return new OpenChart(figure, etag, chart, restriction, shown, themesByName)
  }

  /** Names of the themes that can be chosen, with that of the chart. */
  listThemes(): string[] {
    return [...new Set([...this.themes.keys(), this.themeName])]
  }

  private get themeName(): string {
    return this.figure.layout.meta?.theme ?? DEFAULT_THEME
  }

  /** Returns the texts of all fields, unchanged. */
  readFields(): Record<FieldName, string> {
    const { layout } = this.figure
    const title = typeof layout.title === 'string' ? layout.title : layout.title?.text
    const options = FORM_OPTIONS.map((name) => [name, formatFieldValue(this.chart?.options[name])])
    return {
      ...Object.fromEntries(options),
      type: this.chart?.type ?? '',
      title: title ?? '',
      theme: this.themeName,
      width: String(layout.width ?? ''),
      height: String(layout.height ?? ''),
    }
  }

  /** Returns the figure with changes, and collects notes. Throws `Problem` for invalid ones. */
  async apply(client: ChartClient, changes: Changes, notes: string[]): Promise<Figure> {
    const base = this.chart
      ? await this.applyOptions(client, changes, notes)
      : this.applyTitle(this.figure, changes.fields)
    return this.applyLook(base, changes)
  }

  /** Returns the figure with changes, and as it is drawn with its data. Throws as `apply`. */
  async draw(
    client: ChartClient,
    changes: Changes,
    notes: string[],
    data: FigureData,
  ): Promise<{ figure: Figure; drawn: Figure }> {
    if (!this.shown) {
      const figure = await this.apply(client, changes, notes)
      return { figure, drawn: await data.evaluate(figure) }
    }
    const figure = this.applyLook(this.applyTitle(this.shown, changes.fields), changes)
    return { figure, drawn: figure }
  }

  private applyLook(base: Figure, changes: Changes): Figure {
    const { fields } = changes
    const colored = withChangedColors(base, new Map(Object.entries(changes.colors)))
    return withMovedNotes(withSize(colored, fields), changes.notes)
  }

  private applyOptions(client: ChartClient, { fields }: Changes, notes: string[]): Promise<Figure> {
    const { type, theme: themeName, width: _, height: __, ...rest } = fields
    const theme = themeName === undefined ? undefined : this.themes.get(themeName)
    const options: ChartOptions = Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [name, parseFieldValue(name, value)]),
    )
    const asked = { type: isChartType(type) ? type : undefined, options, theme }
    return applyOptions(client, this.chart!.grid, this.figure, asked, (text) => notes.push(`${text}.`))
  }

  private applyTitle(figure: Figure, { title: text, theme: themeName }: Changes['fields']): Figure {
    const { layout } = figure
    const title = { ...(typeof layout.title === 'object' ? layout.title : {}), text }
    const next = { ...figure, layout: { ...layout, ...(text !== undefined && { title }) } }
    const theme = themeName === undefined ? undefined : this.themes.get(themeName)
    return theme ? setTheme(next, theme) : next
  }
}

/** Why a chart has no options here: its columns cannot be loaded by themselves. */
const UNREADABLE = 'You cannot read the grid of this chart, or it is gone.'

/** Loads the figure of a chart, and its entity tag. */
async function loadFigure(
  fid: string,
  query: QueryOf<'plots.content'>,
): Promise<{ figure: Figure; etag: string | null }> {
  const response = await request('plots.content', { path: { fid }, query })
  const body: Partial<Figure> = await response.json()
  const figure: Figure = { ...body, data: body.data ?? [], layout: body.layout ?? {} }
  return { figure, etag: response.headers.get('etag') }
}

/** Returns grid, type and options of a figure, or why it has none: it is not a chart of one grid that can be read. */
async function readChart(figure: Figure): Promise<ColumnChart | string> {
  try {
    const grid: ChartGrid = await call('grids.get', { path: { fid: findGridId(figure) } })
    const { spec, options } = readSpec(figure, grid)
    return { grid, type: spec.type, options }
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 410].includes(error.status)) return UNREADABLE
    if (error instanceof Problem && error.code === 'usage')
      return 'This figure is not a chart of the columns of one grid.'
    throw error
  }
}

/** Returns a figure with the changed size. */
function withSize(figure: Figure, fields: Changes['fields']): Figure {
  const layout = { ...figure.layout }
  for (const name of SIZE_FIELDS) {
    if (fields[name] === '') delete layout[name]
    else if (fields[name] !== undefined) layout[name] = Number(fields[name])
  }
  return { ...figure, layout }
}

/** Returns a figure whose notes are where they were moved to. */
function withMovedNotes(figure: Figure, moved: Changes['notes']): Figure {
  if (Object.keys(moved).length === 0) return figure
  let number = 0
  const annotations = [figure.layout.annotations ?? []].flat().map((annotation: Attributes) => {
    if (annotation?.name !== NOTE_NAME) return annotation
    const place = moved[number++]
    return place ? { ...annotation, ax: place[0], ay: place[1] } : annotation
  })
  return { ...figure, layout: { ...figure.layout, annotations } }
}
