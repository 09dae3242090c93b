import type { Bytes } from '../../json/index.ts'

/**
 * A request to the service. A web `Request` satisfies it, and so does a plain object: web objects would cost
 * a short command 20 ms and a server half its append throughput (docs/adr/0002).
 */
export interface HttpRequest {
  method: string
  /** Absolute URL: `http://host/v2/…`. */
  url: string
  headers: { get(name: string): string | null }
  /** The body: complete, or as a stream. */
  body: Uint8Array | Bytes | null
  /** The IP address of the client; undefined for requests inside the process. */
  address?: string
  /** Whether the client has disconnected. */
  gone?: () => boolean
}

/** A response: text, a byte stream or no body. */
export class HttpResponse {
  /** Close the connection without waiting for the rest of the request. */
  hangUp = false

  constructor(
    readonly status: number,
    /** Names in lower case. */
    readonly headers: Record<string, string>,
    readonly body: string | Bytes | null,
  ) {}
}

/** Converts to a web `Response`. */
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
