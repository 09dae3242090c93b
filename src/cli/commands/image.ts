// `gridline image`: saves images of plots, figures and data files.
import { extname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import {
  CHART_OPTIONS,
  COLOR_SCALES,
  EXPLAIN_OPTION,
  flagOf,
  OPTION_NAMES,
} from '../../charts/spec/options.ts'
import { CHART_TYPE_CHOICES } from '../../charts/spec/types.ts'
import { resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatImagesNote } from '../../contract/figure-images.ts'
import { MISSING_HEADER } from '../../contract/headers.ts'
import { type ImageFormat, imageFormats } from '../../contract/operations/index.ts'
import { addLinkFilters } from '../../contract/web/filter-query.ts'
import { toByteStream } from '../../json/index.ts'
import { createThemedChart } from '../charts/charts.ts'
import { createFigureBody } from '../charts/create.ts'
import { applyDefaultTheme } from '../charts/default-theme.ts'
import { isFigureFile, readFigure, withLocalFileHint } from '../charts/figures.ts'
import type { Context } from '../core/context.ts'
import { defineCommand, type Option, type OptionValues, type ShortHelp } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { isLocalDataFile, loadLocalGrid } from '../files/local-data.ts'
import { assertNoReadingOptions, localOptions } from '../files/parse-options.ts'
import { writeNamedFile } from '../files/write-file.ts'

const options = [
  {
    flags: '-o, --output <file>',
    description: 'output file; its extension sets the format (default: NAME.png)',
  },
  { flags: '--format <format>', description: 'image format', choices: imageFormats },
  { flags: '--width <pixels>', integer: {}, description: 'width (default: from the layout, or 700)' },
  { flags: '--height <pixels>', integer: {}, description: 'height (default: from the layout, or 500)' },
  {
    flags: '--scale <factor>',
    description:
      'image pixels per pixel of width and height (default: 1), or color scale of --color: diverging, log or steps',
  },
  {
    flags: '--dark',
    description: 'use dark colors; figures that set their own keep them',
  },
  {
    flags: '--filter <column=value>',
    description: 'for boards: value of a filter (repeatable)',
    repeatable: true,
  },
  {
    flags: '--plot <type>',
    description: 'for data files: chart type (default: chosen from the columns)',
    choices: CHART_TYPE_CHOICES,
  },
  ...CHART_OPTIONS.filter(({ flags }) => flags !== '--scale <kind>' && flags !== '--locale <tag>'),
  EXPLAIN_OPTION,
  ...localOptions,
] as const satisfies readonly Option[]

/** Options shown by the short help. */
const shortHelp: ShortHelp = {
  options: {
    '--output': 'output file (- for stdout)',
    '--width': 'width in pixels',
    '--height': 'height in pixels',
    '--scale': 'image pixels per pixel of width and height',
    '--dark': 'use dark colors; figures that set their own keep them',
    '--plot': 'for data files: chart type',
    '--x': 'column of the x axis; labels of a pie',
    '--y': 'columns of the y axis: a,b or 2019-2023 or temp_*',
    '--by': 'draw one series per value of this column',
    '--aggregate': 'combine rows with the same x: sum, mean, count …',
    '--where': 'use only matching rows: temp > 20',
    '--title': 'title of the chart (default: from its columns)',
    '--theme': 'gridline, newsroom, print, or a JSON file',
    '--column': 'type of a column: zip:text, day:date',
    '--delimiter': 'delimiter between cells (default: detected)',
    '--decimal': 'decimal separator of numbers: . or ,',
  },
  topics: ['charts', 'formats'],
  examples: 4,
}

export const command = defineCommand({
  output: otherOutput('nothing; the image goes to a file or to stdout'),
  arguments: '<plot|board|figure>',
  usage: '<plot|board|figure|file>',
  completion: [['plot', 'local']],
  options,
  shortHelp,
  examples: [
    'gridline image "Sales 2024" -o sales.svg',
    'gridline image figure.json -o chart.png --width 1200 --height 800 --scale 2',
    'gridline image sales.csv --plot line --x date --y price -o sales.png',
    'gridline image alice:7 --format pdf -o - > chart.pdf',
    'gridline image alice:7 -o chart.html',
    'gridline image "Weather report" -o report.pdf --filter location=Seattle',
  ],
  async run(context, [source], options) {
    const isFile = await isFigureFile(source)
    const format = imageFormatOf(options)
    const settings = {
      format,
      width: options.width,
      height: options.height,
      scale: parseScale(options.scale),
      theme: options.dark ? ('dark' as const) : undefined,
    }
    const isData = !isFile && (await isLocalDataFile(source))
    const chartOption = (['plot', ...OPTION_NAMES] as const).find(
      (name) =>
        name in options &&
        name !== 'locale' &&
        (name !== 'scale' || parseColorScale(options.scale) !== undefined),
    )
    if (!isData) assertNoReadingOptions(options)
    if (options.filter && (isFile || isData)) throw new Problem('usage', '--filter is for boards')
    if (chartOption !== undefined && !isData)
      throw new Problem('usage', `${flagOf(chartOption)} can only be used with local data files`)
    const { image, name } = isFile
      ? await drawFigureFile(context, source, settings)
      : isData
        ? await drawDataFile(context, source, settings, options)
        : await drawStored(context, source, { ...settings, filter: options.filter })
    const output = options.output ?? `${name}.${format}`
    if (output === '-') return { bytes: toByteStream(image) }
    await writeNamedFile(output, image)
    const result = { file: output, format, bytes: image.length }
    return {
      item: result,
      view: {
        id: 'file',
        columns: [
          { field: 'file', title: 'FILE' },
          { field: 'format', title: 'FORMAT' },
          { field: 'bytes', title: 'BYTES', align: 'right' },
        ],
      },
    }
  },
})

/** Settings of the image. Sizes in pixels. */
interface ImageSettings {
  format: ImageFormat
  width?: number
  height?: number
  scale?: number
  theme?: 'dark'
}

/** Returns the format of --format, or of the extension of --output. Throws `usage` if they contradict. */
function imageFormatOf({ format, output }: OptionValues<typeof options>): ImageFormat {
  const extension = output === undefined || output === '-' ? '' : extname(output).slice(1).toLowerCase()
  const formatName = extension === 'jpg' ? 'jpeg' : extension
  const extensionFormat = imageFormats.find((candidate) => candidate === formatName)
  if (format && extensionFormat && format !== extensionFormat)
    throw new Problem('usage', `--format ${format} contradicts the file name ${output}`)
  if (format) return format
  if (extension !== '' && !extensionFormat)
    throw new Problem('usage', `-o ${output}: .${extension} is not an image format`, {
      hint: `Formats: ${imageFormats.join(', ')}. Set one with --format.`,
    })
  return extensionFormat ?? 'png'
}

/** Parses --scale as a factor; undefined for color scales. Throws `usage`. */
function parseScale(text: string | undefined): number | undefined {
  if (text === undefined || parseColorScale(text) !== undefined) return undefined
  const scale = Number(text)
  if (!(scale > 0))
    throw new Problem(
      'usage',
      `--scale ${text}: must be a number above 0, or a color scale: ${COLOR_SCALES.join(', ')}`,
    )
  return scale
}

/** Returns --scale if it is a color scale, not a factor. */
function parseColorScale(text: string | undefined): (typeof COLOR_SCALES)[number] | undefined {
  return COLOR_SCALES.find((scale) => scale === text)
}

/** Draws a local figure. Nothing is uploaded. */
async function drawFigureFile(context: Context, file: string, settings: ImageSettings) {
  const { text, name } = await readFigure(file)
  const { drawFigure } = await import('../../service/index.ts')
  const image = await drawFigure(text, { ...settings, title: name }, context.environment)
  const omitted = formatImagesNote(JSON.parse(text))
  if (omitted) context.messages.warning(omitted)
  return { image, name: name ?? 'figure' }
}

/** Draws a chart of a local data file. Nothing is uploaded. */
async function drawDataFile(
  context: Context,
  file: string,
  settings: ImageSettings,
  imageOptions: OptionValues<typeof options>,
) {
  const { client, fid } = await loadLocalGrid(context, file, imageOptions)
  const grid = await client.call('grids.get', { fid })
  const chart = { ...imageOptions, scale: parseColorScale(imageOptions.scale) }
  const { figure } = await createThemedChart(client, grid, imageOptions.plot, chart, (text) =>
    context.messages.note(text),
  )
  const { file: plot } = await client.call('plots.create', {
    body: createFigureBody(JSON.stringify(await applyDefaultTheme(context, figure, imageOptions)), {}),
  })
  const response = await client.response('plots.content', { fid: plot.fid, query: { inline_data: true } })
  const { drawFigure } = await import('../../service/index.ts')
  return {
    image: await drawFigure(
      await response.text(),
      { ...settings, title: grid.filename },
      context.environment,
    ),
    name: grid.filename,
  }
}

/** Draws a stored plot or board on its server, with current data. Throws `bad_data` if columns are missing. */
async function drawStored(context: Context, plot: string, given: ImageSettings & { filter?: string[] }) {
  const settings = { ...given, filter: addLinkFilters(plot, given.filter) }
  const client = await context.clientFor(plot)
  const fid = await resolveFid(client, plot).catch((error) => {
    throw withLocalFileHint(error, plot)
  })
  const { filename } = await client.call('files.get', { fid })
  const response = await client.response('files.image', { fid, query: settings })
  const missing = response.headers[MISSING_HEADER]
  if (missing !== undefined) {
    await response.bytes()[Symbol.asyncIterator]().return?.(undefined)
    throw new Problem('bad_data', `${plot}: ${decodeURIComponent(missing)}`, {
      hint: 'No image was saved. Add the column to its grid again, or change the chart.',
    })
  }
  return { image: await buffer(response.bytes()), name: filename.replace(/[/\\]/g, '_') }
}
