import { Problem } from '../../../contract/errors.ts'
import { type HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { type Bytes, breathe } from '../../../json/index.ts'
import { externalPage } from '../../pages/forms/newchart.ts'
import { contentTypeOf, receive } from '../body.ts'
import { addressOf, type Desk } from '../desk.ts'
import { PAGE_HEADERS } from './pages.ts'

const FORM = 'application/x-www-form-urlencoded'
const FIELD = 'data='

/**
 * `/external`: the form of the share button of plotly.js before 3.7, sent by pages of any site. Its chart is put into
 * the page that is returned, and nothing is stored: the person decides there. The form is decoded in pieces.
 */
export async function external(desk: Desk, request: HttpRequest): Promise<HttpResponse> {
  const { service, rates, forms, formBodies } = desk
  const address = addressOf(request)
  rates.take(address)
  if (contentTypeOf(request) !== FORM)
    throw new Problem('unsupported_media_type', 'the chart must be sent as a form', { hint: `Send ${FORM}.` })
  const { limits } = service
  const body = { kind: 'bytes', types: [FORM], limit: 'form_bytes' } as const
  const pressed = (): boolean => forms.load.waiting > 0 || formBodies.pressed
  const read = (take: (bytes: number) => void) => async (): Promise<Uint8Array[]> => {
    const { bytes } = await receive(request, body, { limits, take, pressed })
    const form: Uint8Array[] = []
    for await (const chunk of bytes) {
      take(chunk.length)
      form.push(chunk)
    }
    return form
  }
  // The form is in memory until the page is sent, so it counts as a body until then.
  return new Promise((resolve, reject) => {
    const work = async (take: (bytes: number) => void): Promise<void> => {
      const form = await forms.run(address, read(take), request.gone)
      const headers = { ...PAGE_HEADERS, 'cache-control': 'no-store' }
      await new Promise<void>((sent) =>
        resolve(new HttpResponse(200, headers, untilSent(pageWith(form), sent))),
      )
    }
    formBodies.hold(address, work).catch(reject)
  })
}

/** A body that tells when it has been sent, or has been given up. */
function untilSent(body: AsyncGenerator<Uint8Array>, sent: () => void): Bytes {
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

async function* pageWith(form: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  const { before, after } = externalPage()
  yield Buffer.from(before)
  // A page without a declared encoding sends its form in Windows-1252, the default of browsers.
  const windows = (await isUtf8(fieldOf(form))) ? undefined : new TextDecoder('windows-1252')
  for await (const piece of fieldOf(form))
    yield windows ? Buffer.from(windows.decode(piece, { stream: true })) : piece
  yield Buffer.from(after)
}

async function isUtf8(pieces: AsyncIterable<Uint8Array>): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const piece of pieces) decoder.decode(piece, { stream: true })
    decoder.decode()
    return true
  } catch {
    return false
  }
}

/** The value of the field `data`, which is the first one, with `<` as a JSON escape. */
async function* fieldOf(form: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  let rest = ''
  let begun = false
  for (const chunk of form) {
    await breathe()
    rest += Buffer.from(chunk).toString('latin1')
    if (!begun) {
      if (rest.length < FIELD.length) continue
      if (!rest.startsWith(FIELD)) return
      rest = rest.slice(FIELD.length)
      begun = true
    }
    const end = rest.indexOf('&')
    const text = end < 0 ? rest : rest.slice(0, end)
    // An escape may be cut at the end of a chunk.
    const cut = end < 0 && /%.?$/.test(text) ? text.lastIndexOf('%') : text.length
    yield decoded(text.slice(0, cut))
    if (end >= 0) return
    rest = text.slice(cut)
  }
}

function decoded(text: string): Uint8Array {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('<', '\\u003c')
  return Buffer.from(bytes, 'latin1')
}
