// Makes charts of chart files.
import { existsSync } from 'node:fs'
import type { Client } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import { parseChartFile } from '../charts/chart-file.ts'
import { assertChart, colorSeries, createThemedChart } from '../charts/charts.ts'
import { createFigureBody } from '../charts/create.ts'
import { loadFigure } from '../charts/update-figure.ts'
import { inFile, readDefinition } from '../files/definitions.ts'
import { NotMade } from './definition-names.ts'
import {
  type DefinitionKind,
  type DefinitionScope,
  rootOf,
  takenProblem,
  toMade,
} from './definition-scope.ts'
import { describeChartChange } from './describe-change.ts'
import type { LocalFile } from './expand.ts'
import type { DefinitionFile } from './read-definitions.ts'

export const chartKind: DefinitionKind = {
  async make(scope, local, existing, etag) {
    const { draft, isReplacing } = scope.options
    const body = await compile(scope, local, existing)
    if (existing && !isReplacing) {
      if (existing.filetype === 'plot' && (await chartKind.isUnchanged(scope, local, existing)))
        return toMade(existing, 'unchanged')
      throw takenProblem(local)
    }
    const { file, action, warnings } = await (await scope.client()).call('plots.create', {
      headers: { Draft: draft },
      ...(existing && etag !== undefined && { plainHeaders: { 'if-match': etag } }),
      body,
    })
    return { ...file, action: draft === undefined ? (action ?? 'created') : 'drafted', warnings }
  },

  // `isUnchanged` has compiled it.
  tryMake: async () => undefined,

  // `compile` checks it against the columns of a planned grid.
  async rehearse(rehearsal, local) {
    const { grid } = parseChartFile(local.file, local.definition.document!, rootOf(local))
    return rehearsal.findColumns(local, grid, 'grid')
  },

  async isUnchanged(scope, local, existing) {
    const body = await compile(scope, local, existing)
    if (existing === undefined) return false
    return (await (await scope.client()).tryCall('plots.create', { body })).action === 'unchanged'
  },

  hasSameText: async (scope, local, file) => scope.hasMarkerOf(local, file),

  review: {
    async isSame(scope, local, existing) {
      try {
        return await chartKind.isUnchanged(scope, local, existing)
      } catch (error) {
        // It can show a column that only the draft of its grid has.
        if (error instanceof Problem && error.status === 400) return false
        throw error
      }
    },

    async describeChange(scope, before, after) {
      const client = await scope.client()
      const [old, next] = [await loadFigure(client, before.fid), await loadFigure(client, after.fid)]
      return describeChartChange(old.figure, next.figure)
    },
  },
}

/** Compiles the figure of a chart, and returns it as the body of a request. */
async function compile(scope: DefinitionScope, local: DefinitionFile, existing: FileMeta | undefined) {
  const { file, definition } = local
  const {
    grid: gridName,
    type,
    options,
    colors = {},
  } = parseChartFile(file, definition.document!, rootOf(local))
  const fid = await scope.names
    .finderOf(local)(gridName, 'grid')
    .catch(async (error) => {
      if (error instanceof NotMade && error.planned.columns)
        await assertChart(gridName, error.planned.columns, type, options).catch((fault) => {
          throw inFile(fault, file)
        })
      throw inFile(error, file)
    })
  const { reader, grid } = await openGrid(scope, fid)
  const figure = await createThemedChart(reader, grid, type, options, () => {})
    .then((chart) => colorSeries(chart.figure, new Map(Object.entries(colors)), 'color-of'))
    .catch((error) => {
      throw inFile(error, file)
    })
  const metadata = scope.metadataOf(local, existing)
  return createFigureBody(JSON.stringify(figure), {
    ...(await scope.placeOf(local)),
    ...{ filename: definition.name, world_readable: scope.options.public === true, on_conflict: 'replace' },
    ...(metadata && { metadata }),
  })
}

/** Returns a grid, and a client that reads it: with a draft, as in the draft. */
async function openGrid(scope: DefinitionScope, fid: string): Promise<{ reader: Client; grid: GridMeta }> {
  const client = await scope.client()
  const { draft } = scope.options
  const drafted =
    draft === undefined
      ? undefined
      : await undefinedIfNotFound(client.call('grids.get', { fid, version: draft }))
  if (!drafted) return { reader: client, grid: await client.call('grids.get', { fid }) }
  const reader: Client = Object.create(client)
  reader.call = (name, options) => client.call(name, { ...options, version: draft })
  reader.response = (name, options) => client.response(name, { ...options, version: draft })
  return { reader, grid: drafted }
}

/** Lists the files that a chart file names: a theme, regions. */
export async function listChartFiles(local: LocalFile): Promise<string[]> {
  const { document } = await readDefinition(local.file, 'chart')
  const { options } = parseChartFile(local.file, document!, rootOf(local))
  return [options.theme, options.geojson].flatMap((file) =>
    file !== undefined && existsSync(file) ? [file] : [],
  )
}
