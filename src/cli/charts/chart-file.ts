// Chart files: the grid, the type and the options of a chart, as YAML. See docs/definitions.md.
import { dirname, join, relative } from 'node:path'
import { isBuiltInTheme } from '../../charts/figure/themes.ts'
import { quoteColumnName } from '../../charts/spec/column-names.ts'
import { type ChartOptions, flagOf, getOption, OPTION_NAMES } from '../../charts/spec/options.ts'
import { AUTO, CHART_TYPE_CHOICES, type ChartType } from '../../charts/spec/types.ts'
import { Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import { formatYaml } from '../files/yaml.ts'
import { COLOR_HINT, isColor } from './attributes.ts'

/** Options whose value can be a file, whose path begins in the directory of the chart file. */
const FILE_OPTIONS: ReadonlySet<string> = new Set(['theme', 'geojson'])

/** Member with the colors of series, as `gridline plot set` has them. */
const COLORS_MEMBER = 'color-of'

/** Content of a chart file. */
export interface ChartFile {
  /** Name, path, id or link of the grid. */
  grid: string
  type: ChartType | typeof AUTO
  options: ChartOptions
  /** Colors of series, by name. */
  colors?: Readonly<Record<string, string>>
}

/** Parses the content of a chart file. `root`: directory of the files that it may name. Throws `bad_data` with the member at fault. */
export function parseChartFile(
  file: string,
  document: Readonly<Record<string, unknown>>,
  root = dirname(file),
): ChartFile {
  const refuse = (message: string, hint?: string): Problem =>
    new Problem('bad_data', `${file}: ${message}`, hint === undefined ? {} : { hint })
  const { grid, type = AUTO, name: _, [COLORS_MEMBER]: colors = {}, ...members } = document
  if (typeof grid !== 'string' || grid === '')
    throw refuse('the grid is missing', 'Name the grid of the chart, such as: grid: sales')
  const known = CHART_TYPE_CHOICES.find((choice) => choice === type)
  if (known === undefined) {
    const meant = findClosest(String(type), CHART_TYPE_CHOICES)
    const others = `Types: ${CHART_TYPE_CHOICES.join(', ')}. See: gridline help charts`
    throw refuse(
      `type: ${String(type)} is no type of chart`,
      meant === undefined ? others : `Did you mean ${meant}? See: gridline help charts`,
    )
  }
  if (typeof colors !== 'object' || colors === null || Array.isArray(colors))
    throw refuse(`${COLORS_MEMBER}: expected colors by the names of series, such as { Oslo: '#d62728' }`)
  const wrong = Object.entries(colors).find(([, color]) => !isColor(color))
  if (wrong)
    throw refuse(`${COLORS_MEMBER}: ${wrong[0]}: ${JSON.stringify(wrong[1])} is not a color`, COLOR_HINT)
  const names = new Map(OPTION_NAMES.map((name) => [flagOf(name).slice(2), name]))
  const options: Record<string, unknown> = {}
  for (const [member, value] of Object.entries(members)) {
    const name = names.get(member)
    if (name === undefined)
      throw refuse(
        `${member} is no option of a chart`,
        withSuggestion(
          findClosest(member, [...names.keys(), 'grid', 'type', 'name', COLORS_MEMBER]),
          'Options are those of: gridline plot create --help --all',
        ),
      )
    if (value === null || value === undefined) continue
    const parsed = parseOption(name, value)
    if (parsed === undefined) {
      const { choices } = getOption(name)
      throw refuse(
        `${member}: ${JSON.stringify(value)} is ${choices ? `none of ${choices.join(', ')}` : 'no value of it'}`,
      )
    }
    const isFile = FILE_OPTIONS.has(name) && !(name === 'theme' && isBuiltInTheme(String(parsed)))
    const path = isFile ? join(dirname(file), String(parsed)) : undefined
    if (path !== undefined && relative(root, path).startsWith('..'))
      throw refuse(`${member}: ${String(parsed)} is outside of the directory`)
    options[name] = path ?? parsed
  }
  const hasColors = Object.keys(colors).length > 0
  return { grid, type: known, options, ...(hasColors && { colors: colors as Record<string, string> }) }
}

/** Formats a chart as a chart file. `name`: name of the chart; undefined if the file has the same name. */
export async function formatChartFile(
  { grid, type, options, colors = {} }: ChartFile,
  name?: string,
): Promise<string> {
  const members = OPTION_NAMES.flatMap((name) =>
    options[name] === undefined ? [] : [[flagOf(name).slice(2), options[name]]],
  )
  return formatYaml({
    grid,
    ...(name !== undefined && { name }),
    type,
    ...Object.fromEntries(members),
    ...(Object.keys(colors).length > 0 && { [COLORS_MEMBER]: colors }),
  })
}

/** Returns the value of an option as the command line has it; undefined for a value that it cannot have. */
function parseOption(name: keyof ChartOptions, value: unknown): unknown {
  const { kind, choices, preset, integer } = getOption(name)
  const items = [value].flat()
  if (kind === 'flag') return typeof value === 'boolean' ? value : undefined
  if (preset !== undefined && value === true) return preset
  if (!items.every((item) => typeof item === 'string' || typeof item === 'number')) return undefined
  if (kind === 'number') {
    const isNumber = Number.isSafeInteger(value) && Number(value) >= 0
    return isNumber && Number(value) <= (integer?.max ?? Number.MAX_SAFE_INTEGER) ? value : undefined
  }
  const texts = items.map((item) =>
    kind === 'columns' && Array.isArray(value) ? quoteColumnName(String(item)) : String(item),
  )
  if (kind === 'texts') return texts
  const text = texts.join(',')
  return choices === undefined || choices.includes(text) ? text : undefined
}
