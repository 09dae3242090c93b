import type { BodySource } from '../client/index.ts'
import type { BodyOf } from '../contract/operations/index.ts'
import type { Context } from './context.ts'

/** Where a plot goes, and what happens if the name is taken. */
export type PlotPlace = Pick<
  BodyOf<'plots.create'>,
  'filename' | 'parent' | 'parent_path' | 'world_readable' | 'on_conflict'
>

export const plotConflictRules = ['fail', 'rename', 'replace'] as const

/** A request body with a figure, given as JSON text, and other fields. */
export function figureBody(figure: string, fields: object): BodySource {
  const rest = JSON.stringify({ raw_data: 'grid', ...fields }).slice(1)
  const bytes = Buffer.from(`{"figure":${figure},${rest}`)
  return {
    type: 'application/json',
    repeatable: true,
    async *open() {
      yield bytes
    },
  }
}

/** Creates or replaces a plot, and prints its warnings. */
export async function createPlot(context: Context, figure: string, place: PlotPlace) {
  const client = await context.client()
  const { file, action, warnings, grid_fid } = await client.call('plots.create', {
    body: figureBody(figure, place),
  })
  for (const warning of warnings) context.messages.warning(warning)
  return { ...file, grid_fid: grid_fid ?? null, action: action ?? 'created', warnings }
}
