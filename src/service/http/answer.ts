import { errorBody, Problem } from '../../contract/errors.ts'
import type { Bytes } from '../../ingest/index.ts'

const json = 'application/json'

export function jsonResponse(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': json, ...headers } })
}

/** Any failure as the answer to a request: always JSON, always with `errors`. */
export function errorResponse(error: unknown, quirk?: (problem: Problem) => number | undefined): Response {
  const problem = error instanceof Problem ? error : new Problem('internal', 'the service failed; its log says why')
  const headers: Record<string, string> = {}
  if (problem.code === 'unauthenticated') headers['www-authenticate'] = 'Basic realm="gridline", charset="UTF-8"'
  if (problem.status === 429 || problem.status === 503) headers['retry-after'] = '1'
  return jsonResponse(quirk?.(problem) ?? problem.status, errorBody(problem), headers)
}

/** A body of bytes as they are made. A fault on the way breaks the connection: half is never taken for whole. */
export function streamResponse(status: number, bytes: Bytes, type: string, headers: Record<string, string> = {}): Response {
  const iterator = bytes[Symbol.asyncIterator]()
  let held: Uint8Array[] = []
  let size = 0
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Small pieces are gathered: each costs a turn through the stream.
        for (;;) {
          const { value, done } = await iterator.next()
          if (value && size === 0 && value.length >= GATHER) {
            controller.enqueue(value)
            return
          }
          if (value) {
            held.push(value)
            size += value.length
          }
          if (size >= GATHER || (done && size > 0)) {
            controller.enqueue(Buffer.concat(held))
            held = []
            size = 0
            if (!done) return
          }
          if (done) {
            controller.close()
            return
          }
        }
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 1 },
  )
  return new Response(body, { status, headers: { 'content-type': type, ...headers } })
}

const GATHER = 16 * 1024
