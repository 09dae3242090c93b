/** Receives charts from the share button of plotly.js before 3.7. */
import { Problem } from '../../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { type Bytes, yieldToEventLoop } from '../../../json/index.ts'
import { renderExternalPage } from '../../pages/forms/newchart.ts'
import { contentTypeOf, receiveBody } from '../body.ts'
import { clientKeyOf, type HttpContext } from '../http-context.ts'
import { PAGE_HEADERS } from '../page-headers.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const FIELD_PREFIX = 'data='

/**
 * `POST /external`: returns a page with the chart of the form. Pages of any site can send it, so nothing is
 * stored until the user confirms. The form is decoded in chunks.
 */
export async function external(context: HttpContext, request: HttpRequest): Promise<HttpResponse> {
  const { service, rates, formQueue, formBudget } = context
  const address = clientKeyOf(request)
  rates.countRequest(address)
  if (contentTypeOf(request) !== FORM_TYPE)
    throw new Problem('unsupported_media_type', 'the chart must be sent as a form', {
      hint: `Send ${FORM_TYPE}.`,
    })
  const { limits } = service
  const body = { kind: 'bytes', types: [FORM_TYPE], limit: 'form_bytes' } as const
  const hasWaiting = (): boolean => formQueue.load.waiting > 0 || formBudget.isHalfUsed
  const readForm = (take: (bytes: number) => void) => async (): Promise<Uint8Array[]> => {
    const { bytes } = await receiveBody(request, body, { limits, take, hasWaiting })
    const form: Uint8Array[] = []
    for await (const chunk of bytes) {
      take(chunk.length)
      form.push(chunk)
    }
    return form
  }
  // The form is in memory until the page is sent, so it occupies the budget of bodies until then.
  return new Promise((resolve, reject) => {
    const sendPage = async (take: (bytes: number) => void): Promise<void> => {
      const form = await formQueue.run(address, readForm(take), request.isAborted)
      const headers = { ...PAGE_HEADERS, 'cache-control': 'no-store' }
      await new Promise<void>((sent) =>
        resolve(new HttpResponse(200, headers, notifyWhenSent(renderPage(form), sent))),
      )
    }
    formBudget.runCounted(address, sendPage).catch(reject)
  })
}

/** Wraps a body. Calls `sent` when it has been sent or abandoned. */
function notifyWhenSent(body: AsyncGenerator<Uint8Array>, sent: () => void): Bytes {
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const result = await body.next()
        if (result.done) sent()
        return result
      },
      async return() {
        sent()
        return body.return(undefined)
      },
    }),
  }
}

/** Yields the page with the figure of the form. */
async function* renderPage(form: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  const { before, after } = renderExternalPage()
  yield Buffer.from(before)
  // A page without a declared encoding sends its form in Windows-1252, the default of browsers.
  const decoder = (await isUtf8(decodeField(form))) ? undefined : new TextDecoder('windows-1252')
  for await (const chunk of decodeField(form))
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk
  yield Buffer.from(after)
}

async function isUtf8(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of chunks) decoder.decode(chunk, { stream: true })
    decoder.decode()
    return true
  } catch {
    return false
  }
}

/** Yields the value of the field `data`, which must be the first, with `<` as a JSON escape. */
async function* decodeField(form: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  let rest = ''
  let hasBegun = false
  for (const chunk of form) {
    await yieldToEventLoop()
    rest += Buffer.from(chunk).toString('latin1')
    if (!hasBegun) {
      if (rest.length < FIELD_PREFIX.length) continue
      if (!rest.startsWith(FIELD_PREFIX)) return
      rest = rest.slice(FIELD_PREFIX.length)
      hasBegun = true
    }
    const end = rest.indexOf('&')
    const text = end < 0 ? rest : rest.slice(0, end)
    // An escape can be split between two chunks.
    const cutAt = end < 0 && /%.?$/.test(text) ? text.lastIndexOf('%') : text.length
    yield decodeFormText(text.slice(0, cutAt))
    if (end >= 0) return
    rest = text.slice(cutAt)
  }
}

/** Decodes form encoding, and escapes `<` for JSON. */
function decodeFormText(text: string): Uint8Array {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('<', '\\u003c')
  return Buffer.from(bytes, 'latin1')
}
