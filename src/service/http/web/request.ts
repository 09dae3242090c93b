/** Requests and handlers of addresses outside of the API. */
import type { HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { clientKeyOf, type HttpContext, type LogLine } from '../http-context.ts'

/** A request for a route of contract/web/index.ts. */
export interface WebRequest {
  request: HttpRequest
  query: string
  /** Parameters of the path, by name. */
  parts: Readonly<Record<string, string>>
  line: LogLine
}

export type WebHandler = (
  context: HttpContext,
  webRequest: WebRequest,
) => Promise<HttpResponse> | HttpResponse

/** Wraps a handler: it waits in the queue of its IP address. */
export function queued(
  handler: (context: HttpContext, webRequest: WebRequest) => Promise<HttpResponse>,
): WebHandler {
  return (context, webRequest) => {
    const { request } = webRequest
    return context.requestQueue.run(
      clientKeyOf(request),
      () => handler(context, webRequest),
      request.isAborted,
    )
  }
}
