import { type Figure, isSameFigure } from '../../charts/figure/figure.ts'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { figureBody } from './create.ts'

/** How often a figure is read and changed, if others change it at the same time. */
const MAX_ATTEMPTS = 5

/** The stored figure of a plot, as it is written, and with the headers that make a change of it conditional. */
export async function storedFigure(client: Client, fid: string) {
  const response = await client.response('plots.content', { fid })
  const text = await response.text()
  const given: Partial<Figure> = JSON.parse(text)
  const figure: Figure = { ...given, data: given.data ?? [], layout: given.layout ?? {} }
  const { etag } = response.headers
  return { figure, text, headers: etag === undefined ? undefined : { 'if-match': etag } }
}

/**
 * Changes the figure of a plot as it was read: if somebody else changes it meanwhile, their change stays, and this one is
 * made again. `fields` are changed with it; without any, a figure that is the same is not sent.
 */
export async function changeFigure(
  client: Client,
  fid: string,
  change: (figure: Figure) => Figure | Promise<Figure>,
  fields?: object,
) {
  for (let attempt = 1; ; attempt++) {
    const { figure, text, headers } = await storedFigure(client, fid)
    const next = await change(figure)
    const isSame = isSameFigure(figure, next)
    if (isSame && !fields) return { ...(await client.call('plots.get', { fid })), action: 'unchanged' }
    try {
      const body = figureBody(isSame ? text : JSON.stringify(next), fields ?? {})
      const file = await client.call('plots.update', { fid, body, plainHeaders: headers })
      return { ...file, action: 'replaced' }
    } catch (error) {
      const isChanged = error instanceof Problem && error.code === 'version_mismatch'
      if (!isChanged || attempt === MAX_ATTEMPTS) throw error
    }
  }
}
