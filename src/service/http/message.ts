/** Converts responses of the service to web responses. */
import type { Bytes, HttpResponse } from '../../contract/http.ts'

/** Converts a response to a web `Response`. */
export function toResponse({ status, headers, body, cookies }: HttpResponse): Response {
  const isComplete = body === null || typeof body === 'string' || body instanceof Uint8Array
  const response = new Response(isComplete ? (body as BodyInit | null) : toReadableStream(body), {
    status,
    headers,
  })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

function toReadableStream(bytes: Bytes): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 1 },
  )
}
