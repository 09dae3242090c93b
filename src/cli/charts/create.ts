// Creates plots.
import type { BodySource, Client } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import type { BodyOf } from '../../contract/operations/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { Planned } from '../core/dry-run.ts'
import { definitionKindOf } from '../files/definitions.ts'

/** Destination of a plot, and conflict rule. */
export type PlotDestination = Pick<
  BodyOf<'plots.create'>,
  'filename' | 'parent' | 'parent_path' | 'world_readable' | 'on_conflict'
>

/** One-line descriptions of chart options, for the short help. */
export const CHART_SHORT_HELP = {
  '--x': 'column of the x axis; labels of a pie',
  '--y': 'columns of the y axis: a,b or 2019-2023 or temp_*',
  '--color': 'color points, bars or cells by a column of numbers',
  '--by': 'draw one series per value of this column',
  '--facet': 'draw one small chart per value, on the same scales',
  '--aggregate': 'combine rows with the same x: sum, mean, count …',
  '--per': 'with --aggregate: one point per day, month, year …',
  '--top': 'only the largest series, bars or slices',
  '--where': 'use only matching rows: temp > 20',
  '--sort': 'sort rows by these columns: -date,city',
  '--theme': 'gridline, newsroom, print, or a JSON file',
}

export const PLOT_CONFLICT_RULES = ['fail', 'rename', 'replace'] as const

/** Throws `usage` if two files would replace the same file. `name`: destination path of each. */
export function assertDistinctNames(
  files: readonly { file: string; name: string }[],
  rule: string | undefined,
): void {
  if (rule === 'rename' || rule === 'append') return
  const fileByName = new Map<string, string>()
  for (const { file, name } of files) {
    const earlierFile = fileByName.get(name)
    if (earlierFile !== undefined)
      throw new Problem('usage', `${earlierFile} and ${file} would both be named ${name}`, {
        hint: [earlierFile, file].some((one) => definitionKindOf(one) !== undefined)
          ? 'Rename one of the files, or give a chart a name: and a board another title:.'
          : 'Upload them one by one with --name, use another --folder for each, or --on-conflict rename.',
      })
    fileByName.set(name, file)
  }
}

/** Creates a request body from a figure, given as JSON text, and other fields. */
export function createFigureBody(figure: string, fields: object): BodySource {
  const rest = JSON.stringify({ raw_data: 'grid', ...fields }).slice(1)
  return createJsonBody(`{"figure":${figure},${rest}`)
}

/** Creates a request body from JSON text. */
export function createJsonBody(text: string): BodySource {
  const bytes = Buffer.from(text)
  return {
    type: 'application/json',
    repeatable: true,
    async *open() {
      yield bytes
    },
  }
}

/** Creates or replaces a plot, and prints its warnings. */
export async function createPlot(context: Context, figure: string, destination: PlotDestination) {
  const client = await context.client()
  if (context.flags.dryRun) throw new Planned('plots.create', undefined, destination)
  const { file, action, warnings, grid_fid } = await client
    .call('plots.create', { body: createFigureBody(figure, destination) })
    .catch((error) => {
      if (!(error instanceof Problem) || error.code !== 'already_exists') throw error
      throw new Problem(error.code, error.message, {
        hint: 'Choose another name, or use --on-conflict rename or replace.',
      })
    })
  for (const warning of warnings) context.messages.warning(warning)
  return { ...file, grid_fid: grid_fid ?? null, action: action ?? 'created', warnings }
}

/** Notes private grids whose data becomes visible through a shared plot. */
export async function notePrivateData(
  context: Context,
  client: Client,
  { references }: FileMeta,
  plotName: string,
  audience: string,
): Promise<void> {
  const names: string[] = []
  for (const fid of references) {
    const grid = await undefinedIfNotFound(client.call('files.get', { fid }))
    if (grid?.filetype === 'grid' && !grid.world_readable) names.push(`${grid.filename} (${fid})`)
  }
  if (names.length > 0)
    context.messages.note(
      `${plotName}: ${audience} can now see the data that the plot shows, including data of private grids: ${names.join(', ')}`,
    )
}
