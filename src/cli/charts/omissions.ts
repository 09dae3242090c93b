// Notes about data that a chart omits.
import type { Figure } from '../../charts/figure/figure.ts'
import { describeOmitted } from '../../charts/omitted.ts'
import type { Client } from '../../client/index.ts'
import type { Context } from '../core/context.ts'

/** Returns whether output has all fields, so that costly ones must be loaded. */
export function printsAllFields({ flags }: Context): boolean {
  return [flags.json, flags.jq, flags.template].some((flag) => flag !== undefined)
}

/** Loads the notes about omitted data below a chart; empty for figures not created from options. */
export async function loadOmissions(client: Client, fid: string): Promise<string[]> {
  const response = await client.response('plots.content', { fid, query: { inline_data: true } })
  const { data = [], layout = {} } = JSON.parse(await response.text()) as Partial<Figure>
  if (layout.meta?.theme === undefined) return []
  const { unseen, remarks } = describeOmitted({ data, layout })
  return [...unseen, ...remarks]
}
