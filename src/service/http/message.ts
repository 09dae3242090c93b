import type { Bytes } from '../../json/index.ts'

/**
 * A request as the service reads it. A web `Request` is one, and so is next to nothing: building and
 * reading web objects costs a short command 20 ms and a server half its appends (adr/0002).
 */
export interface HttpRequest {
  method: string
  /** Whole, as `http://host/v2/…`. */
  url: string
  headers: { get(name: string): string | null }
  /** The body: all of it, or as it comes. */
  body: Uint8Array | Bytes | null
  /** Where it comes from, if over a network. */
  address?: string
  /** Whether the client has gone away. */
  gone?: () => boolean
}

/** An answer: a text, bytes as they are made, or nothing. */
export class HttpResponse {
  /** What is still to come of the request is not waited for. */
  hangUp = false

  constructor(
    readonly status: number,
    /** Names in lower case. */
    readonly headers: Record<string, string>,
    readonly body: string | Bytes | null,
  ) {}
}

/** The answer as the web has it. */
export function toResponse({ status, headers, body }: HttpResponse): Response {
  return new Response(body === null || typeof body === 'string' ? body : streamOf(body), { status, headers })
}

function streamOf(bytes: Bytes): ReadableStream<Uint8Array> {
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
