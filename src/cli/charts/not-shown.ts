import type { Figure } from '../../charts/figure/figure.ts'
import { unseenIn } from '../../charts/unseen.ts'
import type { Client } from '../../client/index.ts'
import type { Context } from '../core/context.ts'

/** Whether a result is printed with all its fields, so that what takes a request of its own is read. */
export function isWhole({ flags }: Context): boolean {
  return [flags.json, flags.jq, flags.template].some((flag) => flag !== undefined)
}

/** What the line below a chart says that it does not show; none for figures that options do not make. */
export async function notShownIn(client: Client, fid: string): Promise<string[]> {
  const response = await client.response('plots.content', { fid, query: { inline_data: true } })
  const { data = [], layout = {} } = JSON.parse(await response.text()) as Partial<Figure>
  if (layout.meta?.theme === undefined) return []
  const { unseen, remarks } = unseenIn({ data, layout })
  return [...unseen, ...remarks]
}
