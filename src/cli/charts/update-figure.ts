// Changes a stored figure; retries on conflict.
import { type Figure, isSameFigure } from '../../charts/figure/figure.ts'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { createFigureBody } from './create.ts'

/** Maximum number of attempts if others change the figure at the same time. */
const MAX_ATTEMPTS = 5

/** Loads the figure of a plot, with its text, and headers that make an update conditional. */
export async function loadFigure(client: Client, fid: string) {
  const response = await client.response('plots.content', { fid })
  const text = await response.text()
  const stored: Partial<Figure> = JSON.parse(text)
  const figure: Figure = { ...stored, data: stored.data ?? [], layout: stored.layout ?? {} }
  const { etag } = response.headers
  return { figure, text, headers: etag === undefined ? undefined : { 'if-match': etag } }
}

/**
 * Changes the figure of a plot. If somebody else changes it meanwhile, their change is kept and this one is
 * applied again. `fields` are updated too; without fields, an unchanged figure is not sent.
 */
export async function changeFigure(
  client: Client,
  fid: string,
  change: (figure: Figure) => Figure | Promise<Figure>,
  fields?: object,
) {
  for (let attempt = 1; ; attempt++) {
    const { figure, text, headers } = await loadFigure(client, fid)
    const next = await change(figure)
    const isSame = isSameFigure(figure, next)
    if (isSame && !fields) return { ...(await client.call('plots.get', { fid })), action: 'unchanged' }
    try {
      const body = createFigureBody(isSame ? text : JSON.stringify(next), fields ?? {})
      const file = await client.call('plots.update', { fid, body, plainHeaders: headers })
      return { ...file, action: 'replaced' }
    } catch (error) {
      const isChanged = error instanceof Problem && error.code === 'version_mismatch'
      if (!isChanged || attempt === MAX_ATTEMPTS) throw error
    }
  }
}
